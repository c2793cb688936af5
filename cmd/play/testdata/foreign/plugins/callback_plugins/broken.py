from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    CALLBACK_NAME = 'broken'

    def v2_playbook_on_stats(self, stats):
        raise ValueError('odd')
