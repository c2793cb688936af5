class FilterModule(object):
    def filters(self):
        return {'loud': lambda v: v.upper()}
