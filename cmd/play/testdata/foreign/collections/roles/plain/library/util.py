#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.ofrole import NAME
def main():
    m = AnsibleModule(argument_spec={})
    m.exit_json(said=NAME)
main()
