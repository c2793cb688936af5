#!/usr/bin/python
"""Tells what came with its arguments."""
import sys

from ansible.module_utils.basic import AnsibleModule

try:
    import nosuchmodule  # an optional import
except ImportError:
    nosuchmodule = None


def main():
    module = AnsibleModule(argument_spec=dict(word=dict(no_log=False)), supports_check_mode=True)
    told = dict((name, getattr(module, name)) for name in (
        'check_mode', 'no_log', '_debug', '_diff', '_verbosity', '_name', 'ansible_version', '_syslog_facility', '_selinux_special_fs',
        '_string_conversion_action', '_keep_remote_files', '_socket', '_shell', '_remote_tmp', '_target_log_info') if hasattr(module, name))
    module.exit_json(told=told, word=module.params['word'], python=sys.executable, temporary=bool(module.tmpdir))


main()
