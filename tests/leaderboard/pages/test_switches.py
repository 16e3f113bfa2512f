import pytest

from leaderboard.pages.switches import switches
from leaderboard.snapshots.settings import Setting
from tests.leaderboard.counted import COUNTS


def by_name(setting, **counts):
    return {switch.name: switch for switch in switches(setting, {**COUNTS, **counts})}


def options(setting, name):
    return by_name(setting)[name].options


def test_all_of_them_in_their_groups():
    groups = {name: switch.group for name, switch in by_name(Setting("people")).items()}
    assert groups == {
        **dict.fromkeys(("raters", "category"), "main"),
        **dict.fromkeys(("contestants", "ties", "method"), "more"),
        **dict.fromkeys(("band", "all-but", "level", "resample", "pairwise"), "more"),
    }


def test_links_change_one_switch_and_keep_the_others():
    (on, off) = options(Setting("judge:x", "off", "coding", "elo"), "ties")
    assert (on.chosen, off.chosen) == (False, True)
    assert on.query == "?raters=judge%3Ax&category=coding"
    assert options(Setting("people"), "category")[2].query == "?raters=people&category=a%26b%3Dc"
    found = {option.label: option.query for option in options(Setting("people", band="3-6"), "raters")}
    assert found["Judge X"] == "?raters=judge%3Ax&band=3-6"
    assert found["Judge Three"] == "?raters=judge%3Athree"


def test_raters_that_are_offered_and_their_numbers_of_comparisons():
    assert [option.label for option in options(Setting("people"), "raters")] == [
        "People",
        "Judge X",
        "Judge Three",
    ]
    chosen = options(Setting("group:all"), "raters")
    assert [option.label for option in chosen] == ["People", "Judge X", "Judge Three", "All"]
    setting = Setting("people")
    assert [option.comparisons for option in options(setting, "raters")] == [5, 7, 4]
    assert [option.comparisons for option in options(setting, "category")] == [5, 2, 1, 0]
    assert [option.comparisons for option in options(setting, "all-but")] == [None, 3, 4, 5]
    assert {option.comparisons for option in options(setting, "method")} == {None}


@pytest.mark.parametrize(
    ("setting", "counts", "missing"),
    [
        (Setting("people"), {"categories": []}, {"category", "all-but"}),
        (Setting("people"), {"kinds": {"model": 3}}, {"contestants"}),
        (Setting("people", method="ordinal"), {}, {"ties", "band"}),
        (Setting("people", ties="off"), {}, {"band"}),
        (Setting("judge:three"), {}, {"band"}),
        (Setting("group:mixed"), {}, {"band"}),
        (Setting("people"), {"raters": COUNTS["raters"][:1]}, {"raters"}),
    ],
)
def test_what_leaves_no_choice_is_not_offered(setting, counts, missing):
    everything = set(by_name(Setting("people")))
    assert everything - set(by_name(setting, **counts)) == missing


def test_bands_and_levels_that_are_offered():
    assert [(option.label, option.query) for option in options(Setting("people", band="3-6"), "band")] == [
        ("4–5", "?raters=people"),
        ("3–6", "?raters=people&band=3-6"),
        ("2–7", "?raters=people&band=2-7"),
    ]
    shown = [(option.label, option.chosen) for option in options(Setting("people", level="97.5"), "level")]
    assert shown == [("80%", False), ("90%", False), ("95%", False), ("97.5%", True), ("99%", False)]


def test_a_form_keeps_the_rest_of_the_address():
    switch = by_name(Setting("people", "off", "-coding", level="90"))["all-but"]
    assert (switch.field, switch.kept) == (
        "category",
        (("raters", "people"), ("ties", "off"), ("level", "90")),
    )
    assert [option.value for option in switch.options if option.chosen] == ["-coding"]


def test_choices_that_need_more_than_a_line_become_a_list():
    assert not by_name(Setting("people"))["category"].is_long
    many = [f"a rather long category {number}" for number in range(4)]
    assert by_name(Setting("people"), categories=many)["category"].is_long


def test_counts_of_an_earlier_version_still_make_switches():
    old = [
        {name: value for name, value in choice.items() if name not in ("by_category", "points")}
        for choice in COUNTS["raters"]
    ]
    found = switches(Setting("people"), {"categories": ["coding"], "raters": old})
    assert [switch.name for switch in found] == [
        *("raters", "ties", "category", "method", "band", "all-but", "level", "resample", "pairwise"),
    ]
