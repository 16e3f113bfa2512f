import os

from celery import Celery

from arena.process.environment import load_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
load_settings()

app = Celery("arena")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
