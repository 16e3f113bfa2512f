from contextlib import suppress
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import scales
from leaderboard.snapshots.method_names import METHOD_NAMES
from leaderboard.snapshots.settings import Setting, UnknownSettingError, bands, left_out, parse
from leaderboard.stats import intervals
from leaderboard.stats.checks import ParameterError
from leaderboard.stats.choices import METHODS, RESAMPLE
from leaderboard.stats.verdicts import TieBand
from tests.leaderboard.counted import COUNTS

CLOSED = {**COUNTS, "closed": True}


def test_what_is_not_asked_for_is_the_usual():
    assert parse({}, COUNTS) == Setting("people", "on", "", "elo")
    assert parse({}, {**COUNTS, "raters": COUNTS["raters"][1:]}).raters == "judge:x"
    assert parse({"ties": "off"}, {"raters": [], "categories": []}) is None
    assert parse(dict.fromkeys(("raters", "ties", "category", "band", "level", "resample"), ""), COUNTS) == (
        Setting("people")
    )


def test_every_switch_is_read_from_the_address():
    wanted = {
        "raters": "people",
        "ties": "on",
        "category": "-coding",
        "method": "bradley-terry",
        "band": "3-6",
        "level": "97.5",
        "contestants": "models",
        "resample": "raters",
    }
    assert parse(wanted, COUNTS) == Setting(**wanted)
    assert parse({"adjust": "length", "ties": "off"}, CLOSED) == Setting(
        "people", method="ordinal", adjust="length"
    )


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"raters": "nonsense"}, 'no raters "nonsense". It has: people, judge:x, judge:three'),
        ({"ties": "nonsense"}, 'no ties "nonsense". It has: on, off'),
        ({"category": "nonsense"}, 'no category "nonsense". It has: coding, a&b=c, -odd'),
        ({"category": "-nonsense"}, 'no category "-nonsense". It has: coding'),
        ({"category": "-"}, 'no category "-". It has: coding'),
        ({"method": "nonsense"}, 'no method "nonsense". It has: elo, bradley-terry, davidson, ordinal'),
        ({"band": "1-8"}, 'no band "1-8". It has: 4-5, 3-6, 2-7'),
        (
            {"band": "3-5"},
            "2-7. A band of ties is centred on the scale and leaves at least one rating on",
        ),
        ({"band": "1-3", "raters": "judge:three"}, 'no band "1-3". It has: 2-2.'),
        (
            {"band": "3-6", "raters": "group:mixed"},
            "used scales of 3 and 8 points. A band of ties needs one",
        ),
        ({"level": "49.9"}, "It has: 50, 80, 90, 95, 99, and any other from 50 to 99.9 with one decimal"),
        ({"level": "100"}, 'no level "100"'),
        ({"level": "95.55"}, 'no level "95.55"'),
        ({"level": "nan"}, 'no level "nan"'),
        ({"level": "９５"}, "no level"),
        ({"contestants": "people"}, 'no contestants "people". It has: models'),
        ({"pairwise": "yes"}, 'no pairwise "yes". It has: on'),
        ({"adjust": "style"}, 'no adjust "style". It has: length, length-and-markdown'),
        ({"adjust": "length"}, "opens when the study closes"),
        ({"resample": "raters "}, 'no resample "raters ". It has: prompts, games, raters'),
    ],
)
def test_what_the_board_does_not_have_is_answered_with_what_it_has(wanted, sentence):
    with pytest.raises(UnknownSettingError) as error:
        parse(wanted, COUNTS)
    assert sentence in str(error.value)
    with pytest.raises(UnknownSettingError) as error:
        parse(wanted | {"ties": "x" * 5000}, COUNTS)
    assert len(str(error.value)) < 200


class TestOneAddressForEachSetting:
    def test_the_usual_is_left_out(self):
        assert Setting("judge:x").query() == "?raters=judge%3Ax"
        assert Setting("people", "off", "a&b=c").query(level="90") == (
            "?raters=people&ties=off&category=a%26b%3Dc&level=90"
        )
        counts = {**COUNTS, "kinds": {"model": 3}}
        assert parse({"contestants": "models"}, counts) == Setting("people")

    @pytest.mark.parametrize(
        ("wanted", "query"),
        [
            ({"band": "4-5", "level": "95.0", "resample": "prompts"}, "?raters=people"),
            ({"ties": "off", "band": "3-6"}, "?raters=people&ties=off"),
            ({"ties": "off", "method": "ordinal", "band": "2-7"}, "?raters=people&method=ordinal"),
            ({"level": "97.0", "ties": "on"}, "?raters=people&level=97"),
        ],
    )
    def test_what_shows_the_same_has_the_same_address(self, wanted, query):
        assert parse(wanted, COUNTS).query() == query

    @given(
        st.fixed_dictionaries(
            {
                "raters": st.sampled_from(["people", "judge:x"]),
                "ties": st.sampled_from(["on", "off"]),
                "category": st.sampled_from(["", "coding", "-coding", "a&b=c", "-a&b=c", "-odd", "--odd"]),
                "method": st.sampled_from(list(METHOD_NAMES)),
                "band": st.sampled_from(["", "4-5", "3-6", "2-7"]),
                "level": st.sampled_from(["80", "95", "97.5", "50.0"]),
                "contestants": st.sampled_from(["", "models"]),
                "resample": st.sampled_from(RESAMPLE),
            }
        )
    )
    def test_an_address_leads_back_to_its_setting(self, wanted):
        setting = parse(wanted, COUNTS)
        assert parse(dict(parse_qsl(setting.query()[1:])), COUNTS) == setting


class TestWhatSnapshotsHold:
    @pytest.mark.parametrize(
        "changes", [{}, {"ties": "off"}, {"category": "coding"}, {"category": "-odd"}, {"level": "80"}]
    )
    def test_stored(self, changes):
        setting = Setting("people", **changes)
        assert setting.is_stored(COUNTS["categories"])
        assert setting.computed == Setting("people", **{**changes, "level": "95"})

    @pytest.mark.parametrize(
        "changes",
        [
            {"band": "3-6"},
            {"category": "-coding"},
            {"category": "--odd"},
            {"level": "97.5"},
            {"contestants": "models"},
            {"resample": "games"},
            {"method": "ordinal", "adjust": "length"},
            {"pairwise": "on"},
            {"resample": "prompts-and-raters"},
        ],
    )
    def test_computed(self, changes):
        assert not Setting("people", **changes).is_stored(COUNTS["categories"])
        assert Setting("people", **changes).computed == Setting("people", **changes)

    def test_the_category_left_out(self):
        found = {
            name: left_out(name, COUNTS["categories"]) for name in ("", "coding", "-coding", "-odd", "--odd")
        }
        assert found == {"": None, "coding": None, "-coding": "coding", "-odd": None, "--odd": "-odd"}


class TestTheSameWordsAsTheStatistics:
    def test_methods(self):
        assert tuple(METHOD_NAMES) == METHODS

    @pytest.mark.parametrize("points", scales.TIE_BAND)
    def test_bands(self, points):
        """The board offers every band that the statistics take, the usual one first."""

        def fits(band):
            with suppress(ParameterError):
                return band.check(intervals.np.array([points])) is None

        ends = range(points + 2)
        possible = [TieBand(low, high) for low in ends for high in ends if fits(TieBand(low, high))]
        assert sorted(bands(points)) == sorted(map(str, possible))
        usual = scales.TIE_BAND[points]
        assert bands(points)[:1] == ([f"{usual[0]}-{usual[-1]}"] if usual else [])
