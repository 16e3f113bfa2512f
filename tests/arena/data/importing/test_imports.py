"""Imports against the database: all or nothing, the same input twice adds nothing, nothing rated changes."""

import threading
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena.data.formats.records import (
    CompletionRecord,
    ContestantRecord,
    Item,
    Place,
    PromptRecord,
    RaterRecord,
    ReferenceRecord,
)
from arena.data.formats.values import MAX_SCORE
from arena.data.importing import imports
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import InvalidStudyError, import_records
from arena.data.importing.raters import slug_of
from arena.models import Comparison, Completion, Contestant, Pair, Prompt, Rater, Reference, Study
from arena.models.signals import study_changed
from tests import factories
from tests.arena.data.importing.records import added, completion, gold, reasons, stock, vote

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class TestNewStudy:
    def test_is_made_by_the_import(self) -> None:
        report = import_records("my-study", [*stock(), vote(1, points=3), vote(2, points=3, rater="bo")])
        study = Study.objects.get()
        assert report.applied
        assert report.creates_study
        assert (study.slug, study.name, study.points, study.revision) == ("my-study", "My study", 3, 1)
        made = {"contestants": 2, "prompts": 1, "completions": 2, "raters": 2, "pairs": 1, "comparisons": 2}
        assert added(report) == made
        # Mixed scales leave the default.
        import_records("mixed", [*stock(), vote(1, points=3), vote(2, points=5, rater="bo")])
        assert Study.objects.get(slug="mixed").points == 8

    @pytest.mark.parametrize(
        ("slug", "reason"),
        [
            ("two words", '"two words" cannot name a study'),
            ("-", '"-" cannot name a study. Begin the address with a letter or a digit.'),
            ("raters", '"raters" cannot name a study. This address is reserved.'),
            ("Audit", '"Audit" cannot name a study. This address is reserved.'),
            ("", '"" cannot name a study'),
            ("x" * 81, "has 81 characters; at most 80 fit"),
        ],
    )
    def test_needs_a_slug(self, slug: str, reason: str) -> None:
        with pytest.raises(InvalidStudyError, match=reason):
            import_records(slug, [])

    def test_is_not_made_by_nothing(self) -> None:
        assert reasons(import_records("empty", [])) == ["records: the files contain nothing to import"]
        assert not Study.objects.exists()


class TestStoredRows:
    def test_what_is_compared(self) -> None:
        references = (ReferenceRecord("Ann", ("Right.",)),)
        hard: dict[str, Any] = {"subset": "hard"}
        import_records(
            "s",
            [
                ContestantRecord("Rook 7B", family="Rook", generation={"t": 1}, extra={"site": "x"}),
                PromptRecord("p1", ("One", "Two"), category="coding", references=references, **hard),
                completion("Rook 7B", "", extra={"ms": 7}, **hard),
                CompletionRecord("p1", ("No author.",), id="c9", **hard),
            ],
        )
        prompt = Prompt.objects.get()
        assert (prompt.turns, prompt.subset, prompt.category) == (["One", "Two"], "hard", "coding")
        assert Reference.objects.get().turns == ["Right."]
        contestant = Contestant.objects.get()
        assert (contestant.slug, contestant.kind, contestant.family) == ("rook-7b", "model", "Rook")
        empty, anonymous = Completion.objects.order_by("pk")
        assert (empty.is_empty, empty.turns, empty.extra) == (True, [""], {"ms": 7})
        assert (anonymous.contestant, anonymous.external_id, anonymous.is_empty) == (None, "c9", False)
        # Pairs are made for comparisons only.
        assert not Pair.objects.exists()

    def test_presentation_order_is_kept_whatever_the_order_of_ids(self) -> None:
        import_records("s", [*stock(), vote(2), vote(7, first="B", second="A")])
        pair = Pair.objects.get()
        by_first = {
            comparison.pair.shown(comparison.swapped)[0].contestant.name: comparison.rating
            for comparison in Comparison.objects.all()
        }
        assert by_first == {"A": 2, "B": 7}
        assert pair.first_id < pair.second_id

    def test_counters_unscored_answers_and_criteria(self) -> None:
        report = import_records(
            "s",
            [
                *stock(),
                vote(3, criteria={"accuracy": 5}),
                vote(None, reason="refused", rater="j", rater_kind="judge", raw_reply="No."),
            ],
        )
        assert report.ok
        pair = Pair.objects.get()
        assert (pair.people_ratings, pair.judge_ratings) == (1, 1)
        unscored = Comparison.objects.get(rater__kind="judge")
        assert (unscored.status, unscored.reason, unscored.raw_reply) == ("unscored", "refused", "No.")
        person = Comparison.objects.get(rater__kind="person")
        assert [(row.criterion, row.rating) for row in person.criterion_ratings.all()] == [("accuracy", 5)]
        assert Study.objects.get().criteria == ["accuracy"]

    def test_an_imported_judge_is_not_the_one_who_rates_here(self) -> None:
        own = factories.make_rater(kind="judge", slug="gpt-4")
        import_records("s", [*stock(), vote(rater="gpt-4", rater_kind="judge")])
        assert not Comparison.objects.filter(rater=own).exists()
        assert Rater.objects.get(study__slug="s").slug == "gpt-4"

    def test_an_imported_judge_never_mixes_with_one_who_rated_here(self) -> None:
        import_records("s", stock())
        study = Study.objects.get()
        pair = factories.make_pair(prompt=study.prompts.get())
        factories.make_assignment(pair=pair, rater=factories.make_rater(kind="judge", slug="gpt-4"))
        report = import_records("s", [vote(rater="gpt-4", rater_kind="judge")])
        assert "has rated in this study" in reasons(report)[0]
        assert not Comparison.objects.exists()

    def test_a_group_of_a_rater_that_comes_later_is_a_change_of_its_own(self) -> None:
        def take(*groups: str) -> tuple[int, int]:
            rater = RaterRecord("ann", "person", "Ann", True, groups)
            written = import_records("s", [rater, *stock(), vote()]).written
            return Study.objects.get().revision, written

        before, _ = take()
        assert take() == (before, 0)
        assert take("experts") == (before + 1, 1)
        assert take("experts") == (before + 1, 0)
        rater = Rater.objects.get()
        assert (rater.name, rater.simulated) == ("Ann", True)
        assert [group.slug for group in rater.groups.all()] == ["experts"]


