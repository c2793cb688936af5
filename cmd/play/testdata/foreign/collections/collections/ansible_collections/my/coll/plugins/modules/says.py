#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
from ..module_utils.words import WORDS
def main():
    m = AnsibleModule(argument_spec={})
    m.exit_json(said=WORDS)
main()
