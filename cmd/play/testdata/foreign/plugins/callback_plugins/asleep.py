from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    CALLBACK_NAME = 'asleep'
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_start(self, playbook):
        raise SystemExit('this one was not enabled')
