"""Gives every group and host a variable, and what a file beside the inventory says."""
import os

from ansible.plugins.vars import BaseVarsPlugin


class VarsModule(BaseVarsPlugin):
    def get_vars(self, loader, path, entities, cache=True):
        super().get_vars(loader, path, entities)
        if not isinstance(entities, list):
            entities = [entities]
        found = {}
        for e in entities:
            found['told'] = '%s %s' % (type(e).__name__, e.name)
            found['told_' + e.name] = e.get_vars().get('ansible_connection', '-')
            if e.name == 'web':
                found['weight'] = 'plugin'
            file = os.path.join(self._basedir, e.name + '.told.yml')
            if os.path.exists(file):
                found.update(loader.load_from_file(file))
        return found