def test_scores_keep_their_digits() -> None:
    scores = (MAX_SCORE - Decimal("0.0000000001"), -MAX_SCORE)
    assert import_records("s", [*stock(), vote(3, scores=scores)]).applied
    row = Comparison.objects.get()
    assert (row.first_score, row.second_score) == (99998.9999999999, -99999.0)


def test_slugs_of_raters_stay_apart() -> None:
    assert slug_of("gpt-3.5") == "gpt-3.5"
    assert slug_of("Ann B").startswith("ann-b-")
    assert slug_of("Ann B") != slug_of("ann b")
    assert len(slug_of("ü" * 500)) <= 120


class TestTwice:
    def test_adds_nothing(self) -> None:
        records = [
            ContestantRecord("A", size="7B"),
            ContestantRecord("B"),
            *stock(),
            vote(3),
            vote(4),
            vote(5, first="B", second="A"),
            vote(6, id="x1"),
            vote(None, reason="empty", rater="j", rater_kind="judge"),
        ]
        first = import_records("s", records)
        revision = Study.objects.get().revision
        second = import_records("s", records)
        assert added(first)["comparisons"] == 5
        assert second.ok
        assert second.written == 0
        assert second.counts["comparisons"].unchanged == 5
        assert Study.objects.get().revision == revision
        repeats = Comparison.objects.filter(rater__slug="ann", swapped=False).values_list("repeat", flat=True)
        assert sorted(repeats) == [0, 1, 2]

    def test_more_of_the_same_adds_the_rest(self) -> None:
        import_records("s", [*stock(), vote(3), vote(4)])
        report = import_records("s", [vote(3), vote(4), vote(5)])
        assert added(report) == {"comparisons": 1}

    def test_an_id_stands_for_one_comparison(self) -> None:
        twice = import_records("s", [*stock(), vote(3, 1, id="x1"), vote(3, 2, id="x1")])
        assert reasons(twice) == ['votes, line 2: id: "x1" appears twice in this file for rater "ann"']
        elsewhere = import_records(
            "s", [*stock(), vote(3, 1, "one", id="x1"), vote(3, 1, "two", id="x1", rater="bo")]
        )
        assert elsewhere.applied
        other = import_records("s", [vote(3, 1, id="x1", first="B", second="A")])
        assert reasons(other) == [
            'votes, line 1: id: "x1" already exists for rater "ann" with another pair or order'
        ]

    def test_the_same_comparison_in_two_files_is_stored_once(self) -> None:
        records = [*stock(), vote(3, 1, "one"), vote(4, 2, "one", id="x"), vote(3, 1, "two")]
        report = import_records("s", [*records, vote(4, 2, "two", id="x")])
        assert (report.counts["comparisons"].added, report.counts["comparisons"].unchanged) == (2, 2)


