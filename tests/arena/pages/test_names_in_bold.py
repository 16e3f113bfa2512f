import pytest

from arena.templatetags.site import in_bold


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "<strong>a</strong>"),
        (["<a>", "b"], "<strong>&lt;a&gt;</strong> and <strong>b</strong>"),
        (["a", "b", "c"], "<strong>a</strong>, <strong>b</strong> and <strong>c</strong>"),
        (["a", "b", "c", "d"], "<strong>a</strong>, <strong>b</strong>, <strong>c</strong>"),
    ],
)
def test_names_are_joined_up_to_a_number(names: list[str], said: str) -> None:
    assert in_bold(names, 3) == said
