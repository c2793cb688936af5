from ansible_collections.my.coll.plugins.module_utils.deep.more import MORE
WORDS = 'words of the collection, ' + MORE
