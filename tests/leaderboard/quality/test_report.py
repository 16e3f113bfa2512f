import pytest
from django.urls import reverse
from django.utils import timezone

from arena.models import Answer, Comparison, Completion, Pair, Score
from leaderboard.quality.report import report, text_report
from tests import factories as make
from tests.leaderboard.quality.rated import rate, rated_study

pytestmark = pytest.mark.django_db


def address(study):
    return reverse("rater-report", args=[study.slug])


def test_it_is_for_members_alone(client):
    study = make.make_study()
    assert client.get(address(study)).status_code == 302
    client.force_login(make.make_user())
    assert client.get(address(study)).status_code == 404
    client.force_login(make.make_member(study).user)
    assert "You have not rated" in client.get(address(study)).content.decode()


def test_it_names_no_contestant_and_no_other_rater(client):
    study = rated_study(prompts=8)
    one, *others = [each.rater for each in study.memberships.order_by("pk")]
    client.force_login(one.user)
    page = client.get(address(study)).content.decode()
    assert ">24<" in page
    for name in ["alpha", "beta", "gamma", *[each.name for each in others]]:
        assert name not in page


def test_it_hides_what_is_empty_and_warns_who_rushes(client):
    study = make.make_study()
    rater = make.make_member(study)
    known_pairs(study, rater, 2)
    client.force_login(rater.user)
    page = client.get(address(study)).content.decode()
    assert "Right on known pairs" not in page
    assert "Very fast" not in page
    Comparison.objects.update(seconds=0.2)
    assert "Median 0.2 s. <strong>Very fast" in client.get(address(study)).content.decode()


def test_it_says_when_the_study_takes_no_more_today(client):
    study = make.make_small_study(prompts=1, daily_limit=1)
    rater = make.make_member(study)
    client.force_login(rater.user)
    assert "Continue rating" in client.get(address(study)).content.decode()
    first, second, _ = Completion.objects.filter(prompt__study=study)
    pair = make.make_pair(prompt=first.prompt, first=first, second=second)
    make.make_assignment(pair=pair, rater=rater, state="submitted", finished_at=timezone.now())
    page = client.get(address(study)).content.decode()
    assert "Continue rating" not in page
    assert "Come back after 00:00 UTC." in page


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"is_draft": True}, "This study is not open yet."),
        ({"paused_at": timezone.now()}, "This study is paused."),
        ({"closed_at": timezone.now()}, "This study is closed"),
    ],
)
def test_nobody_is_asked_to_go_on_where_nothing_is_offered(client, columns, words):
    study = make.make_small_study(prompts=1, **columns)
    client.force_login(make.make_member(study).user)
    page = client.get(address(study)).content.decode()
    assert words in page
    assert "Continue rating" not in page
    assert ("once you have" in page) is ("closed_at" not in columns)


@pytest.mark.parametrize("number", [1, 9, 10])
def test_few_ratings_say_nothing_about_a_side(number):
    study = make.make_study()
    rater = make.make_member(study)
    for _ in range(number):
        rate(make.make_pair(prompt=make.make_prompt(study=study)), rater, 1)
    assert (report(study, rater).first.value == "–") is (number < 10)


def test_nobody_goes_on_where_nothing_is_left(client):
    study = make.make_study()
    client.force_login(make.make_member(study).user)
    assert "Continue rating" not in client.get(address(study)).content.decode()


def known_pairs(study, rater, number):
    """Rate so many pairs whose right answer is the first, every one rightly."""
    for _ in range(number):
        pair = make.make_pair(prompt=make.make_prompt(study=study), gold="first", gold_source="expert")
        rate(pair, rater, 1)


def test_right_answers_follow_in_steps_while_the_study_is_open():
    study = make.make_study()
    rater = make.make_member(study)
    known_pairs(study, rater, 9)
    assert report(study, rater).known.value == "–"
    known_pairs(study, rater, 1)
    assert report(study, rater).known.note.endswith("n\u00a010")
    pair = make.make_pair(prompt=make.make_prompt(study=study), gold="second", gold_source="expert")
    rate(pair, rater, 1)
    found = report(study, rater)
    assert (found.known.value, found.own.comparisons) == ("100%", 11)
    study.closed_at = timezone.now()
    study.save()
    assert report(study, rater).known.note.endswith("n\u00a011")


