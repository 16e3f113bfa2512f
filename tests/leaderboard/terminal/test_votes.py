import gzip
import io
import json
import zipfile

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from leaderboard.terminal.votes import VoteFileError, read_votes


@pytest.fixture
def vote_file(tmp_path):
    def write(content):
        path = tmp_path / "votes"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def arena(*rows, header="model_a,model_b,winner"):
    return "\n".join([header, *rows]) + "\n"


class TestColumns:
    def test_names_of_columns(self, vote_file):
        rows = ("x,y,model_a", "y,x,model_b", "x,y,tie", "y,z,tie (bothbad)", "x,z,both_bad")
        votes = read_votes(vote_file(arena(*rows)))
        assert votes.names == ("x", "y", "z")
        assert votes.first.tolist() == [0, 1, 0, 1, 0]
        assert votes.second.tolist() == [1, 0, 1, 2, 2]
        assert votes.rating.tolist() == [1, 3, 2, 2, 2]
        assert votes.points.tolist() == [3, 3, 3, 3, 3]
        assert (votes.prompt, votes.rater, len(votes)) == (None, None, 5)
        rows = ("x,y,left", "x,y,right", "x,y,tie")
        votes = read_votes(vote_file(arena(*rows, header="left,right,winner")))
        assert votes.rating.tolist() == [1, 3, 2]

    def test_ratings_prompts_and_raters(self, vote_file):
        rows = ("x,y,4,8", "x,y,2,2", "x,y,3.0,5")
        votes = read_votes(vote_file(arena(*rows, header="model_a,model_b,rating,points")))
        assert votes.rating.tolist() == [4, 2, 3]
        assert votes.points.tolist() == [8, 2, 5]
        text = arena("x,y,model_a,7,8", header="model_a,model_b,winner,rating,points")
        assert read_votes(vote_file(text)).rating.tolist() == [7]
        text = arena(
            "en,p1,x,y,tie,ann", "de,,x,y,tie,", header="language,prompt,model_a,model_b,winner,rater"
        )
        votes = read_votes(vote_file(text))
        assert votes.prompt == ("p1", "")
        assert votes.rater == ("ann", "")
        assert read_votes(vote_file(arena("x,y,tie,", header="model_a,model_b,winner,prompt"))).prompt is None
        exported = arena("q1,x,y,tie,ann", header="question_id,model_a,model_b,winner,judge")
        votes = read_votes(vote_file(exported))
        assert (votes.prompt, votes.rater) == (("q1",), ("ann",))


class TestFormats:
    ROWS = (
        {"left": "x", "right": "y", "winner": "left", "prompt": 7},
        {"left": "y", "right": 3, "winner": "tie"},
    )

    def test_json_lines_and_arrays(self, vote_file):
        text = "\n\n".join(json.dumps(row) for row in self.ROWS)
        votes = read_votes(vote_file(text))
        assert votes.names == ("3", "x", "y")
        assert votes.prompt == ("7", "")
        votes = read_votes(vote_file("\n " + json.dumps(self.ROWS)))
        assert votes.rating.tolist() == [1, 2]

    def test_what_csv_files_may_hold(self, vote_file):
        content = b"\xef\xbb\xbf" + arena("x,y,tie", "", "é,y,model_a").replace("\n", "\r\n").encode()
        assert read_votes(vote_file(content)).names == ("x", "y", "é")
        assert read_votes(vote_file(arena('"x, large","y\nz",tie'))).names == ("x, large", "y\nz")
        text = arena(f"x,y,tie,{'w' * 300_000}", header="model_a,model_b,winner,conversation")
        assert len(read_votes(vote_file(text))) == 1
        assert read_votes(vote_file(arena(" x , y , tie ", header="model_a, model_b, winner"))).names == (
            "x",
            "y",
        )


def sheet(*rows, above=()):
    """A workbook with notes on its first sheet."""
    book = openpyxl.Workbook()
    book.active["A1"] = "About these ratings"
    table = book.create_sheet("Ratings")
    for row in (*above, *rows):
        table.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def columns(*rows):
    content = io.BytesIO()
    parquet.write_table(pa.table(dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))), content)
    return content.getvalue()


def packed(name, content):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr(name, content)
    return archive.getvalue()


