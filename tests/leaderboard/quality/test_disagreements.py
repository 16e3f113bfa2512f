import itertools
import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from arena.models import Assignment, Comparison, Completion, Membership, Pair, Role
from arena.people.members import decide
from arena.rating.assignments import claim, claim_adjudication
from arena.rating.opinions import NotAllowedError
from leaderboard.quality import cached
from leaderboard.quality.disagreements import compare
from leaderboard.quality.settling import why_none
from leaderboard.snapshots.reading import opinions
from tests import factories as make
from tests.leaderboard.quality.rated import rate

pytestmark = pytest.mark.both_databases

FIELDS = [("pair", "i8"), ("rater", "i8"), ("swapped", "?"), ("points", "i8"), ("rating", "i8")]
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans(), st.just(8), st.integers(1, 8)), max_size=40
)


def disputes(rows, judges=()):
    array = np.array(rows, dtype=FIELDS)
    return compare(array, ~np.isin(array["rater"], list(judges)))


def test_by_hand():
    # Pair 1: 2 as shown and 2 swapped, which is 7: five points apart, for different answers. Pair 2: 1 and 3,
    # the same answer. Pair 3: two ties. Rater 9 is a judge and says 8 of pair 2.
    rows = [(1, 1, False, 8, 2), (1, 2, True, 8, 2), (2, 1, False, 8, 1), (2, 2, False, 8, 3)]
    found = disputes([*rows, (3, 1, False, 8, 4), (3, 2, False, 8, 5), (2, 9, False, 8, 8)], judges=[9])
    assert (found.apart * 3.5).tolist() == pytest.approx([5.0, 2.0, 1.0])
    assert found.opposite.tolist() == [True, False, False]
    assert [found.for_first.tolist(), found.ties.tolist(), found.for_second.tolist()] == [
        [1, 2, 0],
        [0, 0, 2],
        [1, 0, 0],
    ]
    assert found.pair[found.ranked("people")].tolist() == [1]
    assert found.pair[found.ranked("people", strength=True)].tolist() == [1, 2, 3]
    assert found.from_judges[1] * 3.5 == pytest.approx(6.0)
    assert found.pair[found.ranked("judges")].tolist() == [2]
    rows = [(1, 1, False, 8, 1), (1, 2, False, 8, 4), (2, 1, False, 8, 3), (2, 2, False, 8, 6)]
    found = disputes([*rows, (3, 1, False, 8, 5), (3, 2, False, 8, 8)])
    assert found.pair[found.ranked("people", strength=True)].tolist() == [2, 1, 3]


@given(ROWS)
def test_distances_as_a_plain_loop_finds_them_whichever_way_round(rows):
    found = disputes(rows)
    for place, pair in enumerate(found.pair.tolist()):
        means = {}
        for about, rater, swapped, points, rating in rows:
            if about == pair:
                straight = points + 1 - rating if swapped else rating
                means.setdefault(rater, []).append((2 * straight - points - 1) / (points - 1))
        values = [sum(each) / len(each) for each in means.values()]
        apart = [abs(x - y) for x, y in itertools.combinations(values, 2)]
        if apart:
            assert found.apart[place] == pytest.approx(sum(apart) / len(apart))
        else:
            assert np.isnan(found.apart[place])
    other = disputes([(a, b, not swapped, c, d) for a, b, swapped, c, d in rows])
    assert found.apart == pytest.approx(other.apart, nan_ok=True)
    assert (found.for_first == other.for_second).all()
    assert (found.opposite == other.opposite).all()


@pytest.fixture
def disputed(db):
    """A pair that Ada and Bea see differently, with reasons of theirs, and a judge."""
    study = make.make_study(ratings_per_pair_people=3)
    prompt = make.make_prompt(study=study, category="poems")
    pair = make.make_pair(prompt=prompt)
    ada, bea = (make.make_member(study, name=name) for name in ("Ada", "Bea"))
    rate(pair, ada, 1, rationale="SAID-BY-ADA")
    rate(pair, bea, 8, swapped=True, rationale="<i>SAID-BY-BEA</i>")
    rate(pair, make.make_rater(kind="judge", name="Judge J"), 8, rationale="SAID-BY-JUDGE")
    Pair.objects.recount(study)
    return pair


@pytest.fixture
def operator(disputed, client):
    rater = make.make_member(disputed.prompt.study, name="Olga")
    Membership.objects.filter(rater=rater).update(role=Role.OPERATOR)
    client.force_login(rater.user)
    return client


def queue(study, **query):
    return reverse("operate-disagreements", args=[study.slug], query=query)


def page_of(pair):
    return reverse("operate-dispute", args=[pair.prompt.study.slug, pair.pk])


def settle(client, pair, rating=2, rationale="B repeats itself"):
    client.post(page_of(pair))
    held = Assignment.objects.get(pair=pair, purpose="adjudication")
    sent = {"assignment": held.public_id, "rating": rating, "rationale": rationale}
    return client.post(page_of(pair), sent)


