"""Whatever is wrong, and whenever an import is stopped, every table is as it was before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from arena.data.formats.records import (
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    Item,
    Place,
    Problem,
    PromptRecord,
    RaterRecord,
)
from arena.data.importing import imports as imports_module
from arena.data.importing.imports import import_files, import_records
from arena.models import Study
from arena.rules.subsets import TRAINING_SUBSET
from tests.arena.data.formats.reading import write_lines
from tests.arena.data.importing.records import (
    answer,
    completion,
    feature,
    gold,
    question,
    reasons,
    stock,
    text_score,
    vote,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

Rows = dict[str, list[tuple[object, ...]]]


def everything() -> Rows:
    """Every row of every table of the arena."""
    found: Rows = {}
    with connection.cursor() as cursor:
        for model in apps.get_app_config("arena").get_models(include_auto_created=True):
            table = connection.ops.quote_name(model._meta.db_table)
            cursor.execute(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608 - our own table
            found[model._meta.db_table] = cursor.fetchall()
    return found


def apart(use: str) -> list[Item]:
    """A pair for raters and not for the study: training, or a hidden check."""
    texts = [CompletionRecord(use, (side,), subset=TRAINING_SUBSET, id=side) for side in ("first", "second")]
    sides = {"first_id": "first", "second_id": "second"}
    label = GoldRecord(prompt=use, subset=TRAINING_SUBSET, **sides, gold="tie", source="experts", use=use)
    return [PromptRecord(use, ("Once.",), subset=TRAINING_SUBSET), *texts, label]


GOOD: list[Item] = [
    PromptRecord("p1", ("Say hello.",), category="changed"),
    PromptRecord("p2", ("Another.",)),
    ContestantRecord("C", family="New"),
    completion("A", "A text that was not there."),
    completion("C"),
    CompletionRecord("p2", ("By nobody.",), id="x"),
    RaterRecord("cy", "person", groups=("experts",)),
    gold("second", second="C"),
    *apart("train"),
    *apart("check"),
    vote(5, first="C", rater="cy", criteria={"accuracy": 2}),
    question("Is it kind?"),
    question("Is it short?", None, required=False),
    text_score(None, reason="refused", rater="cy"),
    answer("unknown", contestant="C"),
    feature(contestant="C"),
]
"""An import into ``stored_study`` that changes every kind of row."""

BAD: dict[str, tuple[Item, str]] = {
    "a problem of a file": (Problem(Place("f", 3), "rating", "9 of 8"), "f, line 3: rating: 9 of 8"),
    "a cell twice": (
        completion("C", place=Place("c", 9)),
        'c, line 9: the answer of "C" to prompt "p1" is already in records',
    ),
    "a prompt twice": (PromptRecord("p2", ("x",)), 'records: id: "p2" is already in records'),
    "a contestant twice": (ContestantRecord("C"), 'records: name: "C" is already in records'),
    "an unknown contestant": (
        vote(3, 1, first="Z"),
        'votes, line 1: first: unknown model "Z"; add it or correct its name',
    ),
    "an unlisted contestant": (
        completion("Z"),
        'records: contestant: unknown model "Z"; add it or correct its name',
    ),
    "an unknown prompt": (
        vote(3, 1, prompt="p9"),
        'votes, line 1: prompt: unknown prompt "p9"; add it or correct its id',
    ),
    "a completion of an unknown prompt": (
        completion("A", prompt="p9"),
        'records: prompt: unknown prompt "p9"; add it or correct its id',
    ),
    "a contestant without an answer": (
        vote(3, 1, prompt="p2", second="", second_id="x"),
        'votes, line 1: first: "A" has no answer to prompt "p2"',
    ),
    "an unknown completion": (
        vote(3, 1, first="", first_id="y"),
        'votes, line 1: first_id: no answer has the id "y" for prompt "p1"',
    ),
    "one completion on both sides": (
        vote(3, 1, second="A"),
        "votes, line 1: second: the same answer as first",
    ),
    "a rating out of scale": (
        vote(9, 1, rater="dee"),
        "votes, line 1: rating: rating 9 is outside the scale 1-8",
    ),
    "neither rating nor reason": (
        vote(None, 1, rater="dee"),
        "votes, line 1: reason: missing; without a rating, give a reason",
    ),
    "another rating": (
        vote(4, 1),
        "votes, line 1: rating: 4 of 8 contradicts 3 of 8, stored already for the same pair in the same "
        'order by rater "ann"; correct it, or give a second rating another id or a repeat',
    ),
    "another rating under an id": (
        vote(4, 1, rater="bo", id="v1"),
        "votes, line 1: rating: 4 of 8 contradicts 2 of 8, stored already for the rating with id "
        '"v1" by rater "bo"; correct it, or give a second rating another id or a repeat',
    ),
    "another score": (
        text_score(3, 1),
        "scores, line 1: score: 3 of 1 to 5 contradicts 4 of 1 to 5, stored already for the same answer by "
        'rater "ann"; correct it, or give a second score another id or a repeat',
    ),
    "a score out of scale": (
        text_score(-1, 1, turn=1),
        "scores, line 1: score: -1 is not on the scale from 1 to 5, that of the study; give lowest and "
        "highest for another",
    ),
    "a score just out of scale": (
        text_score(5.0000001, 1, turn=1),
        "scores, line 1: score: 5.0000001 is not on the scale from 1 to 5, that of the study; give lowest "
        "and highest for another",
    ),
    "a scale upside down": (
        text_score(3, 1, turn=1, lowest=9),
        "scores, line 1: highest: 5 is not above the lowest score, 9",
    ),
    "neither score nor reason": (
        text_score(None, 1, turn=1),
        "scores, line 1: reason: missing; without a score, give a reason",
    ),
    "a score of an unknown answer": (
        text_score(3, 1, contestant="", completion="y"),
        'scores, line 1: completion: no answer has the id "y" for prompt "p1"',
    ),
    "another answer": (
        answer("no", 1, prompt="p0"),
        "answers, line 1: answer: no contradicts yes, stored already for the same requirement of the same "
        'answer by rater "ann"; correct it, or give a second check another id or a repeat',
    ),
    "an unknown question": (
        answer("no", 1, question=7),
        'answers, line 1: question: prompt "p1" has no question 7; add it or correct its position',
    ),
    "a question twice": (
        question("Is it kind?", place=Place("q", 4)),
        'q, line 4: position: question 1 of prompt "p1" is already in records',
    ),
    "another wording in passing": (
        question("Is it rude?", implied=True),
        'records: question: question 1 of prompt "p1" has another wording in the study or these files: '
        '"Is it kind?"',
    ),
    "a question of an unknown prompt": (
        question(prompt="p9"),
        'records: prompt: unknown prompt "p9"; add it or correct its id',
    ),
    "another value": (
        feature(0.75, 1, prompt="p0"),
        "features, line 1: value: 0.75 contradicts 0.5, the entropy (paper) of this answer; correct it, or "
        "give another source",
    ),
    "another gold label": (
        gold("tie", 1, prompt="p0"),
        'gold, line 1: gold: "tie" contradicts "first", the label of this pair by "experts"',
    ),
    "another text of a rated prompt": (
        PromptRecord("p0", ("Say goodbye.",)),
        'records: turns: "p0" was rated with another text; a changed prompt needs a new id',
    ),
    "a name that does not fit": (
        vote(4, 1, rater="x" * 201),
        "votes, line 1: rater: 201 characters long; at most 200 fit",
    ),
}


@pytest.fixture
def stored_study() -> Study:
    old: list[Item] = [
        PromptRecord("p0", ("An old prompt.",)),
        *(completion(name, prompt="p0") for name in "AB"),
    ]
    votes = [vote(3), vote(2, rater="bo", id="v1"), vote(3, prompt="p0")]
    checked = [*(question(prompt=prompt) for prompt in ("p0", "p1")), answer(), answer(prompt="p0")]
    report = import_records(
        "s",
        [*stock(), *old, gold("first", prompt="p0"), *votes, text_score(), *checked, feature(prompt="p0")],
    )
    assert report.applied
    return Study.objects.get()


@pytest.mark.usefixtures("stored_study")
class TestNothingIsHalfImported:
    def test_the_good_records_alone_change_every_kind_and_nothing_in_a_dry_run(self) -> None:
        before = everything()
        dry = import_records("s", GOOD, dry_run=True)
        assert (dry.ok, dry.applied) == (True, False)
        assert everything() == before
        report = import_records("s", GOOD)
        assert reasons(report) == []
        assert report.applied
        assert report.counts == dry.counts
        assert {kind for kind, counts in report.counts.items() if counts.written} == set(report.counts)

    @pytest.mark.both_databases(False)
    def test_with_one_bad_record(self) -> None:
        before = everything()
        for number, (kind, (bad, reason)) in enumerate(BAD.items()):
            report = import_records("s", [*GOOD, bad], dry_run=number % 2 == 0)
            assert (reasons(report), report.applied) == ([reason], False), kind
            assert everything() == before, kind

    def test_when_it_dies_at_any_record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(imports_module, "CHUNK", 1)

        def dying(stop_at: int) -> Iterator[Item]:
            yield from GOOD[:stop_at]
            raise KeyboardInterrupt

        before = everything()
        for stop_at in range(len(GOOD) + 1):
            with pytest.raises(KeyboardInterrupt):
                import_records("s", dying(stop_at))
            assert everything() == before

    def test_after_many_errors_nothing_more_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(imports_module, "MAX_ERRORS", 5)
        read = []

        def endless() -> Iterator[Item]:
            for line in range(1, 1_000_000):
                read.append(line)
                yield Problem(Place("f", line), "rating", f"{line} of 8")

        report = import_records("s", endless())
        assert (report.error_count, len(read), report.to_leave_out) == (6, 6, [])
        assert str(report.errors[-1]) == "f: more than 5 errors; from line 6 on nothing was read"
        assert not report.applied


class TestProgress:
    @pytest.mark.both_databases(False)
    def test_tells_the_share_of_the_bytes(self, tmp_path: Path) -> None:
        rows = [{"id": f"p{number}", "instruction": "x"} for number in range(3000)]
        file = write_lines(tmp_path, "prompts.jsonl", *rows)
        told: list[tuple[int, int, float]] = []
        import_files(
            "s", [file], progress=lambda records, place, share: told.append((records, place.line, share))
        )
        assert [(records, line) for records, line, _ in told] == [(1000, 1000), (2000, 2000), (3000, 3000)]
        shares = [share for *_, share in told]
        assert shares == sorted(shares)
        assert 0 < shares[0] < shares[-1] == 1

    @pytest.mark.both_databases(False)
    def test_is_told_of_problems_and_long_texts_a_few_at_a_time(self) -> None:
        told: list[int] = []
        problems = [Problem(Place("f", line), "", "bad") for line in range(2500)]
        import_records("s", problems, progress=lambda records, place, share: told.append(place.line))
        assert told == [999, 1999, 2499]
        told: list[int] = []
        prompts = [PromptRecord(f"p{number}", ("x" * 900_000,)) for number in range(7)]
        import_records("s", prompts, progress=lambda records, place, share: told.append(records))
        assert told == [3, 6, 7]
