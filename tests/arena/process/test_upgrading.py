"""Arenas of earlier versions are brought up to date by ``migrate`` with all that is in them."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings

from arena.models import invariants

EARLIER = "arena", "0003"
"""The last migration of the version before the public pages."""

ROWS = (
    """INSERT INTO arena_study (id, slug, name, description, guidelines, points, criteria,
       ratings_per_pair_people, ratings_per_pair_judges, visibility, sign_up_open, simulated, revision,
       created_at) VALUES (1, 's', 'S', '', '', 8, '[]', 1, 1, 'public', 0, 0, 0, '2026-01-01')""",
    """INSERT INTO arena_prompt (id, study_id, external_id, subset, category, domain, turns, input, extra)
       VALUES (1, 1, 'p', '', '', '', '[]', '', '{}')""",
    """INSERT INTO arena_contestant (id, study_id, slug, name, kind, family, organisation, licence, size,
       generation, extra) VALUES (1, 1, 'a', 'A', 'model', '', '', '', '', '{}', '{}')""",
    """INSERT INTO arena_completion (id, prompt_id, contestant_id, external_id, turns, is_empty, version,
       is_current, digest, extra, created_at)
       VALUES (1, 1, 1, '', '["text"]', 0, 1, 1, 'd', '{}', '2026-01-01')""",
)


def test_an_arena_with_data_on_sqlite_is_brought_up_to_date(tmp_path: Path) -> None:
    migrate(tmp_path, *EARLIER)
    with sqlite3.connect(tmp_path / "arena.sqlite3") as database:
        for row in ROWS:
            database.execute(row)

    migrate(tmp_path)

    with sqlite3.connect(tmp_path / "arena.sqlite3") as database:
        assert value(database, "SELECT benchmarks FROM arena_contestant") == "{}"
        assert value(database, "SELECT contestant_id FROM arena_completion") == 1
        triggers = value(database, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'")
        assert triggers == 2 * len(invariants.RULES)


def migrate(folder: Path, *where: str) -> None:
    environment = {**os.environ, "VAR_DIR": str(folder), "DATABASE_URL": "", "ARENA_ENV": "local"}
    environment["DJANGO_SETTINGS_MODULE"] = "arena.settings"
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0", *where]
    subprocess.run(command, cwd=settings.BASE_DIR, env=environment, check=True)


def value(database: sqlite3.Connection, query: str) -> Any:
    return database.execute(query).fetchone()[0]
