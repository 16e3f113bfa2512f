"""What public addresses of an open study tell of an answer that its rater can still change."""

import itertools
import json
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import _lru_cache_wrapper

import pytest
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from arena.models import Assignment, Completion, Pair, Rater, Study
from arena.rating import assignments, publication, recording
from arena.rating.opinions import Check, Checks, NotAllowedError, Rating, Said, TextScore
from arena.rating.publication import LEAST_ANSWERS, LEAST_RATERS
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.refreshing import computing, services
from leaderboard.results import api
from tests import factories as make
from tests.crawl.test_every_page import Page
from tests.crawl.walk import Facet, facets, walk

pytestmark = pytest.mark.django_db

ROUNDS = 20
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
SECRET = re.compile(rb'(csrfmiddlewaretoken" value="|X-CSRFToken[^A-Za-z0-9]+)[A-Za-z0-9]+')


class OpenStudy:
    """A public study with four models in two categories; four others rate beside the attacker."""

    def __init__(self) -> None:
        self.study: Study = make.make_study(
            visibility="public", tasks=["compare", "score", "check"], ratings_per_pair_people=99
        )
        self.models = [make.make_contestant(study=self.study, name=name) for name in ("A", "B", "C", "D")]
        self.pairs: dict[str, list[Pair]] = {"coding": [], "writing": []}
        for category, _ in itertools.product(self.pairs, range(3)):
            prompt = make.make_prompt(study=self.study, category=category)
            make.make_question(prompt=prompt)
            texts = [
                make.make_completion(prompt=prompt, contestant=model, turns=["Yes, so it is. " * 4**number])
                for number, model in enumerate(self.models)
            ]
            for number, text in enumerate(texts):
                make.make_feature(completion=text, value=number + len(self.pairs[category]) / 7)
            self.pairs[category] += [
                make.make_pair(prompt=prompt, first=one, second=other)
                for one, other in itertools.combinations(texts, 2)
            ]
        self.slow = make.make_rater(kind="judge", name="Slow judge")
        self.me = make.make_member(self.study)
        self.others = [make.make_member(self.study) for _ in range(4)]

    def spy(self) -> Client:
        """A browser in which the attacker has signed in."""
        return make.make_client(self.me.user)

    def rate(self, rater: Rater, pair: Pair, rating: int) -> Assignment:
        return _said(make.make_assignment(pair=pair, rater=rater), Rating(points=8, rating=rating))

    def a_judge_says(self) -> None:
        """Of every pair, as an import."""
        judge = make.make_rater(kind="judge", slug="judge", name="A judge")
        for number, pair in enumerate(itertools.chain(*self.pairs.values())):
            make.make_comparison(pair=pair, rater=judge, rating=1 + number % 8)
        for number, pair in enumerate(self.pairs["coding"][:LEAST_ANSWERS]):
            self.rate(self.slow, pair, 1 + number % 8)

    def swap_texts(self) -> None:
        """Every model writes what another one wrote; what raters said is still about the models."""
        for prompt in self.study.prompts.all():
            texts = list(prompt.completions.order_by("pk"))
            for text, other in zip(texts, reversed(texts), strict=True):
                Completion.objects.filter(pk=text.pk).update(turns=other.turns, digest=other.digest)

    def others_say(self, category: str, *, raters: int = 4, each: int = 3, start: int = 0) -> None:
        """Everything that raters are asked, about different pairs and answers."""
        for rater in self.others[:raters]:
            for number, pair in enumerate(self.pairs[category][start : start + each]):
                self.rate(rater, pair, 1 + (number + rater.pk) % 8)
                for said in (_score(1 + number % 5), _check("yes")):
                    _said(_about(rater, pair, said), said)


def _score(value: int) -> TextScore:
    return TextScore(lowest=1, highest=5, value=value)


def _check(value: str) -> Checks:
    return Checks(answers=[Check(position=1, value=value)])


def _about(rater: Rater, pair: Pair, said: Said) -> Assignment:
    kind = "score" if isinstance(said, TextScore) else "check"
    text = pair.first
    repeat = Assignment.objects.filter(rater=rater, completion=text, kind=kind).count()
    return make.make_assignment(completion=text, rater=rater, kind=kind, repeat=repeat)


def _said(assignment: Assignment, said: Said) -> Assignment:
    recording.record(assignment.rater, assignment.public_id, said)  # type: ignore[call-overload]
    return assignment


