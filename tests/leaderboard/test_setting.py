"""The switches of a board, from its address."""

import pytest

from leaderboard.setting import Setting, UnknownSettingError, parse, switches

COUNTS = {
    "categories": ["coding", "a&b=c"],
    "raters": [
        {"selector": "people", "label": "People", "comparisons": 5, "simulated": False, "same_as": None},
        {"selector": "judge:x", "label": "X", "comparisons": 7, "simulated": True, "same_as": None},
        {"selector": "group:all", "label": "All", "comparisons": 5, "simulated": False, "same_as": "people"},
    ],
}


def options(setting, name):
    (found,) = [switch.options for switch in switches(setting, COUNTS) if switch.name == name]
    return found


def test_nothing_asked_for_is_people_with_ties_on_elo():
    assert parse({}, COUNTS) == Setting("people", "on", "", "elo")


def test_the_first_judge_stands_in_where_no_person_rated():
    assert parse({}, {**COUNTS, "raters": COUNTS["raters"][1:]}).raters == "judge:x"


def test_nobody_has_rated():
    assert parse({"ties": "off"}, {"raters": [], "categories": []}) is None


def test_every_switch_is_read_from_the_address():
    wanted = {"raters": "judge:x", "ties": "off", "category": "coding", "method": "bradley-terry"}
    assert parse(wanted, COUNTS) == Setting("judge:x", "off", "coding", "bradley-terry")


@pytest.mark.parametrize("name", ["raters", "ties", "category", "method"])
def test_what_the_board_does_not_have_is_named(name):
    with pytest.raises(UnknownSettingError, match=f'This board has no {name} "nonsense"'):
        parse({name: "nonsense"}, COUNTS)


def test_a_long_wrong_value_is_cut():
    with pytest.raises(UnknownSettingError) as error:
        parse({"ties": "x" * 5000}, COUNTS)
    assert len(str(error.value)) < 200


def test_links_change_one_switch_and_keep_the_others():
    setting = Setting("judge:x", "off", "coding", "elo")
    (on, off) = options(setting, "ties")
    assert (on.chosen, off.chosen) == (False, True)
    assert on.query == "?raters=judge%3Ax&ties=on&category=coding&method=elo"


def test_names_are_quoted_in_links():
    assert [option.query for option in options(Setting("people"), "category")][2].endswith(
        "&category=a%26b%3Dc&method=elo"
    )


def test_a_group_of_the_same_raters_is_offered_only_while_it_is_chosen():
    assert [option.label for option in options(Setting("people"), "raters")] == ["People", "X"]
    assert [option.label for option in options(Setting("group:all"), "raters")] == ["People", "X", "All"]


def test_no_category_switch_without_categories():
    found = switches(Setting("people"), {**COUNTS, "categories": []})
    assert [switch.name for switch in found] == ["raters", "ties", "method"]
