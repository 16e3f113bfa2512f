import pytest

from leaderboard.comparisons.index import Question, build, places
from tests.leaderboard.comparisons.answers import Answer, rows

ALPHA, BETA, GAMMA = 100, 200, 300
PERSON, JUDGE = 1, 8


@pytest.fixture
def index():
    """Pairs 1 to 4; pair 1: alpha, beta; 2: alpha, gamma; 3: gamma, beta; 4: texts without author."""
    texts = {11: ALPHA, 12: BETA, 21: ALPHA, 22: GAMMA, 31: GAMMA, 32: BETA}
    answers = rows(
        Answer(1, 1, PERSON, 1, prompt=10),
        Answer(2, 1, JUDGE, 1, prompt=10),
        Answer(3, 1, JUDGE, 1, swapped=True, prompt=10),
        Answer(4, 3, PERSON, 8, prompt=11),
        Answer(5, 3, JUDGE, 1, prompt=11),
        Answer(6, 2, PERSON, 4, prompt=11),
        Answer(7, 2, JUDGE, 0, reason="refused", prompt=11),
        Answer(8, 4, JUDGE, 2, points=3, prompt=12),
    )
    return build(answers, {PERSON}, texts)


@pytest.mark.parametrize(
    ("question", "pairs"),
    [
        (Question(), [4, 2, 3, 1]),
        (Question(widest=True), [3, 1, 4, 2]),
        (Question(prompts=[10, 12]), [4, 1]),
        (Question(prompts=[]), []),
        (Question(contestants=(ALPHA,)), [2, 1]),
        (Question(contestants=(BETA, GAMMA)), [3]),
        (Question(raters=[PERSON]), [2, 3, 1]),
        (Question(raters=[]), []),
        (Question(answer="scored"), [4, 2, 3, 1]),
        (Question(answer="unscored"), [2]),
        (Question(answer="refused"), [2]),
        (Question(answer="empty"), []),
        (Question(answer="tie"), [4, 2]),
        (Question(answer="side"), [3, 1]),
        (Question(rating=(1, 8)), [3, 1]),
        (Question(rating=(2, 3)), [4]),
        (Question(rating=(2, 8)), []),
        (Question(only="flipped"), [1]),
        (Question(only="judges"), [3, 1]),
        (Question(only="people"), []),
        (Question(raters=[JUDGE], answer="tie"), [4]),
        (Question(raters=[JUDGE], rating=(1, 8), contestants=(GAMMA,)), [3]),
        (Question(raters=[PERSON], answer="refused"), []),
    ],
)
def test_what_is_found(index, question, pairs):
    assert index.pair[places(index, question)].tolist() == pairs


def test_nothing_is_found_in_nothing():
    empty = build(rows(), set(), {})
    for question in (Question(), Question(raters=[1], only="flipped", widest=True), Question(prompts=[1])):
        assert len(places(empty, question)) == 0
