#!/usr/bin/env python
"""Django's command-line entry point."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    from django.core.management import execute_from_command_line

    from arena.monitoring.logs import begin_command
    from arena.process.environment import database_trouble, load_settings

    load_settings()
    begin_command(*sys.argv[1:2])
    with database_trouble(sys.argv):
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
