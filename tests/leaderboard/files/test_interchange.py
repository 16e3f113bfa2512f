"""Files for other programs: they read them, we read them back, and nothing goes missing unsaid."""

import csv
import io
import json
from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from arena.data.importing.imports import import_files
from arena.models import Comparison, Completion, Pair, Rater, Study
from arena.people.rater_data import pseudonym
from leaderboard.files import interchange, selection
from leaderboard.models import Snapshot
from leaderboard.refreshing import services
from leaderboard.snapshots.reading import opinions
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.terminal.votes import rank_votes, read_votes
from tests import factories as make
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    """Two people and a judge; one reply without a rating; a retired contestant."""
    made = HandMade(
        "Alpha", "=Beta", "Gamma", "Old", slug="made", name="Made", categories=("coding", "poems")
    )
    bob, judge = make.make_rater(name="Bob"), made.judge("judy")
    made.rate("Alpha", "=Beta", 2)
    made.rate("=Beta", "Alpha", 6, rater=bob)
    made.rate("Alpha", "Gamma", 4)
    made.rate("Gamma", "=Beta", 8, prompt=1)
    made.rate("=Beta", "Gamma", 2, prompt=1, rater=bob)
    made.rate("Gamma", "Alpha", None, reason="refused", rater=judge)
    made.rate("Alpha", "=Beta", 3, points=3, rater=judge)
    made.rate("Old", "Alpha", 1)
    made.contestants["Old"].retired_at = made.person.created_at
    made.contestants["Old"].save()
    services.refresh(made.study)
    return made


def written(made, what, form="jsonl", **asked):
    found = interchange.vote_file(made.study, what, form, asked)
    return b"".join(found.pieces), json.loads(found.note())


def rows(content):
    return [json.loads(line) for line in content.decode().splitlines()]


def test_arena_rows_by_hand_with_pseudonyms_that_tell_nothing(made):
    content, note = written(made, "arena")
    votes = rows(content)
    assert [(row["model_a"], row["model_b"], row["winner"]) for row in votes] == [
        ("Alpha", "=Beta", "model_a"),
        ("=Beta", "Alpha", "model_b"),
        ("Alpha", "Gamma", "tie"),
        ("Gamma", "=Beta", "model_b"),
        ("=Beta", "Gamma", "model_a"),
        ("Alpha", "=Beta", "model_b"),
        ("Old", "Alpha", "model_a"),
    ]
    assert list(votes[0]) == [
        *("question_id", "model_a", "model_b", "winner", "judge", "turn", "anony", "language", "tstamp"),
        *("tstamp_known", "score_1_8", "rating", "points", "shown_first", "category", "protocol"),
        *("protocol_version", "rater_kind", "consensus", "consensus_by", "simulated"),
        "derived_from",
    ]
    assert {(row["anony"], row["tstamp_known"]) for row in votes} == {(True, True)}
    assert (votes[0]["score_1_8"], votes[0]["judge"]) == (2, pseudonym(made.study, made.person.pk))
    by_judge = votes[5]
    assert (by_judge["judge"], by_judge["rater_kind"], by_judge["score_1_8"]) == ("judy", "judge", None)
    assert (by_judge["rating"], by_judge["points"]) == (3, 3)
    assert {row["category"] for row in votes} == {"coding", "poems"}
    assert note == {
        "what": "arena",
        "raters": "all",
        "ties": "on",
        "category": None,
        "rows": 7,
        "left_out": {"not rated: refused": 1},
    }
    content, _ = written(made, "arena")
    assert made.person.slug.encode() not in content
    assert b"Ada" not in content
    other = make.make_study()
    assert pseudonym(made.study, made.person.pk) != pseudonym(other, made.person.pk)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("asked", [{}, {"conversational": "on"}], ids=["texts", "messages"])
