from leaderboard.pages.figure import SERIES, axis_on_top, label, painted
from leaderboard.pages.standings.figure import above_map, count_map, intervals, win_rate_map
from leaderboard.pages.standings.table import count_matrix, win_rates
from leaderboard.pages.table import Matrix
from leaderboard.raters.bias.figure import histogram
from leaderboard.raters.bias.table import Shown
from tests.leaderboard.rows import standing, standings
from tests.leaderboard.standings.test_table import MATRIX


def test_dots_are_at_the_ratings_with_the_arms_of_their_intervals_and_their_level():
    board = standings(standing("a", 1100.0), standing("b", 900.0))
    figure = intervals(["a", "b"], [("People", board)])
    (trace,) = figure["data"]
    assert (trace["x"], trace["y"]) == ([1100.0, 900.0], [0.0, 1.0])
    assert trace["error_x"]["array"] == [20.0, 20.0]
    assert trace["error_x"]["arrayminus"] == [10.0, 10.0]
    assert figure["layout"]["yaxis"]["ticktext"] == ["a", "b"]
    board = standings(standing("a", 1100.0)) | {"parameters": {"interval": 90.0}}
    figure = intervals(["a"], [("People", board)])
    assert figure["layout"]["xaxis"]["title"]["text"] == "Score with 90% interval"
    assert figure["data"][0]["text"] == ["a<br>People: 1100 (90%: 1090–1120), 40 ratings"]
    figure = intervals(["a"], [("People", standings(standing("a", 1.0, low=None, high=None)))])
    assert figure["data"][0]["error_x"]["array"] == [0.0]


def test_a_rater_has_one_look_wherever_it_is_drawn():
    board = standings(standing("a", 1100.0))
    raters = ["People", "Judge A", "Judge B"]
    alone, both = (
        painted(intervals(["a"], [(name, board) for name in names]), raters)
        for names in (["Judge B"], ["Judge B", "People"])
    )
    assert alone["data"][0]["marker"] == both["data"][0]["marker"]
    assert [trace["marker"]["color"] for trace in both["data"]] == [SERIES[2], SERIES[0]]
    assert both["data"][0]["error_x"]["color"] == SERIES[2]
    judge = painted(histogram(2, [Shown("Judge A", (1, 1), {}, 0.5, 1.5)]), raters)
    assert judge["data"][0]["marker"]["color"] == SERIES[1]


def test_a_series_without_a_name_has_the_look_of_the_rater_whose_page_it_is():
    unnamed = {"data": [{"marker": {"color": SERIES[0]}}, {"name": "Prompts"}], "layout": {}}
    figure = painted(unnamed, ["People", "Judge"], "Judge")
    assert figure["data"] == [{"marker": {"color": SERIES[1]}}, {"name": "Prompts"}]
    assert painted(unnamed, ["People", "Judge"]) == unnamed


def test_the_axis_of_a_tall_figure_is_where_it_begins():
    figure = axis_on_top(intervals(["a"], [("People", standings(standing("a", 1.0)))]))
    assert figure["layout"]["xaxis"]["side"] == "top"
    assert figure["layout"]["margin"]["t"] > figure["layout"]["margin"]["b"]
    assert axis_on_top(figure) == figure


def test_a_map_of_probabilities_has_no_games():
    shares = Matrix(("a", "b"), ((None, 0.975), (0.025, None)))
    figure = above_map(shares)
    (trace,) = figure["data"]
    assert trace["z"] == [[None, 0.975], [0.025, None]]
    assert "customdata" not in trace


def test_people_and_judges_share_the_axis_in_the_same_order_and_a_legend():
    people = standings(standing("a", 1100.0), standing("b", 900.0))
    judge = standings(standing("b", 1000.0), standing("c", 950.0))
    figure = intervals(["a", "b"], [("People", people), ("Judge", judge)])
    assert [trace["name"] for trace in figure["data"]] == ["People", "Judge"]
    assert [round(y) for y in figure["data"][1]["y"]] == [1]
    assert figure["layout"]["showlegend"]
    board = standings(standing("a", 1100.0))
    figure = intervals(["a"], [("A judge with quite a long name, two scores", board)])
    assert figure["data"][0]["name"] == "A judge with quite a long name, two scores"
    assert label("5 < 6 & 7") == "5 &lt; 6 &amp; 7"


def test_maps_of_win_rates_and_counts():
    rates, games = win_rates(MATRIX, ["a", "b"]), count_matrix(MATRIX, "games", ["a", "b"])
    figure = win_rate_map(rates, games)
    (trace,) = figure["data"]
    assert trace["z"] == [[None, 0.6667], [0.3333, None]]
    assert (trace["zmin"], trace["zmid"], trace["zmax"]) == (0, 0.5, 1)
    assert trace["customdata"] == [[None, 6], [6, None]]
    ties, games = (count_matrix(MATRIX, what, ["a", "b"]) for what in ("ties", "games"))
    figure = count_map(ties, games, "ties")
    assert (figure["data"][0]["zmin"], figure["data"][0]["zmax"]) == (0, 2)
    names = tuple(str(n) for n in range(30))
    large = Matrix(names, ((0,) * 30,) * 30)
    figure = count_map(large, large, "games")
    assert "texttemplate" not in figure["data"][0]
    matrix = Matrix(("a", "b"), ((None, 1), (1, None)))
    axis = count_map(matrix, matrix, "games")["layout"]["xaxis"]
    assert (axis["side"], axis["autotickangles"], "tickangle" in axis) == ("top", [0, -90], False)
    narrow = count_map(matrix, matrix, "games")["narrow"]
    assert narrow["xaxis"]["ticktext"] == ["1", "2"]
    assert narrow["yaxis"]["ticktext"] == ["1 a", "2 b"]


def test_a_label_is_one_line_of_limited_length():
    assert label("a\n b") == "a b"
    assert label("x" * 100) == "x" * 21 + "…"
    assert label("Code Llama Instruct (13B)") == "Code Llama Inst… (13B)"
    assert label("Code Llama Instruct (7B)") == "Code Llama Instr… (7B)"
    assert label("A name that ends in incomprehensibilities") == "A name that ends in i…"
    assert all(len(label("word " * 9 + "x" * size)) <= 22 for size in range(1, 30))