def names_of(pair):
    return [each.contestant.name for each in (pair.first, pair.second)]


def test_the_queue_names_the_pair_is_filtered_and_empties(operator, disputed):
    assert "1 pair has ratings by people and judges. Raters prefer different answers on none." in (
        operator.get(queue(disputed.prompt.study, show="judges")).content.decode()
    )
    for query in ({}, {"show": "judges", "strength": "all"}):
        page = operator.get(queue(disputed.prompt.study, **query)).content.decode()
        assert disputed.prompt.instruction in page
        assert "1 against 1" in page
        assert "SAID-BY" not in page
        assert not any(name in page for name in names_of(disputed))
    study = disputed.prompt.study
    other = make.make_pair(prompt=make.make_prompt(study=study, category="maths"))
    rate(other, make.make_rater(), 1)
    rate(other, make.make_rater(), 7)
    assert len(operator.get(queue(study)).context["page"].object_list) == 2
    only = operator.get(queue(study, category="maths")).context["page"].object_list
    assert [each.pair for each in only] == [other]
    Comparison.objects.filter(study=study).delete()
    for show, said in (
        ("people", "No pair has ratings by two people or more yet."),
        ("judges", "No pair has ratings by people and judges yet."),
        ("settled", "No settled pairs yet"),
    ):
        assert said in operator.get(queue(study, show=show)).content.decode()


def test_it_is_settled_blind_and_then_everybody_s_answers_are_shown(operator, disputed):
    assert operator.post(page_of(disputed)).status_code == 302
    blind = operator.get(page_of(disputed)).content.decode()
    assert disputed.first.turns[0] in blind
    assert re.findall(r'name="rating" value="(.)"', blind) == list("12345678")
    assert "SAID-BY" not in blind
    assert not any(name in blind for name in names_of(disputed))
    assert settle(operator, disputed).status_code == 302
    page = operator.get(page_of(disputed)).content.decode()
    for said in (
        "SAID-BY-ADA",
        "&lt;i&gt;SAID-BY-BEA&lt;/i&gt;",
        "SAID-BY-JUDGE",
        "B repeats itself",
        "Olga",
    ):
        assert said in page
    assert not re.search(r"\bAda\b", page.replace("SAID-BY-ADA", ""))
    assert not any(name in page for name in names_of(disputed))


def panel_of(pair, mean, *, swapped=False):
    panel = make.make_rater(kind="judge", name="The panel", derived_from=["judge-j", "judge-k"])
    rate(pair, panel, 3, swapped=swapped, source="panel", expected=mean, rationale="Judge J: 3 of 8")
    return panel


@pytest.mark.parametrize("swapped", [False, True])
def test_everything_on_the_page_of_a_settled_pair_is_in_its_order(operator, disputed, swapped):
    # By hand: the panel's mean is 3.5 in terms of the pair, 5.5 the other way round, and 3 or 6 once rounded.
    panel_of(disputed, 5.5 if swapped else 3.5, swapped=swapped)
    settle(operator, disputed)
    shown_swapped = Assignment.objects.get(purpose="adjudication").swapped
    page = operator.get(page_of(disputed)).content.decode()
    assert ("(6 of 8, mean 5.5)" if shown_swapped else "(3 of 8, mean 3.5)") in page
    assert "A panel rounds its mean to the nearest point, and a half to" in page
    assert '<span class="badge">panel</span>' in page
    assert "Judge J: 3 of 8" not in page
    # Ada and the judge saw the pair as it is, Bea the other way round.
    assert page.count("A and B are exchanged in these words") == (2 if shown_swapped else 1)


def test_a_panel_is_no_judge_of_the_queue(disputed):
    panel_of(disputed, 3.5)
    found = cached.disputed(disputed.prompt.study)
    assert (found.judges.tolist(), found.people.tolist()) == ([1], [2])


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ([], "No pair has ratings by two people or more yet."),
        ([1], "No pair has ratings by two people or more yet."),
        ([1, 2], "1 pair has ratings by two people or more. Raters prefer different answers on none."),
        ([4, 4], "1 pair has ratings by two people or more. Raters prefer different answers on none."),
    ],
)
@pytest.mark.usefixtures("db")
def test_that_nothing_is_disputed_is_said_of_what_can_be(people, words):
    pair = make.make_pair()
    for rating in people:
        rate(pair, make.make_rater(), rating)
    assert why_none(pair.prompt.study, "people", "", strength=False) == words


def test_settled_pairs_are_no_agreement(operator, disputed):
    settle(operator, disputed)
    page = operator.get(queue(disputed.prompt.study)).content.decode()
    assert (
        "1 pair has ratings by two people or more. Raters prefer different answers on none that is not"
        in page
    )


