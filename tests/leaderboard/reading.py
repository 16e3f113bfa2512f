"""What pages, files and commands say."""

import csv
import io
import os
import re
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from leaderboard.refreshing import computing


def text(response):
    assert response.status_code == 200
    return response.content.decode()


def words(response):
    """The page without tags, its white space made single blanks."""
    return " ".join(re.sub(r"<[^>]+>", " ", text(response)).split())


def shown(client, made, address):
    """A page of a study made by hand, once it is computed."""
    return computed(client, made.study, address)


def computed(client, study, address, **headers):
    """What is at an address of a study, once it is computed."""
    client.get(address)
    while computing.compute_next(study.pk):
        pass
    return client.get(address, **headers)


def table(client, address):
    """The lines of a CSV file."""
    return list(csv.reader(io.StringIO(text(client.get(address)).removeprefix("\ufeff"), newline="")))


def records(client, address):
    """The rows of a CSV file by the names of its columns."""
    return list(csv.DictReader(io.StringIO(text(client.get(address)).removeprefix("\ufeff"))))


def printed(command, *arguments):
    out = io.StringIO()
    call_command(command, *map(str, arguments), stdout=out)
    return out.getvalue()


def refusal(command, *arguments):
    """What a command that ends with an error says; the command by name, or what calls it."""
    with pytest.raises(CommandError) as caught:
        command(*arguments) if callable(command) else call_command(command, *map(str, arguments))
    assert caught.value.returncode == 1
    return str(caught.value)


def without_database(*arguments):
    """A command of manage.py in a process of its own, whose database could not even be opened."""
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": "sqlite:////nonexistent/folder/arena.sqlite3"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
