"""The pages for staff accounts about raters, groups and keys."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client
from django.urls import reverse

from arena.api.auth import digest, issue_token
from arena.models import ApiToken, Comparison, Rater, RaterGroup, Study
from tests import factories as make
from tests.arena.conftest import VISITORS

pytestmark = pytest.mark.django_db

RATERS, GROUPS, KEYS = "/operate/raters/", "/operate/groups/", "/operate/keys/"


@pytest.mark.parametrize("visitor", VISITORS)
def test_they_are_for_staff_accounts(signed_in: Callable[[str], Client], visitor: str) -> None:
    client, rater = signed_in(visitor), make.make_rater(name="Ann")
    issue_token(rater)
    group = make.make_group()
    expected = {"anonymous": 302, "staff": 200}.get(visitor, 403)
    for page in (RATERS, GROUPS, KEYS, reverse("operate-group", args=[group.pk])):
        assert client.get(page).status_code == expected
    client.post(reverse("operate-pause-everywhere", args=[rater.pk]), {"pause": "1"})
    client.post(reverse("operate-revoke", args=[ApiToken.objects.get().pk]))
    client.post(reverse("operate-group", args=[group.pk]), {"delete": "1"})
    rater.refresh_from_db()
    done = (rater.paused_at is not None, ApiToken.objects.get().revoked_at is not None)
    assert done == ((True, True) if visitor == "staff" else (False, False))
    assert RaterGroup.objects.exists() is (visitor != "staff")


@pytest.fixture
def staff(signed_in: Callable[[str], Client]) -> Client:
    return signed_in("staff")


def test_a_rater_is_found_paused_and_resumed(staff: Client) -> None:
    rater = make.make_rater(name="Ann <b>")
    page = staff.get(RATERS, {"q": "ann"}).content.decode()
    assert "Ann &lt;b&gt;" in page
    assert "No rater has this name" in staff.get(RATERS, {"q": "zzz\0"}).content.decode()
    for word, paused in (("pause", True), ("pause", True), ("resume", False)):
        staff.post(reverse("operate-pause-everywhere", args=[rater.pk]), {word: "1"})
        rater.refresh_from_db()
        assert (rater.paused_at is not None) is paused


def test_ratings_scores_and_checked_answers_count_once_each(
    staff: Client, django_assert_max_num_queries: Callable[..., AbstractContextManager[object]]
) -> None:
    ann, others = make.make_rater(name="Ann"), [make.make_rater() for _ in range(3)]
    for rater in (ann, *others):
        one, other = make.make_completion(), make.make_completion()
        make.make_comparison(rater=rater)
        make.make_comparison(rater=rater, is_current=False)
        for completion in (one, other):
            make.make_score(rater=rater, completion=completion)
        for _ in range(3):  # requirements of one answer
            make.make_answer(rater=rater, completion=one, question=make.make_question(prompt=one.prompt))
    with django_assert_max_num_queries(6):
        found = staff.get(RATERS, {"q": "Ann"}).context["page"].object_list
        assert [rater.ratings for rater in found] == [1 + 2 + 1]
    assert [rater.ratings for rater in staff.get(RATERS).context["page"]].count(4) == 4


def test_a_judge_of_a_program_elsewhere_is_made_once(staff: Client) -> None:
    for _ in range(2):
        response = staff.post(RATERS, {"name": "My judge", "slug": "my-judge"})
    assert list(response.context["form"].errors) == ["name", "slug"]
    judge = Rater.objects.get(slug="my-judge")
    assert (judge.kind, judge.study, judge.user) == ("judge", None, None)


@pytest.fixture
def rated(study: Study) -> Comparison:
    return make.make_comparison(pair=make.make_pair(prompt=study.prompts.first()))


def test_changes_of_a_group_change_the_studies_its_members_rated(staff: Client, rated: Comparison) -> None:
    staff.post(GROUPS, {"name": "Experts", "slug": "experts"})
    group = RaterGroup.objects.get()
    page = reverse("operate-group", args=[group.pk])
    told = {"rater": [rated.rater_id, "x", "9" * 20, "9" * 5000]}
    assert rated.rater.name in staff.get(page, {"q": rated.rater.name}).content.decode()
    for number, (change, members) in enumerate(
        (
            ({"add": "1", **told}, 1),
            ({"rename": "1", "name": "Wise", "slug": "wise"}, 1),
            ({"take-out": "1", **told}, 0),
        ),
        start=1,
    ):
        assert staff.post(page, change).status_code == 302
        assert (Study.objects.get().revision, group.raters.count()) == (number, members)
    staff.post(page, {"add": "1", **told})
    staff.post(page, {"delete": "1"})
    assert Study.objects.get().revision == 5
    assert not RaterGroup.objects.exists()
    assert Rater.objects.filter(pk=rated.rater_id).exists()


def test_a_group_without_a_name_is_refused(staff: Client) -> None:
    group = make.make_group()
    response = staff.post(
        reverse("operate-group", args=[group.pk]), {"rename": "1", "name": "", "slug": "a b"}
    )
    assert response.status_code == 422
    assert set(response.context["form"].errors) == {"name", "slug"}
    assert staff.post(GROUPS, {"name": "Twin", "slug": group.slug}).status_code == 422


def test_a_key_is_shown_once(staff: Client) -> None:
    judge = make.make_rater(kind=Rater.Kind.JUDGE, name="GPT")
    response = staff.post(KEYS, {"rater": judge.pk, "label": "cluster", "scopes": ["rate"]})
    row = ApiToken.objects.get()
    assert (row.rater, row.label, row.scopes) == (judge, "cluster", ["rate"])
    key = response.context["key"]
    assert f'value="{key}"' in response.content.decode()
    assert digest(key) == row.digest
    assert "no-store" in response["Cache-Control"]
    assert key not in str(staff.session.items()) + str(response.cookies)
    page = staff.get(KEYS).content.decode()
    assert "cluster" in page
    assert key not in page
    assert row.digest not in page


def test_staff_make_keys_for_themselves_and_for_judges_only(staff: Client) -> None:
    staff.post(KEYS, {"rater": "", "label": "mine", "scopes": ["read", "runs"]})
    assert ApiToken.objects.get().rater.user.is_staff  # type: ignore[union-attr]
    other = make.make_rater(user=make.make_user())
    judge = make.make_rater(kind=Rater.Kind.JUDGE)
    for rater, scopes, reason in (
        (other, ["rate"], "Choose from the list"),
        (judge, ["rate", "runs"], "own token may start runs"),
        (judge, [], "This field is required"),
    ):
        response = staff.post(KEYS, {"rater": rater.pk, "scopes": scopes})
        assert response.status_code == 422
        assert reason in response.content.decode()
    assert ApiToken.objects.count() == 1
