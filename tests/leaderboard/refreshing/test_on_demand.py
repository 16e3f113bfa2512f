import json
from datetime import timedelta

import pytest
from celery import current_app
from django.utils import timezone
from kombu.exceptions import OperationalError

from arena.models import Comparison, Contestant
from leaderboard.models import ComputedView, Snapshot
from leaderboard.refreshing import computing, services
from leaderboard.snapshots import freshness, on_demand
from leaderboard.snapshots.canonical import FORM, canonical
from leaderboard.snapshots.settings import Scope, Setting, parse
from leaderboard.standings import content as standings_content
from tests.leaderboard.reading import printed
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

NAMES = ("alpha", "beta", "gamma", "delta")
ROUNDS = 50


@pytest.fixture(autouse=True)
def messages(monkeypatch):
    """The studies that workers are sent to, instead of sending them."""
    sent = []

    def keep(task, args, **options):
        assert task == "leaderboard.compute_view"
        sent.append(args[0])

    monkeypatch.setattr(current_app, "send_task", keep)
    monkeypatch.setattr(on_demand.transaction, "on_commit", lambda call: call())
    return sent


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Four contestants, one of them people, on eight prompts of two categories, by people and two judges."""
    made = HandMade(*NAMES, categories=("coding", "poems") * 4)
    Contestant.objects.filter(name="delta").update(kind="people")
    judges = made.judge("strict"), made.judge("three")
    for number in range(24):
        one, other = NAMES[number % 4], NAMES[(number + 1 + number // 4 % 3) % 4]
        made.rate(one, other, 1 + number * 5 % 8, prompt=number % 8)
        made.rate(other, one, 1 + number * 3 % 8, prompt=number % 8, rater=judges[0])
        made.rate(one, other, 1 + number % 3, points=3, prompt=number % 8, rater=judges[1])
    made.snapshot = services.refresh(made.study).snapshot
    return made


def setting(made, **wanted):
    return parse(wanted, made.snapshot.counts)


def computed(made, scope=Scope.BOARD, **wanted):
    """What the tables of a setting are once a worker has been there, by kind, raters, ties and method."""
    return {
        (kind, *rest): content for (kind, *rest, _), content in by_category(made, scope, **wanted).items()
    }


def by_category(made, scope=Scope.BOARD, **wanted):
    """The same, with the category as the last word of each place."""
    chosen = setting(made, **wanted)
    assert isinstance(on_demand.contents(made.snapshot, chosen, scope), on_demand.Pending)
    assert computing.compute_next(made.study.pk)
    answer = on_demand.contents(made.snapshot, chosen, scope)
    assert not isinstance(answer, on_demand.Pending), ComputedView.objects.get().error
    return {
        (kind, raters, ties, method, category): json.loads(payload)
        for (kind, raters, category, ties, method), payload in answer.items()
    }


def command(made, *options):
    return json.loads(printed("standings", made.study.slug, *options, "--rounds", "50", "--format", "json"))


def comparable(content):
    """What the command prints of standings that a page shows."""
    kept = {
        name: value for name, value in content.items() if name not in ("unscored", "not_ranked", "robustness")
    }
    rows = [{name: value for name, value in row.items() if name != "kind"} for row in content["standings"]]
    return kept | {"standings": rows}


def noted(monkeypatch):
    """What is ranked from now on: how many ratings, by which method, with ties or without."""
    ranked, original = [], standings_content.standings

    def noting(players, given, method):
        ranked.append((len(given), method.name, method.ties))
        return original(players, given, method)

    monkeypatch.setattr(standings_content, "standings", noting)
    return ranked


class TestEquality:
    @pytest.mark.parametrize(
        ("method", "ties", "category"),
        [
            ("elo", "on", ""),
            ("elo", "off", "coding"),
            ("bradley-terry", "on", "coding"),
            ("bradley-terry", "off", ""),
            ("davidson", "on", ""),
            ("davidson", "off", "coding"),
            ("ordinal", "on", "coding"),
            ("ordinal", "off", ""),
        ],
    )
    def test_a_stored_setting_computed_anew_is_the_same_byte_for_byte(self, made, method, ties, category):
        stored = {
            (row.kind, row.raters, row.ties, row.method): row.payload
            for row in made.snapshot.slices.filter(category=category)
        }
        made.snapshot.slices.all().delete()  # so that none can be copied
        found = computed(made, method=method, ties=ties, category=category)
        assert ("standings", "people", "on", method) in found
        assert ("standings", "judge:three", "on" if method == "ordinal" else ties, method) in found
        for place, content in found.items():
            assert canonical(content) == stored[place], place

    @pytest.mark.parametrize("method", ["elo", "bradley-terry"])
    def test_a_tie_band_is_that_of_the_command(self, made, method):
        found = computed(made, band="3-6", method=method)["standings", "people", "on", method]
        assert found["parameters"]["tie_band"] == "3-6"
        wanted = command(made, "--tie-band", "3-6", "--method", method)
        assert comparable(found) == {
            name: value for name, value in wanted.items() if name in comparable(found)
        }

    @pytest.mark.parametrize(
        ("asked", "options"),
        [
            ({"resample": "games"}, ("--resample", "games")),
            ({"resample": "raters"}, ("--resample", "raters")),
            ({"resample": "prompts-and-raters"}, ("--resample", "prompts-and-raters")),
            ({"level": "97.5"}, ("--interval", "97.5")),
        ],
    )
    def test_units_and_levels_are_those_of_the_command(self, made, asked, options):
        found = computed(made, **asked)["standings", "people", "on", "elo"]
        assert comparable(found)["standings"] == command(made, *options)["standings"]
        assert found["parameters"]["resample"] == asked.get("resample", "prompts")

    @pytest.mark.parametrize("method", ["elo", "ordinal"])
    def test_who_is_above_whom_is_that_of_the_command_and_of_the_chosen_raters_alone(self, made, method):
        found = computed(made, pairwise="on", method=method)
        intervals = ("--intervals", "sandwich") if method == "ordinal" else ()
        wanted = command(made, "--pairwise", "--method", method, *intervals)
        assert comparable(found["standings", "people", "on", method]) == {
            name: value
            for name, value in wanted.items()
            if name not in ("study", "raters", "category", "simulated", "robustness")
        }
        with_it = [place for place, content in found.items() if "probability_above" in content]
        assert with_it == [("standings", "people", "on", method)]

    def test_all_categories_but_one_are_the_others(self, made):
        """With two categories, all but one of them are the other."""
        found = computed(made, category="-coding", method="bradley-terry")
        stored = made.snapshot.slices.get(
            kind="standings", raters="people", ties="on", category="poems", method="bradley-terry"
        )
        assert found["standings", "people", "on", "bradley-terry"] == stored.content

    def test_models_only_are_the_games_among_them(self, made):
        found = computed(made, contestants="models", method="bradley-terry")
        models = found["standings", "people", "on", "bradley-terry"]
        everyone = found["everyone", "people", "on", "bradley-terry"]
        stored = made.snapshot.slices.get(
            kind="standings", raters="people", ties="on", category="", method="bradley-terry"
        )
        assert canonical(everyone) == stored.payload
        assert sorted(row["contestant"] for row in models["standings"]) == ["alpha", "beta", "gamma"]
        with_people = Comparison.objects.filter(rater=made.person, pair__first__contestant__name="delta")
        with_people |= Comparison.objects.filter(rater=made.person, pair__second__contestant__name="delta")
        assert models["games"] == everyone["games"] - with_people.count() > 0
        assert models["not_ranked"] == with_people.count()
        Contestant.objects.filter(name="delta").update(retired_at=timezone.now())
        assert comparable(models)["standings"] == command(made, "--method", "bradley-terry")["standings"]

    def test_a_band_leaves_raters_on_another_scale_out(self, made):
        found = computed(made, band="2-7")
        raters = {raters for kind, raters, _, _ in found if kind == "standings"}
        assert raters == {"people", "judge:strict"}


class TestCategories:
    @pytest.mark.parametrize(
        ("method", "ties"),
        [("elo", "off"), ("bradley-terry", "on"), ("davidson", "off"), ("ordinal", "on")],
    )
    def test_a_stored_setting_computed_anew_is_the_same_byte_for_byte(self, made, method, ties):
        rule = "on" if method == "ordinal" else ties
        stored = {
            row.category: row.payload
            for row in made.snapshot.slices.filter(
                kind="standings", raters="judge:strict", ties=rule, method=method
            )
        }
        made.snapshot.slices.all().delete()  # so that none can be copied
        found = by_category(made, Scope.CATEGORIES, method=method, ties=ties, raters="judge:strict")
        assert set(stored) == {"", "coding", "poems"}
        assert {place: canonical(content) for place, content in found.items()} == {
            ("standings", "judge:strict", rule, method, category): payload
            for category, payload in stored.items()
        }

    def test_each_is_what_the_board_of_that_category_shows(self, made):
        wanted = {"band": "2-7", "contestants": "models", "resample": "games", "level": "97.5"}
        found = by_category(made, Scope.CATEGORIES, **wanted)
        assert len(found) == 3
        for (*place, category), content in found.items():
            assert computed(made, **wanted, category=category)[tuple(place)] == content

    def test_the_board_and_the_categories_of_a_setting_are_kept_apart(self, made):
        chosen = setting(made, band="3-6")
        by_category(made, Scope.CATEGORIES, band="3-6")
        assert on_demand.contents(made.snapshot, chosen).state == "wanted"
        assert sorted(ComputedView.objects.values_list("setting", flat=True)) == [
            on_demand.key_of(chosen, scope) for scope in (Scope.BOARD, Scope.CATEGORIES)
        ]

    def test_what_the_board_computed_is_copied(self, made, monkeypatch):
        computed(made, band="3-6")
        ranked = noted(monkeypatch)
        by_category(made, Scope.CATEGORIES, band="3-6")
        assert sum(ratings for ratings, *_ in ranked) == 24  # coding and poems; all together is there


class TestTheDataOfTheSnapshot:
    def test_later_comparisons_and_revisions_change_nothing(self, made):
        revised = Comparison.objects.filter(rater=made.person).order_by("pk").first()
        before = computed(made, band="3-6")
        ComputedView.objects.all().delete()
        Comparison.objects.filter(pk=revised.pk).update(is_current=False)
        revised.pk, revised.revises_id, revised.rating = None, revised.pk, 9 - revised.rating
        revised._state.adding = True
        revised.save()
        for number in range(9):
            made.rate("gamma", "alpha", 8, prompt=number % 8)
        assert computed(made, band="3-6") == before

    @pytest.mark.parametrize("change", ["revision", "deletion", "methodology"])
    def test_a_study_that_changed_otherwise_waits_for_its_next_snapshot(self, made, change, messages):
        chosen = setting(made, band="3-6")
        assert on_demand.contents(made.snapshot, chosen).state == "wanted"
        if change == "revision":
            made.study.touch()
        elif change == "deletion":
            Comparison.objects.filter(rater=made.person).first().delete()
        else:
            Snapshot.objects.update(methodology="1")
        assert computing.compute_next(made.study.pk)
        assert on_demand.contents(made.snapshot, chosen).state == "changed"
        assert not computing.compute_next(made.study.pk)
        newer = services.refresh(made.study).snapshot
        assert on_demand.contents(newer, chosen).state == "wanted"
        assert computing.compute_next(made.study.pk)
        assert not isinstance(on_demand.contents(newer, chosen), on_demand.Pending)

    def test_a_change_that_no_snapshot_followed_is_looked_at_again(self, made, messages):
        chosen = setting(made, band="3-6")
        on_demand.contents(made.snapshot, chosen)
        Snapshot.objects.update(methodology="1")
        computing.compute_next(made.study.pk)
        ComputedView.objects.update(computed_at=timezone.now() - on_demand.LOST_AFTER)
        assert on_demand.contents(made.snapshot, chosen).state == "wanted"


class TestAsking:
    def test_two_askers_make_one_row_and_one_message(self, made, messages):
        chosen = setting(made, band="3-6")
        first, second = (on_demand.contents(made.snapshot, chosen) for _ in range(2))
        assert first == second == on_demand.Pending("wanted")
        assert messages == [made.study.pk]
        overtaken = on_demand._want(made.snapshot, on_demand.key_of(chosen, Scope.BOARD), timezone.now())
        assert overtaken == ComputedView.objects.get()
        assert messages == [made.study.pk]

    def test_what_is_ready_is_read_without_a_message_or_a_write(
        self, made, messages, django_assert_num_queries
    ):
        chosen = setting(made, band="3-6")
        computed(made, band="3-6")
        del messages[:]
        with django_assert_num_queries(1):
            assert not isinstance(on_demand.contents(made.snapshot, chosen), on_demand.Pending)
        assert messages == []

    def test_only_so_many_of_a_study_wait_at_a_time(self, made, messages):
        levels = [f"{60 + number}" for number in range(on_demand.MOST_WAITING)]
        states = [on_demand.contents(made.snapshot, Setting("people", level=level)).state for level in levels]
        assert set(states) == {"wanted"}
        assert on_demand.contents(made.snapshot, Setting("people", level="97.5")).state == "crowded"
        assert ComputedView.objects.count() == on_demand.MOST_WAITING
        other = HandMade("x", "y")
        other.rate("x", "y", 1)
        snapshot = services.refresh(other.study).snapshot
        assert on_demand.contents(snapshot, Setting("people", level="97.5")).state == "wanted"
        assert computing.compute_next(made.study.pk)
        assert on_demand.contents(made.snapshot, Setting("people", level="97.5")).state == "wanted"

    def test_what_was_read_longest_ago_makes_room(self, made, monkeypatch, messages):
        monkeypatch.setattr(on_demand, "MOST_KEPT", 3)
        now = timezone.now()
        for number, level in enumerate(("61", "62", "63")):
            computed(made, level=level)
            view = ComputedView.objects.filter(setting__contains=f"level={level}")
            view.update(read_at=now - timedelta(hours=number))
        on_demand.contents(made.snapshot, Setting("people", level="61"))
        on_demand.contents(made.snapshot, Setting("people", level="64"))
        kept = sorted(ComputedView.objects.values_list("setting", flat=True))
        assert kept == [f"?raters=people&level={level}#{FORM}" for level in ("61", "62", "64")]

    def test_reading_is_noted_now_and_then_and_tables_go_with_their_snapshot(self, made):
        computed(made, band="3-6")
        long_ago = timezone.now() - on_demand.READ_NOTED_EVERY
        ComputedView.objects.update(read_at=long_ago)
        on_demand.contents(made.snapshot, setting(made, band="3-6"))
        assert ComputedView.objects.get().read_at > long_ago
        made.snapshot.delete()
        assert not ComputedView.objects.exists()

    def test_a_queue_that_is_away_is_no_error(self, made, monkeypatch, caplog):
        def away(*args, **options):
            raise OperationalError("no broker")

        monkeypatch.setattr(current_app, "send_task", away)
        assert on_demand.contents(made.snapshot, setting(made, band="3-6")).state == "wanted"
        assert "the sweep will ask again: no broker" in caplog.text

    def test_the_longest_names_fit(self, made):
        name = "語" * 100
        made.prompts[0].category = name
        made.prompts[0].save()
        snapshot = services.refresh(made.study, anew=True).snapshot
        chosen = parse({"category": f"-{name}", "band": "3-6", "level": "97.5"}, snapshot.counts)
        assert on_demand.contents(snapshot, chosen).state == "wanted"
        declared, asked = computing.wanted_of(ComputedView.objects.get())
        assert (declared.scope, asked) == (Scope.BOARD, chosen)


class TestWorking:
    def test_one_at_a_time_of_a_study_and_then_the_next_in_a_message_of_its_own(self, made, messages):
        for level in ("61", "62"):
            on_demand.contents(made.snapshot, Setting("people", level=level))
        first = on_demand.claim(made.study.pk)
        assert on_demand.contents(made.snapshot, Setting("people", level="61")).state == "running"
        assert on_demand.claim(made.study.pk) is None
        on_demand.fail(first, "x")
        del messages[:]
        assert computing.compute_next(made.study.pk)
        assert messages == []  # nothing is left to ask for
        assert {view.setting: view.state for view in ComputedView.objects.all()} == {
            f"?raters=people&level=61#{FORM}": "failed",
            f"?raters=people&level=62#{FORM}": "ready",
        }
        assert not computing.compute_next(made.study.pk)

    def test_the_rest_is_asked_for_in_a_message_of_its_own(self, made, messages):
        for level in ("61", "62"):
            on_demand.contents(made.snapshot, Setting("people", level=level))
        del messages[:]
        computing.compute_next(made.study.pk)
        assert messages == [made.study.pk]

    def test_what_a_killed_worker_had_in_hand_is_computed_after_its_lease(self, made, messages):
        on_demand.contents(made.snapshot, Setting("people", level="61"))
        on_demand.claim(made.study.pk)  # and then kill -9
        del messages[:]
        assert (on_demand.sweep(), messages) == (0, [])
        ComputedView.objects.update(running_until=timezone.now())
        assert (on_demand.sweep(), messages) == (1, [made.study.pk])
        assert computing.compute_next(made.study.pk)
        assert ComputedView.objects.get().state == "ready"

    def test_what_kills_every_worker_is_given_up(self, made, messages):
        asked = Setting("people", level="61")
        on_demand.contents(made.snapshot, asked)
        for _ in range(on_demand.MOST_ATTEMPTS):
            assert on_demand.claim(made.study.pk)
            ComputedView.objects.update(running_until=timezone.now())
        assert on_demand.claim(made.study.pk) is None
        answer = on_demand.contents(made.snapshot, asked)
        assert answer.error == "The process that computed it ended 3 times without a result."

    def test_a_lost_message_is_sent_again_and_the_only_process_frees_what_was_running(self, made, messages):
        on_demand.contents(made.snapshot, Setting("people", level="61"))
        del messages[:]
        assert (on_demand.sweep(), messages) == (0, [])
        ComputedView.objects.update(wanted_at=timezone.now() - on_demand.LOST_AFTER)
        assert (on_demand.sweep(), messages) == (1, [made.study.pk])
        on_demand.contents(made.snapshot, Setting("people", level="61"))
        on_demand.claim(made.study.pk)
        on_demand.abandon_runs()
        assert computing.compute_next(made.study.pk)

    def test_a_failure_is_kept_for_ten_minutes_with_its_reason(self, made, monkeypatch, caplog):
        def broken(*args):
            raise MemoryError("no memory")

        asked = Setting("people", level="61")
        on_demand.contents(made.snapshot, asked)
        with monkeypatch.context() as patch:
            patch.setattr(computing, "tables_of", broken)
            assert computing.compute_next(made.study.pk)
        answer = on_demand.contents(made.snapshot, asked)
        assert answer.error == "MemoryError: no memory"
        assert "could not be computed" in caplog.text
        assert not computing.compute_next(made.study.pk)
        ComputedView.objects.update(computed_at=timezone.now() - freshness.RETRY_FAILED_AFTER)
        assert on_demand.contents(made.snapshot, asked).state == "wanted"
        assert computing.compute_next(made.study.pk)
        assert not isinstance(on_demand.contents(made.snapshot, asked), on_demand.Pending)

    def test_what_is_wanted_of_an_older_snapshot_is_forgotten(self, made):
        asked = Setting("people", level="61")
        on_demand.contents(made.snapshot, asked)
        made.rate("alpha", "beta", 1)
        newer = services.refresh(made.study).snapshot
        assert not computing.compute_next(made.study.pk)
        on_demand.contents(newer, asked)
        assert computing.compute_next(made.study.pk)
        assert ComputedView.objects.get().snapshot == newer

    def test_a_snapshot_that_went_while_its_tables_were_computed_is_no_error(self, made, monkeypatch):
        def slow(view):
            Snapshot.objects.filter(pk=view.snapshot_id).delete()
            return "[]"

        on_demand.contents(made.snapshot, Setting("people", level="61"))
        monkeypatch.setattr(computing, "tables_of", slow)
        assert computing.compute_next(made.study.pk)
        assert not ComputedView.objects.exists()

    def test_standings_that_are_known_are_not_computed_again(self, made, monkeypatch):
        """Ties off are the same whatever the band; and other raters' tables serve every choice of raters."""
        ranked = noted(monkeypatch)
        computed(made, band="3-6")
        # Of people Elo and Bradley-Terry, of the judge on the same scale Elo; without ties all is stored.
        assert sorted(method for _, *method in ranked) == [
            ["bradley-terry", True],
            ["elo", True],
            ["elo", True],
        ]
        del ranked[:]
        computed(made, band="3-6", raters="judge:strict")
        assert [method for _, *method in ranked] == [["bradley-terry", True]]
