"""A backup and its restore: the same rows in either database, and refusals that change nothing."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client

from arena.audit.recording import record
from arena.backup import saving
from arena.models import Comparison, Rater, Study, StudyEvent
from leaderboard.refreshing.services import refresh
from tests import factories as make
from tests import migrated
from tests.leaderboard.rows import few_rounds

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def arena() -> Study:
    """A published study with what is hard to write down: bytes, decimals, empty JSON, odd characters."""
    study = make.make_small_study(slug="small", name='Ünïcode "quoted"\n\\N\t€', visibility="public")
    raters = [make.make_member(study) for _ in range(2)]
    for prompt in study.prompts.all():
        first, second = prompt.completions.order_by("pk")[:2]
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        for rater in raters:
            make.make_comparison(pair=pair, rater=rater, extra={"b": 1, "a": [None, 0.1, "ü\u2028"]})
    revised = Comparison.objects.order_by("pk").first()
    assert revised
    Comparison.objects.filter(pk=revised.pk).update(is_current=False)
    make.make_comparison(pair=revised.pair, rater=revised.rater, rating=5, revises=revised)
    make.make_import_job(("bytes.csv", "a,b\n1,2\n"), study=study)
    make.make_price()
    make.make_judge()
    with few_rounds(10):
        refresh(study)
    return study


def rows(path: Path) -> dict[str, list[str]]:
    """Every table of a backup, in words that do not depend on the order of keys in JSON.

    Without the lines about backups in the audit log, which each backup and restore adds to.
    """
    with zipfile.ZipFile(path) as file:
        return {
            name: [
                json.dumps(json.loads(line), sort_keys=True)
                for line in file.read(name).splitlines()
                if b'"kind": "backup"' not in line
            ]
            for name in file.namelist()
            if name != "manifest.json"
        }


def shown() -> bytes:
    reply = Client().get("/studies/small/standings.json")
    assert reply.status_code == 200
    return bytes(reply.content)


def elsewhere(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command of another arena, on SQLite."""
    environment = os.environ | {
        "VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'other.sqlite3'}",
        "BROKER_URL": "",
    }
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_to_another_database_and_back(arena: Study, tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.zip" for name in ("first", "second", "third"))
    leaderboard = shown()
    call_command("backup", str(first))
    assert first.stat().st_mode & 0o777 == 0o600

    migrated.migrate(tmp_path / "other.sqlite3", lambda *given: elsewhere(tmp_path, *given))
    both = f"call_command('restore', {str(first)!r}); call_command('backup', {str(second)!r})"
    command = f"from django.core.management import call_command; {both}"
    assert elsewhere(tmp_path, "shell", "--no-imports", "-c", command).stderr == ""
    assert rows(second) == rows(first)

    make.make_study(slug="goes")
    call_command("restore", str(second), replace=True)
    assert not Study.objects.filter(slug="goes").exists()
    assert shown() == leaderboard
    call_command("backup", str(third))
    assert rows(third) == rows(first)

    last = Comparison.objects.order_by("pk").last()
    assert last
    assert make.make_comparison(pair=last.pair).pk > last.pk  # the numbering goes on


def test_a_backup_is_made_though_the_audit_log_has_no_room(
    arena: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("arena.management.commands.backup.record", full)
    told, warned = StringIO(), StringIO()
    call_command("backup", str(tmp_path / "kept.zip"), stdout=told, stderr=warned)
    assert "the audit log could not be written (database or disk is full)" in warned.getvalue()
    assert "rows of" in told.getvalue()
    call_command("restore", str(tmp_path / "kept.zip"), check=True, stdout=told)
    assert "is whole" in told.getvalue()


def test_restored_rows_obey_the_triggers_again(arena: Study, tmp_path: Path) -> None:
    call_command("backup", str(tmp_path / "kept.zip"))
    call_command("restore", str(changed(tmp_path / "kept.zip", of_replaced_migrations)), replace=True)
    other = make.make_study()
    with pytest.raises(Exception, match="belongs to the study of its pair"):
        Comparison.objects.update(study=other)


def test_a_backup_signs_nobody_in(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELD_API_KEY", "sk-the-key-of-an-endpoint")
    make.make_judge(api_key_env="HELD_API_KEY")
    user = make.make_user(password="the password of somebody")
    rater, told = make.make_rater(user=user), StringIO()
    call_command("api_token", rater.slug, stdout=told)
    token = told.getvalue().split()[-1]
    client = make.make_client(user)
    call_command("backup", str(tmp_path / "kept.zip"))
    kept = "".join(line for lines in rows(tmp_path / "kept.zip").values() for line in lines)
    assert user.username in kept
    assert "HELD_API_KEY" in kept
    secrets = [client.session.session_key, token, "the password of somebody", "sk-the-key-of-an-endpoint"]
    assert [each for each in secrets if each in kept] == []


def test_one_moment(arena: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another connection writes meanwhile is wholly left out, and does not have to wait."""
    tables = saving.tables()
    pair = Comparison.objects.all()[0].pair

    class Slowly(dict[str, Any]):
        def items(self) -> Any:
            for number, item in enumerate(super().items()):
                if number == 1:
                    in_another_thread(
                        lambda: make.make_comparison(pair=pair, rater=make.make_rater(slug="late"))
                    )
                yield item

    monkeypatch.setattr(saving, "tables", lambda: Slowly(tables))
    with (tmp_path / "kept.zip").open("wb") as file:
        saving.save(file)
    assert Rater.objects.filter(slug="late").exists()
    saved = rows(tmp_path / "kept.zip")
    assert len(saved["arena_comparison.jsonl"]) == Comparison.objects.count() - 1
    assert not any('"late"' in row for row in saved["arena_rater.jsonl"])


def in_another_thread(do: Callable[[], object]) -> None:
    from threading import Thread

    def work() -> None:
        try:
            do()
        finally:
            connection.close()

    thread = Thread(target=work)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


def changed(path: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    """A copy in which the members are as ``change`` leaves them."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(path.with_name("changed.zip"), "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path.with_name("changed.zip")


def in_manifest(members: dict[str, bytes], change: Callable[[dict[str, Any]], object]) -> None:
    said = json.loads(members["manifest.json"])
    change(said)
    members["manifest.json"] = json.dumps(said).encode()


def of_replaced_migrations(members: dict[str, bytes]) -> None:
    """Made by the migrations that now are one of each app."""

    def say(said: dict[str, Any]) -> None:
        for key, migration in MigrationLoader(None).replacements.items():
            said["migrations"].remove(".".join(key))
            said["migrations"] += map(".".join, migration.replaces)

    in_manifest(members, say)


def with_table(table: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    """Whole by its checksums and counts, and yet not what an arena can have written."""

    def change(members: dict[str, bytes]) -> None:
        members[f"{table}.jsonl"] = data
        in_manifest(members, lambda said: said["tables"].update({table: data.count(b"\n")}))

    return change


def with_rows_left_out(members: dict[str, bytes]) -> None:
    *rows, _ = members["arena_comparison.jsonl"].splitlines(keepends=True)
    members["arena_comparison.jsonl"] = b"".join(rows)


def odd_price(column: str, value: Any) -> Callable[[dict[str, bytes]], None]:
    """A price with a value that no arena has written."""
    price = {"model": "m", "base_url": "", "prompt": 1, "completion": 1, "currency": "USD"}
    price |= {"updated_at": "2026-01-01T00:00:00+00:00", column: value}
    row = {"model": "judging.price", "pk": price.pop("pk", 1), "fields": price}
    return with_table("judging_price", json.dumps(row).encode() + b"\n")


def of_form_1(members: dict[str, bytes]) -> None:
    stated = {"table": "arena_rater", "columns": ["id"], "rows": 0, "sha256": ""}
    in_manifest(members, lambda said: said.update(form=1, database="sqlite", tables=[stated]))


NO_BACKUP = "is not a backup of an arena, or a part of it is missing or damaged"
DAMAGES: list[tuple[Callable[[dict[str, bytes]], object], str]] = [
    (lambda m: m.pop("arena_study.jsonl"), f"{NO_BACKUP}: arena_study.jsonl has 0 of 1 rows"),
    (with_rows_left_out, rf"{NO_BACKUP}: arena_comparison.jsonl has \d+ of \d+ rows\."),
    (
        lambda m: in_manifest(m, lambda s: s["tables"].update(arena_pair=10**30)),
        "arena_pair.jsonl has",
    ),
    (lambda m: in_manifest(m, lambda s: s["tables"].clear()), "of 0 rows"),
    (lambda m: m.update({"../evil": b"x\n"}), r"\.\./evil has 1 of 0 rows"),
    (lambda m: m.pop("manifest.json"), NO_BACKUP),
    *((lambda m, said=said: m.update({"manifest.json": said}), NO_BACKUP) for said in (b"[1]", b"5", b"NaN")),
    *(
        (lambda m, form=form: in_manifest(m, lambda s: s.update(form=form)), NO_BACKUP)
        for form in (0, -5, "2")
    ),
    (lambda m: in_manifest(m, lambda s: s.update(form=9)), "was made by a later version"),
    (
        of_form_1,
        r"by an earlier version of the arena\. Install the code of 20\d\d-.*, restore, then upgrade\.",
    ),
    (
        lambda m: in_manifest(m, lambda s: (s.update(version="9.9"), s["migrations"].append("arena.9999_x"))),
        r"version 9.9 with migrations up to arena.9999_x, .* Install that version, restore, then upgrade",
    ),
    (with_table("arena_prompt", b""), "cannot be stored|refer to rows that it lacks"),
    (with_table("arena_prompt", b"{}\n"), "A row of the table arena_prompt cannot be stored"),
    (with_table("judging_price", b"[]\n"), "table judging_price cannot be stored"),
    (odd_price("pk", 10**30), "table judging_price cannot be stored"),
    (odd_price("prompt", {}), "table judging_price cannot be stored"),
    (odd_price("updated_at", [1]), "table judging_price cannot be stored"),
    (lambda m: in_manifest(m, lambda s: s.update(migrations=5)), NO_BACKUP),
    (lambda m: in_manifest(m, lambda s: s["tables"].update(arena_rater="x")), NO_BACKUP),
]


def test_what_is_damaged_changes_nothing(arena: Study, tmp_path: Path) -> None:
    whole = tmp_path / "whole.zip"
    call_command("backup", str(whole))
    for change, sentence in DAMAGES:
        with pytest.raises(CommandError, match=sentence):
            call_command("restore", str(changed(whole, change)), replace=True)
    cut = tmp_path / "cut.zip"
    data = whole.read_bytes()
    with zipfile.ZipFile(whole) as file:
        longest = max(file.infolist(), key=lambda member: member.compress_size)
    middle = longest.header_offset + longest.compress_size // 2 + 100
    for damaged in (
        data[:-1000],
        data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        data[:-6] + b"\xff\xff\xff\x00" + data[-2:],  # where its directory begins
    ):
        cut.write_bytes(damaged)
        for options in ({"replace": True}, {"check": True}):
            with pytest.raises(CommandError, match=rf"cut.zip ({NO_BACKUP}|cannot be read)"):
                call_command("restore", str(cut), **options)
    with pytest.raises(CommandError, match=r"There is no file .*none.zip"):
        call_command("restore", str(tmp_path / "none.zip"))
    with pytest.raises(CommandError, match=r"not empty: it has 1 study, 2 accounts and 4 ratings of pairs"):
        call_command("restore", str(whole))
    call_command("backup", str(tmp_path / "after.zip"))
    assert rows(tmp_path / "after.zip") == rows(whole)


def test_a_database_of_which_only_backups_were_made_is_empty(db: None, tmp_path: Path) -> None:
    for _ in range(2):
        call_command("backup", str(tmp_path / "nothing.zip"))
    call_command("restore", str(tmp_path / "nothing.zip"))
    record(StudyEvent.Kind.DELETED, None)
    with pytest.raises(CommandError, match="rows in arena_studyevent"):
        call_command("restore", str(tmp_path / "nothing.zip"))


def test_a_folder_is_no_file(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is a folder"):
        call_command("backup", str(tmp_path))
    assert list(tmp_path.iterdir()) == []
