"""An arena in which every page has something to show, all of its texts hostile, and who may look at it.

A rater meets each kind of task: pairs in the open study, single answers in the two that only score or check.
"""

from dataclasses import dataclass
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from arena.models import Flag, Invitation, Membership, Pair, Question, Role, Study
from arena.rating import assignments, recording
from arena.rating.opinions import Rating
from judging.models import ProposalCall, WritingCall, WritingRun
from judging.spending.reservations import open_purse
from leaderboard.refreshing import services as snapshots
from leaderboard.releases import services as releases
from leaderboard.releases.fields import Fields
from tests import factories as make
from tests.leaderboard.rows import HandMade, few_rounds

HOSTILE = "<img src=x onerror=window.hostile=1><script>window.hostile=1</script>\u202e{{ 7*7 }}"
"""A name or a text; where it runs, the page has ``window.hostile``."""

LONG = "Pneumonoultramicroscopicsilicovolcanoconiosis" * 2
TEXT = (
    f"{HOSTILE}\n\n[link](javascript:window.hostile=1)\n\n$\\frac{{1}}{{2}}$\n\n"
    + "|a" * 40
    + "|\n"
    + "|-" * 40
    + "|"
)
STARTS = (
    "/",
    "/rate/",
    "/operate/",
    "/judging/",
    "/methodology/",
    "/api/v1/docs",
)


@dataclass(frozen=True)
class Arena:
    """A closed study with a board and an open one that is being rated; ``users`` by their role."""

    closed: Study
    open: Study
    users: dict[str, User | None]


def make_arena() -> Arena:
    closed, rated, trained = _closed(), _open(), make.make_study(slug="trained", name="Trained")
    make.make_training_pairs(trained)
    rater = make.make_member(closed, name=HOSTILE)
    operator = make.make_member(closed, name="Operator")
    Membership.objects.filter(rater=operator).update(role=Role.OPERATOR)
    singles = [_single(task) for task in ("score", "check")]
    for member, role in ((rater, Role.RATER), (operator, Role.OPERATOR)):
        for study in (rated, trained, *singles):
            Membership.objects.create(study=study, rater=member, role=role, guidelines_read_at=timezone.now())
    _rate(rated, rater)
    staff = make.make_user(is_staff=True, is_superuser=True)
    users = {"visitor": None, "rater": rater.user, "operator": operator.user, "staff": staff}
    return Arena(closed, rated, users)


def _closed() -> Study:
    made = HandMade(
        "Heron 70B", HOSTILE, LONG, slug="closed", name=HOSTILE, categories=("coding", HOSTILE[:60])
    )
    made.study.description = made.study.guidelines = TEXT
    made.study.closed_at = timezone.now()
    made.study.save()
    for prompt in made.prompts:
        prompt.turns = [TEXT]
        prompt.save()
    strict, hostile = made.judge("strict"), make.make_judge(slug="hostile")
    hostile.rater.name = HOSTILE  # by an earlier version
    hostile.rater.save()
    strict.groups.add(make.make_group(slug="panel", name=HOSTILE))
    names = list(made.contestants)
    for prompt in (0, 1):
        for one, other in ((0, 1), (1, 2), (0, 2)):
            shown = names[one], names[other]
            made.rate(*shown, 2, prompt=prompt, rationale=TEXT)
            made.rate(*shown, 7, prompt=prompt, rater=make.make_rater(name=f"{HOSTILE} {one}{other}{prompt}"))
            made.rate(*shown, 3, prompt=prompt, rater=strict, rationale=TEXT)
            made.rate(*reversed(shown), 6, prompt=prompt, rater=strict)
            made.rate(*reversed(shown), 8, prompt=prompt, rater=hostile.rater, rationale=TEXT)
    made.rate(names[0], names[1], None, rater=strict, reason="out_of_range", repeat=9)
    made.study.tasks = ["compare", "score", "check"]
    made.study.save()
    for prompt in made.prompts:
        for text in (HOSTILE, LONG):
            make.make_question(prompt=prompt, text=text, labels=[HOSTILE[:60]])
        Question.objects.create(
            prompt=prompt, position=1, text=HOSTILE, proposed_by=HOSTILE[:200], is_accepted=False
        )
        for completion in prompt.completions.all():
            make.make_score(completion=completion, rater=made.person, rationale=TEXT)
            for name, source in (
                ("entropy", HOSTILE),
                ("entropy", ""),
                (f"own_{LONG[:80].lower()}", HOSTILE),
            ):
                make.make_feature(completion=completion, name=name, source=source, value=completion.pk % 5)
            for question in Question.objects.asked().filter(prompt=prompt):
                make.make_answer(completion=completion, question=question, rater=made.person, rationale=TEXT)
        ProposalCall.objects.create(
            prompt=prompt, judge=hostile, batch=uuid4(), model=HOSTILE[:200], state="replied", raw_reply=TEXT
        )
    make.make_run(study=made.study, judge=hostile, state="finished")
    made.study.prompts.update(subset=HOSTILE[:60])
    Pair.objects.filter(prompt__study=made.study).update(gold="first", gold_source="by hand")
    with few_rounds(20):
        snapshots.refresh(made.study)
    for version in ("1.0", "2.0"):
        authors = [f"O'Neill\"' onerror=x {{{{ 7*7 }}}}\u202e <'\" onerror=x {LONG[:80]}>"]
        releases.release(made.study, Fields.read(version, authors, HOSTILE[:100], "10.5281/zenodo.7", TEXT))
    return made.study


def _open() -> Study:
    study = make.make_small_study(slug="open", name=f"Open {HOSTILE}", visibility="public", guidelines=TEXT)
    study.prompts.update(turns=[TEXT])
    Invitation.objects.create(study=study, note=HOSTILE, max_uses=3)
    make.make_import_job(("prompts.jsonl", "{"), study=study)
    writer = make.make_contestant(study=study, name=HOSTILE)
    author = make.make_author(contestant=writer, model=HOSTILE, options={HOSTILE: HOSTILE})
    run = WritingRun.objects.create(study=study, author=author, wanted=2)
    with transaction.atomic():
        open_purse(run)
    said = {"run": run, "author": author, "prompt": study.prompts.all()[0], "error": HOSTILE}
    WritingCall.objects.create(**said, state="failed")
    return study


def _single(task: str) -> Study:
    """A study of single answers, of which one has an opinion."""
    study = make.make_study(slug=task, name=f"{task} {HOSTILE}", tasks=[task], visibility="public")
    prompt = make.make_prompt(study=study, turns=[TEXT])
    question = make.make_question(prompt=prompt, text=TEXT, labels=[HOSTILE[:60]])
    said, _ = (make.make_completion(prompt=prompt, turns=[TEXT]) for _ in range(2))
    if task == "score":
        make.make_score(completion=said, rationale=TEXT)
    else:
        make.make_answer(completion=said, question=question, rationale=TEXT)
    return study


def _rate(study: Study, rater: object) -> None:
    for flagged in (False, True):
        assignment = assignments.claim(study, rater)
        assert assignment is not None
        if flagged:
            assignments.flag(rater, assignment.public_id, Flag.Reason.OTHER, HOSTILE)
        else:
            answer = Rating(points=8, rating=3)
            recording.record(rater, assignment.public_id, answer)
