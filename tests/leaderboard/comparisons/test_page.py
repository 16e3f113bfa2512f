import re
from copy import deepcopy
from decimal import Decimal

import pytest
from django.utils import timezone

from arena.models import Completion, CriterionRating
from leaderboard.models import ComparisonIndex
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import text
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
HOSTILE = '</details><script>alert(1)</script><img src=x onerror=alert(1)>"&'
LIST = "/studies/small/comparisons/"


class Rated(HandMade):
    """Three contestants on a coding prompt and a poem, rated by two people and a judge."""

    def __init__(self, **overrides):
        names = ("alpha", "beta", "gamma")
        super().__init__(*names, slug="small", categories=("coding", "poems"), **overrides)
        self.bob = factories.make_rater(name="Bob Secret")
        self.strict = self.judge("strict", simulated=True)
        self.first = self.rate("alpha", "beta", 1, rationale="Alpha is RIGHT.", seconds=12)
        self.other = self.rate("beta", "alpha", 3, rater=self.bob)
        self.by_judge = self.rate("alpha", "beta", 7, rater=self.strict, raw_reply="Rating: 7 RAW")
        self.again = self.rate("beta", "alpha", 7, rater=self.strict)
        self.tie = self.rate("alpha", "gamma", 4, prompt=1)
        self.refused = self.rate(
            "beta", "gamma", None, rater=self.strict, reason="refused", prompt=1, raw_reply="No REFUSAL."
        )
        services.refresh(self.study)

    def close(self):
        self.change(closed_at=timezone.now())


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    return Rated()


@pytest.fixture
def open_study(shared):
    return deepcopy(shared)


@pytest.fixture
def closed(open_study):
    open_study.close()
    return open_study


def found(page):
    """The pairs listed, by id, in their order."""
    return [int(pk) for pk in re.findall(r'id="pair-(\d+)"', page)]


def secrets_of(made):
    """Everything about single texts and answers that an open study keeps to itself."""
    texts = [turn for turns in Completion.objects.values_list("turns", flat=True) for turn in turns]
    prompts = [prompt.instruction for prompt in made.prompts]
    return [*texts, *prompts, "RIGHT", "RAW", "REFUSAL", "Bob", "Ada", "alpha", "beta", "gamma"]


@pytest.mark.parametrize("who", ["public", "rater", "staff"])
def test_an_open_study_shows_nothing_to_anybody(open_study, client, who):
    if who == "rater":
        client.force_login(factories.make_member(open_study.study).user)
    elif who == "staff":
        client.force_login(factories.make_user(is_staff=True))
    pair = open_study.first.pair_id
    addresses = [
        LIST,
        f"{LIST}?contestant={open_study.contestants['alpha'].slug}&only=flipped",
        f"{LIST}?raters=judge:strict&answer=refused&sort=disagreement",
        f"{LIST}{pair}/",
        f"{LIST}{pair}/?search=Instruction",
        f"{LIST}{pair + 1000}/",
        f"{LIST}?page=2",
        f"{LIST}?contestant=nobody",
    ]
    pages = set()
    for address in addresses:
        for headers in ({}, {"HX-Request": "true"}):
            response = client.get(address, headers=headers)
            # A random token may spell a name.
            token = r'csrfmiddlewaretoken" value="\w+|X-CSRFToken": "\w+|next=[^"]+'
            page = re.sub(token, "", text(response))
            everything = page + str(response.headers)
            assert "comparisons_sealed" in response.templates[0].name
            assert [secret for secret in secrets_of(open_study) if secret in everything] == []
            pages.add(page)
    assert len(pages) == 1, "an address of an open study tells something that another one does not"


@pytest.mark.parametrize("path", ["tables/found.csv", "tables/found/", "figures/found.json"])
def test_an_open_study_has_no_files_of_comparisons(open_study, client, path):
    for address in (LIST, f"{LIST}{open_study.first.pair_id}/"):
        assert client.get(address + path).status_code == 404


def test_a_reopened_study_is_sealed_again(closed, client):
    assert "alpha" in text(client.get(LIST))
    closed.change(closed_at=None)
    assert "alpha" not in text(client.get(LIST))


@pytest.mark.both_databases
def test_a_closed_study_lists_pairs_with_names_and_answers(closed, client):
    page = text(client.get(LIST))
    assert found(page) == [closed.refused.pair_id, closed.tie.pair_id, closed.first.pair_id]
    assert "3 of 3 pairs" in page
    entry = page[page.index(f'id="pair-{closed.first.pair_id}"') :]
    for words in (
        "1 of 8: </span>alpha is much better",
        "6 of 8: </span>beta is somewhat better",
        "B shown first",
        "7 of 8: </span>beta is better",
        "2 of 8: </span>alpha is better",
        "Alpha is RIGHT.",
        "Rating: 7 RAW",
        "Person 1",
        "Person 2",
        "STRICT",
        "Simulated",
    ):
        assert words in entry
    assert "The rater refused to answer" in page
    assert "No REFUSAL." in page


