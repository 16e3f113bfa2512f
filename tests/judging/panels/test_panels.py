"""Panels in the database: when they speak, about what, and what never happens twice."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import IntegrityError

from arena.models import Comparison, Pair, Rater, StudyEvent
from judging.judges.services import JudgeError
from judging.models import Judge, JudgeRun, Panel
from judging.panels import services
from tests.factories import make_judge, make_run, make_small_study

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    asked: list[int] = []
    monkeypatch.setattr("judging.runs.queue.nudge_panels", lambda pks: asked.extend(pks))
    return asked


@pytest.fixture
def judges() -> list[Judge]:
    return [make_judge(slug=f"judge-{letter}") for letter in "abc"]


@pytest.fixture
def panel(judges: list[Judge]) -> Panel:
    """Two judges whose ratings are averaged."""
    return services.create_panel("panel", "Panel", "mean", judges[:2])


@pytest.fixture
def pair() -> Pair:
    study = make_small_study(prompts=1, contestants=2)
    first, second = study.prompts.get().completions.order_by("pk")
    return Pair.objects.create(prompt=study.prompts.get(), first=first, second=second)


def says(judge: Judge, pair: Pair, rating: int | None, *, swapped: bool = False) -> Comparison:
    """The judge's comparison, made as if it had been asked; a second one revises the first."""
    earlier = Comparison.objects.current().filter(rater=judge.rater, pair=pair, swapped=swapped).first()
    if earlier:
        Comparison.objects.filter(pk=earlier.pk).update(is_current=False)
    return Comparison.objects.create(
        study=pair.prompt.study,
        pair=pair,
        rater=judge.rater,
        swapped=swapped,
        points=8,
        status="scored" if rating else "unscored",
        rating=rating,
        reason="" if rating else "refused",
        source="api",
        revises=earlier,
    )


def verdicts(panel: Panel) -> list[tuple[bool, int | None]]:
    current = Comparison.objects.current().filter(rater=panel.rater)
    return sorted(current.values_list("swapped", "rating"))


def test_a_panel_speaks_when_every_member_has(judges: list[Judge], pair: Pair) -> None:
    panel = services.create_panel("panel", "Panel", "majority", judges)
    says(judges[0], pair, 2)
    says(judges[1], pair, 7)
    assert services.convene(panel.pk) == 0
    says(judges[2], pair, None)
    assert services.convene(panel.pk) == 1
    verdict = Comparison.objects.get(rater=panel.rater)
    assert (verdict.points, verdict.rating, verdict.source, verdict.assignment) == (3, 2, "panel", None)
    names = [judge.name for judge in judges]
    assert verdict.rationale == f"{names[0]}: 2 of 8\n{names[1]}: 7 of 8\n{names[2]}: no rating"


def test_orders_are_kept_apart(judges: list[Judge], pair: Pair) -> None:
    panel = services.create_panel("panel", "Panel", "majority", judges)
    for judge in judges:
        says(judge, pair, 1)
        says(judge, pair, 8, swapped=True)
    assert services.convene(panel.pk) == 2
    assert verdicts(panel) == [(False, 1), (True, 3)]


def test_convening_again_says_nothing_new(panel: Panel, judges: list[Judge], pair: Pair) -> None:
    for judge in judges[:2]:
        says(judge, pair, 6)
    assert [services.convene(panel.pk) for _ in range(3)] == [1, 0, 0]
    pair.refresh_from_db()
    assert pair.judge_ratings == 0
    columns = {"pair": pair, "rater": panel.rater, "swapped": False, "points": 8, "status": "scored"}
    with pytest.raises(IntegrityError):
        Comparison.objects.create(study=pair.prompt.study, rating=1, source="panel", **columns)


def test_what_a_member_revises_is_revised(panel: Panel, judges: list[Judge], pair: Pair) -> None:
    says(judges[0], pair, None)
    says(judges[1], pair, 6)
    services.convene(panel.pk)
    old = Comparison.objects.get(rater=panel.rater)
    says(judges[0], pair, 8)
    assert services.convene(panel.pk) == 1
    new = Comparison.objects.current().get(rater=panel.rater)
    assert (old.rating, new.rating, new.expected, new.revises) == (6, 7, 7.0, old)


def test_nobody_has_a_rating_so_nothing_is_decided(panel: Panel, judges: list[Judge], pair: Pair) -> None:
    for judge in judges[:2]:
        says(judge, pair, None)
    services.convene(panel.pk)
    verdict = Comparison.objects.get(rater=panel.rater)
    assert (verdict.status, verdict.reason, verdict.expected) == ("unscored", "undecided", None)


