"""Archives that somebody made to do harm, or damaged ones: one sentence each, and nothing else happens."""

import io
import json
import warnings
import zipfile
from typing import Any

import pytest

from leaderboard.files.bundle import archive
from leaderboard.files.bundle import archive as bundle_archive
from leaderboard.files.bundle.archive import BundleError, Reader, Writer
from leaderboard.files.bundle.recomputing import method_of, recompute

FILES = dict.fromkeys(bundle_archive.NEEDED, b"{}")


def packed(files=None, **facts):
    """An archive with a true manifest of these files; ``facts`` change what it says."""
    out = io.BytesIO()
    writer = Writer(out)
    for name, content in (FILES if files is None else files).items():
        writer.add(name, [content])
    writer.close(facts)
    out.seek(0)
    return out


def raw(files):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        warnings.simplefilter("ignore")
        for name, content in files:
            target.writestr(name, content)
    out.seek(0)
    return out


def refusal(file):
    with pytest.raises(BundleError) as error:
        recompute(Reader(file))
    sentence = str(error.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/passwd", "inputs/../../evil", "C:\\evil", "inputs\\comparisons.csv", "evil.py"],
)
def test_other_names_than_a_bundles_are_refused(name):
    assert "no bundle has" in refusal(raw([*FILES.items(), (name, b"x")]))


def test_what_is_no_archive(monkeypatch):
    assert "not a bundle" in refusal(io.BytesIO(b"hello"))
    assert "not a bundle" in refusal(io.BytesIO(b""))
    assert "MANIFEST" in refusal(raw([("README.md", b"x")]))
    whole = packed().getvalue()
    assert refusal(io.BytesIO(whole[: len(whole) // 2]))
    assert "twice" in refusal(raw([("README.md", b"a"), ("README.md", b"b")]))
    monkeypatch.setattr(archive, "LARGEST", 10)
    assert "unpacked" in refusal(packed())


def test_a_bomb_is_not_unpacked():
    bomb = packed({**FILES, bundle_archive.COMPARISONS: b"0" * 50_000_000})
    assert "packed more tightly" in refusal_of_reading(bomb, bundle_archive.COMPARISONS)
    assert "packed more tightly" in refusal(raw([(bundle_archive.MANIFEST, b" " * 60_000_000)]))


def refusal_of_reading(file, name):
    with pytest.raises(BundleError) as error:
        Reader(file).read(name)
    return str(error.value)


def test_a_changed_or_damaged_file_is_told():
    whole = zipfile.ZipFile(packed())
    files = [(name, whole.read(name)) for name in whole.namelist()]
    for change in (b"[]", b"{", b"{}{}"):
        changed = [
            (name, change if name == bundle_archive.PARAMETERS else content) for name, content in files
        ]
        assert bundle_archive.PARAMETERS in refusal(raw(changed))
    content = bytearray(packed({**FILES, bundle_archive.PARAMETERS: bytes(range(256)) * 40}).getvalue())
    place = content.index(b"parameters.json") + len("parameters.json") + 60
    content[place] ^= 0xFF
    assert "parameters.json" in refusal_of_reading(io.BytesIO(bytes(content)), bundle_archive.PARAMETERS)


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"version": 3}, "The bundle has version 3; this program reads 1 and 2."),
        ({"version": "x" * 500}, "The bundle has version"),
        ({"format": "other"}, "This is not a bundle of this program."),
    ],
)
def test_other_versions_are_refused(facts, sentence):
    assert refusal(packed(None, **facts)).startswith(sentence)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"nul", b"[" * 100_000, b'{"format": 1}', b"\xff"])
def test_manifests_that_make_no_sense(content):
    assert refusal(raw([*FILES.items(), (bundle_archive.MANIFEST, content)]))


def test_manifest_and_files_must_match():
    files = dict(FILES)
    del files[bundle_archive.RESULTS]
    assert bundle_archive.RESULTS in refusal(packed(files))
    whole = zipfile.ZipFile(packed())
    extra = [(name, whole.read(name)) for name in whole.namelist()] + [(bundle_archive.SIZES, b"{}")]
    assert bundle_archive.SIZES in refusal(raw(extra))


GOOD = {
    "methodology": "now",
    "rounds": 10,
    "interval": 95.0,
    "seed": 0,
    "k": 32.0,
    "scale": 400.0,
    "base": 10.0,
    "init": 1000.0,
}


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 10**9},
        {"rounds": 0},
        {"rounds": "many"},
        {"k": -1},
        {"k": "32"},
        {"k": 10**400},
        {"interval": 400},
        {"seed": -1},
        {"methodology": "0"},
    ],
)
def test_parameters_are_checked(change):
    from leaderboard.stats.ranking_method import METHODOLOGY

    given = {**GOOD, "methodology": METHODOLOGY}
    method_of(given)
    with pytest.raises(BundleError):
        method_of({**given, **change})
    with pytest.raises(BundleError):
        method_of([])


