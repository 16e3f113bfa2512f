import os
from typing import Any

from celery import Celery, signals

from arena.process.environment import load_settings, spare_what_stays
from arena.process.sweep import Sweeper

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
load_settings()

app = Celery("arena")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def start_sweeper(**_: Any) -> None:
    spare_what_stays()
    sweeper = Sweeper()
    sweeper.start()
    signals.worker_shutting_down.connect(lambda **_: sweeper.stop(timeout=1), weak=False)


signals.worker_ready.connect(start_sweeper)