class TestEveryFormOfAFile:
    ROWS = (("model_a", "model_b", "winner"), ("Grün", "Blau", "model_a"), ("Blau", "Rot", "tie"))
    OBJECTS = (
        {"model_a": "Grün", "model_b": "Blau", "winner": "model_a"},
        {"model_a": "Blau", "model_b": "Rot", "winner": "tie"},
    )
    CSV = "\r\n".join(map(",".join, ROWS))
    EXPORTED = tuple(
        {"prompt": "p", "first": first, "second": second, "rater": "ann", "rating": rating, "points": 3}
        for first, second, rating in (("Grün", "Blau", 1), ("Blau", "Rot", 2))
    )

    @pytest.mark.parametrize(
        "content",
        [
            CSV.encode("utf-8-sig"),
            CSV.replace(",", ";").encode("utf-8-sig"),
            CSV.replace(",", "\t").encode(),
            CSV.replace(",", "\t").encode("utf-16"),
            CSV.replace(",", ";").encode("cp1252"),
            ("sep=;\r\n" + CSV.replace(",", ";")).encode(),
            ("Our ratings,,\r\n\r\n" + CSV).encode(),
            gzip.compress(CSV.encode(), mtime=0),
            packed("votes.csv", CSV),
            packed("data/votes.xlsx", sheet(*ROWS)),
            "\n".join(map(json.dumps, OBJECTS)).encode(),
            json.dumps(OBJECTS, indent=2).encode(),
            "\n".join(json.dumps(row | {"reason": None}) for row in EXPORTED).encode(),
            "model_1,model_2,vote\nGrün,Blau,A\nBlau,Rot,=\n".replace("=", "tie").encode(),
            sheet(*ROWS),
            sheet(*ROWS, above=(["Our ratings"], [])),
            columns(*ROWS),
        ],
    )
    def test_gives_the_same_votes(self, vote_file, content):
        votes = read_votes(vote_file(content))
        assert votes.names == ("Blau", "Grün", "Rot")
        assert (votes.first.tolist(), votes.second.tolist()) == ([1, 0], [0, 2])
        assert (votes.rating.tolist(), votes.points.tolist()) == ([1, 2], [3, 3])

    def test_how_it_was_read_is_told_where_there_was_a_choice(self, vote_file):
        assert read_votes(vote_file(self.CSV)).notes == ()
        (note,) = read_votes(vote_file(self.CSV.encode("cp1252"))).notes
        assert "Windows-1252" in note
        content = vote_file(sheet(*self.ROWS, above=(["Ours"], [], ["x", "y", "z"])))
        with pytest.raises(VoteFileError, match="the file has 'x', 'y', 'z'"):
            read_votes(content)
        assert read_votes(content, header="4").notes[0] == 'the sheet "Ratings" is read, not "Sheet"'
        assert len(read_votes(content, header="4")) == 2
        with pytest.raises(VoteFileError, match='the file has "About these ratings"'.replace('"', "'")):
            read_votes(content, sheet="Sheet")

    def test_ratings_without_a_verdict_are_left_out_of_other_formats(self, vote_file):
        rows = ["first,second,rater,rating,points,reason,prompt", "x,y,ann,1,8,,p", "x,y,ben,,,refused,p"]
        with pytest.raises(VoteFileError, match="row 3: the rating is missing"):
            read_votes(vote_file("\n".join(rows)))


class TestErrors:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "the file has no ratings"),
            (b"\xef\xbb\xbf \r\n", "row 1: the first row names no column"),
            ("[]", "the file has no ratings"),
            ("model_a,model_b,winner\n", "the file has no ratings"),
            (
                arena("x,y,tie", "x,y,model_c"),
                'row 3: the winner "model_c" does not say which is better; use model_a, left, first',
            ),
            (arena("x,y,z"), 'row 2: the winner "z" does not say'),
            (arena("B,A,A"), 'row 2: the winner "A" does not say'),
            (arena("x,y,"), "row 2: the winner is missing"),
            (arena(",y,tie"), "row 2: the model_a is missing"),
            (arena('"a\nb",y,tie', "x,y,0"), 'row 3: the winner "0" does not say'),
            (arena("x,y"), "row 2: the row has 2 cells, the header has 3"),
            (arena("x,y,tie,z"), "row 2: the row has 4 cells, the header has 3"),
            (arena('x,y,"tie'), "row 2: the row cannot be read"),
            (
                arena("x,y,tie,tie", header="model_a,model_b,winner,winner"),
                "the column winner appears twice",
            ),
            (arena("x,y,5", header="model_a,model_b,rating"), "the file has 'model_a', 'model_b', 'rating'"),
            (arena("x,y", header="first,second"), "the columns must be model_a, model_b, winner, or left"),
            (arena("x,x,tie", "x,x,model_a"), "'x' is the only model; a ranking needs at least two"),
            (arena("x,y,tie", "y,y,tie"), "row 3: 'y' is compared with itself"),
            (
                arena("x,y,9,8", header="model_a,model_b,rating,points"),
                "row 2: the rating 9 is outside the scale 1-8",
            ),
            (arena("x,y,0,8", header="model_a,model_b,rating,points"), "row 2: the rating 0 is outside"),
            (
                arena("x,y,1,7", header="model_a,model_b,rating,points"),
                "row 2: 7 points are not a scale",
            ),
            (
                arena("x,y,4.5,8", header="model_a,model_b,rating,points"),
                "the rating '4.5' is not a whole number",
            ),
            (
                arena("x,y,nan,8", header="model_a,model_b,rating,points"),
                "the rating 'nan' is not a whole number",
            ),
            (arena("x,y,,8", header="model_a,model_b,rating,points"), "row 2: the rating is missing"),
            ("model_a,model_b,winner\né,y,tie\n".encode() + b"\xff,y,tie\n", "line 3: not UTF-8"),
            ('{"left": "x"', "line 1: not valid JSON"),
            ('{"left": "x", "right": "y", "winner": "tie"}\n[1]\n', "line 2: expected a JSON object"),
            ('[{"left": "x", "right": "y", "winner": "tie"}, 3]', "object 2: expected a JSON object"),
            ('[{"left": "x", "right": "y", "winner": "tie"},\n {]', "line 2: not valid JSON"),
            (
                '[{"left": "x", "right": ["y"], "winner": "tie"}]',
                "line 1: the right must be a text or a number",
            ),
            (
                '[{"left": true, "right": "y", "winner": "tie"}]',
                "line 1: the left must be a text or a number",
            ),
            ("[" * 100_000, "line 1: the JSON is nested too deeply"),
            ('[{"left": ' + "9" * 5000 + "}]", "line 1: a number has too many digits"),
        ],
    )
    def test_one_sentence_with_the_place(self, vote_file, content, message):
        with pytest.raises(VoteFileError, match=message) as caught:
            read_votes(vote_file(content))
        assert "\n" not in str(caught.value)

    def test_files_that_cannot_be_read_are_named(self, vote_file, tmp_path):
        path = vote_file("")
        with pytest.raises(VoteFileError) as caught:
            read_votes(path)
        assert str(caught.value).startswith(f"{path}: ")
        with pytest.raises(VoteFileError, match=r"absent\.csv: no such file or folder"):
            read_votes(tmp_path / "absent.csv")
        with pytest.raises(VoteFileError, match="the folder has no file ending in"):
            read_votes(tmp_path)
        with pytest.raises(VoteFileError) as caught:
            read_votes(vote_file(arena(f"x,y,{'w' * 5000}")))
        assert len(str(caught.value)) < 400


