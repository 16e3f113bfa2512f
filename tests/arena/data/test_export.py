"""What is exported imports again as the same rows."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from arena.data import export
from arena.data.importing.imports import import_files
from arena.files import output
from arena.files.writing import WRITERS
from arena.models import Comparison, Completion, CriterionRating, Rater, Reference, Study
from arena.rules.subsets import TRAINING_SUBSET
from tests import factories as make

pytestmark = pytest.mark.django_db

NOON = datetime(2025, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
ANEW = ("slug", "name", "created_at", "visibility", "sign_up_open", "closed_at")
"""What a copy of a study has of its own."""
HOSTILE = "=cmd|' /C calc'!A0\r\n\"quoted\", \u202e\ttext'"


def rows(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Everything an export holds, by table; what is not said left out."""
    return {
        what: [
            {
                name: value
                for name, value in row.items()
                if value is not None and name in table.columns and (what != "study" or name not in ANEW)
            }
            for row in export.rows(study, what)
        ]
        for what, table in export.TABLES.items()
    }


def copied(study: Study, folder: Path, form: str) -> Study:
    """The study after a way through files, as a new one."""
    for what in export.TABLES:
        if export.count(study, what):
            output.save(
                folder / f"{what}.{form}", WRITERS[form](export.TABLES[what], export.rows(study, what))
            )
    slug = f"{study.slug}-{form}"
    report = import_files(slug, [folder])
    assert [str(problem) for problem in report.errors] == []
    return Study.objects.get(slug=slug)


@pytest.fixture
def odd() -> Study:
    """A study with every oddity that its tables can hold."""
    study = make.make_study(slug="odd", points=8, criteria=["accuracy"])
    rich = make.make_contestant(
        study=study,
        name='Rich, "7B"',
        slug="rich",
        family="=family",
        organisation="Größer ☂",
        licence="MIT",
        size="7B",
        generation={"temperature": 0.5, "stop": ["\n"]},
        benchmarks={"MMLU": 69.8, "=Größe ☂": -2, "1e-9": 1e-9},
        extra={"page": {"nested": [1, None]}},
    )
    people = make.make_contestant(study=study, name="People", slug="people", kind="people")
    gone = make.make_contestant(study=study, name="Gone", slug="gone", retired_at=NOON)
    first = make.make_prompt(
        study=study,
        external_id="007",
        subset="a",
        category="x",
        domain="d",
        turns=["One?", "Two?"],
        input="-input",
        extra={"page": 1},
    )
    Reference.objects.create(prompt=first, author="Zoe", turns=["r"])
    Reference.objects.create(prompt=first, author="Ann", turns=["s", "t"])
    same_id = make.make_prompt(study=study, external_id="007", subset="b", category="", turns=["@one"])
    unknown = make.make_prompt(study=study, external_id="unknown", category="", turns=[])

    def answer(prompt: Any, contestant: Any, turns: list[str], **more: Any) -> Completion:
        return make.make_completion(prompt=prompt, contestant=contestant, turns=turns, **more)

    one = answer(first, rich, ["One", HOSTILE], external_id="one", extra={"tokens": 3})
    other = answer(first, people, [""], is_empty=True)
    retired = answer(first, gone, ["\n"], is_empty=True)
    nobody = [answer(same_id, None, [text], external_id=f"n{text}") for text in "12"]
    mixed = answer(same_id, rich, [HOSTILE])
    textless = [answer(unknown, contestant, []) for contestant in (rich, people)]

    pairs = [
        make.make_pair(prompt=first, first=one, second=other, gold="second", gold_source="Ann, 2024"),
        make.make_pair(prompt=first, first=one, second=retired),
        make.make_pair(prompt=same_id, first=nobody[0], second=nobody[1], gold="tie", gold_source="=source"),
        make.make_pair(prompt=same_id, first=nobody[0], second=mixed, gold="first", gold_source="s"),
        make.make_pair(prompt=unknown, first=textless[0], second=textless[1]),
    ]
    ann = make.make_rater(slug="ann", name="Ann", study=study)
    here = make.make_rater(slug="ann", name="=Another Ann", user=make.make_user())
    judge = make.make_judge(slug="strict", name="Strict").rater
    toy = make.make_rater(kind="judge", slug="toy", name="Toy", simulated=True, study=study)
    toy.groups.add(make.make_group(slug="panel"))
    make.make_rater(slug="idle", name="Never rated", study=study)

    def rate(pair: Any, rater: Rater, **more: Any) -> Comparison:
        return make.make_comparison(
            pair=pair,
            rater=rater,
            **{"created_at": NOON - timedelta(days=Comparison.objects.count()), **more},
        )

    scored = rate(pairs[0], ann, rating=1, external_id="v1", seconds=2.5, rationale=HOSTILE, source="web")
    CriterionRating.objects.create(comparison=scored, criterion="accuracy", points=8, rating=8)
    CriterionRating.objects.create(comparison=scored, criterion="Ärger", points=8, rating=2)
    rate(pairs[0], ann, rating=2, swapped=True)
    rate(pairs[0], ann, rating=3, repeat=1, extra={"batch": "b", "extra": {"x": 1}})
    rate(pairs[0], here, rating=8, source="web")
    rate(pairs[1], ann, rating=2, points=3)
    rate(pairs[2], judge, reason="unparsable", raw_reply=HOSTILE, swapped=True, source="api")
    rate(pairs[2], judge, rating=5, points=5, repeat=4, source="api")
    rate(pairs[3], toy, rating=1, points=2, first_score=Decimal("-0.125"), second_score=Decimal("7"))
    rate(pairs[4], toy, reason="refused", seconds=0.1)
    superseded = rate(pairs[4], ann, rating=4, is_current=False)
    rate(pairs[4], ann, rating=6, revises=superseded)
    give_scores_and_checks(one, nobody[0], ann, judge)
    give_training(study)
    settings = {
        "description": HOSTILE,
        "guidelines": "=1+1\n\n# Read",
        "consent": "'",
        "tasks": ["score", "compare", "check"],
        "points": 5,
        "score_lowest": 0,
        "score_highest": 10,
        "reasons": ["=Größe, ☂", "Clearer"],
        "goal": 10,
        "rater_limit": 30,
        "daily_limit": 20,
        "reveal_names": True,
        "show_references": "demand",
        "training_threshold": 0.5,
        "pairing_feature": "entropy_low",
        "control_share": 0.1,
        "repeat_share": 0.0,
        "gold_share": 0.1 + 0.2,
        "stop_margin": 12.5,
        "naming": "mask",
        "ratings_per_pair_people": 3,
        "ratings_per_pair_judges": 2,
        "simulated": True,
        "licence": "CC-BY-4.0",
        "visibility": "public",
        "closed_at": NOON,
    }
    Study.objects.filter(pk=study.pk).update(**settings)
    study.refresh_from_db()
    return study