def test_every_rating_runs_from_a_to_b_with_the_mean_of_people(closed, client):
    entry = text(client.get(f"{LIST}{closed.first.pair_id}/"))
    # People: 1 and, mirrored, 6 of 8, so preferences -1 and 3/7. The judge: 7 and, mirrored, 2.
    assert re.findall(r'class="pair-number" x="([\d.]+)" y="23.5">(\d)<', entry) == [
        ("11.0", "1"),
        ("138.1", "6"),
        ("163.6", "7"),
        ("36.4", "2"),
    ]
    assert set(re.findall(r'class="pair-mean" d="M([\d.]+) ', entry)) == {"74.5"}


def test_people_are_never_named_nor_numbered_across_pairs(closed, client):
    for address in (LIST, f"{LIST}{closed.first.pair_id}/", f"{LIST}{closed.tie.pair_id}/"):
        page = text(client.get(address))
        assert [name for name in ("Ada", "Bob", closed.bob.slug, closed.person.slug) if name in page] == []
    assert "Person 1" in text(client.get(f"{LIST}{closed.tie.pair_id}/"))


def test_one_pair_shows_whole_texts_scores_and_answers(closed, client):
    pair = closed.first.pair
    Completion.objects.filter(pk=pair.first_id).update(
        turns=["Some **bold** text\n\n" + "long " * 600 + "END"]
    )
    CriterionRating.objects.create(comparison=closed.first, criterion="accuracy", points=5, rating=3)
    unread = {"criterion": "tone", "points": 8, "reason": "truncated"}
    CriterionRating.objects.create(comparison=closed.by_judge, **unread)
    closed.by_judge.first_score, closed.by_judge.second_score = Decimal("10.000"), Decimal("7.500")
    closed.by_judge.save()
    page = text(client.get(f"{LIST}{pair.pk}/"))
    for words in (
        "<strong>bold</strong>",
        "END",
        "accuracy",
        "3 of 5: </span>Tie",
        'tone: <span class="badge badge-bad">Not rated</span> The reply was',
        "Judge and people disagree",
        "People disagree",
        f'id="answer-{closed.by_judge.pk}"',
        "Points given: A 10, B 7.5",
    ):
        assert words in page


def test_the_prompt_of_a_pair_is_shown_as_raters_read_it(closed, client):
    prompt = closed.first.pair.prompt
    prompt.turns, prompt.input = ["Is $x^2$ **even**?", "And odd?"], "`given`"
    prompt.save()
    page = text(client.get(f"{LIST}{closed.first.pair_id}/"))
    shown = page.partition("prompt-text")[2].partition("pair-texts")[0]
    assert "<math" in shown
    assert "<strong>even</strong>" in shown
    assert "<code>given</code>" in shown
    assert "Turn 2" in shown
    assert "$x^2$" not in shown
    assert "data-form" not in page  # no script is there to change the form


def test_a_pair_with_many_ratings_folds_most_of_them_in_the_list(open_study, client):
    for number in range(9):
        open_study.rate("alpha", "beta", 3, rater=open_study.judge(f"judge {number}"))
    open_study.close()
    services.refresh(open_study.study)
    page = text(client.get(LIST))
    entry = page[page.index(f'id="pair-{open_study.first.pair_id}"') :]
    whole = text(client.get(f"{LIST}{open_study.first.pair_id}/"))
    given = len(re.findall('id="answer-', whole))
    assert given > 9
    assert f"<summary>{given - 4} more ratings</summary>" in entry
    assert "more ratings" not in whole


