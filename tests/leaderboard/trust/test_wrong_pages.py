"""Where judges are wrong: who may see it, what is listed, tags, hostile texts."""

import json
import re

import pytest
from django.utils import timezone

from arena.models import Comparison
from leaderboard.files import exports
from leaderboard.models import InstanceTag
from leaderboard.refreshing import computing, services
from leaderboard.trust import tags
from tests import factories
from tests.leaderboard.reading import table, text, words
from tests.leaderboard.trust.studies import Judging

pytestmark = pytest.mark.django_db
HOSTILE = '</div><script>alert(1)</script><img src=x onerror=alert(1)>"&\u202eevil'


class Tagging(Judging):
    """Five pairs; "poor" is right, wrong in one order, wrong in both, unscored once, not asked."""

    def __init__(self):
        super().__init__()
        for gold, subset in zip(("first", "second", "first", "second", "first"), "aabba", strict=True):
            self.pair(gold, subset)
        self.judge("poor", "122? ", "112  ")
        self.judge("good", "121=1", "12121")
        self.judge("other", "22112", "2211?")
        self.publish()

    @property
    def address(self):
        return f"/studies/{self.study.slug}/trust/wrong/"

    def number(self, place):
        return self.pairs[place].pk

    def tag_address(self, place, judge="poor"):
        return f"/operate/{self.study.slug}/error-tags/{self.number(place)}/?judge={judge}&orders=one"


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    return Tagging()


def listed(made, client, query):
    """Places of the pairs in the list, in its order."""
    found = re.findall(
        r'class="wrong-prompt" dir="auto" href="[^"]*/wrong/(\d+)/', text(client.get(made.address + query))
    )
    ids = [pair.pk for pair in made.pairs]
    return [ids.index(int(pk)) for pk in found]


@pytest.mark.parametrize("visibility", ["public", "private"])
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("role", ["nobody", "stranger", "rater", "viewer", "operator", "staff"])
def test_who_sees_right_answers(made, client, role, closed, visibility):
    made.study.visibility, made.study.closed_at = visibility, timezone.now() if closed else None
    made.study.save()
    if role in ("stranger", "staff"):
        client.force_login(factories.make_user(is_staff=role == "staff"))
    elif role != "nobody":
        member = factories.make_member(made.study)
        member.memberships.update(role=role)
        client.force_login(member.user)
    reply = Comparison.objects.filter(pair=made.pairs[0]).first()
    pages = [made.address + path for path in ("", f"{made.number(0)}/", "pairs.csv", "computing/")]
    pages += [f"{made.address}{made.number(0)}/replies/{reply.pk}/", made.address.replace("wrong", "two")]
    operates = role in ("operator", "staff")
    there = operates or role == "viewer" or visibility == "public"
    wanted = 404 if not there else 200 if closed or operates else 403
    headers = {"HX-Request": "true"}
    found = {page: client.get(page, headers=headers).status_code for page in pages}
    shown = 204 if wanted == 200 else wanted  # nothing is being computed
    assert found == {page: shown if page.endswith("computing/") else wanted for page in pages}
    posted = client.post(made.tag_address(1), {"tag": "counting"}).status_code
    assert posted == (302 if operates or role == "nobody" else 404)
    assert InstanceTag.objects.exists() == operates
    if there and wanted == 200:
        assert (
            "Why is poor wrong?" in text(client.get(f"{made.address}{made.number(2)}/?judge=poor"))
        ) == operates


@pytest.mark.both_databases
def test_what_is_listed(made, client):
    assert listed(made, client, "?judge=poor") == [1, 2, 3]
    assert listed(made, client, "?judge=poor&sort=hard") == [3, 2, 1]
    assert listed(made, client, "?judge=poor&orders=one") == [1]
    assert listed(made, client, "?judge=poor&orders=both") == [2]
    assert listed(made, client, "?judge=poor&orders=unscored") == [3]
    assert listed(made, client, "?judge=poor&subset=a") == [1]
    assert listed(made, client, "?judge=good") == [3]
    page = words(client.get(f"{made.address}?judge=poor"))
    assert "poor is not right on 3 of 4 pairs: 1 in one order, 1 in both orders, 1 without a verdict." in page
    assert "A first: B ✓ , right B first: A ✗ , wrong" in page
    unknown = f"{made.number(4) + 1}/"
    for wrong in ("?judge=nobody", "?orders=all", "?subset=z", "?tag=z", "99999999999999999999/", unknown):
        assert client.get(made.address + wrong).status_code == 404