COLUMNS = (
    ("id", "<i8"),
    ("current", "|b1"),
    *((name, "<i8") for name in ("pair", "rater", "prompt")),
    ("swapped", "|b1"),
    ("points", "<i2"),
    ("rating", "<i2"),
    ("reason", "|S20"),
    *((name, "<i8") for name in ("first", "second", "first_text", "second_text", "category")),
    ("score_difference", "<f8"),
)
LINE = "0,0,0,0,8,2,,0,1,0,1,0,"
FACTS: dict[str, Any] = {
    "names": ["Alpha", "Beta"],
    "kinds": ["model", "model"],
    "categories": [""],
    "mark": [0, 1, 1],
    "prompts": 1,
    "raters": [{"selector": "people", "label": "People", "ids": [0], "simulated": False}],
    "columns": [list(column) for column in COLUMNS],
}


def opinions_of(line=LINE, **changes):
    from leaderboard.files.bundle.arrays import opinions_from

    header = ",".join(name for name, _ in COLUMNS[2:])
    return opinions_from(json.dumps({**FACTS, **changes}).encode(), f"{header}\n{line}\n".encode())


@pytest.mark.parametrize(
    "line",
    [
        "0,0,0,0,8,9,,0,1,0,1,0,",
        "0,0,0,0,7,2,,0,1,0,1,0,",
        "0,0,0,0,8,2,,0,5,0,1,0,",
        "0,0,0,0,8,2,,-7,1,0,1,0,",
        "0,0,0,0,8,2,,0,1,0,1,3,",
        "0,-1,0,0,8,2,,0,1,0,1,0,",
        "0,0,0,0,8,2.5,,0,1,0,1,0,",
        "0,0,0,0,8,nan,,0,1,0,1,0,",
        "0,0,1e300,0,8,2,,0,1,0,1,0,",
        "x,0,0,0,8,2,,0,1,0,1,0,",
        "0,0,0",
        LINE + ",1,2,3",
    ],
)
def test_comparisons_that_point_nowhere_are_refused(line):
    assert opinions_of().rows["rating"].tolist() == [2]
    with pytest.raises(BundleError, match="are invalid"):
        opinions_of(line)


@pytest.mark.parametrize(
    "changes",
    [
        {"names": "x"},
        {"kinds": []},
        {"raters": [{}]},
        {"raters": 3},
        {"unknown": 1},
        {"columns": [["pair", "O"]]},
        {"columns": [["pair", "V8"]]},
        {"columns": [["x" * 3, "<i8"]] * 60},
        {"columns": []},
        {"columns": [[name, "<f8"] for name, _ in COLUMNS]},
        {"columns": [[name, "|b1"] for name, _ in COLUMNS]},
        {"names": [1, 2]},
        {"names": "AB"},
        {"categories": [1]},
        {"raters": [{"selector": 5, "label": "People", "ids": [0], "simulated": False}]},
    ],
)
def test_facts_that_make_no_sense_are_refused(changes):
    with pytest.raises(BundleError, match="are invalid"):
        opinions_of(**changes)


SIZES: dict[str, Any] = {
    "tokenizer": "t",
    "contestants": [["Alpha", "model", False]],
    "prompts": {"dtype": "<f8", "shape": [1, 4], "values": [1, 1, 1, 4]},
    "category": [""],
    "subset": [""],
    "completion": {"dtype": "<i8", "shape": [2], "values": [0, 1]},
    "completions": {"dtype": "<f8", "shape": [2, 4], "values": [1, 1, 1, 4, None, None, None, None]},
    "prompt": {"dtype": "<i8", "shape": [2], "values": [0, 0]},
    "contestant": {"dtype": "<i8", "shape": [2], "values": [0, -1]},
    "current": {"dtype": "|b1", "shape": [2], "values": [True, True]},
    "empty": {"dtype": "|b1", "shape": [2], "values": [False, False]},
    "references": {"dtype": "<f8", "shape": [0, 4], "values": []},
    "reference_prompt": {"dtype": "<i8", "shape": [0], "values": []},
    "spaced": {"dtype": "<i8", "shape": [1], "values": [3]},
    "asked_of": {"dtype": "<i8", "shape": [2], "values": [0, 0]},
    "kinds": [["Content", "Format"], []],
    "pairs": 1,
}


def sizes_of(**changes):
    from leaderboard.files.bundle.arrays import sizes_from

    return sizes_from(json.dumps({**SIZES, **changes}).encode())


@pytest.mark.parametrize(
    "value",
    [
        None,
        5.5,
        [5],
        {},
        {"dtype": "O", "shape": [1], "values": [1]},
        {"dtype": "<i8", "shape": [0], "values": []},
        {"dtype": "<i8", "shape": [3], "values": [0, 0, 0]},
        {"dtype": "<i8", "shape": [10**9], "values": [1]},
        {"dtype": "<f8", "shape": [2, 2], "values": [0.5, 0, 0, 0]},
        {"dtype": "|S9", "shape": [2], "values": ["a", "b"]},
    ],
)
def test_sizes_that_make_no_sense_are_refused(value):
    assert sizes_of().completions.shape == (2, 4)
    for name in SIZES:
        if value != SIZES[name]:
            with pytest.raises(BundleError, match="are invalid"):
                sizes_of(**{name: value})