class TestGames:
    def test_ties_off_leaves_the_middle_out_and_on_counts_half(self, vote_file):
        votes = read_votes(vote_file(arena("x,y,tie", "x,y,model_b")))
        games = votes.ratings().games(ties=False, resample="games")
        assert (games.score.tolist(), games.left_out) == ([0], 1)
        games = votes.ratings().games(ties=True, resample="games")
        assert (games.score.tolist(), games.left_out, games.cluster) == ([0.5, 0], 0, None)

    def test_prompts_and_raters_are_clusters(self, vote_file):
        rows = ("p,x,y,tie", ",x,y,tie", "p,y,x,tie", ",x,y,tie", "2,x,y,tie")
        votes = read_votes(vote_file(arena(*rows, header="prompt,model_a,model_b,winner")))
        games = votes.ratings().games(ties=True)
        assert games.cluster.tolist() == [0, 1, 0, 2, 3]
        rows = ("ann,x,y,tie", "ben,x,y,tie", "ann,y,x,tie")
        ratings = read_votes(vote_file(arena(*rows, header="rater,model_a,model_b,winner"))).ratings()
        assert ratings.prompt is None
        assert ratings.games(ties=True, resample="raters").cluster.tolist() == [0, 1, 0]


class TestCovariates:
    HEADER = "left,right,winner,length_a,length_b,markdown_a,markdown_b"

    def test_columns_become_normalised_differences_when_asked_for(self, vote_file):
        rows = ("x,y,tie,30,10,0,0", "y,x,left,0,7,1.5,0.5")
        votes = read_votes(vote_file(arena(*rows, header=self.HEADER)), adjust=("length", "markdown"))
        assert {name: column.tolist() for name, column in votes.ratings().covariates.items()} == {
            "length": [0.5, -1.0],
            "markdown": [0.0, 0.5],
        }
        text = arena("x,y,tie,many,10,0,0", header=self.HEADER)
        assert read_votes(vote_file(text), adjust=("raters",)).covariates == {}
        with pytest.raises(
            VoteFileError, match="to adjust for size, the file needs the columns 'size_a' and 'size_b'"
        ):
            read_votes(vote_file(arena("x,y,tie,1,1,0,0", header=self.HEADER)), adjust=("size",))

    @pytest.mark.parametrize(
        ("amount", "message"),
        [
            ("many", "row 2: the length_a 'many' is not a number of 0 or more"),
            ("-1", "row 2: the length_a '-1' is not a number of 0 or more"),
            ("nan", "row 2: the length_a 'nan' is not a number of 0 or more"),
            ("inf", "row 2: the length_a 'inf' is not a number of 0 or more"),
            ("", "row 2: the length_a is missing"),
        ],
    )
    def test_what_is_no_amount(self, vote_file, amount, message):
        with pytest.raises(VoteFileError, match=message):
            read_votes(vote_file(arena(f"x,y,tie,{amount},1,0,0", header=self.HEADER)), adjust=("length",))
