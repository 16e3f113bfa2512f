"""Pages of raters with texts that mean them harm: they stay whole, and every word can be read."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from django.test import Client

from arena.models import Pair, Study
from tests.factories import make_completion, make_prompt, make_study, make_training_pairs

pytestmark = pytest.mark.django_db
CORPUS = {
    "scripts": "<script>alert(1)</script></div></section><script src=//evil.example></script>",
    "handlers": '<img src=x onerror=alert(1)><p onclick="alert(1)" style="position:fixed">x</p>',
    "addresses": "[a](javascript:alert(1)) [b](data:text/html,x) ![c](https://evil.example/x.png)",
    "svg": "<svg onload=alert(1)><math><maction actiontype='statusline#javascript:alert(1)'>",
    "formulas": r"$\href{javascript:alert(1)}{x}$ \(\text{</math><script>}\) $$\style{a}{b}$$",
    "template": "{{ request.user }} {% include 'base.html' %} {# x #}",
    "a form": "</form><form action='https://evil.example'><input name=rating value=8><button>8</button>",
    "the page's own": '<div data-form="raw" hidden></div><button data-copy>Copy</button><p id="task"></p>',
    "a huge table": "|a" * 300 + "|\n" + "|-" * 300 + "|\n" + ("|b" * 300 + "|\n") * 20,
    "right to left": "\u202egnp.exe \u2067 \u05d0\u05d1 $x$\n\n- \u0645\u0631\u062d\u0628\u0627",
    "zalgo": "z" + "\u0300\u0301\u0302\u0303" * 500 + "algo",
    "a long line": "x" * 100_000,
    "a million": "word " * 200_000,
    "an open fence": "```python\nprint('</pre></div>')\n" + "y" * 5_000,
    "deep lists": "\n".join("  " * level + f"- {level}" for level in range(500)),
    "control": "\x01 \x08 \x7f \ufdd00\ufdd0 \ufdd1 \ufffe",
}


FORBIDDEN = ("script", "style", "img", "svg", "iframe", "form", "input", "maction")


class Outline(HTMLParser):
    """The tags of a page: which are open at the end, and what may not be inside a text."""

    TEXTS = frozenset(("prompt-text", "response-text", "verdict-why", "example-body"))
    VOID = frozenset(("br", "hr", "input", "link", "meta", "img"))

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.inside = 0
        self.texts = 0
        self.seen: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = str(dict(attrs).get("class") or "").split()
        self.texts += bool(self.TEXTS.intersection(classes))
        if self.inside or self.TEXTS.intersection(classes):
            self.inside += tag not in self.VOID
            self.seen.add(tag)
            for name, value in attrs:
                assert name not in ("style", "id", "src", "action"), tag
                assert not name.startswith("on"), tag
                assert name != "href" or str(value).startswith(("https://", "http://", "mailto:"))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.inside -= self.inside > 0


def check_whole(page: str, texts: int) -> None:
    """Nothing is left open, and no text holds what it may not; texts: how many it holds at least."""
    outline = Outline(page)
    assert not outline.open
    assert outline.seen.isdisjoint(FORBIDDEN)
    assert outline.texts >= texts


def last_word(text: str) -> str:
    return re.findall(r"\w+", text.replace("\ufdd0", " "))[-1]


@pytest.fixture
def study() -> Study:
    return make_study(slug="s")


@pytest.mark.parametrize("name", CORPUS)
def test_the_page_is_whole_and_shows_every_word(browser: Client, study: Study, name: str) -> None:
    """In the prompt, its input and an answer."""
    text = CORPUS[name]
    prompt = make_prompt(study=study, turns=[text], input=text)
    for written in (text, "Kind."):
        make_completion(prompt=prompt, turns=[written])
    page = browser.get("/rate/s/").content.decode()
    check_whole(page, texts=3)
    shown = unescape(re.sub(r"<[^>]*>", "", page.partition("prompt-text")[2]))
    assert shown.count(last_word(text)) >= 3
    # Beside the rendered form stands the text itself, to the letter; of one shown as it is there is no other.
    raw = re.findall(r'<pre class="raw" data-form="raw"[^>]*>(.*?)</pre>', page, re.DOTALL)
    plain = re.findall(r'<pre class="raw" tabindex="0">(.*?)</pre>', page, re.DOTALL)
    assert [unescape(re.sub(r"<[^>]*>", "", one)) for one in raw + plain].count(text) == 3
    # A text is sent twice at most: as it was written, and rendered.
    assert len(page) < 60_000 + 3 * 12 * len(text)


@pytest.mark.parametrize("name", CORPUS)
def test_the_training_and_its_examples_stay_whole(browser: Client, study: Study, name: str) -> None:
    text = CORPUS[name]
    (pair,) = make_training_pairs(study, 1)
    pair.prompt.turns = [text]
    pair.prompt.save()
    Pair.objects.update(explanation=text)
    told = browser.post("/rate/s/training/1/1/", {"rating": "1"}, follow=True).content.decode()
    check_whole(told, texts=4)
    why = told.partition('class="verdict-why')[2].partition("verdict-next")[0]
    assert last_word(text) in unescape(re.sub(r"</?span[^>]*>", "", why))
    guidelines = browser.get("/rate/s/guidelines/").content.decode()
    check_whole(guidelines, texts=1)
    examples = guidelines.partition("example-body")[2]
    assert unescape(re.sub(r"</?span[^>]*>", "", examples)).count(last_word(text)) >= 2
