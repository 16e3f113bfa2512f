import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena.models import Comparison, Pair
from arena.people.members import decide
from leaderboard.quality import cached
from leaderboard.quality.measures import Remark, by_chance, compare, in_words, looked_at, remarks, votes
from leaderboard.quality.table import shown
from tests import factories as make
from tests.leaderboard.quality.rated import rate, rated_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair():
    return make.make_pair()


def figures(study):
    return compare(votes(study)).raters


def test_a_verdict_is_that_of_the_pair_whichever_was_shown_first(pair):
    people = [make.make_rater() for _ in range(3)]
    for rater, straight, swapped in zip(people, (1, 2, 8), (False, True, True), strict=True):
        rate(pair, rater, straight, swapped=swapped)
    found = figures(pair.prompt.study)
    ada, bea, cem = (found[rater.pk] for rater in people)
    # To Cem the others agree on the first; to Ada and Bea one other is for each: no majority.
    assert (cem.agreement.share.n, cem.agreement.share.value) == (1, 0.0)
    assert ada.agreement.share.n == bea.agreement.share.n == 0
    # As shown: Ada chose 1, Bea 7 and Cem 1.
    assert [each.first.count for each in (ada, bea, cem)] == [1, 0, 1]


def test_repeats_are_held_against_the_first_rating_in_the_same_direction(pair):
    ada = make.make_rater()
    rate(pair, ada, 2)
    rate(pair, ada, 3, swapped=True, purpose="repeat", repeat=1)
    other = make.make_pair(prompt=pair.prompt)
    rate(other, ada, 2, swapped=True)
    rate(other, ada, 6, purpose="repeat", repeat=1)
    found = figures(pair.prompt.study)[ada.pk]
    assert (found.consistency.same.count, found.consistency.same.n) == (1, 2)
    assert found.consistency.apart == pytest.approx((1 + 4) / 2)
    assert found.comparisons == 2


def test_known_pairs_are_hidden_checks_and_gold_pairs(pair):
    ada, prompt = make.make_rater(), pair.prompt
    Pair.objects.filter(pk=pair.pk).update(gold="first", gold_source="expert")
    check = make.make_pair(prompt=prompt, gold="tie", gold_source="expert", use="check")
    rate(pair, ada, 3, swapped=True)
    rate(check, ada, 7, purpose="check")
    found = figures(prompt.study)[ada.pk]
    assert (found.gold.count, found.gold.n) == (1, 1)
    assert (found.checks.count, found.checks.n) == (0, 1)
    assert (found.known.count, found.known.n) == (1, 2)


def test_judges_revisions_and_replies_without_rating_are_none_of_it(pair):
    ada = make.make_rater()
    old = rate(pair, ada, 1, is_current=False)
    rate(pair, ada, 5, revises=old)
    rate(pair, make.make_rater(kind="judge"), 1)
    make.make_comparison(pair=pair, rater=make.make_rater(), reason="refused")
    found = figures(pair.prompt.study)
    assert list(found) == [ada.pk]
    assert (found[ada.pk].comparisons, found[ada.pk].ties.count) == (1, 1)


def test_who_clicks_at_random_stands_out_and_others_do_not():
    study = rated_study()
    found = compare(votes(study))
    looked = {pk: looked_at(own, found.everybody) for pk, own in found.raters.items()}
    keys = {pk: [remark.key for remark in remarks(each)] for pk, each in looked.items()}
    *honest, careless = sorted(keys)
    assert "agreement" in keys[careless]
    assert not any("agreement" in keys[pk] or "votes" in keys[pk] for pk in honest)
    # Four raters, each checked for agreement (2.5 %), side (5 %) and votes against others (5 %).
    every = [check for each in looked.values() for check in each]
    assert by_chance(every) == pytest.approx(4 * (0.025 + 0.05 + 0.05))
    assert (
        in_words(every)
        == f"{sum(map(len, keys.values()))} warnings; by chance you would expect fewer than 1."
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([], "Too few ratings for warnings."),
        ([None] * 9, "Too few ratings for warnings."),
        ([None, False], "No warnings."),
        ([None, True], "1 warning; by chance you would expect fewer than 1."),
        ([True] * 2 + [False] * 18, "2 warnings; by chance you would expect fewer than 2."),
        ([True] * 2 + [False] * 30, "2 warnings; by chance you would expect fewer than 2."),
        ([True] * 2 + [False] * 38, "2 warnings; by chance you would expect fewer than 3."),
    ],
)
def test_warnings_in_words_say_what_the_table_shows_and_tell_too_few_from_none(found, words):
    # By hand: each of these warnings is made once in 20 by chance, so 20 of them expect 1, and 40 expect 2.
    checks = [(Remark("side", "prefers the first answer"), each) for each in found]
    assert in_words(checks) == words


@pytest.mark.parametrize("ratings", [1, 9, 10])
def test_with_fewer_than_ten_ratings_there_is_neither_a_kappa_nor_a_verdict(ratings):
    study = rated_study(prompts=4, people=3)
    pairs = Pair.objects.filter(prompt__study=study).order_by("pk")[:ratings]
    Comparison.objects.exclude(pair__in=list(pairs)).delete()
    found = compare(votes(study))
    looked = [looked_at(own, found.everybody) for own in found.raters.values()]
    for own, checks in zip(found.raters.values(), looked, strict=True):
        enough = ratings >= 10
        assert (in_words(checks) != "Too few ratings for warnings.") is enough
        if not enough:
            assert "κ" not in shown(own)["agreement"].note


def test_who_is_left_out_is_still_measured_and_measures_nobody():
    study = rated_study(prompts=6)
    before = compare(votes(study))
    careless = max(before.raters)
    decide(study, make.Rater.objects.get(pk=careless), "left_out", make.make_user(is_staff=True), "why")
    after = compare(votes(study))
    assert after.raters[careless].comparisons == 18
    # The majority of the three others is now the majority of all others of the careless one, as before.
    assert after.raters[careless].agreement.share.n == before.raters[careless].agreement.share.n
    assert after.everybody.comparisons == before.everybody.comparisons - 18


def test_the_figures_are_kept_until_something_changes():
    study = rated_study(prompts=2)
    first = cached.compared(study)
    with CaptureQueriesContext(connection) as captured:
        assert cached.compared(study) is first
    assert len(captured) == 2
    rate(make.make_pair(prompt=study.prompts.first()), make.make_rater(), 1)
    assert cached.compared(study) is not first
    found = compare(votes(make.make_study()))
    assert found.raters == {}
    assert found.everybody.agreement.share.value is None
