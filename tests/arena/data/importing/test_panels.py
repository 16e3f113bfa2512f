"""Panels in files: they come back as panels, or are left out, and never as judges of their own."""

from typing import Any

import pytest

from arena.data.formats.records import Item, RaterRecord
from arena.data.importing.imports import import_records
from arena.models import Comparison, Pair, Rater
from tests import factories
from tests.arena.data.importing.records import reasons, stock, vote

pytestmark = pytest.mark.django_db

AS_JUDGE: dict[str, Any] = {"rater_kind": "judge"}
OF_PANEL = {**AS_JUDGE, "rater": "both", "derived_from": ("a", "b"), "points": 3}
MEMBERS = [vote(2, rater="a", **AS_JUDGE), vote(3, rater="b", **AS_JUDGE)]
NAMED = RaterRecord("both", "judge", derived_from=("a", "b"))


def is_panel(slug: str = "both") -> bool | None:
    found = Rater.objects.filter(slug=slug, study__slug="s").first()
    return found.is_panel if found else None


@pytest.mark.parametrize(
    ("items", "panel", "lacking"),
    [
        ([*MEMBERS, vote(1, **OF_PANEL)], True, None),
        ([vote(1, **OF_PANEL), *MEMBERS], True, None),
        ([MEMBERS[0], vote(1, **OF_PANEL)], None, '"b"'),
        ([vote(1, **OF_PANEL)], None, '"a", "b"'),
        ([NAMED, *MEMBERS, vote(1, rater="both", **AS_JUDGE)], True, None),
        ([NAMED, vote(1, rater="both", **AS_JUDGE)], None, '"a", "b"'),
    ],
)
def test_a_marked_rater_is_a_panel_or_left_out(items: list[Item], panel: bool, lacking: str | None) -> None:
    report = import_records("s", [*stock(), *items])
    assert report.ok
    assert is_panel() is panel
    notes = [note.text for note in report.notes]
    if lacking is None:
        assert notes == []
        assert Comparison.objects.independent().count() == Pair.objects.get().judge_ratings == 2
    else:
        assert notes[0].startswith('the panel "both" was left out')
        assert f"of whom the study lacks {lacking}" in notes[0]
        assert not Comparison.objects.filter(rater__slug="both").exists()


def test_ratings_left_out_are_counted() -> None:
    report = import_records("s", [*stock(), *(vote(1, **OF_PANEL, repeat=each) for each in range(3))])
    assert [note.text for note in report.notes] == [
        'the panel "both" was left out, with 3 ratings: what it says follows from its judges, of whom the '
        'study lacks "a", "b"'
    ]


def test_a_judge_turns_out_to_be_a_panel() -> None:
    import_records("s", [*stock(), *MEMBERS, vote(1, **{**OF_PANEL, "derived_from": ()})])
    assert is_panel() is False
    import_records("s", [vote(1, **OF_PANEL)])
    assert is_panel() is True


def test_a_panel_of_a_file_never_mixes_with_one_of_this_arena() -> None:
    import_records("s", [*stock(), *MEMBERS])
    own = factories.make_rater(kind="judge", slug="both", derived_from=["x", "y"])
    factories.make_comparison(pair=Pair.objects.get(), rater=own, source="panel")
    report = import_records("s", [vote(1, **OF_PANEL)])
    assert 'a panel "both" has rated in this study' in reasons(report)[0]


def panel(name: str, *members: str) -> Item:
    return vote(1, **{**OF_PANEL, "rater": name, "derived_from": members})


@pytest.mark.parametrize(
    ("items", "panels"),
    [
        ([panel("c", "a", "d"), panel("d", "b", "c")], []),
        ([panel("c", "a", "b"), panel("d", "a", "c")], ["c"]),
        ([vote(1, rater="joe"), panel("c", "a", "joe")], []),
        ([panel("c", "a", "")], []),
    ],
    ids=["of each other", "of a panel", "of a person", "of nobody"],
)
def test_a_panel_is_made_of_judges_alone(items: list[Item], panels: list[str]) -> None:
    report = import_records("s", [*stock(), *MEMBERS, *items])
    assert report.ok
    assert list(Rater.objects.panels().values_list("slug", flat=True)) == panels
    assert set(Rater.objects.independent().filter(kind="judge").values_list("slug", flat=True)) == {"a", "b"}


@pytest.mark.parametrize("members", [("a",), ("b", "a")])
def test_a_panel_that_names_itself_is_refused(members: tuple[str, ...]) -> None:
    import_records("s", [*stock(), *MEMBERS])
    report = import_records("s", [RaterRecord("a", "judge", derived_from=members)])
    assert 'the panel "a" names itself' in reasons(report)[0]
    assert is_panel("a") is False


def test_of_very_many_unknown_judges_some_are_named() -> None:
    report = import_records("s", [*stock(), panel("c", *(f"x{number}" for number in range(10_000)))])
    assert report.notes[0].text.endswith('lacks "x0", "x1", "x2", "x3", "x4" and 9,995 more')


@pytest.mark.parametrize("told", [RaterRecord("c", "judge", derived_from=("a", "b")), panel("c", "a", "b")])
def test_a_pair_loses_the_rating_of_a_judge_that_turns_out_to_be_a_panel(told: Item) -> None:
    import_records("s", [*stock(), *MEMBERS, panel("c")])
    assert Pair.objects.get().judge_ratings == 3
    import_records("s", [told])
    assert Pair.objects.get().judge_ratings == Comparison.objects.independent().count() == 2