def give_training(study: Study) -> None:
    """Pairs apart whose second answer was stored first, as a tie, with empty and hostile texts."""
    for number, (gold, use, text) in enumerate(
        [("first", "train", HOSTILE), ("second", "check", ""), ("tie", "check", "'=")]
    ):
        prompt = make.make_prompt(
            study=study, subset=TRAINING_SUBSET, external_id=f"t{number}", category="", turns=[text or "?"]
        )
        sides = [
            make.make_completion(prompt=prompt, contestant=None, external_id=name, turns=[f"{name}{text}"])
            for name in (("second", "first") if number else ("first", "second"))
        ]
        told = {"gold": gold, "use": use, "explanation": text, "gold_source": "=source"}
        make.make_pair(prompt=prompt, first=sides[0], second=sides[1], **told)


def give_scores_and_checks(one: Completion, anonymous: Completion, ann: Rater, judge: Rater) -> None:
    """Of one answer by a contestant and one by nobody, with every oddity."""
    asked = [
        make.make_question(prompt=one.prompt, text=HOSTILE, labels=["Größe, ☂", "=1+1"], required=False),
        make.make_question(prompt=one.prompt, proposed_by="a-model", labels=[]),
    ]
    make.make_question(prompt=one.prompt, is_accepted=False, proposed_by="a-model", position=9)
    old = make.make_question(prompt=anonymous.prompt, is_current=False)
    new = make.make_question(prompt=anonymous.prompt, position=old.position)
    dated = {"created_at": NOON, "seconds": 0.5}
    make.make_score(
        completion=one, rater=ann, lowest=-2.5, highest=1e6, value=0.1, external_id="s1", rationale=HOSTILE
    )
    make.make_score(completion=one, rater=ann, turn=2, expected=2.25, extra={"turns": [1]}, **dated)
    make.make_score(completion=one, rater=ann, turn=2, repeat=3, is_dated=False)
    make.make_score(completion=anonymous, rater=judge, reason="out_of_range", raw_reply=HOSTILE, source="api")
    make.make_score(completion=anonymous, rater=ann, is_current=False)
    make.make_answer(completion=one, question=asked[0], rater=ann, value="unknown", external_id="a1", **dated)
    make.make_answer(completion=one, question=asked[1], rater=ann, value="no", rationale=HOSTILE)
    make.make_answer(completion=one, question=asked[1], rater=ann, value="yes", repeat=1)
    make.make_answer(
        completion=anonymous,
        question=new,
        rater=judge,
        reason="unparsable",
        raw_reply=HOSTILE,
        is_dated=False,
    )
    make.make_answer(completion=anonymous, question=old, rater=judge)
    make.make_feature(completion=one, turn=2, value=-1e-9, source=HOSTILE[:20])
    make.make_feature(completion=anonymous, name="entropy_low", variant="bounds", value=0.1 + 0.2)
    old_text = {"contestant": one.contestant, "version": 2, "is_current": False}
    make.make_feature(completion=make.make_completion(prompt=one.prompt, **old_text))