def test_model_and_protocol_of_a_judge_are_shown_and_nothing_else_of_it(open_study, client):
    judge = factories.make_judge(
        slug="ours",
        name="Ours",
        model="model-x",
        base_url="http://hidden.example/v1",
        api_key_env="X_API_KEY",
    )
    open_study.rate("alpha", "beta", 3, rater=judge.rater)
    open_study.close()
    services.refresh(open_study.study)
    page = text(client.get(f"{LIST}{open_study.first.pair_id}/"))
    assert "Model model-x, protocol likert" in page
    assert "hidden.example" not in page
    assert "X_API_KEY" not in page


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("category=poems", ["refused", "tie"]),
        ("contestant={alpha}", ["tie", "first"]),
        ("contestant={alpha}&against={beta}", ["first"]),
        ("against={gamma}", ["refused", "tie"]),
        ("raters=judge:strict", ["refused", "first"]),
        ("raters=people", ["tie", "first"]),
        ("answer=refused", ["refused"]),
        ("answer=unscored", ["refused"]),
        ("answer=tie", ["tie"]),
        ("answer=tie&raters=judge:strict", []),
        ("rating=7-8", ["first"]),
        ("rating=7-8&raters=people", []),
        ("only=judges", ["first"]),
        ("only=people", ["first"]),
        ("only=flipped", ["first"]),
        ("only=flipped&raters=people", []),
        ("search=INSTRUCTION", ["refused", "tie", "first"]),
        ("search=haiku", []),
        ("sort=disagreement", ["first", "refused", "tie"]),
        ("category=&contestant=&search=&only=&page=", ["refused", "tie", "first"]),
    ],
)
def test_filters(closed, client, query, names):
    slugs = {name: contestant.slug for name, contestant in closed.contestants.items()}
    page = text(client.get(f"{LIST}?{query.format(**slugs)}"))
    assert found(page) == [getattr(closed, name).pair_id for name in names]
    assert f"{len(names)} of 3 pairs" in page
    if not names:
        assert "No pair matches" in page


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("turn", "wanted"),
    [
        ("Größe der Übung", "größe"),
        ("Größe der Übung", "übung"),
        ('Say "hello\\world" 100%_', '"hello\\world" 100%_'),
        ("Zeige ☂ und 👍", "☂ und 👍"),
        ("two\nlines", "lines"),
    ],
)
def test_search_finds_what_json_writes_otherwise(closed, client, turn, wanted):
    prompt = closed.prompts[0]
    prompt.turns = [turn]
    prompt.save()
    assert found(text(client.get(LIST, {"search": wanted}))) == [closed.first.pair_id]


@pytest.mark.both_databases
@pytest.mark.parametrize("wanted", ["%", "_", "\\u00", '", "', "a\0b", "'; DROP TABLE arena_prompt; --"])
def test_search_takes_every_text_as_it_is(closed, client, wanted):
    assert found(text(client.get(LIST, {"search": wanted}))) == []


@pytest.mark.both_databases
def test_pages_and_neighbours_follow_the_filters(closed, client, monkeypatch):
    monkeypatch.setattr("leaderboard.comparisons.page.AT_ONCE", 1)
    first, second = (text(client.get(f"{LIST}?category=poems&page={page}")) for page in (1, 2))
    assert found(first) == [closed.refused.pair_id]
    assert f'href="{LIST}?category=poems&amp;page=2">Next' in first
    assert found(second) == [closed.tie.pair_id]
    assert f'href="{LIST}?category=poems">Previous' in second
    assert found(text(client.get(f"{LIST}?page=99"))) == [closed.first.pair_id]
    alone = text(client.get(f"{LIST}{closed.tie.pair_id}/?category=poems"))
    assert f'href="{LIST}{closed.refused.pair_id}/?category=poems">Previous pair' in alone
    assert "Next pair" not in alone
    outside = text(client.get(f"{LIST}{closed.first.pair_id}/?category=poems"))
    assert "Previous pair" not in outside
    assert f'href="{LIST}?category=poems"' in outside


def test_pairs_of_others_and_of_nobody_are_not_found(closed, client):
    other = HandMade("alpha", "beta", slug="other")
    there = other.rate("alpha", "beta", 2)
    unrated = closed.pair("beta", "gamma", prompt=0)
    for pk in (there.pair_id, unrated.pk, 10**30, 0):
        assert client.get(f"{LIST}{pk}/").status_code == 404
    assert client.get(f"{LIST}x/").status_code == 404


def test_unknown_and_empty_texts_and_texts_without_an_author(closed, client):
    pair = closed.first.pair
    Completion.objects.filter(pk=pair.first_id).update(turns=[])
    Completion.objects.filter(pk=pair.second_id).update(turns=[""], is_empty=True)
    page = text(client.get(f"{LIST}{pair.pk}/"))
    assert "The text of this answer is not known." in page
    assert "This answer is empty." in page
    ComparisonIndex.objects.all().delete()
    for address in (LIST, f"{LIST}{pair.pk}/"):
        assert "The list of pairs is being made" in text(client.get(address))


def test_texts_without_an_author_have_letters(open_study, client):
    Completion.objects.filter(prompt=open_study.prompts[0]).update(contestant=None)
    open_study.close()
    services.refresh(open_study.study)
    assert "1 of 8: </span>Answer A is much better" in text(client.get(f"{LIST}{open_study.first.pair_id}/"))


def test_revised_answers_are_not_shown(closed, client):
    closed.first.is_current = False
    closed.first.save()
    closed.rate("alpha", "beta", 2, revises=closed.first)
    services.refresh(closed.study)
    page = text(client.get(f"{LIST}{closed.first.pair_id}/"))
    assert "2 of 8: </span>alpha is better" in page
    assert "1 of 8: </span>alpha is much better" not in page
