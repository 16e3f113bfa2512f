"""Hostile completions, and the Markdown that raters should see."""

import re
from html import unescape

import pytest

from arena.models import Rendering
from arena.texts import markdown
from arena.texts.markdown import is_plain, render
from arena.texts.rendering_cache import rendered

ALLOWED_TAG = re.compile(
    r"</?(p|br|hr|strong|em|s|code|pre|span|blockquote|[uo]l|li|a|t(able|head|body|r|h|d)|h[3-6])\b"
    r"|</?(math|m(i|n|o|row|sup|sub|subsup|frac|text|space|table|tr|td))\b|</?div\b|</?button\b"
)
ALLOWED_ATTRIBUTES = re.compile(
    r"</?\w+(?: (?:href|title|rel|target|class|start|tabindex|dir|type|display|[lr]space|stretchy)=\"[^\"]*\""
    r"| data-copy hidden)*>"
)

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<style>body{display:none}</style>",
    "<iframe src='https://evil.example'></iframe>",
    "<form action='https://evil.example'><input name=q><button>Go</button></form>",
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    "<base href='https://evil.example/'>",
    "<div style='position:fixed;inset:0' id='main' onclick='x()'>over everything</div>",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt&colon;alert(1))",
    "[click](java\nscript:alert(1))",
    "[click](vbscript:msgbox(1))",
    "[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[click](file:///etc/passwd)",
    "<javascript:alert(1)>",
    "![beacon](https://evil.example/pixel.png?rater=1)",
    '![x](https://evil.example/"onerror="alert(1))',
    "![data](data:image/svg+xml;base64,PHN2Zy8+)",
    "[![nested](https://evil.example/a.png)](https://evil.example)",
    "[a]: javascript:alert(1)\n\n[a]",
    '[t](https://a.example "\\"onmouseover=alert(1)")',
    '```"><script>alert(1)</script>\ncode\n```',
    "```python\n<script>alert(1)</script>\n```",
    '```html\n<img src=x onerror="alert(1)">\n```',
    "`<script>alert(1)</script>`",
    "| a |\n|--|\n| <script>alert(1)</script> |",
    "<!--[if IE]><script>alert(1)</script><![endif]-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<a href='https://evil.example' hx-get='/account/sign-out/' hx-trigger='load'>x</a>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "nul \0 <\0script>alert(1)</script>",
    "\u202egnp.exe\u202c override",
    "\ud800 half a pair",
    r"$\text{<script>alert(1)</script>}$ and \(\text{<img src=x onerror=alert(1)>}\)",
    r"$\href{javascript:alert(1)}{x}$",
    r'$$\color{red" onclick="alert(1)}{x}$$',
    r"$\style{position:fixed}{x}$ \(\class{danger}{y}\)",
    "\ufdd00\ufdd0 $x$ \ufdd01\ufdd0",
    "```\n</pre><button data-copy>Copy</button>\n```",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_harmless(text: str) -> None:
    html = render(text)
    for tag in re.findall(r"<[^>]*>", html):
        assert ALLOWED_TAG.match(tag), tag
        assert ALLOWED_ATTRIBUTES.fullmatch(tag), tag
    for address in re.findall(r'href="([^"]*)"', html):
        assert address.startswith(("https://", "http://", "mailto:")), address
    assert "\0" not in html
    html.encode()


