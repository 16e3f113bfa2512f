"""From candidates over loopback models and judges to a study whose counts add up."""

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from arena.api.auth import operator_token
from arena.models import Completion, Pair, Prompt, Rater, Study, StudyEvent
from arena.rules.scales import mirror
from judging.models import JudgeRun
from judging.runs import queue
from judging.writing import services
from judging.writing.wanted import Wanted
from leaderboard.adversarial import making
from leaderboard.adversarial.filtering import OTHER, TASTE, Filter, decided, take_out, told
from tests import factories as make
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer, text_of
from tests.judging.working import work_off

pytestmark = pytest.mark.both_databases

THINGS = "river lake hill island town road bridge valley coast desert forest garden"
EACH = 6
JUDGES = list("abcd")


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
def source(db: None) -> Study:
    """A study of 24 prompts, two about each thing, with answers by Strong, and but for one by Weak."""
    study = make.make_study(slug="source")
    weak, strong = (
        make.make_contestant(study=study, name=name, slug=name.lower()) for name in ("Weak", "Strong")
    )
    for number, thing in enumerate(2 * THINGS.split()):
        asked = f"Name a {thing}" if number < 12 else f"Describe a {thing} well"
        prompt = make.make_prompt(study=study, external_id=f"p{number}", turns=[asked])
        make.make_completion(prompt=prompt, contestant=strong, turns=[f"Strong answer {number}"])
        if number != 3:
            make.make_completion(prompt=prompt, contestant=weak, turns=[f"Weak answer {number}"])
    return study