def test_a_verdict_in_the_middle_favours_one_answer(panel: Panel, judges: list[Judge], pair: Pair) -> None:
    for swapped in (False, True):
        says(judges[0], pair, 4, swapped=swapped)
        says(judges[1], pair, 5, swapped=swapped)
    services.convene(panel.pk)
    (_, straight), (_, turned) = verdicts(panel)
    assert {straight, turned} == {4, 5}


def test_panels_wait_for_members(
    panel: Panel, judges: list[Judge], pair: Pair, nobody_listens: list[int]
) -> None:
    nobody_listens.clear()
    for judge in judges[:2]:
        says(judge, pair, 6)
    run = make_run(study=pair.prompt.study, judge=judges[0], state="running")
    assert services.sweep_panels() == 0
    JudgeRun.objects.filter(pk=run.pk).update(state="finished")
    assert services.sweep_panels() == 1
    assert nobody_listens == [panel.pk]
    services.convene(panel.pk)
    assert services.sweep_panels() == 0


def test_the_first_verdict_fixes_members_and_rule(panel: Panel, judges: list[Judge], pair: Pair) -> None:
    services.configure_panel(panel, "Panel", "majority", judges, active=True)
    for judge in judges:
        says(judge, pair, 6)
    services.convene(panel.pk)
    with pytest.raises(JudgeError, match="has rated pairs already"):
        services.configure_panel(panel, "Panel", "mean", judges, active=True)
    renamed = services.configure_panel(panel, "Renamed", "majority", judges, active=False)
    assert (renamed.rater.name, renamed.active) == ("Renamed", False)
    note = "Panel panel saved: Renamed; majority of judge-a, judge-b, judge-c; inactive."
    assert StudyEvent.objects.latest("pk").note == note
    assert services.convene(panel.pk) == 0


def test_a_panel_of_one_or_of_a_taken_name_and_one_that_is_simulated(judges: list[Judge]) -> None:
    with pytest.raises(JudgeError, match="at least two judges"):
        services.create_panel("panel", "Panel", "mean", judges[:1])
    with pytest.raises(JudgeError, match='Another judge or panel has the short name "judge-a"'):
        services.create_panel("judge-a", "Panel", "mean", judges)
    with pytest.raises(JudgeError, match="Alone rates single answers"):
        services.create_panel(
            "panel", "Panel", "mean", [judges[0], make_judge(name="Alone", protocol="score")]
        )
    both = [make_judge(name=name, protocol="score") for name in ("Alpha score", "Beta score")]
    with pytest.raises(JudgeError, match="Alpha score and Beta score rate single answers"):
        services.create_panel("panel", "Panel", "mean", both)
    assert not Panel.objects.exists()
    made_up = make_judge(slug="made-up", provider="simulated", base_url="", simulation={"strengths": {}})
    panel = services.create_panel("panel", "Panel", "mean", [judges[0], made_up])
    assert Rater.objects.get(panel=panel).simulated


def test_one_rule_says_who_is_a_panel(panel: Panel, judges: list[Judge], pair: Pair) -> None:
    assert panel.rater.derived_from == ["judge-a", "judge-b"]
    assert panel.rater.is_panel
    assert not judges[0].rater.is_panel
    services.configure_panel(panel, "Panel", "mean", judges, active=True)
    assert Rater.objects.panels().get().derived_from == ["judge-a", "judge-b", "judge-c"]
    assert set(Rater.objects.independent()) == {judge.rater for judge in judges}
    for judge in judges:
        says(judge, pair, 6)
    services.convene(panel.pk)
    assert {said.rater for said in Comparison.objects.independent()} == {judge.rater for judge in judges}


def test_panels_of_earlier_databases_are_told_who_they_are(panel: Panel) -> None:
    Rater.objects.update(derived_from=[])
    members = import_module("judging.migrations.0002_members_of_panels")
    members.name_members(apps, None)
    panel.rater.refresh_from_db()
    assert panel.rater.derived_from == ["judge-a", "judge-b"]


def test_a_mean_is_told_as_it_was_before_it_was_rounded(
    panel: Panel, judges: list[Judge], pair: Pair
) -> None:
    for judge, rating in zip(judges[:2], (2, 3), strict=True):
        says(judge, pair, rating)
    services.convene(panel.pk)
    said = Comparison.objects.get(rater=panel.rater).rationale.splitlines()
    assert said[2:] == ["Mean: 2.5 of 8, rounded to 2"]