def test_people_can_be_the_right_answer(made, client):
    for _ in range(2):
        made.person("22222")
    services.refresh(made.study)
    assert listed(made, client, "?judge=good&gold=people") == [0, 2, 3, 4]
    address = f"/studies/{made.study.slug}/trust/?gold=people"
    client.get(address)
    computing.compute_next(made.study.pk)
    assert f'href="{made.address}?gold=people"' in text(client.get(address))
    assert "Right: B according to majority of people" in words(
        client.get(f"{made.address}{made.number(0)}/?judge=good&gold=people")
    )


def test_the_files_hold_the_list(made, client):
    tags.put(made.raters["poor"], made.pairs[2], "counting", None)
    heading, *rows = table(client, f"{made.address}pairs.csv?judge=poor&subset=b")
    found = [dict(zip(heading, row, strict=True)) for row in rows]
    assert [int(row["pair"]) for row in found] == [made.number(2), made.number(3)]
    first = {"gold": "first", "gold_source": "by hand", "judge": "poor", "tag": "counting", "subset": "b"}
    said = {"poor straight": "second", "poor swapped": "second", "good swapped": "first"}
    assert (first | said).items() <= found[0].items()
    assert found[1]["poor straight"] == "unscored"
    again = json.loads(text(client.get(f"{made.address}pairs.json?judge=poor&subset=b")))["instances"]
    assert [(row["pair"], row["tag"]) for row in again] == [
        (made.number(2), "counting"),
        (made.number(3), None),
    ]


def test_a_pair_shows_every_reply(made, client):
    pair = made.pairs[2]
    for said, reply in zip(
        Comparison.objects.filter(pair=pair, rater=made.raters["poor"]), "XY", strict=True
    ):
        Comparison.objects.filter(pk=said.pk).update(raw_reply=f"Reply {reply}")
    page = words(client.get(f"{made.address}{pair.pk}/?judge=poor"))
    assert "Right: A according to by hand" in page
    assert "A first: B ✗ , wrong B first: B ✗ , wrong Reply with A shown first Reply X" in page
    assert page.index("Reply X") < page.index("Reply Y") < page.index("good")
    # All of the list but this one lie before and after.
    near = re.findall(
        r'rel="(prev|next)"[^>]*/wrong/(\d+)/', text(client.get(f"{made.address}{pair.pk}/?judge=poor"))
    )
    assert near == [("prev", str(made.number(1))), ("next", str(made.number(3)))]


@pytest.mark.both_databases
def test_a_tag_is_set_changed_and_removed(made, client, staff):
    def tag(name, place=1, judge="poor"):
        return staff.post(made.tag_address(place, judge), {"tag": name})

    reply = tag("counting")
    assert reply.url == f"{made.address}{made.number(1)}/?judge=poor&orders=one#tag"
    at = InstanceTag.objects.get().created_at
    tag("counting")
    assert InstanceTag.objects.get().created_at == at
    tag("surface")
    assert (InstanceTag.objects.get().name, tags.counts(made.study)) == ("surface", {"poor": {"surface": 1}})
    assert listed(made, client, "?judge=poor&tag=surface") == [1]
    assert listed(made, client, "?judge=poor&tag=none") == [2, 3]
    # A pair that has left the list still has neighbours.
    page = text(client.get(f"{made.address}{made.number(1)}/?judge=poor&tag=none"))
    assert re.findall(r'rel="(\w+)"[^>]*/wrong/(\d+)/', page) == [("next", str(made.number(2)))]
    files = {name: b"".join(pieces) for name, pieces in exports.everything(made.study, "jsonl")}
    row = json.loads(files["for-the-record/error_tags.jsonl"])
    assert (row["judge"], row["prompt"], row["tag"]) == ("poor", made.pairs[1].prompt.external_id, "surface")
    tag("")
    tag("")
    assert tags.counts(made.study) == {}
    other = factories.make_pair()
    wrong = [("no such tag", 1, "poor"), ("counting", 4, "poor"), ("counting", 1, "nobody")]
    assert [tag(*each).status_code for each in wrong] == [404] * 3
    unknown = made.tag_address(1).replace(str(made.number(1)), str(other.pk))
    assert staff.post(unknown, {"tag": "counting"}).status_code == 404
    assert staff.get(made.tag_address(1)).status_code == 405