def number_of(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def sly(body: dict[str, Any]) -> Answer:
    """Writes for GPTInst and GPTOut."""
    return Answer(f"Sly answer to {text_of(body)[-40:]}")


def verdict_of(number: int) -> Any:
    """A judge that is wrong about the pairs whose right answer has a number below ``number``."""

    def script(body: dict[str, Any]) -> Answer:
        text = "\n".join(message["content"] for message in body["messages"])
        answers = re.findall(r"(Weak answer \d+|Sly answer|Strong answer \d+)", text)
        first, second = answers[-2:]
        is_right_first = first.startswith("Weak")
        right = number_of(first if is_right_first else second)
        is_right = right >= number
        return Answer("1" if is_right == is_right_first else "8")

    return script


@pytest.mark.both_databases(False)
def test_from_candidates_to_pairs_that_people_confirm(
    source: Study, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "nudge_plan", lambda pk: None)
    given = {
        "source": "source",
        "ways": ["Neighbor", "GPTInst", "GPTOut"],
        "right": "weak",
        "wrong": "strong",
    }
    study = making.Candidates(study="candidates", n=EACH, **given).make()
    # Candidates and what was left out on the way are all prompts that were looked at.
    before = told(study)
    assert (before["source"], before["candidates"]["all"]) == ("source", 3 * EACH)
    assert study.is_draft
    assert set(before["left_out"]) <= {f"{way}: {making.NO_ANSWER}" for way in given["ways"]}
    near = Pair.objects.filter(prompt__study=study)
    assert near.count() == EACH
    for pair in near:
        how = pair.prompt.extra["adversarial"]
        right, wrong = (pair.first, pair.second) if pair.gold == "first" else (pair.second, pair.first)
        assert number_of(right.text) == number_of(how["prompt"])
        assert wrong.text == f"Strong answer {number_of(how['neighbour'])}"
        assert {number_of(how["prompt"]) % 12} == {number_of(how["neighbour"]) % 12}  # about the same thing
    assert 0 < near.filter(gold="first").count() < EACH
    # Models write, all but one of the answers.
    for way in ("GPTInst", "GPTOut"):
        contestant = make.make_contestant(study=study, name=f"Sly {way}", slug=way.lower())
        author = make.make_author(contestant=contestant, base_url=model.url, writes=way)
        model.script = sly
        Wanted(limit=EACH - (way == "GPTOut")).start(author)
        work_off(services.door)
    assert Pair.objects.filter(prompt__study=study).exclude(gold="").count() == 3 * EACH - 1
    # Four judges, in both orders.
    for place, slug in enumerate(JUDGES):
        judge = make.make_judge(slug=slug, model=slug, base_url=model.url, protocol="likert")
        model.script = verdict_of(6 * (place + 1))
        planned(judge, study, both_orders=True)
        work_off()
    assert not JudgeRun.objects.going_on().exists()
    found = Filter(study)
    counts = told(study)["candidates"]
    assert counts["judges"] == dict.fromkeys(JUDGES, 3 * EACH - 1)
    assert counts["dropped"] == {"no pair with a right answer": 1}
    # By hand: the answer 13 is wrong for c and d alone, in both orders: 4 of 8 verdicts.
    numbers = [
        number_of(next(each.text for each in (pair.first, pair.second) if each.text.startswith("Weak")))
        for pair in Pair.objects.filter(prompt__study=study).exclude(gold="")
    ]
    for least, kept in enumerate(counts["kept"], start=1):
        assert kept == sum(
            2 * sum(number < 6 * place for place in (1, 2, 3, 4)) >= least for number in numbers
        )
        assert sum(found.sorted_out(least)[1].values()) + kept == 3 * EACH
    # The study that comes out.
    run = StringIO()
    call_command("adversarial", "hard", "--source", "candidates", "--wrong", "5", stdout=run)
    after = json.loads(run.getvalue())
    hard = Study.objects.get(slug="hard")
    assert after["left_out"] == found.sorted_out(5)[1]
    assert after["people"]["kept"] + sum(after["left_out"].values()) == 3 * EACH
    assert (hard.points, hard.ratings_per_pair_people, hard.is_draft) == (3, 2, True)
    assert "at least 5 of 8 verdicts of `a`, `b`, `c`, `d`" in hard.description
    pairs = list(Pair.objects.filter(prompt__study=hard).select_related("prompt"))
    assert len(pairs) == after["people"]["kept"] == counts["kept"][4]
    assert not hard.contestants.exists()
    for pair in pairs:
        assert (
            sum(
                each == "wrong"
                for said in pair.prompt.extra["adversarial"]["verdicts"].values()
                for each in said
            )
            >= 5
        )
    # People: confirmed, refused twice, in doubt, and waiting.
    people = [make.make_member(hard) for _ in range(2)]
    said = [("right", "right"), ("wrong", "wrong"), ("tie", "tie"), ("right", "wrong"), ("right",)]
    for pair, votes in zip(pairs, said, strict=False):
        for person, vote in zip(people, votes, strict=False):
            rating = {"first": 1, "second": 3}[pair.gold]
            rating = {"right": rating, "wrong": mirror(rating, 3), "tie": 2}[vote]
            swapped = person is people[1]
            rating = mirror(rating, 3) if swapped else rating
            make.make_comparison(pair=pair, rater=person, points=3, rating=rating, swapped=swapped)
    of = told(hard)["people"]
    assert (of["confirmed"], of["refused"]) == (1, {OTHER: 1, TASTE: 2})
    assert of["confirmed"] + sum(of["refused"].values()) + of["waiting"] == of["kept"]
    assert take_out(hard) == 3
    assert take_out(hard) == 0
    assert told(hard)["people"] == of
    assert [pair.gold for pair, _, decision in decided(hard) if decision in (TASTE, OTHER)] == ["", "", ""]
    assert StudyEvent.objects.filter(study=hard, note__icontains="right answer: none").count() == 3
    # Who changes their mind gives the pair back.
    refused = pairs[1]
    for row in refused.comparisons.all():
        row.rating = mirror(row.rating, 3)
        row.save()
    assert take_out(hard) == 1
    before_gold = refused.gold
    refused.refresh_from_db()
    assert (refused.gold, told(hard)["people"]["confirmed"]) == (before_gold, 2)


def test_embeddings_choose_neighbours_in_place_of_words(source: Study, tmp_path: Path) -> None:
    # Of such lengths, a square is no finite number or 0.
    vectors = {
        f"p{number}": [10.0 ** (number * 20 - 160), number * 10.0 ** (number * 20 - 160)]
        for number in range(24)
    }
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps(vectors))
    options = ["--source", "source", "--ways", "Neighbor", "--right", "weak", "--n", "40", "--below", "1"]
    call_command("adversarial", "near", *options, "--vectors", str(path), stdout=StringIO())
    made = {
        p.extra["adversarial"]["prompt"]: p.extra["adversarial"]
        for p in Prompt.objects.filter(study__slug="near")
    }
    assert made["p0"]["neighbour"] == "p1"
    assert made["p0"]["similarity"] == round(1 / 2**0.5, 4)
    assert len(made) == 23  # of p3 Weak has no answer, so it is nobody's neighbour either
    assert "p3" not in {each["neighbour"] for each in made.values()}
    assert told(Study.objects.get(slug="near"))["left_out"] == {"Neighbor: no answer of one turn": 1}


