"""Citations that programs can read, whatever names are made of."""

import re
from datetime import UTC, datetime

import pytest
import yaml

from leaderboard.pages.citation import Author, Citation

HOSTILE = 'a "quoted" {brace \\ % & $ # _ ~ ^ : - [x] \x07\ufeff\u2028 <b>é漢'


def make_citation(**overrides):
    return Citation(
        **{
            "name": "Study",
            "slug": "study",
            "made_at": datetime(2026, 5, 3, tzinfo=UTC),
            "snapshot_at": datetime(2026, 5, 2, 9, 30, tzinfo=UTC),
            "methodology": "4",
            "address": "https://arena.example/studies/study/releases/1/",
            "simulated": False,
            "licence": "CC-BY-4.0",
            "authors": [
                Author("Ada Lovelace", "0000-0002-1825-0097", "Analytical: Engines"),
                Author("Plato"),
            ],
            "version": "1.0",
            "doi": "10.5281/zenodo.7",
            **overrides,
        }
    )


@pytest.mark.parametrize(
    ("name", "family", "given"),
    [
        ("Ada Lovelace", "Lovelace", "Ada"),
        ("Ludwig van Beethoven", "van Beethoven", "Ludwig"),
        ("García Márquez, Gabriel", "García Márquez", "Gabriel"),
        ("Plato", "Plato", ""),
        ("bell hooks", "hooks", "bell"),
    ],
)
def test_family_names_are_found_as_bibtex_finds_them(name, family, given):
    author = Author(name)
    assert (author.family, author.given) == (family, given)
    assert author.shown == f"{given} {family}".strip()


def test_the_cff_file_says_what_the_release_is():
    assert yaml.safe_load(make_citation().cff) == {
        "cff-version": "1.2.0",
        "message": "If you use these numbers, please cite this release.",
        "type": "dataset",
        "title": "Study",
        "version": "1.0",
        "date-released": datetime(2026, 5, 3).date(),
        "authors": [
            {
                "family-names": "Lovelace",
                "given-names": "Ada",
                "orcid": "https://orcid.org/0000-0002-1825-0097",
                "affiliation": "Analytical: Engines",
            },
            {"name": "Plato"},
        ],
        "doi": "10.5281/zenodo.7",
        "url": "https://arena.example/studies/study/releases/1/",
        "license": "CC-BY-4.0",
        "abstract": "Likert Arena leaderboard, data as of 2 May 2026, 09:30 UTC, "
        "method version 4, licence CC-BY-4.0.",
    }


def test_hostile_names_stay_names_in_cff_and_braces_balance_in_bibtex():
    citation = make_citation(name=HOSTILE, licence="ours {", authors=[Author("A and B {, Ann & Co")], doi="")
    found = yaml.safe_load(citation.cff)
    assert found["title"] == " ".join(HOSTILE.split())
    assert found["authors"] == [{"family-names": "A and B {", "given-names": "Ann & Co"}]
    assert "license" not in found, "CFF knows licences of SPDX alone"
    assert "doi" not in found
    assert citation.bibtex.count("{") == citation.bibtex.count("}")
    assert r"author       = {{A and B \textbraceleft{}}, Ann \& Co}," in citation.bibtex
    assert re.search(
        r"title .*brace \\textbackslash{} \\% \\& \\\$ \\# \\_ \\textasciitilde{}", citation.bibtex
    )


def test_bibtex_and_text_name_authors_version_and_doi():
    citation = make_citation()
    assert citation.bibtex.splitlines()[:3] == [
        "@misc{likert-arena-study-1.0,",
        "  author       = {Lovelace, Ada and Plato},",
        "  title        = {{Study}},",
    ]
    assert "  doi          = {10.5281/zenodo.7}," in citation.bibtex
    assert "note         = {Version 1.0, data as of 2 May 2026" in citation.bibtex
    assert citation.text.startswith("Ada Lovelace, Plato. Study, version 1.0. Likert Arena leaderboard, ")
    assert citation.text.endswith(". https://doi.org/10.5281/zenodo.7")