def test_preferences_import_again_as_gold_labels(made, form, asked, tmp_path):
    for completion in Completion.objects.all():
        completion.turns = [f"- point {completion.pk}"]
        completion.save()
    content, note = written(made, "preferences", form, **asked)
    (tmp_path / f"pairs.{form}").write_bytes(content)
    report = import_files("copy", [tmp_path / f"pairs.{form}"])
    assert [str(problem) for problem in report.errors] == []
    labels = {
        (pair.first.text, pair.second.text) if pair.gold == "first" else (pair.second.text, pair.first.text)
        for pair in Pair.objects.filter(prompt__study__slug="copy")
    }
    expected = rows(written(made, "preferences")[0])
    assert len(labels) == note["rows"] == len(expected)
    chosen = {(row["chosen"], row["rejected"]) for row in expected if row["consensus"] != "rejected"}
    assert chosen <= labels


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_games_for_evalica_import_again(made, form, tmp_path):
    content, note = written(made, "evalica", form)
    (tmp_path / f"games.{form}").write_bytes(content)
    report = import_files("copy", [tmp_path / f"games.{form}"])
    assert [str(problem) for problem in report.errors] == []
    copies = Comparison.objects.filter(study__slug="copy")
    assert len(copies) == note["rows"]
    given = copies.values_list("rating", flat=True)
    words = Counter({1: "left", 2: "tie", 3: "right"}[rating] for rating in given)
    assert words == Counter(row["winner"] for row in rows(written(made, "evalica")[0]))


def test_choosing_raters_category_and_ties(made):
    assert len(rows(written(made, "arena", raters="judge:judy")[0])) == 1
    assert len(rows(written(made, "arena", category="poems")[0])) == 2
    votes = rows(written(made, "arena", ties="off")[0])
    assert votes[2]["winner"] == "model_a"
    unknown = ({"raters": "judge:x"}, {"raters": "x"}, {"category": "x"}, {"ties": "x"})
    nul = ({"raters": "judge:\0"}, {"raters": "group:\0"}, {"category": "\0"}, {"ties": "\0"})
    for asked in (*unknown, *nul):
        with pytest.raises(selection.ExportError):
            interchange.vote_file(made.study, "arena", "jsonl", asked)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_arena_files_import_again_as_battles_with_the_same_games(made, form, tmp_path):
    first, second = Comparison.objects.filter(study=made.study)[:2]
    Comparison.objects.filter(pk=first.pk).update(is_dated=False)
    Comparison.objects.filter(pk=second.pk).update(extra={"anony": False})
    content, _ = written(made, "arena", form)
    (tmp_path / f"votes.{form}").write_bytes(content)
    report = import_files("copy", [tmp_path / f"votes.{form}"], format_name="arena-battles")
    assert [str(problem) for problem in report.errors] == []
    copy = Study.objects.get(slug="copy")
    again, _ = written_of(copy, "arena")
    columns = ("question_id", "model_a", "model_b", "winner", "rater_kind", "anony", "tstamp_known")
    votes = rows(written(made, "arena")[0])
    expected = [tuple(row[name] for name in columns) for row in votes]
    assert [row[-2:] for row in expected[:3]] == [(True, False), (False, True), (True, True)]
    if form == "csv":  # safe in a spreadsheet: a name that begins like a formula has an apostrophe
        expected = [tuple(f"'{x}" if x == "=Beta" else x for x in row) for row in expected]
    assert [tuple(row[name] for name in columns) for row in again] == expected
    assert [row["tstamp"] for row in again[1:]] == [row["tstamp"] for row in votes[1:]]


def written_of(study, what):
    found = interchange.vote_file(study, what, "jsonl", {})
    return rows(b"".join(found.pieces)), json.loads(found.note())


def test_evalica_reads_its_file_and_our_rank_command_gives_the_boards_numbers(made, tmp_path):
    import evalica
    from evalica.__main__ import read_csv

    content, note = written(made, "evalica", "csv")
    assert note["raters"] == "people"
    assert note["left_out"] == {"with a retired model": 1}
    path = tmp_path / "games.csv"
    path.write_bytes(content)
    assert content.startswith(b"left,right,winner,prompt,prompt_id\r\n"), "no byte order mark"
    table = csv.DictReader(io.StringIO(content.decode()))
    assert {row["prompt_id"] for row in table} == {prompt.external_id for prompt in made.prompts}
    with path.open() as file:
        left, right, winners = read_csv(file)
    assert len(left) == 5
    scores = evalica.elo(left, right, winners, k=32).scores
    one_pass = rank_votes(read_votes(path), Method("elo-study", rounds=None))
    assert {row.contestant: row.rating for row in one_pass.standings} == pytest.approx(dict(scores))
    read = opinions(made.study)
    chosen = read.by(read.raters[0].ids).present()
    renamed = tuple(f"'{name}" if name.startswith("=") else name for name in chosen.names)
    for name in ("elo", "bradley-terry"):
        method = Method(name=name, rounds=20, seed=0)
        board = rank_ratings(chosen.ratings(), renamed, method)
        assert rank_votes(read_votes(path), method).canonical_json() == board.canonical_json()