class TestChangedTexts:
    def test_a_rated_completion_gets_a_version_and_old_comparisons_keep_the_old_text(self) -> None:
        votes = [vote(3), vote(4, id="x1")]
        import_records("s", [*stock(), *votes])
        report = import_records("s", [completion("A", "A better answer."), *votes, vote(6, rater="bo")])
        assert report.counts["completions"].versions == 1
        assert (report.counts["comparisons"].unchanged, report.counts["comparisons"].added) == (2, 1)
        old, new = Completion.objects.filter(contestant__name="A").order_by("version")
        assert (old.turns, old.is_current) == (["Answer of A."], False)
        assert (new.turns, new.version, new.is_current) == (["A better answer."], 2, True)
        about = {(row.rater.slug, row.pair.shown(row.swapped)[0]) for row in Comparison.objects.all()}
        assert about == {("ann", old), ("bo", new)}

    def test_an_unseen_completion_is_changed_in_place(self) -> None:
        import_records("s", stock())
        report = import_records("s", [completion("A", " ")])
        row = Completion.objects.get(contestant__name="A")
        assert (report.counts["completions"].updated, row.version, row.is_empty) == (1, 1, True)

    def test_an_unknown_text_is_filled_in_and_never_replaces_a_known_one(self) -> None:
        names = [ContestantRecord("A", implied=True), ContestantRecord("B", implied=True)]
        unknown: list[Item] = [PromptRecord("p1", (), implied=True), *names]
        unknown += [CompletionRecord("p1", (), contestant=name, implied=True) for name in "AB"]
        import_records("s", [*unknown, vote(3)])
        filled = import_records("s", stock())
        assert filled.counts["completions"].updated == 2
        import_records("s", [*unknown, vote(5, rater="bo")])
        assert Prompt.objects.get().turns == ["Say hello."]
        assert Completion.objects.get(contestant__name="A").turns == ["Answer of A."]
        assert Completion.objects.count() == 2

    def test_a_rated_prompt_keeps_its_text_but_not_its_category(self) -> None:
        import_records("s", [*stock(), vote(3)])
        assert import_records("s", [PromptRecord("p1", ("Say hello.",), category="greeting")]).applied
        assert Prompt.objects.get().category == "greeting"

    def test_what_a_file_does_not_say_stays(self) -> None:
        import_records("s", [ContestantRecord("A", family="Rook", extra={"site": "x"})])
        report = import_records("s", [ContestantRecord("A", size="7B", extra={"year": 1})])
        row = Contestant.objects.get()
        assert report.counts["contestants"].updated == 1
        assert (row.family, row.size, row.extra) == ("Rook", "7B", {"site": "x", "year": 1})


class TestErrors:
    def test_all_are_gathered_and_nothing_is_changed(self) -> None:
        report = import_records(
            "s",
            [
                *stock(),
                completion("A", "again", place=Place("c", 4)),
                completion("C", "x", prompt="p9", place=Place("c", 5)),
                vote(3, 1, first="Z"),
                vote(3, 2, prompt="p9", subset="hard"),
                vote(3, 3, second="C"),
            ],
        )
        assert reasons(report) == [
            'c, line 4: the answer of "A" to prompt "p1" is already in records',
            'c, line 5: prompt: unknown prompt "p9"; add it or correct its id',
            'votes, line 1: first: unknown model "Z"; add it or correct its name',
            'votes, line 2: prompt: unknown prompt "p9" in subset "hard"; add it or correct its id',
            'votes, line 3: second: "C" has no answer to prompt "p1"',
        ]
        assert not report.applied
        assert not Study.objects.exists()

    @pytest.mark.parametrize(
        ("record", "reason"),
        [
            (PromptRecord("p" * 201, ("x",)), "id: 201 characters long; at most 200 fit"),
            (PromptRecord("p", ("x",), category="c" * 101), "category: 101 characters long; at most 100 fit"),
            (ContestantRecord("n" * 201), "name: 201 characters long; at most 200 fit"),
            (ContestantRecord("A", size="s" * 51), "size: 51 characters long; at most 50 fit"),
            (ContestantRecord("A\u202eB"), "name: contains the invisible character U+202E"),
            (ContestantRecord("A", family="\x1b[31mred"), "family: contains the invisible character U+001B"),
            (
                PromptRecord("p", ("x",), category="\u2066c"),
                "category: contains the invisible character U+2066",
            ),
            (RaterRecord("r\u202d", "person"), "slug: contains the invisible character U+202D"),
            (
                ContestantRecord("A", slug="a b"),
                'slug: "a b" cannot be a short name: use only letters, digits, - and _',
            ),
            (RaterRecord("r" * 201, "person"), "slug: 201 characters long; at most 200 fit"),
            (RaterRecord("r", "person", groups=("a b",)), 'groups: "a b" cannot be a group'),
            (gold(source="s" * 201, place=Place("records")), "source: 201 characters long; at most 200 fit"),
        ],
    )
    def test_what_does_not_fit_is_named(self, record: Item, reason: str) -> None:
        (said,) = reasons(import_records("s", [record]))
        assert said.startswith(f"records: {reason}")

    def test_a_name_that_cannot_be_is_said_once_where_the_file_has_it(self) -> None:
        records = [*stock(**{"A\tB": "a"}), completion("A\tB", "again")]
        assert reasons(import_records("s", records)) == [
            "records: contestant: contains the invisible character U+0009"
        ]

    @pytest.mark.parametrize("stored", [True, False])
    def test_a_model_that_readers_take_for_another_is_refused(self, stored: bool) -> None:
        first = [ContestantRecord("Heron")]
        if stored:
            assert reasons(import_records("s", first)) == []
        for name in ("heron", "\uff28eron"):
            (said,) = reasons(import_records("s", [*first, ContestantRecord(name)]))
            assert said.startswith('records: name: looks like the model "Heron"')
        assert "mixes Latin" in reasons(import_records("s", [ContestantRecord("H\u0435ron")]))[0]
        if stored:  # by an earlier version
            factories.make_contestant(study=Study.objects.get(), name="heron")
            both = [*first, ContestantRecord("heron", family="birds")]
            assert reasons(import_records("s", both)) == []

    def test_a_slug_belongs_to_one_contestant_and_completions_alone_introduce_them(self) -> None:
        report = import_records("s", [ContestantRecord(name, slug="x") for name in "AB"])
        assert reasons(report) == ['records: slug: "x" belongs to the model "A"']
        assert import_records("s", stock(A="a")).notes == []
        named = [*stock(A="a", B="b"), completion("C", implied=True)]
        report = import_records("s", named, dry_run=True)
        assert [note.text for note in report.notes] == [
            f'adds the model "{name}", which the study does not have' for name in "BC"
        ]


