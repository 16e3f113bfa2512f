import os

from django.core.wsgi import get_wsgi_application

from arena.process.environment import load_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
load_settings()

application = get_wsgi_application()