@pytest.mark.both_databases(False)
@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["--source", "nowhere", "--ways", "Neighbor", "--right", "weak"],
            'No study has the short name "nowhere"',
        ),
        (
            ["--source", "source", "--ways", "Magic", "--right", "weak"],
            "ways.0: Input should be 'Neighbor', 'GPTInst' or",
        ),
        (["--source", "source", "--ways", "Neighbor"], "right: Field required"),
        (
            ["--source", "source", "--ways", "Neighbor", "--right", "who"],
            'no model "who"; it has: strong, weak',
        ),
        (
            ["--source", "source", "--ways", "Neighbor", "--right", "weak", "--n", "0"],
            "n: Input should be greater",
        ),
        (
            ["--source", "source", "--ways", "Neighbor", "--right", "weak", "--below", "x"],
            "below: Input should be a valid number",
        ),
        (
            ["--source", "source", "--ways", "Neighbor", "--right", "weak", "--below", "1e-9"],
            "No pair is left: 23 × Neighbor: no prompt is near and different enough, 1 × Neighbor: no answer",
        ),
        (
            ["--source", "source", "--ways", "Neighbor", "--right", "weak", "--vectors", "SHORT"],
            '" has no vector, or one of another length.',
        ),
        (
            ["--source", "source", "--ways", "Neighbor", "--right", "weak", "--vectors", "BROKEN"],
            "is no JSON file",
        ),
        (
            ["--source", "source", "--ways", "Neighbor", "--right", "weak", "--vectors", "NAN"],
            "vectors.p0.0: Input should be a finite",
        ),
        (["--source", "source", "--judges", "nobody"], "No pair of this study has a right answer"),
        (["--judges", "nobody"], "No study has the short name"),
    ],
)
def test_bad_input_gets_a_sentence_and_makes_nothing(
    source: Study, tmp_path: Path, options: list[str], why: str
) -> None:
    for name, text in (("SHORT", '{"p0": [1, 2]}'), ("BROKEN", "{"), ("NAN", '{"p0": [NaN]}')):
        (tmp_path / name).write_text(text)
        options = [str(tmp_path / name) if each == name else each for each in options]
    with pytest.raises(CommandError, match=re.escape(why)):
        call_command("adversarial", "made", *options, stdout=StringIO())
    assert Study.objects.get() == source


@pytest.mark.both_databases(False)
@pytest.mark.parametrize("slug", ["source", "SOURCE", "new", "-x", "a b"])
def test_an_address_that_is_taken_or_none_is_refused(source: Study, slug: str) -> None:
    wanted = making.Candidates(source="source", study=slug, ways=["GPTOut"], right="weak")
    with pytest.raises(making.AdversarialError) as error:
        wanted.make()
    assert error.value.field == "study"
    assert Study.objects.count() == 1


@pytest.mark.both_databases(False)
def test_the_same_texts_are_one_pair(source: Study) -> None:
    Prompt.objects.update(turns=["Name it"])
    Completion.objects.filter(contestant__slug="weak").update(turns=["It."])
    study = making.Candidates(source="source", study="made", ways=["GPTOut"], right="weak").make()
    found = told(study)
    assert (found["candidates"]["all"], found["left_out"][making.AGAIN]) == (1, 22)


def scored(study: Study, slugs: list[str], rating: int = 8, **more: Any) -> None:
    """Judges say this of every pair with the right answer first, in both orders."""
    for slug in slugs:
        judge = make.make_rater(kind=Rater.Kind.JUDGE, slug=slug, name=slug)
        for pair in Pair.objects.filter(prompt__study=study):
            for swapped in (False, True):
                said = mirror(rating, 8) if swapped else rating
                make.make_comparison(pair=pair, rater=judge, rating=said, swapped=swapped, **more)


@pytest.fixture
def candidates(source: Study) -> Study:
    """Four pairs: one about which no judge is asked in both orders, and one whose right answer is a tie."""
    study = make.make_study(slug="candidates")
    for gold in ("first", "first", "tie", "first"):
        make.make_pair(prompt=make.make_prompt(study=study), gold=gold, gold_source="us")
    scored(study, ["a", "b"])
    Pair.objects.filter(prompt__study=study).latest("pk").comparisons.filter(
        swapped=True, rater__slug="b"
    ).delete()
    return study


@pytest.mark.both_databases(False)
def test_a_pair_that_cannot_be_held_against_a_label_is_dropped_by_its_reason(candidates: Study) -> None:
    assert told(candidates)["candidates"] == {
        "all": 4,
        "judges": {"a": 4, "b": 3},
        "dropped": {"both answers are equally right": 1, "a judge was not asked in both orders": 1},
        "kept": [2, 2, 2, 2],
    }
    assert told(candidates, ["a"])["candidates"]["kept"] == [3, 3]


