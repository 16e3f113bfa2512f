"""A study may be deleted while a command or a worker is at it: that is said, and no defect."""

import logging
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from arena.models import Study
from leaderboard import tasks
from leaderboard.refreshing.services import refresh
from tests import factories as make
from tests.leaderboard.rows import few_rounds

pytestmark = pytest.mark.django_db(transaction=True)

COMMANDS = (
    ("refresh", "small"),
    ("standings", "small"),
    ("agreement", "small"),
    ("bundle", "small", "--out", "FILE.zip"),
    ("export", "small", "--what", "comparisons", "--out", "FILE.csv"),
    ("release", "small", "--version", "1", "--author", "A B"),
    ("find_names", "small"),
    ("compare", "--study", "small"),
)
MOMENTS = (1, 2, 4, 7, 12, 20, 30, 45)


@pytest.fixture
def _small() -> None:
    study = make.make_small_study(slug="small")
    for prompt in study.prompts.all():
        first, second = prompt.completions.order_by("pk")[:2]
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        for _ in range(2):
            make.make_comparison(pair=pair, rater=make.make_member(study))


class Deleting:
    """Deletes the study after so many queries."""

    def __init__(self, after: int) -> None:
        self.left, self.is_done = after, False

    def __call__(self, execute, sql, params, many, context):
        self.left -= 1
        if self.left < 0 and not self.is_done and not connection.in_atomic_block:
            self.is_done = True
            with transaction.atomic():
                Study.objects.get().delete()
        return execute(sql, params, many, context)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(
    ("command", "after"),
    [(command, after) for number, command in enumerate(COMMANDS) for after in MOMENTS[number % 4 :: 4]],
)
def test_a_command_says_so(command: tuple[str, ...], after: int, tmp_path: Path) -> None:
    arguments = [each.replace("FILE", str(tmp_path / "file")) for each in command]
    with few_rounds(10):
        if command[0] != "refresh":
            refresh(Study.objects.get())
        with connection.execute_wrapper(Deleting(after)), suppress(CommandError):
            call_command(*arguments, stdout=StringIO(), stderr=StringIO())


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("after", MOMENTS[::2])
def test_a_worker_lets_go_of_it(after: int, caplog: pytest.LogCaptureFixture) -> None:
    study = Study.objects.get()
    with few_rounds(10), connection.execute_wrapper(Deleting(after)):
        tasks.refresh_study(study.pk)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
