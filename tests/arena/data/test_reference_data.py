"""Every file of the public reference data is imported with its counts, or listed with why it is no data.

LLMFAO and WILDBENCH are checked where their studies are used, because their imports take long.
"""

from fnmatch import fnmatch
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from arena.data.formats.catalogue import ABOUT, gather
from arena.data.formats.files import About
from arena.data.formats.reading import Kind
from arena.data.formats.table import ColumnMapping
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_files
from arena.models import Answer, Comparison, Completion, Pair, Question, Rater, Score, Study

VOTES: Final = ColumnMapping(
    Kind.COMPARISONS,
    {"first": "left", "second": "right", "winner": "winner"},
    {"rater": "crowd", "points": "3"},
)


class Found(NamedTuple):
    """What a study holds."""

    contestants: int
    prompts: int
    completions: int
    empty: int = 0
    """Completions whose text is known to be empty."""
    people: int = 0
    judges: int = 0
    comparisons: int = 0
    unscored: int = 0
    gold: int = 0
    subsets: int = 0
    questions: int = 0
    scores: int = 0
    yes: int = 0
    no: int = 0


class DataSet(NamedTuple):
    """Files that are imported together, by their pattern below the folder, and what comes of them."""

    patterns: tuple[str, ...]
    found: Found
    mapping: ColumnMapping | None = None
    about: About = ABOUT


CHECKED: Final = About(contestant="GPT-4", judge="a-judge")

WILDBENCH: Final = DataSet(("wildbench/*.jsonl",), Found(6, 1024, 6143, judges=2, scores=12_276))
JUDGE_DATA: Final = (
    DataSet(
        ("infobench/ko_easy.gpt-4.jsonl",),
        Found(1, 252, 252, judges=1, unscored=1, subsets=1, questions=690, yes=567, no=118),
        about=CHECKED,
    ),
    DataSet(
        ("llmbar/*.json",),
        Found(0, 418, 836, judges=16, comparisons=16 * 2 * 234, unscored=29 + 9, gold=418, subsets=5),
    ),
    DataSet(
        ("pandalm/*.json",), Found(5, 86, 394, empty=4, people=3, judges=1, comparisons=4 * 500, unscored=22)
    ),
)

LLMFAO: Final = DataSet(
    ("llmfao/*.jsonl", "llmfao/*.csv"),
    Found(70, 19 + 7, 1133 + 2 * 7, empty=72, people=124, judges=2, comparisons=8931 + 2 * 3236, gold=7),
)
DATA: Final = (
    DataSet(("evalica/food.csv",), Found(5, 1, 5, people=1, comparisons=30), VOTES),
    DataSet(("evalica/simple.csv",), Found(5, 1, 5, people=1, comparisons=16), VOTES),
    DataSet(("fastchat/*.jsonl",), Found(0, 80, 0)),
    DataSet(
        ("infobench/easy_set.gpt-4.jsonl",),
        Found(1, 252, 252, judges=1, subsets=1, questions=690, yes=610, no=80),
        about=CHECKED,
    ),
    DataSet(
        ("infobench/invalid_answers.qwen2.5-7b.jsonl",),
        Found(1, 29, 29, judges=1, unscored=28, subsets=1, questions=89, yes=29, no=2),
        about=CHECKED,
    ),
    # Unscored are the replies that a filter kept back, and winners LLMBar drew.
    DataSet(
        ("llmbar/*.json",),
        Found(0, 419, 838, judges=15, comparisons=15 * 2 * 234, unscored=2 * 2, gold=419, subsets=5),
    ),
    DataSet(("self-instruct/*.jsonl",), Found(7, 252, 7 * 252, empty=51)),
    DataSet(("vicuna-blog-eval/*.jsonl",), Found(7, 80, 5 * 80, empty=1, judges=1, comparisons=5 * 80)),
)