@pytest.mark.both_databases(False)
def test_a_tie_is_wrong_and_a_reply_without_a_rating_is_not(candidates: Study) -> None:
    first, second = Pair.objects.filter(prompt__study=candidates)[:2]
    first.comparisons.filter(rater__slug="a").update(points=3, rating=2)
    second.comparisons.filter(rater__slug="a").update(rating=None, status="unscored", reason="refused")
    assert Filter(candidates).wrong.tolist()[:2] == [4, 2]
    assert Filter(candidates).how(1)["a"] == ["none", "none"]


@pytest.mark.both_databases(False)
def test_a_label_that_an_operator_turns_stays_turned(candidates: Study) -> None:
    hard = Study.objects.get(
        slug=told(making.wanted(_keep(), {"source": "candidates", "study": "hard"}).make())["study"]
    )
    pair = Pair.objects.filter(prompt__study=hard).earliest("pk")
    for _ in range(2):
        make.make_comparison(pair=pair, points=3, rating=3 if pair.gold == "first" else 1)
    assert told(hard)["people"]["refused"] == {OTHER: 1}
    pair.gold = "second" if pair.gold == "first" else "first"
    pair.save()
    assert (told(hard)["people"]["confirmed"], take_out(hard)) == (1, 0)


@pytest.mark.both_databases(False)
@pytest.mark.parametrize("made", [{"study": {"a": 1}, "verdicts": [1], "right": []}, {"study": 5}, [1]])
def test_what_a_file_says_of_how_a_pair_was_made_breaks_nothing(
    candidates: Study, staff: Client, made: object
) -> None:
    Prompt.objects.filter(study=candidates).update(extra={"adversarial": made})
    headers = {"Authorization": f"Bearer {operator_token()}"}
    # Also of a study with the short name that is an address of its own.
    shown = staff.get("/api/v1/adversarial/candidates/", headers=headers)
    assert (shown.status_code, shown.json()["source"]) == (200, None)
    assert staff.get(PAGE.format("candidates")).status_code == 200


def _keep() -> Any:
    from leaderboard.adversarial.filtering import Keep

    return Keep


PAGE = "/operate/{}/adversarial/"


def test_an_operator_makes_candidates_and_keeps_pairs_on_the_page(
    source: Study, staff: Client, tmp_path: Path
) -> None:
    shown = staff.get(PAGE.format("source")).content.decode()
    assert "Make candidates" in shown
    assert "Keep what judges get wrong" not in shown
    weak, strong = source.contestants.get(slug="weak").pk, source.contestants.get(slug="strong").pk
    given = {"make": "1", "make-study": "cands", "make-ways": ["Neighbor", "GPTOut"], "make-right": weak}
    given |= {"make-wrong": strong, "make-n": 5, "make-below": 0.9}
    assert staff.post(PAGE.format("source"), given)["Location"] == PAGE.format("cands")
    shown = staff.get(PAGE.format("cands")).content.decode()
    assert "10 candidates" in shown
    assert "No judge has rated here yet" in shown
    assert "/judging/runs/new/?study=cands&amp;both_orders=on" in shown
    assert "/judging/writing/cands/new/?writes=GPTOut" in shown
    study = Study.objects.get(slug="cands")
    for pair in Pair.objects.filter(prompt__study=study):
        for slug in ("a", "b"):
            judge = Rater.objects.filter(slug=slug).first() or make.make_rater(
                kind="judge", slug=slug, name="<b>"
            )
            for swapped in (False, True):
                wrong = (pair.gold == "first") != swapped
                make.make_comparison(pair=pair, rater=judge, rating=8 if wrong else 1, swapped=swapped)
    shown = staff.get(PAGE.format("cands"), {"judge": "a"}).content.decode()
    assert "2 or more of 2 verdicts wrong: 5 pairs" in shown
    assert 'value="a" checked> <span><bdi>&lt;b&gt;</bdi>: 5</span>' in shown
    assert "no pair with a right answer" in shown
    keep = {"keep": "1", "keep-study": "hard", "keep-judges": ["a", "b"], "keep-wrong": "3"}
    assert staff.post(PAGE.format("cands"), keep)["Location"] == PAGE.format("hard")
    shown = staff.get(PAGE.format("hard")).content.decode()
    assert "What people say" in shown
    assert "?writes=" not in shown, "nothing that is kept is still to be written"
    assert "no pair with a right answer" in shown
    hard = Study.objects.get(slug="hard")
    pair = Pair.objects.filter(prompt__study=hard).earliest("pk")
    for _ in range(2):
        make.make_comparison(pair=pair, points=3, rating=2)
    assert TASTE in staff.get(PAGE.format("hard")).content.decode()
    own = Study.objects.filter(pk=hard.pk)
    own.update(visibility=Study.Visibility.PUBLIC, is_draft=False)
    assert 'name="take_out"' not in staff.get(PAGE.format("hard")).content.decode()
    said = staff.post(PAGE.format("hard"), {"take_out": "1"}, follow=True).content.decode()
    assert "Close the study or make it private first." in said
    own.update(visibility=hard.visibility)
    said = staff.post(PAGE.format("hard"), {"take_out": "1"}, follow=True).content.decode()
    assert "Right answers changed: 1." in said


