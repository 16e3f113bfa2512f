#!/usr/bin/env python
"""Django's command-line entry point."""

import sys

from arena.management.command_line import run_command

if __name__ == "__main__":
    try:
        import django  # noqa: F401
    except ModuleNotFoundError:
        sys.exit(f"{sys.executable} has no Django. Use .venv/bin/python manage.py; make install sets it up.")
    run_command()
