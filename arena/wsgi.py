import os

from django.core.wsgi import get_wsgi_application

from arena.process.environment import load_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
load_settings(exit_code=3)  # with this code of a worker gunicorn stops; with any other it tries for ever

application = get_wsgi_application()
