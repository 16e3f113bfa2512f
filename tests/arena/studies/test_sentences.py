"""What operators' pages say in words: in every state of a study, whoever is in it, and for every task."""

import random
import re
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Membership, Pair, Rater, Study
from arena.studies import steps
from tests import factories as make

pytestmark = pytest.mark.django_db

STATES: dict[str, dict[str, Any]] = {
    "draft": {"is_draft": True},
    "open": {},
    "paused": {"paused_at": timezone.now()},
    "closed": {"closed_at": timezone.now()},
}
PEOPLE = ("nobody", "one", "two", "left out", "paused", "imported", "judges")
TASKS = (("compare",), ("score",), ("check",), ("compare", "score"))
PAGES = ("study", "people", "progress", "publish", "state", "export", "raters")


def with_people(study: Study, who: str) -> None:
    """The people or judges of a case, each of whom has rated all pairs and answers."""
    if who == "nobody":
        return
    number = 2 if who == "two" else 1
    if who in ("imported", "judges"):
        raters = [make.make_rater(study=study, kind="judge" if who == "judges" else "person")]
    else:
        raters = [make.make_member(study) for _ in range(number)]
    for prompt in study.prompts.all():
        first, second = prompt.completions.order_by("pk")
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        for rater in raters:
            make.make_comparison(pair=pair, rater=rater)
            for text in (first, second):
                make.make_score(completion=text, rater=rater)
    Pair.objects.recount(study)
    fields = {"left out": "left_out_at", "paused": "paused_at"}
    if who in fields:
        Membership.objects.filter(study=study).update(**{fields[who]: timezone.now()})
        Pair.objects.recount(study)


def texts(client: Client, study: Study) -> dict[str, str]:
    client.force_login(make.make_user(is_staff=True))
    found = {}
    for name in PAGES:
        page = client.get(reverse(f"operate-{name}", args=[study.slug]))
        assert page.status_code == 200
        main = page.content.decode().partition("<main")[2]
        found[name] = " ".join(re.sub(r"<[^>]+>", " ", main).split())
    return found


_OTHERS = [*product(STATES, PEOPLE, TASKS[1:])]
CASES = [*product(STATES, PEOPLE, TASKS[:1]), *random.Random(1).sample(_OTHERS, 6)]
"""All with pairs, and some of the others."""


@pytest.mark.parametrize(("state", "who", "tasks"), CASES)
def test_every_page_says_only_what_is_so(
    state: str, who: str, tasks: tuple[str, ...], client: Client
) -> None:
    study = make.make_small_study(
        prompts=1, contestants=2, tasks=list(tasks), ratings_per_pair_people=3, **STATES[state]
    )
    with_people(study, who)
    said = texts(client, study)
    has_joined = who in ("one", "two", "left out", "paused")
    count = {"one": 1, "two": 2, "paused": 1, "imported": 1}.get(who, 0)
    everything = " ".join(said.values())
    assert ("Nobody has joined yet." in said["people"]) is not has_joined
    assert ("Nobody joined." in said["study"]) is (state == "closed" and not has_joined)
    assert ("Open for ratings." in everything) is (state == "open")
    assert ("The study is open for ratings." in said["study"]) <= (state == "open")
    assert ("The study is closed." in said["progress"]) is (state == "closed" and "check" not in tasks)
    assert ("The study is paused." in said["progress"]) <= (state == "paused")
    assert ("once you publish" in said["progress"]) <= (state == "draft")
    assert "an hour" not in said["progress"]  # what came by import has no pace
    assert ("rate once you publish" in said["people"]) is (state == "draft")
    if tasks == ("check",):
        assert "Nothing to rate yet: no answer has requirements." in said["progress"]
        assert ("Nothing to rate yet" in said["publish"]) is (state == "draft")
        assert "start rating at once" not in said["people"]
    elif state != "closed":
        # By hand: 3 are wanted. Who has rated counts, also who is paused since or came with an import; judges
        # and who is left out do not.
        assert f"needs 3 people; {count or 'none'} count" in said["progress"]
        assert f"Invite {3 - count}" in said["progress"]
    if who == "judges":
        assert "1 judge." in said["study"]
        assert "by people yet" in said["raters"]
    if who in ("nobody", "judges"):
        assert "No people yet." in said["progress"]
    else:
        assert "No ratings by people yet." not in said["export"]


def test_set_up_counts_panels_apart_from_judges() -> None:
    study = make.make_small_study(prompts=1)
    first, second = study.prompts.get().completions.order_by("pk")[:2]
    pair = make.make_pair(prompt=study.prompts.get(), first=first, second=second)
    for members in ([], [], ["a", "b"]):
        make.make_comparison(pair=pair, rater=make.make_rater(kind="judge", derived_from=members))
    said = {step.title: step.summary for step in steps.steps(study)}
    assert said["Judges"] == "2 judges and 1 panel."
    assert Rater.objects.panels().get().kind_in_words == "Panel of judges"


def test_a_closed_study_of_paused_people_was_joined() -> None:
    study = make.make_small_study(closed_at=timezone.now())
    make.make_member(study)
    study.memberships.update(paused_at=timezone.now())
    said = {step.title: step.summary for step in steps.steps(study)}
    assert said["People"] == "All who joined are paused."
