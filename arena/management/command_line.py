"""Runs a command: what manage.py and the installed program share."""

import gc
import os
import sys


def run_command() -> None:
    """Run the command that the arguments of this process name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    gc.disable()
    import django
    from django.core.management import execute_from_command_line

    from arena.monitoring.logs import begin_command
    from arena.process.environment import database_trouble, load_settings, require_utf8

    require_utf8(sys.argv)
    load_settings()
    begin_command(*sys.argv[1:2])
    with database_trouble(sys.argv):
        django.setup()
        gc.freeze()  # what is loaded stays; the collector took two fifths of a short command
        gc.enable()
        execute_from_command_line(sys.argv)