def test_a_settled_pair_leaves_the_queue_and_counts_on_no_board(operator, disputed):
    study = disputed.prompt.study
    before = opinions(study).rows["rating"].tolist()
    settle(operator, disputed)
    assert opinions(study).rows["rating"].tolist() == before
    disputed.refresh_from_db()
    assert disputed.people_ratings == 2
    assert not operator.get(queue(study)).context["page"].object_list
    page = operator.get(queue(study, show="settled")).content.decode()
    assert "Olga" in page
    assert "A is better" in page
    settle(operator, disputed)
    again = operator.post(page_of(disputed), {"assignment": "x", "rating": 7})
    assert again.status_code == 200
    assert Comparison.objects.filter(purpose="adjudication").count() == 1


def test_answers_are_given_in_the_order_that_the_page_shows(operator, disputed):
    settle(operator, disputed)
    decided = Comparison.objects.get(purpose="adjudication")
    said = operator.get(page_of(disputed)).context["said"]
    ada = said[0].rating
    assert ada == (8 if decided.swapped else 1)
    assert [each.who for each in said] == ["Person 1", "Person 2", "Judge J"]


def test_an_answer_without_a_rating_or_to_an_assignment_of_somebody_else_changes_nothing(operator, disputed):
    reply = settle(operator, disputed, rating="")
    assert reply.status_code == 422
    assert "Choose a rating first" in reply.content.decode()
    assert "B repeats itself" in reply.content.decode()
    assert not Comparison.objects.filter(purpose="adjudication").exists()
    theirs = claim_adjudication(disputed.prompt.study, make.make_user(), disputed)
    sent = {"assignment": theirs.public_id, "rating": 3}
    assert operator.post(page_of(disputed), sent).status_code == 404


@pytest.mark.django_db
def test_who_rated_the_pair_gets_it_in_the_other_order_as_a_repeat(disputed):
    study = disputed.prompt.study
    ada, bea = Comparison.objects.filter(rater__kind="person").order_by("pk")
    for row in (ada, bea):
        given = claim_adjudication(study, row.rater.user, disputed)
        assert given.swapped != row.swapped
        assert given.repeat == 1
        assert claim_adjudication(study, row.rater.user, disputed) == given


def test_an_adjudication_held_is_not_offered_for_rating(disputed):
    study = disputed.prompt.study
    user = make.make_user()
    given = claim_adjudication(study, user, disputed)
    Membership.objects.create(study=study, rater=given.rater)
    assert claim(study, given.rater) is None


def test_nothing_is_settled_in_a_closed_study(operator, disputed):
    study = disputed.prompt.study
    study.closed_at = study.created_at
    study.save()
    with pytest.raises(NotAllowedError, match="closed"):
        claim_adjudication(study, make.make_user(), disputed)
    assert operator.get(queue(study)).status_code == 200
    assert operator.post(page_of(disputed)).status_code == 302
    assert not Assignment.objects.filter(purpose="adjudication").exists()


def test_who_is_left_out_disagrees_with_nobody(operator, disputed):
    study = disputed.prompt.study
    bea = Membership.objects.get(study=study, rater__name="Bea").rater
    decide(study, bea, "left_out", make.make_user(is_staff=True), "why")
    assert not operator.get(queue(study)).context["page"].object_list


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.RATER])
def test_nobody_but_operators_settles(client, disputed, role):
    user = make.make_user()
    if role:
        rater = make.make_rater(user=user)
        Membership.objects.create(study=disputed.prompt.study, rater=rater, role=role)
    for address in (queue(disputed.prompt.study), page_of(disputed)):
        assert client.get(address).status_code == 302
    client.force_login(user)
    for address in (queue(disputed.prompt.study), page_of(disputed)):
        assert client.get(address).status_code == 404
        assert client.post(address).status_code in (404, 405)
    assert not Assignment.objects.filter(purpose="adjudication").exists()


@pytest.mark.django_db
def test_the_second_one_is_told_that_the_answer_was_not_stored():
    study = make.make_small_study(prompts=1, contestants=2)
    first, second = Completion.objects.order_by("pk")
    pair = make.make_pair(prompt=first.prompt, first=first, second=second)
    address = reverse("operate-dispute", args=[study.slug, pair.pk])
    operators = [make.make_member(study) for _ in range(2)]
    Membership.objects.update(role="operator")
    clients = [Client() for _ in operators]
    for client, rater in zip(clients, operators, strict=True):
        client.force_login(rater.user)
        client.post(address)
    said = []
    for client, rater, rating in zip(clients, operators, ("2", "7"), strict=True):
        sent = {"assignment": Assignment.objects.get(rater=rater).public_id, "rating": rating}
        said.append(client.post(address, sent, follow=True).content.decode())
    assert ["Your decision was not saved" in page for page in said] == [False, True]
    assert Comparison.objects.get().rating == 2