class TestReport:
    def test_missing_cells_are_counted(self) -> None:
        records = [PromptRecord("p2", ("Another.",)), *stock(A="a", B=" ")]
        report = import_records("s", records)
        assert report.counts["completions"].empty == 1
        assert (report.missing.count, report.missing.matrix.contestants) == (2, [("A", 1), ("B", 1)])
        assert report.missing.examples == [("A", "p2"), ("B", "p2")]

    @pytest.mark.both_databases(False)
    def test_the_preview_holds_the_first_of_each_kind_and_cuts_long_texts(self) -> None:
        report = import_records("s", [*stock(), *(vote(3, n, rater=f"r{n}") for n in range(30))])
        shown = {kind: len(rows) for kind, rows in report.preview.items()}
        assert shown == {"prompts": 1, "completions": 2, "comparisons": 5}
        assert report.preview["prompts"] == [{"from": "records", "id": "p1", "turns": "Say hello."}]
        report = import_records("s", [PromptRecord("p2", ("x" * 100_000, "y" * 100_000))])
        (row,) = report.preview["prompts"]
        assert (len(row["turns"]), row["turns"][-1]) == (200, "…")

    @pytest.mark.django_db(transaction=True)
    def test_listeners_hear_of_changes_only(self, hear: Any) -> None:
        heard = hear(study_changed)
        import_records("s", [*stock(), vote(3)])
        import_records("s", [*stock(), vote(3)])
        import_records("s", [vote(4)])
        assert [each["study_id"] for each in heard] == [Study.objects.get().pk]


@pytest.mark.both_databases(False)
def test_the_number_of_queries_grows_with_chunks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "CHUNK", 100)

    def queries(slug: str, votes: int) -> int:
        records = [*stock(), *(vote(3, n, rater="ann") for n in range(votes))]
        with CaptureQueriesContext(connection) as captured:
            assert import_records(slug, records).applied
        inserts = sum(query["sql"].startswith('INSERT INTO "arena_comparison"') for query in captured)
        return len(captured) - inserts

    small, one_chunk, four_chunks = queries("a", 10), queries("b", 90), queries("c", 390)
    assert small == one_chunk
    assert four_chunks - one_chunk <= 3 * 8


@pytest.mark.both_databases(False)
def test_counting_anew_reads_of_each_pair_its_own_comparisons() -> None:
    """Not those of the whole study for each, as SQLite would choose to; PostgreSQL knows better by itself."""
    import_records("s", [*stock(), vote(3)])
    study = Study.objects.get()
    with connection.cursor() as cursor:
        with CaptureQueriesContext(connection) as captured:
            Pair.objects.recount(study)
        _, *counts = captured.captured_queries
        for query in counts:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            assert "arena_comparison_pair_id" in str(cursor.fetchall())
    assert len(counts) == 2


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_end_as_one() -> None:
    records = [*stock(), *(vote(3, n, rater=f"r{n}") for n in range(50))]
    reports: list[ImportReport] = []

    def run() -> None:
        try:
            reports.append(import_records("s", records))
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(report.counts["comparisons"].added for report in reports) == [0, 0, 50]
    assert [report.creates_study for report in reports].count(True) == 1
    assert (Study.objects.count(), Comparison.objects.count()) == (1, 50)
    assert Pair.objects.get().people_ratings == 50