@pytest.mark.both_databases(False)
def test_what_the_page_cannot_make_is_said_beside_the_field(
    source: Study, candidates: Study, staff: Client
) -> None:
    weak = source.contestants.get(slug="weak").pk
    given = {"make": "1", "make-study": "source", "make-ways": ["Neighbor"], "make-right": weak, "make-n": 5}
    reply = staff.post(PAGE.format("source"), given | {"make-below": 2})
    assert reply.status_code == 422
    assert "below: Input should be less than or equal to 1." in reply.content.decode()
    reply = staff.post(PAGE.format("source"), given | {"make-study": "new", "make-below": 0})
    assert "below: Input should be greater than 0." in reply.content.decode()
    for empty in ("{}", "[]", "null", "0"):
        with StringIO(empty) as file:
            sent = given | {"make-study": "new", "make-below": 0.9, "make-vectors": file}
            reply = staff.post(PAGE.format("source"), sent)
        assert "has no vector, or one of another length." in reply.content.decode()
    reply = staff.post(PAGE.format("source"), given | {"make-below": 0.9})
    assert "There is a study &quot;source&quot; already." in reply.content.decode()
    with (staff_file := StringIO("{")) as broken:
        broken.name = "v.json"
        reply = staff.post(PAGE.format("source"), given | {"make-below": 0.9, "make-vectors": staff_file})
    assert "The file is no JSON." in reply.content.decode()
    keep = {"keep": "1", "keep-study": "hard", "keep-judges": ["a", "b"], "keep-wrong": "9"}
    assert staff.post(PAGE.format("candidates"), keep).status_code == 422
    assert Study.objects.count() == 2


@pytest.mark.both_databases(False)
def test_who_may_do_what(source: Study, candidates: Study, client: Client) -> None:
    operator = make.make_member(candidates)
    operator.memberships.update(role="operator")
    assert client.get(PAGE.format("candidates")).status_code == 302
    client.force_login(operator.user)
    shown = client.get(PAGE.format("candidates"))
    assert shown.status_code == 200
    assert "Make the study" not in shown.content.decode()
    keep = {"keep": "1", "keep-study": "hard", "keep-judges": ["a", "b"], "keep-wrong": "3"}
    assert client.post(PAGE.format("candidates"), keep).status_code == 403
    assert client.get(PAGE.format("source")).status_code == 404
    client.force_login(make.make_member(candidates).user)
    assert client.get(PAGE.format("candidates")).status_code == 404
    assert not Study.objects.filter(slug="hard").exists()


@pytest.mark.both_databases(False)
def test_the_api_makes_counts_and_takes_out(source: Study, client: Client) -> None:
    def send(path: str, body: object = None, token: str = "") -> Any:
        headers = {"Authorization": f"Bearer {token or operator_token()}"}
        method = client.get if body is None else client.post
        more = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return method(f"/api/v1/adversarial/{path}", headers=headers, **more)

    given = {"source": "source", "study": "cands", "ways": ["Neighbor"], "right": "weak", "n": 5}
    made = send("candidates/", given)
    assert made.status_code == 201
    assert (made.json()["source"], made.json()["left_out"]) == ("source", {})
    assert made.json()["candidates"] == {"all": 5, "judges": {}, "dropped": {}, "kept": []}
    again = send("candidates/", given)
    assert (again.status_code, again.json()["field"]) == (409, "study")
    assert (
        send("", {"source": "cands", "study": "hard"}).json()["detail"] == "No judge has rated in this study."
    )
    scored(Study.objects.get(slug="cands"), ["a"], rating=5, points=8)
    assert send("", {"source": "cands", "study": "hard", "wrong": 3}).json()["field"] == "wrong"
    kept = send("", {"source": "cands", "study": "hard", "wrong": 1})
    assert kept.status_code == 201
    people = kept.json()["people"]
    assert people == {"kept": people["kept"], "confirmed": 0, "refused": {}, "waiting": people["kept"]}
    assert send("hard/").json() == kept.json()
    assert send("hard/take-out/", {}).json() == kept.json()
    assert send("nowhere/").status_code == 404
    assert send("hard/", token="arena_x").status_code == 401
