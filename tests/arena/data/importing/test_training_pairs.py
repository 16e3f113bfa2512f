"""Training pairs and checks come in apart from the study, once, and stay out of what is said of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from arena.data import export
from arena.data.importing.import_report import ImportReport, find_missing
from arena.data.importing.imports import import_files
from arena.models import Comparison, Completion, Membership, Pair, Prompt, Study
from arena.rating import assignments, recording
from arena.rating.opinions import Rating
from arena.rating.planning import plan
from arena.rating.progress import progress
from arena.rules.subsets import TRAINING_SUBSET
from arena.texts.markdown import LONGEST_WRITTEN
from leaderboard.snapshots.reading import opinions
from leaderboard.snapshots.text_sizes import texts
from tests import factories as make
from tests.arena.data.importing.records import reasons

pytestmark = pytest.mark.django_db

KINDS = ("training pairs", "hidden checks")
PAIRS: list[dict[str, Any]] = [
    {"id": "a", "prompt": "Say A.", "gold": "first", "explanation": "It says A."},
    {"id": "b", "prompt": "Say B.", "gold": "second", "use": "check"},
]
PAIRS = [pair | {"first": "A", "second": "B"} for pair in PAIRS]


def bring(folder: Path, *rows: dict[str, Any], study: str = "s") -> ImportReport:
    path = folder / "training.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_files(study, [path])


def test_pairs_have_use_gold_and_explanation_and_come_in_once(tmp_path: Path) -> None:
    report = bring(tmp_path, *PAIRS)
    assert reasons(report) == []
    assert [report.counts[kind].added for kind in KINDS] == [1, 1]
    train, check = Pair.objects.order_by("pk")
    assert (train.use, train.gold, train.explanation) == ("train", "first", "It says A.")
    assert (check.use, check.gold, check.gold_source) == ("check", "second", "training file")
    assert set(Completion.objects.values_list("contestant", flat=True)) == {None}
    assert set(Prompt.objects.values_list("subset", flat=True)) == {TRAINING_SUBSET}
    again = bring(tmp_path, *PAIRS)
    assert (reasons(again), again.written) == ([], 0)
    assert [again.counts[kind].unchanged for kind in KINDS] == [1, 1]


def test_another_gold_answer_is_refused_and_a_better_explanation_taken_over(tmp_path: Path) -> None:
    bring(tmp_path, *PAIRS)
    report = bring(tmp_path, {**PAIRS[0], "gold": "tie", "explanation": "Other."})
    said = 'line 1: gold: "tie" contradicts "first", the label of this pair by "training file"'
    assert [reason.partition(", ")[2] for reason in reasons(report)] == [said]
    assert Pair.objects.order_by("pk")[0].explanation == "It says A."
    bring(tmp_path, *PAIRS)
    report = bring(tmp_path, {**PAIRS[0], "explanation": "Only it says A."}, {**PAIRS[1], "use": "train"})
    assert (reasons(report), report.counts["training pairs"].updated) == ([], 2)
    assert [(pair.use, pair.explanation) for pair in Pair.objects.order_by("pk")] == [
        ("train", "Only it says A."),
        ("train", ""),
    ]


def test_an_explanation_has_at_most_what_an_operator_may_write(tmp_path: Path) -> None:
    report = bring(tmp_path, {**PAIRS[0], "explanation": "x" * (LONGEST_WRITTEN + 1)}, PAIRS[1])
    assert [reason.partition(", ")[2] for reason in reasons(report)] == [
        "line 1: explanation: 20001 characters long; at most 20000 fit"
    ]


def test_a_row_that_stands_twice_without_an_id_is_there_once(tmp_path: Path) -> None:
    row = {name: value for name, value in PAIRS[0].items() if name != "id"}
    report = bring(tmp_path, row, row)
    assert (reasons(report), Pair.objects.count()) == ([], 1)


def test_the_study_stays_what_it_is(tmp_path: Path) -> None:
    study = make.make_small_study(prompts=2, contestants=3, slug="s")
    rater, judge = make.make_member(study), make.make_judge()
    bring(tmp_path, *PAIRS)
    study = Study.objects.get(pk=study.pk)
    assert progress(rater, [study])[study.pk].left == 6
    assert find_missing(study).count == 0
    assert export.count(study, "prompts") == 2
    assert export.count(study, "completions") == 6
    assert export.count(study, "pairs") == 0
    plan(study, judge.rater)
    assert not Pair.objects.filter(prompt__subset=TRAINING_SUBSET, assignments__isnull=False).exists()
    found = texts(study)
    assert (len(found.prompts), len(found.completion)) == (2, 6)
    assert not Comparison.objects.exists()


def test_raters_are_offered_checks_unmarked_and_training_pairs_never(tmp_path: Path) -> None:
    study = make.make_small_study(prompts=2, contestants=3, slug="s", gold_share=0.5)
    bring(tmp_path, *PAIRS)
    member = make.make_member(study)
    Membership.objects.update(trained_at=timezone.now())
    purposes = []
    while assignment := assignments.claim(study, member):
        assert assignment.pair.use != "train"
        purposes.append((assignment.purpose, assignment.pair.prompt.subset == TRAINING_SUBSET))
        recording.record(member, assignment.public_id, Rating(points=8, rating=1))
    assert purposes.count(("study", False)) == 6
    assert set(purposes) - {("study", False)} <= {("check", True)}
    # Counted on no board and as no rating wanted.
    assert len(opinions(study).rows) == 6
    assert sum(Pair.objects.values_list("people_ratings", flat=True)) == 6