def test_rank_gives_the_boards_intervals_whatever_the_order_in_which_prompts_were_rated(tmp_path):
    categories = ("coding", "poems", "maths")
    later = HandMade("Alpha", "Beta", "Gamma", slug="later", name="Later", categories=categories)
    for prompt, ratings in ((2, (1, 8, 3)), (0, (2, 2, 5)), (1, (7, 1, 6))):
        for (first, second), rating in zip(
            (("Alpha", "Beta"), ("Beta", "Gamma"), ("Gamma", "Alpha")), ratings, strict=True
        ):
            later.rate(first, second, rating, prompt=prompt)
    path = tmp_path / "games.csv"
    path.write_bytes(written(later, "evalica", "csv")[0])
    chosen = opinions(later.study).present()
    for name in ("elo", "bradley-terry"):
        method = Method(name=name, rounds=20, seed=0)
        board = rank_ratings(chosen.ratings(), chosen.names, method)
        assert rank_votes(read_votes(path), method).canonical_json() == board.canonical_json()


def test_preferences_by_hand(made):
    content, note = written(made, "preferences")
    found = rows(content)
    texts = {name: made.completion(name, made.prompts[0]).turns[0] for name in ("Alpha", "=Beta", "Old")}
    # Alpha and =Beta: Ada says 2 (5/7 for Alpha), Bob says 6 of the other order (3/7 for Alpha).
    assert found[0] == {
        "prompt": made.prompts[0].turns[0],
        "chosen": texts["Alpha"],
        "rejected": texts["=Beta"],
        "margin": pytest.approx(4 / 7, abs=1e-15),
        "n_raters": 2,
        "agreement": 1.0,
        "consensus": "chosen",
        "consensus_by": "unanimous",
        "prompt_id": made.prompts[0].external_id,
        "category": "coding",
        "simulated": False,
    }
    rest = [(row["n_raters"], row["margin"]) for row in found[1:]]
    assert rest == [(2, pytest.approx(6 / 7, abs=1e-15)), (1, 1.0)]
    assert note["left_out"] == {"as many raters on one side as on the other, or all tied": 1}
    assert note["raters"] == "people"
    made.study.prompts.update(category="")
    assert {row["category"] for row in rows(written(made, "preferences")[0])} == {""}


def test_preferences_as_messages_and_simulated_raters(made):
    made.person.simulated = True
    made.person.save()
    found = rows(written(made, "preferences", conversational="1")[0])
    assert found[0]["prompt"] == [{"role": "user", "content": made.prompts[0].turns[0]}]
    assert found[0]["chosen"][0]["role"] == "assistant"
    assert {row["simulated"] for row in found} == {True}
    parquet, _ = written(made, "preferences", "parquet", conversational="1")
    import pandas

    table = pandas.read_parquet(io.BytesIO(parquet))
    assert list(table["chosen"][0]) == found[0]["chosen"], "a list of messages and no text that holds one"
    csv_text, _ = written(made, "preferences", "csv", conversational="1")
    (row, *_) = csv.DictReader(io.StringIO(csv_text.decode("utf-8-sig")))
    assert json.loads(row["chosen"]) == found[0]["chosen"]


def test_unknown_texts_and_same_texts_are_counted(made):
    for name, turns in (("Old", []), ("=Beta", made.completion("Alpha", made.prompts[0]).turns)):
        completion = made.completion(name, made.prompts[0])
        completion.turns = turns
        completion.save()
    left_out = written(made, "preferences")[1]["left_out"]
    assert left_out["both answers have the same text"] == 1
    assert left_out["the text of the prompt or of an answer is unknown"] == 1