@pytest.fixture(scope="module")
def shared(shared_rows: None, rounds: None) -> Iterator[OpenStudy]:
    """What others said about both categories is published. The clock stands from here on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: NOW)
        patch.setattr(time, "perf_counter", lambda: 0.0)
        found = OpenStudy()
        for category in found.pairs:
            found.others_say(category)
        found.a_judge_says()
        services.refresh(found.study)
        yield found


@pytest.fixture
def rated(made: OpenStudy) -> OpenStudy:
    return made


@pytest.fixture(scope="module")
def unrated(shared_rows: None) -> OpenStudy:
    return OpenStudy()


@pytest.fixture
def silent(unrated: OpenStudy) -> OpenStudy:
    """A study of which nobody said anything yet."""
    return deepcopy(unrated)


def forget() -> None:
    """Nothing that was read before stays in memory."""
    for name, module in sys.modules.items():
        for each in vars(module).values() if name.startswith("leaderboard.") else ():
            if type(each) is _lru_cache_wrapper:
                each.cache_clear()


def seen(study: Study, client: Client) -> dict[str, bytes]:
    """The reply of every public address that somebody comes to, and of every one of the API."""
    found = dict[str, bytes]()

    def look(address: str) -> list[str]:
        if address.startswith(("/rate/", "/account/")):  # a rater's own
            return []
        reply = client.get(address, follow=True)
        if "Retry-After" in reply.headers:  # computed as a worker would
            while computing.compute_next(study.pk):
                pass
            reply = client.get(address, follow=True)
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content
        found[address] = SECRET.sub(rb"\1", body)
        return Page(body.decode()).links if reply.headers["Content-Type"].startswith("text/html") else []

    schema = json.loads(client.get("/api/v1/openapi.json").content)
    own = [
        path.replace("{slug}", study.slug)
        for path, methods in schema["paths"].items()
        if "get" in methods and path.replace("{slug}", "").count("{") == 0
    ]
    kinds = itertools.product(SnapshotSlice.Kind.values, ("people", "judge:judge"))
    tables = [f"/api/v1/studies/{study.slug}/tables/{kind}/?raters={raters}" for kind, raters in kinds]
    walk(["/", f"/studies/{study.slug}/", *own], look, parts)
    for address in tables:
        look(address)
    assert len(found) > 30
    return found


def parts(address: str) -> set[Facet]:
    """Of what an address can choose, the part of the ratings."""
    return {each for each in facets(address) if each[2:] in ((), ("category",), ("raters",), ("resample",))}


@contextmanager
def world() -> Iterator[None]:
    """What happens in it has not happened afterwards."""
    with transaction.atomic():
        point = transaction.savepoint()
        with connection.cursor() as cursor:  # PostgreSQL does not take back ids
            for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
                cursor.execute(statement)
        yield
        transaction.savepoint_rollback(point)


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return sorted(address for address in {*one, *other} if one.get(address) != other.get(address))


Answers = Sequence[tuple[int, Said]]
"""By the number of its pair among those of coding, whose first answer scores and checks are about."""

WORLDS: tuple[Answers, Answers] = (
    [(9, Rating(points=8, rating=1)), (6, _score(1)), (7, _check("yes"))],
    [(10, Rating(points=8, rating=8)), (11, _score(5)), (8, _check("no"))],
)
"""Others' answers, ratings, scores and checks, about texts by others."""


@contextmanager
def having_said(
    rated: OpenStudy, answers: Answers, *, together: bool = False, swapped: bool = False
) -> Iterator[None]:
    """The world after these answers by the attacker.

    together: others say enough for them to count; swapped: models wrote each other's texts.
    """
    with world():
        if swapped:
            rated.swap_texts()
        for number, said in answers:
            pair = rated.pairs["coding"][number]
            if isinstance(said, Rating):
                own = make.make_assignment(pair=pair, rater=rated.me)
            else:
                own = _about(rated.me, pair, said)
            _said(own, said)
            if isinstance(said, Rating):
                rated.rate(rated.slow, rated.pairs["coding"][number + 2], said.rating or 1)
        # Others go on, so that there is another snapshot.
        rated.others_say("writing", start=6)
        if together:
            rated.others_say("coding", start=12)
        services.refresh_if_stale(rated.study)
        mine = Assignment.objects.filter(rater=rated.me)
        assert mine.filter(published_in=None).exists() is not together
        forget()
        yield


@pytest.mark.parametrize("signed_in", [False, True], ids=["visitor", "rater"])
def test_no_public_address_shows_an_answer_that_can_still_be_changed_or_which_text_is_whose(
    rated: OpenStudy, signed_in: bool
) -> None:
    client = rated.spy() if signed_in else Client()
    replies = []
    for swapped, answers in enumerate(WORLDS):
        with having_said(rated, answers, swapped=bool(swapped)):
            replies.append(seen(rated.study, client))
    assert differing(*replies) == []


