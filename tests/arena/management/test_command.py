"""What commands have in common."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from arena.management.command import ArenaCommand

ARENA = ("arena", "judging", "leaderboard")


def test_every_command_is_one_of_the_arena() -> None:
    found = [load_command_class(app, name) for name, app in get_commands().items() if app in ARENA]
    others = [command for command in found if not isinstance(command, ArenaCommand)]
    assert [command.__module__ for command in others] == ["arena.management.commands.flush"]  # Django's


@pytest.mark.django_db
def test_no_text_of_a_file_steers_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("id,prompt,\x1b]0;title\x07\na,\u202eb,c\n")
    told = StringIO()
    with pytest.raises(CommandError):
        call_command("import_data", "demo", path, stderr=told, stdout=told)
    assert r"\u001b]0;title\u0007" in told.getvalue()
    assert told.getvalue().replace("\n", "").isprintable()


def test_an_error_of_a_command_is_as_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    command = load_command_class("leaderboard", "standings")
    command.handle = _refuse
    with pytest.raises(SystemExit):
        command.run_from_argv(["manage.py", "standings", "x", "--skip-checks"])
    assert capsys.readouterr().err == "CommandError: No study \\u001b[2J.\n"


def _refuse(**_: object) -> None:
    raise CommandError("No study \x1b[2J.")


def test_output_that_cannot_be_written_is_said() -> None:
    with Path("/dev/full").open("w") as full, pytest.raises(CommandError, match="output cannot be written"):
        call_command("protocols", stdout=full)


def test_an_error_keeps_no_rows_open() -> None:
    command = Reading()
    with pytest.raises(CommandError):
        call_command(command)
    assert command.ended


class Reading(ArenaCommand):
    """Fails in the middle of what it reads."""

    requires_system_checks = []
    ended = False

    def handle(self, **_: object) -> None:
        rows = self._rows()
        next(rows)
        try:
            raise OSError
        except OSError as error:
            raise CommandError("Stopped.") from error

    def _rows(self) -> Iterator[int]:
        try:
            yield 1
        finally:
            self.ended = True
