r"""Formulas in completions: what is one, what it becomes, and what no formula may bring into a page."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.texts import formulas
from arena.texts.formulas import to_mathml
from arena.texts.markdown import LONGEST_MARKDOWN, render
from tests.waiting import quickly

X = '<math dir="ltr"><mi>x</mi></math>'


def shown(html: str) -> str:
    """What somebody reads, formulas without their structure."""
    return re.sub(r"<[^>]*>", "", html).strip()


@pytest.mark.parametrize(
    "text",
    [
        "$x$",
        r"\(x\)",
        r"\( x \)",
        "**$x$**",
        "# $x$",
        "- $x$",
        "> $x$",
        "|a|\n|-|\n|$x$|",
        "[$x$](https://a.example)",
        "the $x$-axis, $x$s",
        "costs $5, and $x$ is 10$",
        "当$x$时",
    ],
)
def test_a_formula_stands_in_its_line(text: str) -> None:
    assert render(text).count(X) == text.count("x\\)") + text.count("$x$") + text.count("x \\)")


@pytest.mark.parametrize(
    "text", ["$$x$$", r"\[x^1\]", "$$\nx\n$$", "So\n$$\nx\n$$\nand", "\\[\nx^1\n\\]", "> $$\n> x\n> $$"]
)
def test_a_displayed_formula_has_a_line_of_its_own(text: str) -> None:
    html = render(text)
    assert html.count('<span class="formula"><math dir="ltr" display="block">') == 1
    assert "$" not in shown(html)


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $10",
        "$5, $10 or $20",
        "It costs $5 (US$6).",
        "between $5 million and 10$",
        "US$5 or A$6$",
        "a $ b $ c",
        "$ x$ and $x $",
        r"\$x\$",
        "$HOME/bin:$PATH",
        "`$x$` and ``\\(y\\)``",
        "```\n$x$ \\[y=1\\]\n```",
        "    $x$",
        "~~~latex\n$$x$$\n~~~",
        "$5 for `a$`",
        r"\\(x\\)",
        "$$\n\nx",
        "$",
        "$$",
        "\\(",
        "\\[",
        "$$ \n\n $$",
        "| $5 | $6 |\n|---|---|\n|$7|US$|",
    ],
)
def test_money_code_and_what_is_not_closed_are_no_formulas(text: str) -> None:
    assert "<math" not in render(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$a_1$ and $b_1$", "a1 and b1"),
        ("$a*b$ and $c*d$", "a∗b and c∗d"),
        (r"$\{a\}$ and $a\,b$", "{a} and ab"),
        ("~~no~~ $a~~b$", "no a\xa0\xa0b"),
        ("$$\na\n- b\n+ c\n=\nd\n$$", "a−b+c=d"),
        ("$$\n# a\n$$", "$$\n# a\n$$"),
        ("- one\n  $$\n  a\n  - b\n  $$\n- two", "onea−b\ntwo"),
        ("\\[\na\n- b\n\\], so", "a−b, so"),
        ("$a < b$ & $c > d$", "a&lt;b &amp; c&gt;d"),
        ("$50%$", "50%"),
        (r"see \[1\] and \[a\](b)", "see [1] and [a](b)"),
    ],
)
def test_markdown_leaves_a_formula_alone(text: str, expected: str) -> None:
    assert shown(render(text)) == expected


def test_a_formula_in_a_table_may_hold_a_bar() -> None:
    html = render("| a | b |\n|---|---|\n| $|x|$ | $P(A|B)$ |\n| $\\|v\\|$ | \\(a | b\\) |\n| $5 | $6 |")
    cells = [shown(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", html)]
    assert cells == ["|x|", "P(A|B)", "‖v‖", "a|b", "$5", "$6"]


@pytest.mark.parametrize(
    "formula",
    [
        r"$\href{javascript:alert(1)}{x}$",
        r"$\frac{1$",
        r"\(\undefined x\)",
        r"$$\left( x$$",
        r"\[\begin{pmatrix} x\]",
        r"$\def\a{b}\a$",
        r"$\newcommand{\a}{\a\a}\a$",
        "$\x01$",
        "$" + "{" * 50 + "x" + "}" * 50 + "$",
        "$" + "x" * (formulas.LONGEST - 5) + r"\oops$",
    ],
)
def test_what_cannot_be_shown_is_shown_as_its_source(formula: str) -> None:
    assert shown(render(f"Before {formula} after")) == f"Before {formula} after"
    assert "<code>" in render(formula)


def test_a_forged_place_is_not_a_formula_and_so_many_are_converted() -> None:
    html = render("\ufdd00\ufdd0 and $x$ and \ufdd07\ufdd0")
    assert html.count("<math") == 1
    assert "\ufffd0\ufffd and" in html
    assert "<math" not in render("$" + "x" * (formulas.LONGEST + 1) + "$")
    html = render("$x$ " * (formulas.MOST + 3))
    assert html.count(X) == formulas.MOST
    assert html.count("<code>$x$</code>") == 3
    assert len(render("$" + "x+" * 900 + "x$ " * 100)) < formulas.LARGEST + 2 * LONGEST_MARKDOWN


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\frac{1}{2}", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        (r"\boxed{42}", '<menclose notation="box"><mn>42</mn></menclose>'),
        (r"\color{red}x", "<mrow><mi>x</mi></mrow>"),
        (r"\hspace{5000em}x", "<mspace></mspace><mi>x</mi>"),
        (r"x \tag{3}", "<mtext>3</mtext>"),
        (
            r"\begin{align*} a &= b \nonumber \end{align*}",
            '<mtd class="m-right m-tight-right"><mi>a</mi></mtd>',
        ),
        (r"\begin{array}{c|c} a & b \end{array}", '<mtd class="m-line-right">'),
        (r"\eqref{here}", "<mtext>(??)</mtext>"),
        (r"\text{a<b\&c}", "<mtext>a&lt;b&amp;c</mtext>"),
        (r"\text{<script>alert(1)</script>}", "<mtext>&lt;script&gt;alert(1)&lt;/script&gt;</mtext>"),
        (r"\ldots \implies \pmod{n}", "mod"),
    ],
)
def test_mathml_of_a_formula(source: str, expected: str) -> None:
    assert expected in str(to_mathml(source, display=False))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<math><script>x</script></math>", None),
        ("<math><mi onclick=x>x</mi></math>", None),
        ("<math><maction>x</maction></math>", None),
        ('<math><annotation-xml encoding="text/html"></annotation-xml></math>', None),
        ("<math><mi>x</mrow></math>", None),
        ("<math><mi>x</mi>", None),
        ("<math><mi>x</mi></math></math>", None),
        ("<math>" + "<mrow>" * 100 + "</mrow>" * 100 + "</math>", None),
        ("no tag at all", None),
        ("", None),
        # Attributes that are not on the list are left out.
        (
            '<math><mi href="javascript:x" onclick="x" id="main" class="button" style="position:fixed;'
            'text-align: left" mathvariant="evil" width="9999em" lspace="1em">x</mi></math>',
            '<math dir="ltr"><mi class="m-left" lspace="1em">x</mi></math>',
        ),
    ],
)
def test_a_wrong_converter(written: str, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def convert_with_local_state(self, source: str, *, displaystyle: bool) -> str:
            return written

    monkeypatch.setattr(formulas, "_converter", Wrong)
    assert to_mathml("x", display=False) == expected


WORDS = r"""
    x 1 + - = < > & ' " # % ~ ^ _ { } [ ] ( ) | $ \\ \, \! \{ \} \| \frac \sqrt \sum \int \alpha \hat \vec
    \left \right \middle \left( \right) \begin{matrix} \end{matrix} \begin{array}{c|c} \end{array} \hline \not
    \begin{cases} \end{cases} \begin{align} \end{align} \text{ \mathrm{ \operatorname{ \color{red} \tag{1}
    \label{a} \ref{a} \eqref{a} \boxed{ \cancel{ \overset \underbrace \limits \displaystyle \hspace{1em}
    \href{javascript:x} \class{a} \style{a} \def\a{ \a \newcommand <script> </math> <!-- --> &lt; onclick= é
    ≤ א
"""
FRAGMENTS = st.sampled_from(WORDS.split())
SOURCES = st.lists(FRAGMENTS | st.characters(), max_size=30).map(" ".join)


@given(source=SOURCES | st.text(max_size=60), display=st.booleans())
@example(source=r"\begin{array}{c}\text{</math><script>}\end{array}", display=True)
def test_whatever_a_formula_is_its_mathml_is_harmless(source: str, display: bool) -> None:
    found = to_mathml(source, display=display)
    if found is None:
        return
    for element in ElementTree.fromstring(found).iter():  # noqa: S314 - what is looked at was made here
        assert re.fullmatch("m[a-z]+|[biu]|code", element.tag)
        assert element.tag not in ("maction", "mglyph", "mstyle")
        for name, value in element.attrib.items():
            assert name in {*formulas._ATTRIBUTES, "class", "dir"}
            assert name != "class" or all(one.startswith("m-") for one in value.split())
    assert found.count("<math") == 1


class Balance(HTMLParser):
    """Fails where a tag is closed that is not open, or left open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]
        assert tag not in ("script", "style", "img", "iframe", "svg", "object", "form")
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


TEXTS = st.lists(
    FRAGMENTS
    | st.sampled_from(
        ["$", "$$", r"\(", r"\)", r"\[", r"\]", "\n", "\n\n", "`", "```", "|", "\n|-|-|\n", "- ", "> ", "*"]
    )
    | st.characters(),
    max_size=40,
).map("".join)


@given(TEXTS)
@example("$$ a\n- b\n\n$$ $x$\n|$|$\n|-|\n|$a|b$|")
def test_whatever_a_text_is_its_html_is_whole_and_harmless(text: str) -> None:
    Balance(render(text))


@given(st.text(alphabet=st.characters(exclude_characters="$\\"), max_size=80))
def test_without_a_delimiter_there_is_no_formula(text: str) -> None:
    assert "<math" not in render(text)


def test_nothing_that_is_short_enough_is_too_deep_for_a_thread() -> None:
    """The converter descends into what is nested, and a stack that overflows ends the process."""
    code = r"""
import threading
from arena.texts.formulas import LONGEST, to_mathml
def fill(unit, end="x", close=""):
    return unit * ((LONGEST - len(end)) // (len(unit) + len(close))) + end
sources = [fill(unit) for unit in ("{", "x^", r"\left(", r"\text", r"\bar", "'")]
sources += [fill(unit) for unit in (r"\hat ", r"\not ", r"\sqrt ", r"\bm ", r"\mathrm ")]
sources += [fill(unit) for unit in (r"\frac1", r"\sqrt[2]", r"\overset1", r"\binom1")]
sources += [fill("{", "x", "}"), fill(r"\left(", "x", r"\right)")]
sources += [fill(r"\begin{array}{c}", "x", r"\end{array}")]
def convert():
    for source in sources:
        assert len(source) <= LONGEST
        to_mathml(source, display=True)
    print("survived")
threading.stack_size(1 << 20)
thread = threading.Thread(target=convert)
thread.start()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "survived\n")


def test_threads_convert_at_once() -> None:
    sources = [f"x_{{{number}}} + \\frac{{{number}}}{{2}}" for number in range(200)]
    alone = [to_mathml(source, display=False) for source in sources]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda source: to_mathml(source, display=False), sources)) == alone
    assert len(set(alone)) == 200


@pytest.mark.parametrize(
    "text",
    [
        "$a " * 8_000,
        "$a\n" * 8_000,
        "$" * 25_000,
        "\\(" * 12_500,
        "\\[" * 12_500,
        "\\[\n" * 8_000,
        ("\\[\n" + "a\n" * 10) * 1_000,
        "$$a\n" * 6_000,
        "$" + "\\" * 24_000,
        "a|$b\n---|\n" * 2_500,
        "`$a" * 8_000,
        "[$x$" * 5_000,
    ],
)
def test_hostile_delimiters_are_gone_through_once(text: str) -> None:
    """Each of these takes long where every delimiter looks through the whole rest of the text."""
    with quickly():
        assert render(text)
