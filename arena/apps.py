from django.apps import AppConfig

from arena import celery  # noqa: F401 - loaded here, so that pure modules can be imported without Django
from arena.process import checks  # noqa: F401


class ArenaConfig(AppConfig):
    name = "arena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena.audit import signing_in
        from arena.models import invariants
        from arena.monitoring import errors, logs
        from arena.pages import form_words
        from arena.people import sessions

        invariants.connect()
        logs.connect()
        errors.report_errors()
        signing_in.connect()
        sessions.connect()
        form_words.use()