def test_the_leaderboard_has_the_shape_of_the_arenas(made):
    content = json.loads(
        b"".join(interchange.leaderboard_pieces(made.study, "json", {"method": "bradley-terry"}))
    )
    assert set(content) == {"full", "coding", "poems"}
    board = Snapshot.objects.get().slices.get(
        kind="standings", raters="people", ties="on", category="", method="bradley-terry"
    )
    for row in board.content["standings"]:
        entry = content["full"][row["contestant"]]
        assert entry["rating"] == row["rating"]
        assert entry["rating_q025"] == row["quantiles"]["2.5"]
        assert entry["rating_q975"] == row["quantiles"]["97.5"]
        assert (entry["n"], entry["rank_ub"]) == (row["games"], row["rank_ub"])
        assert (entry["ties_mode"], entry["rater_kind"], entry["raters"]) == ("on", "people", "people")
        assert entry["methodology"] == Snapshot.objects.get().methodology
        assert entry["simulated"] is False
    table = list(
        csv.DictReader(
            io.StringIO(b"".join(interchange.leaderboard_pieces(made.study, "csv", {})).decode("utf-8-sig"))
        )
    )
    assert {row["category"] for row in table} == {"full", "coding", "poems"}
    assert len(table) == len(content["full"]) + len(content["coding"]) + len(content["poems"])


def test_a_category_named_like_the_whole_keeps_a_place_of_its_own():
    from leaderboard.files.published import key_of

    known = ("", "full", "full (category)", "coding")
    assert [key_of(name, dict.fromkeys(known)) for name in ("", "coding")] == ["full", "coding"]
    assert len({key_of(name, dict.fromkeys(known)) for name in known}) == 4