def test_agreement_with_others_follows_in_steps_too():
    study = make.make_study()
    ada, bea = make.make_member(study), make.make_member(study)
    pairs = [make.make_pair(prompt=make.make_prompt(study=study)) for _ in range(19)]
    for pair in pairs:
        rate(pair, bea, 1)
    for pair in pairs[:10]:
        rate(pair, ada, 1)
    assert report(study, ada).agreement.value == "100%"
    for pair in pairs[10:]:
        rate(pair, ada, 8)
    assert report(study, ada).agreement.value == "100%"
    last = make.make_pair(prompt=make.make_prompt(study=study))
    rate(last, bea, 1)
    rate(last, ada, 8)
    assert report(study, ada).agreement.value == "50%"


def test_the_figures_are_those_that_operators_see():
    from leaderboard.quality.measures import compare, votes

    study = rated_study(prompts=10)
    Pair.objects.filter(prompt__study=study).update(gold="first", gold_source="expert")
    rater = study.memberships.order_by("pk").first().rater
    seen, own = compare(votes(study)).raters[rater.pk], report(study, rater).own
    assert (own.agreement, own.known, own.first, own.ties, own.speed) == (
        seen.agreement,
        seen.known,
        seen.first,
        seen.ties,
        seen.speed,
    )


def test_it_tells_of_scores_and_checks_and_follows_others_in_steps(client):
    study = make.make_small_study(prompts=12, contestants=1, tasks=["score", "check"])
    ada, bea = make.make_member(study), make.make_member(study)
    texts = list(Completion.objects.filter(prompt__study=study))
    questions = {each.pk: make.make_question(prompt=each.prompt) for each in texts}

    def say(rater, chosen, score, answer):
        for each in chosen:
            make.make_score(rater=rater, completion=each, value=score, seconds=20)
            question = questions[each.pk]
            make.make_answer(rater=rater, completion=each, question=question, value=answer, seconds=10)

    say(bea, texts, 2, "yes")
    say(ada, texts[:9], 4, "yes")
    client.force_login(ada.user)
    page = client.get(address(study)).content.decode()
    assert "Pairs rated" not in page
    assert 'Answers scored</dt><dd><span class="quality-big num">9<' in page
    assert 'Requirements checked</dt><dd><span class="quality-big num">9<' in page
    assert "most others" not in page
    assert "the mean of others" not in page
    say(ada, texts[9:10], 4, "yes")
    # The step of ten is whole; what follows changes nothing until the next is.
    say(ada, texts[10:], 1, "no")
    found = text_report(study, ada)
    assert (found.apart.value, found.apart.note) == ("2.00", "+2.00 on average, n\u00a010")
    assert found.agreement.value == "100%"
    assert (found.own.scores, found.own.checked, found.own.pace.median) == (12, 12, 15.0)
    study.closed_at = timezone.now()
    study.save()
    # By hand: ten scores 2 above and two 1 below the other's; two of twelve checks differ.
    closed = text_report(study, ada)
    assert (closed.apart.value, closed.apart.note) == ("1.83", "+1.50 on average, n\u00a012")
    assert closed.agreement.value == "83%"
    page = client.get(address(study)).content.decode()
    assert "Points from the mean of others" in page
    assert bea.name not in page
    Score.objects.update(seconds=0.2)
    Answer.objects.update(seconds=0.2)
    assert "please read the answer." in client.get(address(study)).content.decode()


def test_what_others_said_is_read_only_about_the_same_answers(django_assert_max_num_queries):
    study = make.make_small_study(prompts=2, contestants=2, tasks=["score", "check"])
    ada, bea = make.make_member(study), make.make_member(study)
    mine, *others = Completion.objects.filter(prompt__study=study)
    make.make_score(rater=ada, completion=mine, value=3)
    for each in (mine, *others):
        make.make_score(rater=bea, completion=each, value=5)
    with django_assert_max_num_queries(4):
        assert text_report(study, ada).own.apart.n == 1
