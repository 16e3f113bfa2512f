"""The arena that is recorded: both demo studies, small studies of each task, and people in every role."""

import logging
import random
import secrets
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import time_machine
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone
from structlog.contextvars import clear_contextvars

from arena.models import Invitation, Membership, Question, Role, Study
from judging.models import WritingCall, WritingRun
from judging.spending.reservations import open_purse
from leaderboard.files.bundle import making
from tests import factories as make
from tests.leaderboard.rows import few_rounds

NOW: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)
ROLES: Final = ("visitor", "staff", "operator", "rater")
PUBLIC: Final = {
    "llmfao": ["llmfao"],
    "llmbar": ["llmbar"],
    "infobench": ["infobench/easy_set.gpt-4.jsonl", "--judge", "checker"],
}
"""Studies of public data: where their files are below its folder, and how they are imported."""


@contextmanager
def standing_still() -> Iterator[None]:
    """Hold the clock, chance and the numbers of new rows, so that every run is the same."""
    numbers = count(1)

    def drawn(nbytes: int | None = None) -> str:
        return f"drawn-{next(numbers):0{max(1, 2 * (nbytes or 8) - 8)}}"

    class Seeded(random.Random):
        def __init__(self, seed: Any = 0) -> None:
            super().__init__(seed)

    with (
        pytest.MonkeyPatch.context() as patch,
        time_machine.travel(NOW, tick=False),
        few_rounds(20),
        override_settings(SECRET_KEY="pseudonyms are made with it"),
    ):
        patch.setattr(making, "versions", lambda: {"likert-arena": settings.VERSION, "commit": None})
        patch.setattr(secrets, "token_urlsafe", drawn)
        patch.setattr(secrets, "token_hex", drawn)
        patch.setattr(secrets, "randbits", lambda bits: next(numbers))
        patch.setattr(random, "Random", Seeded)
        patch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(numbers)))
        patch.setattr(make, "_numbers", count(1))
        patch.setattr(time, "sleep", lambda seconds: None)
        random.seed(0)
        cache.clear()
        clear_contextvars()  # the number of an earlier request
        _number_from_one()
        logging.disable(logging.WARNING)  # of each refusal
        yield
        logging.disable(logging.NOTSET)
        cache.clear()


def _number_from_one() -> None:
    """Let tables that are empty number their rows from 1, whatever other tests did."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DELETE FROM sqlite_sequence")
        else:
            for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
                cursor.execute(statement)


def make_arena(data: Path | None = None) -> dict[str, User | None]:
    """Make all rows, with studies of public data if its folder is given; the accounts by their role."""
    call_command("load_demo", verbosity=0)
    if data:
        for slug, (path, *more) in PUBLIC.items():
            call_command("import_data", slug, str(data / path), *more, verbosity=0)
        Study.objects.filter(slug__in=PUBLIC).update(visibility="public")
    staff = make.make_user(username="the-staff", is_staff=True, is_superuser=True)
    people = {role: _member(role) for role in (Role.RATER, Role.OPERATOR)}
    _small_studies()
    _judging()
    for study in Study.objects.all():
        for role, person in people.items():
            read_at = None if study.slug == "demo" else timezone.now()
            Membership.objects.create(study=study, rater=person, role=role, guidelines_read_at=read_at)
    for completion in _demo("demo-closed").prompts.first().completions.all():
        make.make_feature(completion=completion, value=completion.pk % 5, source="a server")
    for study in Study.objects.order_by("pk"):
        call_command("refresh", study.slug, verbosity=0)
    return {"visitor": None, "staff": staff, **{role.value: person.user for role, person in people.items()}}


def _demo(slug: str) -> Study:
    return Study.objects.get(slug=slug)


def _member(role: Role) -> Any:
    user = make.make_user(username=f"the-{role.value}")
    return make.make_rater(user=user, name=f"The {role.value}", slug=f"the-{role.value}")


def _small_studies() -> None:
    """A study of training pairs, and one that only scores and one that only checks answers."""
    make.make_training_pairs(make.make_study(slug="trained", name="Trained"))
    for task in ("score", "check"):
        study = make.make_study(slug=task, name=f"Only {task}", tasks=[task], visibility="public")
        prompt = make.make_prompt(study=study)
        question = make.make_question(prompt=prompt, labels=["format"])
        said, _ = (make.make_completion(prompt=prompt) for _ in range(2))
        if task == "score":
            make.make_score(completion=said, rationale="Why.")
        else:
            make.make_answer(completion=said, question=question, rationale="Why.")


def _judging() -> None:
    """A judge with a run, a panel's members, a model that writes, an invitation, an import, a proposal."""
    demo, closed = _demo("demo"), _demo("demo-closed")
    judge = make.make_judge(slug="strict", name="Strict")
    make.make_judge(slug="mild", name="Mild")
    make.make_run(study=demo, judge=judge, state="finished")
    author = make.make_author(contestant=make.make_contestant(study=demo, name="New 1B", slug="new-1b"))
    with transaction.atomic():
        run = WritingRun.objects.create(study=demo, author=author, wanted=2)
        open_purse(run)
    prompt = demo.prompts.order_by("pk")[0]
    WritingCall.objects.create(run=run, author=author, prompt=prompt, error="No reply.", state="failed")
    Invitation.objects.create(study=demo, note="for a friend", max_uses=3)
    make.make_import_job(("prompts.jsonl", "{"), study=demo)
    proposed = {"position": 9, "text": "Is it short?", "proposed_by": "strict", "is_accepted": False}
    Question.objects.create(prompt=closed.prompts.order_by("pk")[0], **proposed)
