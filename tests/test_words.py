"""Pages keep to the words for readers of CONTRIBUTING.md."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<code.*?</code>|<(?!/?code)[^>]*>", re.DOTALL)
SPOKEN = re.compile(r'(?:title|aria-label|placeholder|alt)="([^"]*)"')
NEVER = re.compile(
    r"\b(contestants?|completions?|votes?|unscored|standings|boards?|games?|comparisons?|annotators?|snapshots?"
    r"|anew|by lot|there (is|are))\b",
    re.IGNORECASE,
)


def test_templates_use_the_words_for_readers() -> None:
    found = []
    for template in sorted((ROOT / "arena" / "templates").rglob("*.html")):
        source = template.read_text()
        for text in (CODE.sub(" ", source), *(CODE.sub(" ", said) for said in SPOKEN.findall(source))):
            found += [(template.name, word[0]) for word in NEVER.finditer(text)]
    assert found == []