def test_links_are_unfollowed_and_images_become_links() -> None:
    html = render("[a](https://a.example) <https://b.example>")
    assert html.count('rel="nofollow noopener noreferrer"') == html.count("<a ") == 2
    assert html.count('target="_blank"') == 2
    html = render("![a **cat**](https://a.example/cat.png)")
    assert "<img" not in html
    assert ">Image: a cat</a>" in html
    assert ">Image: no description</a>" in render("![](https://a.example/cat.png)")
    assert ">Image: the square $x^2$</a>" in render("![the square $x^2$](https://a.example/x.png)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title", '<h3 dir="auto">Title</h3>'),
        ("###### Deep", '<h6 dir="auto">Deep</h6>'),
        ("one\ntwo", '<p dir="auto">one<br>\ntwo</p>'),
        ("~~gone~~", "<s>gone</s>"),
        ("3. third", '<ol start="3" dir="auto">'),
        ("|a|b|\n|:-:|--:|\n|1|2|", '<td class="align-right" dir="auto">2</td>'),
        ("```python\ndef f(): ...\n```", '<span class="nf">f</span>'),
        ("```nolanguage\na < b\n```", "a &lt; b"),
        ("a < b & c", "a &lt; b &amp; c"),
        ("if x:\n    y\n\tz\n w", "if x:<br>\n    y<br>\n    z<br>\nw".replace("  ", "&nbsp;&nbsp;")),
        ("- a\n  b\n    c", "<li>a<br>\nb<br>\n&nbsp;&nbsp;c</li>"),
        ("[1]: https://a.example 'A'\n\n[1]", "<p dir=\"auto\">[1]: https://a.example 'A'</p>"),
        ("[1]: https://a.example 'A'\n\n[1]", '<a href="https://a.example" title="A"'),
        ("> [b&c]:\n>   mailto:x\n>   'y'", "<p dir=\"auto\">[b&amp;c]:<br>mailto:x<br>'y'</p>"),
        ("[Question]: Why?\nAnswer", "[Question]: Why?<br>\nAnswer"),
    ],
)
def test_markdown_is_shown_as_meant(text: str, expected: str) -> None:
    assert expected in render(text)


@pytest.mark.parametrize(
    "address", ["/account/sign-out/", "../x", "//evil.example", "#main", "x.png", "?a=1"]
)
def test_a_link_within_a_site_is_no_link(address: str) -> None:
    for text in (f"[a]({address})", f"![a]({address})", f"[a]: {address}\n\n[b]"):
        html = render(text)
        assert "<a " not in html
        assert text.split("\n")[0] in unescape(html)


def words_of(html: str) -> str:
    """What stands on the page, its pieces one after the other."""
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize(
    "text",
    [
        "**" + "x" * markdown.LONGEST_MARKDOWN + "<script>",
        "a line & another\n" * 60_000,
        "word " * 200_000,
        "\n" * 60_000,
    ],
)
def test_a_very_long_text_is_shown_as_it_is(text: str) -> None:
    html = render(text)
    assert is_plain(html)
    assert html.startswith('<pre class="raw" tabindex="0"><span class="piece" dir="auto">')
    assert words_of(html) == text
    pieces = re.findall(r'<span class="piece" dir="auto">([^<]*)</span>', html)
    assert max(len(unescape(piece)) for piece in pieces) <= 4001
    if "\n" in text:  # a piece begins a line of its own, so it ends where a line does
        assert all(piece.endswith("\n") for piece in pieces)


def test_nothing_is_left_out_of_what_is_deep() -> None:
    deep = "\n".join("  " * level + f"- at {level}" for level in range(500))
    assert is_plain(render(deep))
    assert words_of(render(deep)) == deep
    for levels in range(40, 60):
        list_of = "\n".join("  " * level + f"- at {level}" for level in range(levels))
        assert f"at {levels - 1}" in render(list_of)
        quoted = ">" * (2 * levels) + " last"
        assert "last" in render(quoted)


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "> " * 25_000, "- " * 25_000, "![" * 25_000, "*a **b " * 7_000]
)
def test_deep_nesting_ends(text: str) -> None:
    assert render(text)


def test_only_so_much_code_is_coloured_and_each_has_a_button() -> None:
    block = "```python\n" + "x = 1\n" * 1000 + "```\n"
    assert '<span class="n">' in render(block)
    assert render(block * 3).count('<span class="n">') == 1000
    assert "<span" not in render("```python\n" + "x = 1\n" * 2000 + "```")
    html = render("```\nx = 1\n```\n\n    y = 2\n\n`z`")
    assert html.count("data-copy hidden>Copy</button><pre ") == html.count("</pre></div>") == 2
    assert not is_plain(html)
    assert not is_plain(render("x"))


@pytest.mark.django_db
def test_a_text_is_rendered_once_by_each_version(monkeypatch: pytest.MonkeyPatch) -> None:
    first = rendered(["*a*", "b", "*a*"])
    assert first["*a*"] == '<p dir="auto"><em>a</em></p>\n'
    assert Rendering.objects.count() == 2
    with monkeypatch.context() as patch:
        patch.setattr(markdown, "render", lambda text: pytest.fail("rendered again"))
        assert rendered(["*a*"]) == {"*a*": first["*a*"]}
    monkeypatch.setattr(markdown, "RENDERER", markdown.RENDERER + 1)
    rendered(["*a*"])
    assert Rendering.objects.count() == 3