def test_the_leaderboard_does_show_what_counts(rated: OpenStudy) -> None:
    replies = []
    for answers in WORLDS:
        with having_said(rated, answers, together=True):
            replies.append(Client().get(rated.study.get_absolute_url()).content)
    assert replies[0] != replies[1]


GUESSES = 8


@pytest.mark.parametrize("holds", [True, False], ids=["held back", "counted at once"])
def test_authors_guessed_from_what_changes_with_an_own_rating(
    rated: OpenStudy, monkeypatch: pytest.MonkeyPatch, holds: bool
) -> None:
    """The attacker says of each pair that the first answer is better, and looks who has won since.

    Told which two models it is about, and left to toss a coin where nothing tells.
    """
    if not holds:
        monkeypatch.setattr(publication, "holds_back", lambda study: False)
        services.refresh(rated.study)
    spy, coin, right = rated.spy(), random.Random(1), 0
    before = _wins(rated.study, spy)
    for number in range(GUESSES):
        own = rated.rate(rated.me, rated.pairs["coding"][4 + number], 1)
        services.refresh_if_stale(rated.study)
        after = _wins(rated.study, spy)
        won = {name for name, wins in after.items() if wins > before.get(name, 0)}
        texts = own.pair.second, own.pair.first
        shown, other = texts if own.swapped else texts[::-1]
        names = sorted(text.contestant.name for text in (shown, other))
        guess = min(won) if won else coin.choice(names)
        right += guess == shown.contestant.name
        before = after
    mine = Assignment.objects.filter(rater=rated.me)
    assert mine.filter(published_in=None).count() == GUESSES  # each of them could be undone
    by_chance = sum(math.comb(GUESSES, n) for n in range(right, GUESSES + 1)) / 2**GUESSES
    assert by_chance > 0.05 if holds else right == GUESSES


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "shown at once"])
def test_authors_guessed_from_what_changes_with_a_rating_by_a_judge(
    rated: OpenStudy, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    """The attacker looks who has won against whom since, and whether the longer answer has.

    So the author of the longer of the two is known; a coin is tossed where nothing tells.
    """
    if not hidden:
        monkeypatch.setattr(publication, "holds_back", lambda study: False)
        monkeypatch.setattr(api, "shows", lambda study, kind: True)
        services.refresh(rated.study)
    coin, right, pairs = random.Random(1), 0, rated.pairs["writing"][:5]
    before = _won(rated.study, rated.slow)
    for pair in pairs:
        rated.rate(rated.slow, pair, coin.choice((1, 8)))
        services.refresh_if_stale(rated.study)
        after = _won(rated.study, rated.slow)
        models = [text.contestant.name for text in (pair.first, pair.second)]  # the second is longer
        told = [two if after[1] > before[1] + 0.5 else two[::-1] for two in after[0] - before[0]]
        right += (told[0][0] if told else coin.choice(models)) == models[1]
        before = after
    by_chance = sum(math.comb(len(pairs), n) for n in range(right, len(pairs) + 1)) / 2 ** len(pairs)
    assert by_chance > 0.05 if hidden else right == len(pairs)


def _won(study: Study, judge: Rater) -> tuple[Counter[tuple[str, str]], float]:
    """How often each model won against each by a judge, and how often the longer answer did."""
    asked = f"/api/v1/studies/{study.slug}/tables/%s/?raters=judge:{judge.slug}"
    matrices, length = (Client().get(asked % kind).json() for kind in ("matrices", "length"))
    names, wins = (matrices["content"][name] for name in ("contestants", "wins"))
    cells = {
        (one, other): n
        for one, row in zip(names, wins, strict=True)
        for other, n in zip(names, row, strict=True)
    }
    words = (
        length["content"]["measures"][0] if "content" in length else {"longer_wins": 0, "n": 0, "equal": 0}
    )
    return Counter(cells), words["longer_wins"] * (words["n"] - words["equal"])


def _wins(study: Study, spy: Client) -> dict[str, int]:
    """Of each model in the leaderboard's files, all together and in one category."""
    found: Counter[str] = Counter()
    for address in ("standings.json", "standings.json?category=coding", "standings.json?ties=off"):
        for row in spy.get(f"/studies/{study.slug}/{address}").json()["standings"]:
            found[row["contestant"]] += row["wins"]
    return found


def test_a_new_rating_alone_makes_no_snapshot(rated: OpenStudy) -> None:
    rated.rate(rated.me, rated.pairs["coding"][9], 1)
    assert services.refresh_if_stale(rated.study) is None
    assert rated.study.pk not in services.stale()
    assert rated.study.pk not in services.stale()


def test_an_answer_that_counts_stays_and_others_can_be_changed(rated: OpenStudy) -> None:
    counts = Assignment.objects.filter(rater=rated.others[0], kind="compare").first()
    with pytest.raises(NotAllowedError, match="already counts on the leaderboard"):
        assignments.undo(rated.study, rated.others[0], counts.public_id)
    own = rated.rate(rated.me, rated.pairs["coding"][9], 1)
    assert assignments.undo(rated.study, rated.me, own.public_id) == own
    recording.record(rated.me, own.public_id, Rating(points=8, rating=8))
    assert own.comparisons.count() == 2


def test_a_late_change_of_an_answer_that_counts_is_refused(rated: OpenStudy) -> None:
    counts = Assignment.objects.filter(rater=rated.others[0], kind="compare").first()
    Assignment.objects.filter(pk=counts.pk).update(state="claimed")
    given = counts.comparisons.get().rating
    with pytest.raises(NotAllowedError, match="earlier rating already counts"):
        recording.record(rated.others[0], counts.public_id, Rating(points=8, rating=9 - given))


def test_a_new_answer_of_a_judge_that_is_asked_again_waits(rated: OpenStudy) -> None:
    counts = Assignment.objects.filter(rater=rated.slow).first()
    assert counts.published_in is not None
    Assignment.objects.filter(pk=counts.pk).update(state="claimed")
    given = counts.comparisons.get().rating
    recording.record(rated.slow, counts.public_id, Rating(points=8, rating=9 - given))
    counts.refresh_from_db()
    assert (counts.state, counts.published_in) == ("submitted", None)


def test_what_a_study_shows_when_others_come_to_see_it_stays(
    rated: OpenStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any other numbers are made."""
    study, me = rated.study, rated.me
    Study.objects.filter(pk=study.pk).update(visibility="private")
    study.refresh_from_db()
    shown = [rated.rate(me, rated.pairs["coding"][number], 1) for number in (9, 10, 11)]
    assert assignments.undo(study, me, shown[2].public_id) == shown[2]
    services.refresh(study)
    assert assignments.undo(study, me, shown[1].public_id) == shown[1]
    Study.objects.filter(pk=study.pk).update(visibility="public")
    study.refresh_from_db()
    with pytest.raises(NotAllowedError, match="already counts on the leaderboard"):
        assignments.undo(study, me, shown[0].public_id)
    for reopened in shown[1:]:
        with pytest.raises(NotAllowedError, match="earlier rating already counts"):
            recording.record(me, reopened.public_id, Rating(points=8, rating=8))
    monkeypatch.setattr(timezone, "now", lambda: NOW + timedelta(seconds=1))
    later = rated.rate(me, rated.pairs["coding"][12], 1)
    assert assignments.undo(study, me, later.public_id) == later


def test_an_answer_that_is_being_changed_waits(rated: OpenStudy) -> None:
    own = rated.rate(rated.me, rated.pairs["coding"][9], 1)
    rated.others_say("coding", start=12)
    assignments.undo(rated.study, rated.me, own.public_id)
    services.refresh(rated.study)
    own.refresh_from_db()
    assert own.published_in is None


def test_a_snapshot_is_made_again_when_an_answer_is_reopened_meanwhile(
    rated: OpenStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = rated.rate(rated.me, rated.pairs["coding"][9], 1)
    rated.others_say("coding", start=12)
    compute, made = services._compute, []

    def reopening(study: Study, anew: bool):
        found = compute(study, anew)
        if not made:
            assignments.undo(study, rated.me, own.public_id)
        made.append(found)
        return found

    monkeypatch.setattr(services, "_compute", reopening)
    before = Snapshot.objects.filter(study=rated.study).count()
    services.refresh(rated.study)
    own.refresh_from_db()
    assert (len(made), own.published_in) == (2, None)
    assert Snapshot.objects.filter(study=rated.study).count() == before + 1


@pytest.mark.parametrize(
    ("raters", "each", "counts"),
    [(4, 3, True), (2, 8, False), (3, 3, False), (LEAST_RATERS, LEAST_ANSWERS // LEAST_RATERS + 1, True)],
)
def test_ratings_count_once_enough_people_gave_enough(
    silent: OpenStudy, raters: int, each: int, counts: bool
) -> None:
    silent.others_say("coding", raters=raters, each=each)
    snapshot = services.refresh(silent.study).snapshot
    assert bool(snapshot.counts["raters"]) is counts
    assert snapshot.counts["waiting"] == (0 if counts else 3 * raters * each)
    text = Client().get(silent.study.get_absolute_url()).content.decode()
    assert publication.IN_GROUPS in text
    assert "what helps" not in text


@pytest.mark.parametrize(
    ("raters", "each", "helps"),
    [
        (0, 0, ""),
        (1, 5, "5 by 1 person. {} 2 more people help; closing"),
        (2, 8, "16 by 2 people. {} A third person helps; closing"),
        (3, 3, "9 by 3 people. {} More ratings of the same category by several people help; closing"),
    ],
)
def test_what_waits_for_how_many_people_is_told_operators_alone(
    silent: OpenStudy, raters: int, each: int, helps: str
) -> None:
    judge = make.make_rater(kind="judge")
    for pair in silent.pairs["coding"]:
        make.make_comparison(pair=pair, rater=judge)
    services.refresh(silent.study)
    for rater, pair in itertools.product(silent.others[:raters], silent.pairs["coding"][:each]):
        silent.rate(rater, pair, 1)
    reason = f"{publication.IN_GROUPS} So the leaderboard reveals no single rating."
    told = publication.waiting(silent.study)
    assert told.startswith(f"Waiting to count on the leaderboard: {helps.format(reason)}") is bool(helps)
    assert bool(told) is bool(helps)
    text = Client().get(silent.study.get_absolute_url()).content.decode()
    assert publication.no_people_yet(silent.study) in text
    assert "Only ratings by judges count so far" in text
    assert "Waiting to count" not in text
    notes = Client().get(f"/api/v1/studies/{silent.study.slug}/standings/").json()["notes"]
    assert notes == [publication.no_people_yet(silent.study)]


def test_judges_that_wait_are_told_apart(silent: OpenStudy) -> None:
    silent.rate(silent.slow, silent.pairs["coding"][0], 1)
    assert "1 by judges. " in (told := publication.waiting(silent.study))
    assert "More ratings by the same judge help; closing" in told
    silent.rate(silent.me, silent.pairs["coding"][0], 1)
    assert ": 1 by 1 person and 1 by judges. " in publication.waiting(silent.study)


def test_operators_find_what_helps_when_nothing_counts(silent: OpenStudy, admin_client: Client) -> None:
    services.refresh(silent.study)
    text = admin_client.get(silent.study.get_absolute_url()).content.decode()
    assert "says how many wait and what helps" in text


def test_a_closed_study_without_ratings_waits_for_none(silent: OpenStudy) -> None:
    services.refresh(silent.study)
    Study.objects.filter(pk=silent.study.pk).update(closed_at=NOW)
    text = Client().get(silent.study.get_absolute_url()).content.decode()
    assert "It is closed, and no rating counts." in text
    assert "appears here" not in text


def test_groups_are_named_no_more_once_the_study_is_closed(rated: OpenStudy) -> None:
    address = rated.study.get_absolute_url()
    assert publication.IN_GROUPS in Client().get(address).content.decode()
    Study.objects.filter(pk=rated.study.pk).update(closed_at=NOW)
    assert publication.IN_GROUPS not in Client().get(address).content.decode()


def test_whoever_is_left_out_is_nobody_in_a_group(silent: OpenStudy) -> None:
    silent.others_say("coding")
    assert len(publication.due(silent.study)) == 36
    silent.study.memberships.filter(rater=silent.others[0]).update(left_out_at=NOW)
    assert publication.due(silent.study) == {}


def test_one_person_who_gives_most_waits_for_others(silent: OpenStudy) -> None:
    silent.others_say("coding", each=1)
    silent.others_say("coding", raters=1, each=10, start=1)
    assert services.refresh(silent.study).snapshot.counts["waiting"] == 3 * 14


def test_a_closed_study_counts_all_and_an_operators_too(rated: OpenStudy) -> None:
    rated.rate(rated.me, rated.pairs["coding"][9], 1)
    rated.study.closed_at = NOW
    rated.study.save()
    services.refresh_if_stale(rated.study)
    closed = Snapshot.objects.newest(rated.study)
    assert closed.counts["waiting"] is None
    assert closed.counts["comparisons"] == 71
    rated.study.closed_at = None
    rated.study.save()
    reopened = services.refresh(rated.study).snapshot
    assert reopened.counts["comparisons"] == 71  # what was shown stays
