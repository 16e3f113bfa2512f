"""What is in a database, read past the code under test: a checksum of each table."""

import hashlib
import sqlite3
from pathlib import Path

import psycopg

PASSING = {"django_session", "sqlite_sequence"}


def checksums(file: Path) -> dict[str, str]:
    """Of every table in a file of SQLite."""
    connection = sqlite3.connect(file, timeout=30)
    try:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found = {}
        for name in sorted(set(names) - PASSING):
            digest = hashlib.sha256()
            for row in connection.execute(f'SELECT * FROM "{name}" ORDER BY 1'):  # noqa: S608 - our own tables
                digest.update(repr(row).encode())
            found[name] = digest.hexdigest()
        return found
    finally:
        connection.close()


def checksums_of_postgresql(url: str) -> dict[str, str]:
    """Of every table in a database of PostgreSQL."""
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        found = {}
        for (name,) in sorted(names):
            if name not in PASSING:
                told = connection.execute(
                    f"SELECT md5(coalesce(string_agg(md5(t::text), '' ORDER BY md5(t::text)), '')) "  # noqa: S608
                    f'FROM "{name}" t'  # type: ignore[arg-type]
                ).fetchone()
                found[name] = str(told[0]) if told else ""
        return found
