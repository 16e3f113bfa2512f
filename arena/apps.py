from django.apps import AppConfig


class ArenaConfig(AppConfig):
    name = "arena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Loading Celery here, not in arena/__init__.py, keeps the pure modules importable without Django.
        from arena import celery  # noqa: F401
        from arena.models import invariants
        from arena.process import checks  # noqa: F401

        invariants.connect()
