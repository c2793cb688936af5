NAME = 'module_utils of the role'