@pytest.mark.both_databases
def test_a_tag_outlives_its_author_and_its_name(made, staff):
    author = factories.make_user(username="Grace Secret")
    tags.put(made.raters["poor"], made.pairs[1], "counting", author)
    before = text(staff.get(made.address))
    author.delete()
    assert InstanceTag.objects.get().author is None
    address = f"/operate/{made.study.slug}/error-tags/"
    saved = staff.post(address, {"names": " wrong  language \n\nother\n"})
    assert (saved.status_code, tags.offered(made.study)) == (302, ["wrong language", "other"])
    assert tags.known(made.study) == ["wrong language", "other", "counting"]
    page = words(staff.get(f"{made.address}{made.number(1)}/?judge=poor"))
    assert "Tagged: counting." in page
    assert "Secret" not in before + page + json.dumps(
        [dict(row, created_at=0) for row in tags.rows(made.study)]
    )
    for names in ("", "a\nA", "x" * 51, "none", "\n".join(map(str, range(21)))):
        refused = staff.post(address, {"names": names})
        assert (refused.status_code, len(tags.offered(made.study))) == (422, 2), names


@pytest.mark.both_databases
def test_hostile_texts_do_no_harm(made, client, staff):
    pair, long = made.pairs[2], HOSTILE + "x" * 1_000_000
    pair.prompt.turns = [HOSTILE]
    pair.prompt.save()
    type(pair.first).objects.filter(pk=pair.first_id).update(turns=[HOSTILE])
    type(pair).objects.filter(pk=pair.pk).update(gold_source=HOSTILE)
    said = Comparison.objects.filter(pair=pair)
    said.update(raw_reply=long)
    tags.offer(made.study, [HOSTILE[:50]])
    tags.put(made.raters["poor"], pair, HOSTILE[:50], None)
    for path in ("?judge=poor", f"{pair.pk}/?judge=poor"):
        page = text(client.get(made.address + path))
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert len(page) < 300_000
    two = text(client.get(made.address.replace("wrong", "two") + "?a=poor&b=good"))
    assert "<script>alert" not in two
    whole = client.get(f"{made.address}{pair.pk}/replies/{said.first().pk}/")
    assert (whole.content.decode(), whole["Content-Type"]) == (long, "text/plain; charset=utf-8")
    assert whole["X-Content-Type-Options"] == "nosniff"


def test_two_judges(made, client):
    page = words(client.get(made.address.replace("wrong", "two") + "?a=poor&b=good"))
    # Both have every verdict on the first three; poor is right on the first.
    for said in (
        "Both right 1",
        "Only poor right 0",
        "Only good right 2",
        "Both wrong 0",
        "2 pairs left out",
    ):
        assert said in page
    assert "poor alone is right on 0 pairs, good alone on 2. This may be noise: p = 1.000" in page
    assert "corrected for 2 judges compared with good; p = 0.500 without" in page
    swapped = words(client.get(made.address.replace("wrong", "two") + "?a=good&b=poor&subset=b&show=a"))
    assert "good alone is right on 1 pair, poor alone on 0. This may be noise: p = 1.000" in swapped