NO_DATA: Final = {
    "INDEX.md": "describes the folders",
    "*/LICENSE*": "licence",
    "llmfao/README.md": "describes the data set",
    "llmfao/crowd-instruction.md": "what the workers were told",
    "llmfao/gpt-instruction.txt": "what the judges were asked",
    "evalica/*-golden.csv": "scores that were computed from the votes",
}


def files_of(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Files below the folder, at any depth below what a pattern names before its asterisk."""
    names = {path: path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return sorted(path for path, name in names.items() if any(fnmatch(name, one) for one in patterns))


def found_in(study: Study) -> Found:
    raters, comparisons = Rater.objects.filter(study=study), Comparison.objects.filter(study=study)
    scores, answers = Score.objects.filter(study=study), Answer.objects.filter(study=study)
    completions = Completion.objects.filter(prompt__study=study)
    subsets = study.prompts.values_list("subset", flat=True)
    return Found(
        contestants=study.contestants.count(),
        prompts=study.prompts.count(),
        completions=completions.count(),
        empty=completions.filter(is_empty=True).count(),
        people=raters.filter(kind=Rater.Kind.PERSON).count(),
        judges=raters.filter(kind=Rater.Kind.JUDGE).count(),
        comparisons=comparisons.count(),
        unscored=sum(
            opinions.filter(status="unscored").count() for opinions in (comparisons, scores, answers)
        ),
        gold=Pair.objects.filter(prompt__study=study).exclude(gold="").count(),
        subsets=sum(not name.startswith("(") for name in set(subsets) - {""}),
        questions=Question.objects.filter(prompt__study=study).count(),
        scores=scores.count(),
        yes=answers.filter(value="yes").count(),
        no=answers.filter(value="no").count(),
    )


def read(name: str, folder: Path, data: DataSet) -> ImportReport:
    """Import a data set into the study of that name."""
    format_name = "table" if data.mapping else ""
    paths = files_of(folder, data.patterns)
    return import_files(name, paths, format_name=format_name, mapping=data.mapping, about=data.about)


def check_stored(study: Study, folder: Path, data: DataSet) -> None:
    """The study holds the data set, and importing it again adds nothing."""
    assert found_in(study) == data.found
    again = read(study.slug, folder, data)
    assert (again.errors, again.written) == ([], 0)


def check(folder: Path, data: DataSet) -> None:
    assert read("study", folder, data).errors == []
    check_stored(Study.objects.get(slug="study"), folder, data)


@pytest.mark.django_db
@pytest.mark.parametrize("data", DATA, ids=lambda data: data.patterns[0])
def test_what_comes_of_the_files(reference_data: Path, data: DataSet) -> None:
    check(reference_data, data)


@pytest.mark.django_db
@pytest.mark.parametrize("data", JUDGE_DATA, ids=lambda data: data.patterns[0])
def test_what_comes_of_the_files_about_judges(judge_data: Path, data: DataSet) -> None:
    check(judge_data, data)


def test_every_file_is_data_or_listed_as_none(reference_data: Path) -> None:
    patterns = [pattern for data in (*DATA, LLMFAO) for pattern in data.patterns]
    everything = set(files_of(reference_data, ("*",)))
    data, none = (set(files_of(reference_data, tuple(which))) for which in (patterns, NO_DATA))
    assert everything == data | none
    assert not data & none


@pytest.mark.parametrize(
    "folder", ["fastchat", "infobench", "llmbar", "llmfao", "self-instruct", "vicuna-blog-eval"]
)
def test_a_folder_brings_all_its_data(reference_data: Path, folder: str) -> None:
    patterns = tuple(pattern for data in (*DATA, LLMFAO) for pattern in data.patterns)
    inside = {path for path in files_of(reference_data, patterns) if reference_data / folder in path.parents}
    assert {source.file.path for source in gather([reference_data / folder]).sources} == inside


def test_what_is_no_data_is_not_taken_for_some(reference_data: Path) -> None:
    paths = files_of(reference_data, tuple(NO_DATA))
    found = gather(paths)
    assert found.sources == []
    assert len(found.problems) == len(paths)
    assert all(problem.reason.startswith("no format has these columns: ") for problem in found.problems)
