"""Loading the demo study, once and again."""

import shutil
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arena.demo import load
from arena.models import Answer, Comparison, Completion, Contestant, Pair, Prompt, Rater, Score, Study
from arena.models.signals import study_changed
from arena.rating import assignments
from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.games import games_from_ratings
from tests.factories import make_member
from tests.leaderboard.rows import few_rounds

STRENGTHS = {
    "Lapwing 34B": 1180,
    "Human demonstrations": 1110,
    "Redshank 13B": 1050,
    "Dunnock 7B": 920,
    "Turnstone 3B": 740,
}
"""From which the ratings of the open demo were drawn, by what its description says."""

TABLES: tuple[type[Model], ...] = (Study, Prompt, Contestant, Completion, Pair, Rater, Comparison)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the open demo's files that a test may damage."""
    copy = tmp_path / "demo"
    shutil.copytree(load.OPEN, copy)
    monkeypatch.setattr(load, "OPEN", copy)
    return copy


def counts() -> dict[str, int]:
    return {table.__name__: table._default_manager.count() for table in TABLES}


class TestLoaded:
    """The demo study as it was loaded once: each test finds it so."""

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, shared_rows: None) -> Iterator[Study]:
        with transaction.atomic():
            yield load.load_demo(load.open_demo()).study
            transaction.set_rollback(True)

    @pytest.fixture
    def study(self, loaded: Study, db: None) -> Study:
        return deepcopy(loaded)

    def test_everything_is_there_and_a_visitor_is_offered_a_pair_at_once(self, study: Study) -> None:
        rows = (1, 36, 5, 180, 360, 8, 3240)
        assert counts() == {table.__name__: number for table, number in zip(TABLES, rows, strict=True)}
        assert Completion.objects.filter(is_empty=True).count() == 1
        categories = dict(Counter(study.prompts.values_list("category", flat=True)))
        assert set(categories.values()) == {6}
        assert set(Pair.objects.values_list("people_ratings", "judge_ratings")) == {(2, 7)}
        assignment = assignments.claim(study, make_member(study))
        assert assignment.pair.people_ratings < study.ratings_per_pair_people

    def test_the_study_is_open_public_and_says_that_it_is_simulated(self, study: Study) -> None:
        assert (study.slug, study.points, study.is_public, study.sign_up_open) == ("demo", 8, True, True)
        assert study.simulated
        assert not study.is_closed
        assert "simulated" in study.description
        assert all(f"| {name} | {strength} |" in study.description for name, strength in STRENGTHS.items())
        assert study.guidelines.startswith("You see one prompt and two answers")

    def test_every_rater_is_marked_and_named_as_simulated(self, study: Study) -> None:
        raters = Rater.objects.filter(comparisons__study=study).distinct()
        assert Counter(raters.values_list("kind", "simulated")) == {("person", True): 4, ("judge", True): 4}
        assert all("simulated" in rater.name.lower() for rater in raters)
        panel = Rater.objects.selected(study, "group:simulated-judges")
        assert [(rater.kind, [group.name for group in rater.groups.all()]) for rater in panel] == [
            ("judge", ["Simulated judges together"])
        ] * 4
        assert Rater.objects.selected(study, "judge:simulated-judge-a").get().name == "Simulated judge A"

    def test_the_votes_recover_the_stated_strengths(self, study: Study) -> None:
        names = list(STRENGTHS)
        first, second, rating = [], [], []
        people = Comparison.objects.filter(study=study, rater__kind="person")
        for row in people.select_related("pair__first__contestant", "pair__second__contestant"):
            shown = [names.index(str(completion.contestant)) for completion in row.pair.shown(row.swapped)]
            first.append(shown[0])
            second.append(shown[1])
            rating.append(row.rating)
        games = games_from_ratings(first, second, rating, study.points, ties=False, contestants=len(names))
        fitted = bradley_terry(games).rating
        assert sorted(fitted, reverse=True) == list(fitted)
        assert fitted == pytest.approx(list(STRENGTHS.values()), abs=40)

    def test_each_rater_and_pair_sees_both_orders(self, study: Study) -> None:
        people = Comparison.objects.filter(rater__kind="person")
        assert people.filter(swapped=True).count() == people.filter(swapped=False).count() == 360
        for rater in Rater.objects.filter(study=study):
            swapped = rater.comparisons.filter(swapped=True).count() / rater.comparisons.count()
            assert swapped == pytest.approx(0.5, abs=0.1)

    def test_loading_twice_adds_nothing(self, study: Study) -> None:
        before = counts()
        Study.objects.filter(pk=study.pk).update(name="Renamed by the operator")
        again = load.load_demo(load.open_demo())
        assert again.report is None
        assert again.study.name == "Renamed by the operator"
        assert counts() == before


def test_loading_takes_a_bounded_number_of_queries_and_the_leaderboard_is_told(
    db: None, hear: Any, django_capture_on_commit_callbacks: Any
) -> None:
    told = hear(study_changed)
    with django_capture_on_commit_callbacks(execute=True), CaptureQueriesContext(connection) as queries:
        load.load_demo(load.open_demo())
    assert len(queries) <= 150
    assert [each["study_id"] for each in told] == [Study.objects.get().pk]


def test_the_command_adds_a_closed_study_with_rationales_scores_checks_and_a_release(
    db: None, capsys: pytest.CaptureFixture[str], client: Client
) -> None:
    load.load_demo(load.open_demo())
    with few_rounds(10):
        call_command("load_demo")
    printed = capsys.readouterr().out
    assert 'The study "demo" exists already; nothing was changed.' in printed
    assert "12 prompts, 48 answers, and 288 simulated ratings of 72 pairs, 144 scores" in printed
    assert "144 scores and 384 checks by 4 simulated raters." in printed
    study = Study.objects.get(slug="demo-closed")
    assert (study.is_closed, study.is_public, study.sign_up_open) == (True, True, False)
    rated = Pair.objects.filter(prompt__study=study).values_list("people_ratings", "judge_ratings")
    assert set(rated) == {(2, 2)}
    of_judge = Comparison.objects.filter(study=study, rater__kind="judge")
    assert all(bool(row.rationale) == (row.rating is not None) for row in of_judge)
    assert not of_judge.filter(created_at__gt=study.closed_at).exists()
    assert study.releases.get().version == "1.0"
    for model in (Score, Answer):
        said = model.objects.filter(study=study)
        assert Counter(said.values_list("rater__simulated", flat=True)) == {True: said.count()}
        assert not said.filter(created_at__gt=study.closed_at).exists()
        assert set(said.filter(value=None).values_list("rater__kind", "reason")) == {("judge", "empty")}
    assert client.get("/studies/demo-closed/requirements/").status_code == 200
    call_command("load_demo", verbosity=0)
    assert capsys.readouterr().out == ""


def test_damaged_files_change_nothing(db: None, folder: Path) -> None:
    with (folder / "completions.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"prompt": "no-such", "contestant": "Lapwing 34B", "text": "x"}\n')
    with pytest.raises(load.DemoError, match=r'completions\.jsonl, line 181: prompt: unknown prompt "no-'):
        load.load_demo(load.open_demo())
    assert set(counts().values()) == {0}


def test_the_command_fails_with_a_sentence(db: None, folder: Path) -> None:
    (folder / "contestants.jsonl").write_text("not json\n", encoding="utf-8")
    with pytest.raises(CommandError, match=r"cannot be loaded: .*contestants\.jsonl, line 1"):
        call_command("load_demo")