@pytest.mark.both_databases
def test_tags_are_counted_per_judge(made, client):
    address = f"/studies/{made.study.slug}/trust/"
    before = client.get(address)["ETag"]
    tags.put(made.raters["poor"], made.pairs[1], "counting", None)
    tags.put(made.raters["poor"], made.pairs[2], "counting", None)
    tags.put(made.raters["other"], made.pairs[2], "surface", None)
    wanted = [["Judge", "counting", "surface"], ["other", "0", "1"], ["poor", "2", "0"]]
    heading, *rows = table(client, f"{address}tables/tags.csv")
    assert [heading, *sorted(rows)] == wanted
    assert client.get(address)["ETag"] != before
    told = {"other": {"surface": 1}, "poor": {"counting": 2}}
    api = f"/api/v1/studies/{made.study.slug}/trust/"
    assert client.get(api).json()["tags"] == told
    made.study.closed_at = None
    made.study.save()
    assert client.get(f"{address}tables/tags.csv").status_code != 200
    client.force_login(factories.make_user(is_staff=True))
    assert table(client, f"{address}tables/tags.csv")[0] == wanted[0]


def test_a_study_without_right_answers_says_so(client):
    made = Judging()
    made.pair("")
    made.judge("alone", "1", "1")
    made.publish()
    assert "No pair of this study has a right answer" in text(
        client.get(f"/studies/{made.study.slug}/trust/wrong/")
    )


def test_parts_of_a_sentence_add_up_and_others_without_a_verdict_are_not_wrong(client):
    """A pair wrong in one order and not rated in the other counts once."""
    made = Judging()
    for subset in "aaab":
        made.pair("first", subset)
    made.judge("poor", "2211", "?111")
    made.judge("late", "1   ", "1   ")
    made.judge("deaf", "??  ", "??  ")
    made.publish()
    address = f"/studies/{made.study.slug}/trust/"
    page = words(client.get(f"{address}wrong/?judge=poor"))
    assert "poor is not right on 2 of 4 pairs: 2 in one order." in page
    assert "1 of 1 other right" in page
    assert "no other verdict" in page
    assert "late was not asked about these pairs." in words(
        client.get(f"{address}wrong/?judge=late&subset=b")
    )
    assert "poor and late have no pair on which" in words(client.get(f"{address}two/?a=poor&b=late&subset=b"))
    same = words(client.get(f"{address}two/?a=late&b=late"))
    assert "Choose two different judges." in same
    made.judge("again", "2211", "2111")
    made.judge("twin", "2211", "2111")
    services.refresh(made.study)
    alike = words(client.get(f"{address}two/?a=again&b=twin"))
    assert "again and twin are right on the same pairs." in alike
    assert "noise" not in alike


@pytest.mark.parametrize(
    ("copies", "said"), [(1, "More than noise: p = 0.031"), (6, "This may be noise: p = 1.000")]
)
def test_six_pairs_of_one_prompt_are_not_six_prompts(client, copies, said):
    """Six pairs on which one judge alone is right: 2 / 2^6 of six prompts, and nothing of one."""
    made = Judging()
    for number in range(6):
        if number % copies:
            made.again()
        else:
            made.pair("first")
    made.judge("one", "1" * 6, "1" * 6)
    made.judge("other", "2" * 6, "2" * 6)
    made.publish()
    page = words(client.get(f"/studies/{made.study.slug}/trust/two/?a=one&b=other"))
    assert (
        f"one alone is right on 6 pairs, other alone on 0. {said} (McNemar’s exact test by prompt)." in page
    )


def test_a_judge_that_saw_one_order_is_not_wrong_in_one_of_two(client):
    made = Judging()
    for _ in range(2):
        made.pair("first")
    made.judge("once", "22", "  ")
    made.judge("twice", "12", "12")
    made.publish()
    address = f"/studies/{made.study.slug}/trust/wrong/"
    page = words(client.get(f"{address}?judge=once"))
    assert "once is not right on 2 of 2 pairs. It saw each of them in one order only." in page
    other = words(client.get(f"{address}?judge=twice"))
    assert "twice is not right on 1 of 2 pairs: 1 in both orders." in other
    assert "wrong in one order: once" not in other