@pytest.mark.parametrize("form", WRITERS)
def test_every_oddity_survives(odd: Study, form: str, tmp_path: Path) -> None:
    before = rows(odd)
    after = rows(copied(odd, tmp_path, form))
    for what in export.TABLES:
        assert after[what] == before[what], what
    lengths = {what: len(found) for what, found in before.items()}
    assert list(lengths.items()) == list(
        zip(export.TABLES, (1, 3, 5, 3, 3, 8, 3, 10, 4, 4, 2, 3), strict=True)
    )
    assert {what: export.count(odd, what) for what in export.TABLES} == lengths


def test_the_copy_has_the_same_columns_beyond_the_file(odd: Study, tmp_path: Path) -> None:
    copy = copied(odd, tmp_path, "jsonl")
    assert list(copy.contestants.filter(retired_at=NOON).values_list("name", flat=True)) == ["Gone"]
    assert Rater.objects.get(study=copy, slug="toy").simulated
    empty = Completion.objects.filter(prompt__study=copy, is_empty=True)
    assert sorted(empty.values_list("contestant__name", flat=True)) == ["Gone", "People"]
    swapped = [Comparison.objects.filter(study=study, swapped=True, is_current=True) for study in (odd, copy)]
    assert swapped[0].count() == swapped[1].count() == 2
    assert copy.criteria == ["accuracy"]
    assert (copy.visibility, copy.closed_at, copy.name) == ("private", None, "Odd jsonl")


def test_raters_of_one_name_stay_apart_and_completions_without_contestant_have_their_ids(odd: Study) -> None:
    raters = {row["name"]: row["rater"] for row in export.rows(odd, "raters")}
    slugs = {"Ann": "ann", "=Another Ann": "ann-2", "Strict": "strict", "Toy": "toy", "Never rated": "idle"}
    assert raters == slugs
    sides = ("first", "second", "first_id", "second_id")
    named = [tuple(row.get(side) for side in sides) for row in export.rows(odd, "comparisons")]
    assert (None, None, "n2", "n1") in named
    assert (None, 'Rich, "7B"', "n1", None) in named


def test_reading_takes_so_many_queries_for_any_rows(odd: Study, django_assert_num_queries: Any) -> None:
    for what, queries in zip(export.TABLES, (0, 1, 4, 2, 1, 1, 1, 5, 3, 3, 1, 1), strict=True):
        with django_assert_num_queries(queries):
            assert list(export.rows(odd, what))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_opinions_about_a_text_that_changed_are_exported_and_counted(form: str, tmp_path: Path) -> None:
    study = make.make_study(slug="changed")
    prompt = make.make_prompt(study=study)
    one, other = (make.make_contestant(study=study, name=name) for name in "AB")
    old = make.make_completion(prompt=prompt, contestant=one, turns=["old"], is_current=False)
    second = make.make_completion(prompt=prompt, contestant=other)
    new = make.make_completion(prompt=prompt, contestant=one, turns=["new"], version=2)
    ann, question = make.make_rater(slug="ann", study=study), make.make_question(prompt=prompt)
    make.make_comparison(pair=make.make_pair(prompt=prompt, first=old, second=second), rater=ann, rating=1)
    make.make_comparison(
        pair=make.make_pair(prompt=prompt, first=second, second=new), rater=ann, rating=8, swapped=True
    )
    for text, score, answer in (old, 1, "yes"), (new, 2, "no"):
        make.make_score(completion=text, rater=ann, value=score)
        make.make_answer(completion=text, question=question, rater=ann, value=answer)
    assert export.about_old_texts(study) == 3
    assert [row.get("repeat") for row in export.rows(study, "comparisons")] == [None, None]
    copy = copied(study, tmp_path, form)
    said = [(row["first"], row["rating"]) for row in export.rows(copy, "comparisons")]
    assert said == [("A", 1), ("A", 8)]
    assert [row["text"] for row in export.rows(copy, "completions")] == [second.turns[0], "new"]
    assert [row["score"] for row in export.rows(copy, "scores")] == [1, 2]
    assert [row["answer"] for row in export.rows(copy, "answers")] == ["yes", "no"]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_comparisons_of_identical_texts_stay_what_they_are(form: str, tmp_path: Path) -> None:
    study = make.make_small_study(prompts=3, contestants=2)
    judge = make.make_rater(kind="judge", study=study)
    said = [{"rating": 7}, {"rating": None}, {"rating": None, "reason": "empty"}]
    for prompt, answer in zip(study.prompts.all(), said, strict=True):
        first, second = prompt.completions.order_by("pk")
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        make.make_comparison(**{"pair": pair, "rater": judge, "status": "identical", **answer})
    copy = copied(study, tmp_path, form)
    assert rows(copy)["comparisons"] == rows(study)["comparisons"]
    found = Comparison.objects.filter(study=copy, status="identical").order_by("pk")
    assert list(found.values_list("rating", "reason")) == [(7, ""), (None, ""), (None, "empty")]