def test_the_command_writes_files_and_says_what_is_left_out(made, tmp_path):
    said, out = io.StringIO(), tmp_path / "votes.jsonl"
    call_command("export", "made", what="arena", out=str(out), stderr=said)
    assert "7 rows, raters: all." in said.getvalue()
    assert "Left out: 1 not rated: refused." in said.getvalue()
    assert json.loads((tmp_path / "votes.jsonl.note.json").read_text())["rows"] == 7
    for what, ending in (("leaderboard", "json"), ("evalica", "csv"), ("preferences", "jsonl")):
        path = tmp_path / f"{what}.{ending}"
        call_command("export", "made", what=what, out=str(path), stderr=io.StringIO())
        assert path.stat().st_size > 100
    for options, sentence in (
        ({"what": "leaderboard", "category": "coding"}, "--category works only"),
        ({"what": "arena", "conversational": True}, "--conversational works only with --what preferences."),
        ({"what": "arena", "raters": "judge:x"}, 'No judge "x" in this study.'),
        ({"what": "leaderboard", "raters": "all"}, 'This leaderboard has no raters "all".'),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("export", "made", **options, stderr=io.StringIO())


@pytest.fixture
def agreed(made):
    """Pairs by hand: one settled against people, one by majority, one open, one of judges alone."""
    cid, eve = make.make_rater(name="Cid"), make.make_rater(name="Eve", simulated=True)
    made.rate("Alpha", "=Beta", 7, rater=cid)  # with 2 and 6 the other way round: two of three for Alpha
    made.rate("Gamma", "Alpha", 8, rater=cid)  # with a tie
    settled = made.pair("Gamma", "=Beta", prompt=1)  # both people prefer =Beta
    make.make_comparison(pair=settled, rater=eve, rating=1, swapped=False, purpose="adjudication")
    made.rate("=Beta", "Old", 1, rater=made.judge("other"))
    return made


def label(row):
    return (row["gold"], row["consensus"], row["for_first"], row["ties"], row["for_second"])


def test_consensus_labels_by_hand(agreed):
    content, note = written(agreed, "consensus")
    by_pair = {(row["first"], row["second"], row["prompt"]): row for row in rows(content)}
    coding, poems = (prompt.external_id for prompt in agreed.prompts)
    assert {pair: label(row) for pair, row in by_pair.items()} == {
        ("Alpha", "=Beta", coding): ("first", "majority", 2, 0, 1),
        ("Alpha", "Gamma", coding): (None, "none", 1, 1, 0),
        ("Gamma", "=Beta", poems): ("first", "adjudicated", 0, 0, 2),
        ("Alpha", "Old", coding): ("second", "unanimous", 0, 0, 1),
    }
    assert by_pair["Gamma", "=Beta", poems]["gold_source"] == "consensus (adjudicated)"
    assert by_pair["Gamma", "=Beta", poems]["simulated"] is True
    assert by_pair["Alpha", "=Beta", coding]["simulated"] is False
    assert (note["raters"], note["rows"]) == ("people", 4)
    off = rows(written(agreed, "consensus", ties="off", category="coding")[0])
    assert [label(row)[:2] for row in off if "Gamma" in (row["first"], row["second"])] == [
        ("first", "unanimous")
    ]
    agreed.contestants["Old"].completions.update(is_current=False)
    content, note = written(agreed, "consensus")
    assert (note["rows"], note["left_out"]) == (3, {"about a text that was changed since": 1})
    assert len(rows(content)) == 3


def test_votes_and_preferences_hold_the_consensus_in_their_words(agreed):
    votes = rows(written(agreed, "arena")[0])
    said = {(row["model_a"], row["model_b"], row["consensus"], row["consensus_by"]) for row in votes}
    assert {one for one in said if "=Beta" in one and "Old" not in one} == {
        ("Alpha", "=Beta", "model_a", "majority"),
        ("=Beta", "Alpha", "model_b", "majority"),
        ("Gamma", "=Beta", "model_a", "adjudicated"),
        ("=Beta", "Gamma", "model_b", "adjudicated"),
    }
    assert ("Alpha", "Gamma", None, "none") in said
    assert ("=Beta", "Old", None, "none") in said
    pairs = rows(written(agreed, "preferences", raters="people")[0])
    assert {(row["consensus"], row["consensus_by"]) for row in pairs if "=Beta" not in row["prompt"]} >= {
        ("chosen", "majority"),
        ("rejected", "adjudicated"),
    }


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_consensus_labels_import_again_as_gold_labels(agreed, form, tmp_path):
    with_texts = tmp_path / "all"
    call_command("export", agreed.study.slug, what="all", format="jsonl", out=str(with_texts))
    call_command("import_data", "copy", str(with_texts))
    path = tmp_path / f"consensus.{form}"
    path.write_bytes(written(agreed, "consensus", form)[0])
    import_files("copy", [path])
    labelled = Pair.objects.filter(prompt__study__slug="copy").exclude(gold="")
    sides = ("first__contestant__name", "second__contestant__name", "gold", "gold_source")
    found = {(one, other): (gold, source) for one, other, gold, source in labelled.values_list(*sides)}
    turned = {"first": "second", "second": "first", "tie": "tie"}
    expected = [row for row in rows(written(agreed, "consensus")[0]) if row["gold"]]
    assert len(found) == len(expected) == 3
    for row in expected:
        pair = row["first"], row["second"]
        gold = (row["gold"], row["gold_source"])
        assert found.get(pair) == gold or found.get(pair[::-1]) == (turned[gold[0]], gold[1])


@pytest.mark.parametrize(("what", "rows_of_panels"), [("arena", 1), ("evalica", 0), ("preferences", 0)])
def test_a_panel_is_marked_or_left_out_where_its_judges_are_too(made, what, rows_of_panels):
    before = written(made, what, raters="all")[1]
    panel = make.make_rater(kind="judge", slug="both", derived_from=["judy", "rudy"])
    made.rate("Alpha", "=Beta", 1, rater=panel, source="panel")
    content, note = written(made, what, raters="all")
    assert note["rows"] - before["rows"] == rows_of_panels
    marked = [row["derived_from"] for row in rows(content) if what == "arena" and row["derived_from"]]
    assert marked == [["judy", "rudy"]] * rows_of_panels
    left_out = 0 if rows_of_panels else 1
    assert note["left_out"].get(interchange.OF_PANELS, 0) == left_out
    assert written(made, what, raters="judge:both")[1]["rows"] == 1


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize(("members", "panels", "note"), [(["judy"], 1, 0), (["judy", "rudy"], 0, 1)])
def test_a_panel_in_a_file_for_other_programs_is_no_judge_after_an_import(
    made, tmp_path, form, members, panels, note
):
    panel = make.make_rater(kind="judge", slug="both", derived_from=members)
    made.rate("Alpha", "=Beta", 1, rater=panel, source="panel")
    file = tmp_path / f"votes.{form}"
    file.write_bytes(b"".join(interchange.vote_file(made.study, "arena", form, {}).pieces))
    report = import_files("copy", [file])
    assert report.errors == []
    imported = Rater.objects.filter(study__slug="copy", kind="judge")
    assert list(imported.independent().values_list("slug", flat=True)) == ["judy"]
    assert imported.panels().count() == panels
    assert sum("left out, with 1 rating" in each.text for each in report.notes) == note
