"""The formats, and which of them each file of an import has. Pure."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Final, NamedTuple

from arena.data.formats import (
    alpaca_eval,
    annotations,
    archives,
    arena_battles,
    arena_hard,
    autoj,
    comparia,
    fair_eval,
    fastchat,
    helpsteer,
    infobench,
    llmbar,
    llmfao,
    ours,
    pandalm,
    preferences,
    reife,
    rewards,
    self_instruct,
    table,
    wildbench,
)
from arena.data.formats.columns import NOTHING_KNOWN, Known, Samples, guess, suggest
from arena.data.formats.files import HEAD, MAX_FILE, About, BrokenFileError, Form, InputFile
from arena.data.formats.reading import OPINIONS, DataSet, Format, Head, Kind, Shape
from arena.data.formats.records import (
    TABLES,
    AboutPair,
    AboutText,
    CompletionRecord,
    Item,
    Note,
    Place,
    Problem,
    PromptRecord,
    QuestionRecord,
    RaterKinds,
)
from arena.data.formats.table import ColumnMapping
from arena.data.formats.values import UnreadableError
from arena.rules.subsets import NO_PROMPT_SUBSET, TRAINING_SUBSET

DATA_ENDINGS: Final = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".parquet")
"""Files of a folder that must be understood; others, such as licences, are named in a note."""

NO_DATA: Final = f"has no file ending in {', '.join(DATA_ENDINGS)}"

RECORD: Final = "for-the-record"
"""The folder of an export for what no import reads."""

NAMED: Final = 5
ABOUT: Final = About()


class UnknownFormatError(ValueError):
    """There is no format of this name."""


CATALOGUE: Final = {
    entry.name: entry
    for entry in (
        llmfao.FORMAT,
        llmbar.PAIRS,
        llmbar.REPLIES,
        pandalm.FORMAT,
        autoj.FORMAT,
        fair_eval.FORMAT,
        reife.FORMAT,
        wildbench.FORMAT,
        rewards.FORMAT,
        infobench.FORMAT,
        alpaca_eval.FORMAT,
        fastchat.FORMAT,
        self_instruct.FORMAT,
        arena_battles.FORMAT,
        ours.STUDY,
        arena_hard.FORMAT,
        comparia.FORMAT,
        helpsteer.FORMAT,
        preferences.FORMAT,
        annotations.ARGILLA,
        annotations.LABEL_STUDIO,
        ours.TRAINING,
        ours.FEATURES,
        *ours.FORMATS,
        table.FORMAT,
    )
}
"""All formats by name in the order of trying, the more specific first."""


@dataclass(frozen=True)
class Source:
    file: InputFile
    format: Format
    shape: Shape

    @property
    def kind(self) -> Kind:
        return self.shape.kind

    def items(self) -> Iterator[Item]:
        """Records and problems; an error that ends the file is the last problem."""
        read, subset = self.shape.read(self.file), self.file.about.subset
        is_empty = self.kind is not Kind.NOTHING
        if self.file.left_out and self.kind is Kind.QUESTIONS and "position" not in self.file.columns():
            reason = "its rows count by their order, so none can be left out; give each a position"
            yield self.file.problem(0, reason)
        try:
            for item in read:
                is_empty = False
                yield _moved(item, subset) if subset else item
        except BrokenFileError as error:
            is_empty = False
            yield error.problem._replace(of_row=False)
        yield from self.file.notes()
        if is_empty and not self.file.left_out:
            yield Note(self.file.place(), "the file has no rows below its header")
        self.file.position = self.file.size


def _moved(item: Item, subset: str) -> Item:
    """The record in a subset, if it is not in one of the arena's own."""
    if not isinstance(item, PromptRecord | QuestionRecord | CompletionRecord | AboutPair | AboutText):
        return item
    return item if item.subset in (TRAINING_SUBSET, NO_PROMPT_SUBSET) else replace(item, subset=subset)


@dataclass
class Sources:
    sources: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    suggested: dict[str, ColumnMapping] = field(default_factory=dict)
    """By file: how its columns suggest to read it, where it has no format or one that reads less."""
    unpacked: list["tempfile.TemporaryDirectory[str]"] = field(default_factory=list)
    """Folders of archives, which go with this."""

    def items(self) -> Iterator[Item]:
        """The problems and notes, then all records in the order of import."""
        yield from (problem._replace(of_row=False) for problem in self.problems)
        yield from self.notes
        for source in self.sources:
            if kinds := source.file.about.raters:
                yield RaterKinds(source.file.place(), kinds)
        for source in sorted(self.sources, key=lambda source: (_asks_for_kinds(source), source.kind)):
            alike = [other for other in self.sources if other.format is source.format]
            source.file.beside = {kind: [one.file for one in alike if one.kind is kind] for kind in Kind}
            yield from source.items()

    @property
    def data_set(self) -> DataSet | None:
        """The published data set in whose format all files are."""
        found = {source.format.data_set for source in self.sources}
        return found.pop() if len(found) == 1 else None

    @property
    def progress(self) -> float:
        """The share of all bytes that were read, 0 to 1."""
        total = sum(source.file.size for source in self.sources)
        return sum(source.file.position for source in self.sources) / total if total else 1.0


def _asks_for_kinds(source: Source) -> bool:
    """True for what raters said in a file that may not tell people from judges: others are read before."""
    return source.kind in OPINIONS and "rater_kind" not in source.file.columns()


LEFT_OUT: Final = "left-out"
"""In place of a format's name: the file is not read."""


class Choice(NamedTuple):
    format_name: str
    mapping: ColumnMapping | None = None
    sheet: str = ""
    header: str = ""
    about: About = ABOUT
    rows: Kind | None = None
    """Kind of the rows, if somebody said it before anybody saw the columns."""


def gather(
    paths: Iterable[Path | InputFile],
    format_name: str = "",
    *,
    mapping: ColumnMapping | None = None,
    sheet: str = "",
    header: str = "",
    about: About = ABOUT,
    choices: Mapping[str, Choice] = MappingProxyType({}),
    known: Callable[[Samples], Known] = lambda samples: NOTHING_KNOWN,
) -> Sources:
    """The sources in files and folders, recognised by content unless a format is named.

    ``mapping`` belongs to the format ``table``, ``sheet`` to workbooks, ``header`` to tables, the judge of
    ``about`` to formats that take one; ``choices`` are for single files, by name; ``known`` tells what the
    study knows of cells. Raises UnknownFormatError; what else is wrong is a Problem in the result. If a path
    has no file, none is read.
    """
    general = Choice(format_name, mapping, sheet, header, about)
    for choice in (general, *choices.values()):
        if choice.format_name and choice.format_name not in (*CATALOGUE, LEFT_OUT):
            names = ", ".join(CATALOGUE)
            raise UnknownFormatError(f'"{choice.format_name}" is no format; choose one of {names}')
    found = Sources()
    files: dict[Path, InputFile] = {}
    for path in paths:
        for file in files_at(path, found):
            files.setdefault(file.path.resolve(), file)
    if found.problems:
        return found
    for file in files.values():
        choice = choices.get(file.name, general)
        if choice.format_name == LEFT_OUT:
            found.notes.append(Note(file.place(), "the file is left out"))
            continue
        file.sheet, file.header, file.about = choice.sheet, choice.header, choice.about
        outcome = _recognised(file, choice, known, found.suggested)
        if isinstance(outcome, Source):
            found.sources.append(outcome)
            if wide := _wide_table(outcome) if not choice.format_name else None:
                found.suggested[file.name] = wide
                reason = "if the columns that are not used are answers, import it with"
                found.notes.append(Note(file.place(), f"{reason} {wide.as_options()}"))
        else:
            found.problems += outcome
    for number, source in enumerate(found.sources):
        chosen = choices.get(source.file.name, general).format_name
        if not chosen and (told := _with_prompts(source, found.sources, known)):
            found.suggested[source.file.name] = told
            found.sources[number] = source if choices else _as_table(source.file, told)
    if not found.problems:
        found.problems += _untold(about, found.sources)
    return found


def _untold(about: About, sources: Sequence[Source]) -> Iterator[Problem]:
    """Problems with what is said about files that say it themselves."""
    for source in sources[:1]:
        if (about.judge or about.facts) and not any(map(_is_judged, sources)):
            yield source.file.problem(0, "no file here holds replies whose judge can be named")
        if about.contestant and not any("contestant" in one.format.told for one in sources):
            yield source.file.problem(0, "no file here holds answers whose model can be named")


def _is_judged(source: Source) -> bool:
    return "judge" in source.format.told and source.kind in OPINIONS


def _wide_table(source: Source) -> ColumnMapping | None:
    """How to read a file of prompts whose further columns look like answers of models, or like a pair."""
    if source.kind is not Kind.PROMPTS or source.format not in ours.FORMATS:
        return None
    found = suggest(source.file.columns(), source.file.samples())
    is_more = found is not None and (found.further or found.kind in (Kind.COMPARISONS, Kind.PAIRS))
    return found if is_more else None


def _with_prompts(
    source: Source, sources: Sequence[Source], known: Callable[[Samples], Known]
) -> ColumnMapping | None:
    """How to read answers beside the texts of their prompts, where nothing else has these."""
    has_prompts = any(one.kind is Kind.PROMPTS for one in sources)
    if source.kind is not Kind.COMPLETIONS or source.format not in ours.FORMATS or has_prompts:
        return None
    samples = source.file.samples()
    if samples.keys() == TABLES["completions"].columns.keys():
        return None  # an export of ours, which tells prompts by their ids
    there = known(samples)
    found = suggest(list(samples), samples, None, there)
    is_told = found and {"prompt", "instruction"} <= found.columns.keys()
    return found if is_told and not there.prompts else None


def files_at(path: Path | InputFile, found: Sources) -> list[InputFile]:
    """The data files at a path; problems go to ``found``."""
    if isinstance(path, InputFile):
        return [path]
    try:
        if path.is_dir():
            inside = list(_inside(path))
            links = [entry for entry in inside if _leads_out(entry, path.resolve())]
            found.notes += _left_out(path, links, "not read, because it leads out of the folder")
            inside = sorted(set(inside) - set(links))
            if data := [entry for entry in inside if _is_data(entry, path)]:
                found.notes += _left_out(path, sorted(set(inside) - set(data)), "not read")
                return [InputFile(entry) for entry in data]
            reason = f"the folder {NO_DATA}"
        else:
            if path.is_file():
                return _packed(path, found) if archives.is_archive(path) else [InputFile(path)]
            path.stat()
            # A pipe can be read once and may keep an import, and all raters with it, waiting for ever.
            reason = "a pipe or device cannot be read; give a file"
    except FileNotFoundError:
        reason = "no such file or folder"
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
    found.problems.append(Problem(Place(str(path)), "", reason))
    return []


def _packed(path: Path, found: Sources) -> list[InputFile]:
    """The data files of a zip archive, unpacked."""
    folder = tempfile.TemporaryDirectory(prefix="unpacked-")
    found.unpacked.append(folder)
    files = []
    try:
        with archives.opened(path, MAX_FILE) as archive:
            inside = archives.members(archive)
            for number, name in enumerate(filter(is_data, inside)):
                file = Path(folder.name) / str(number)
                with file.open("wb") as target:
                    archives.copy(archive, inside[name], target)
                files.append(InputFile(file, f"{path}/{name}"))
    except UnreadableError as error:
        found.problems.append(Problem(Place(str(path)), "", str(error)))
        return []
    found.notes += _left_out(path, [path / name for name in inside if not is_data(name)], "not read")
    if not files:
        found.problems.append(Problem(Place(str(path)), "", f"the archive {NO_DATA}"))
    return files


def _inside(folder: Path) -> Iterator[Path]:
    """The files below a folder by name, without hidden ones, and the links that lead out of it."""
    root, seen, waiting = folder.resolve(), set[Path](), [folder]
    while waiting:
        entry = waiting.pop()
        if not entry.is_dir() or _leads_out(entry, root):
            yield entry
        elif (real := entry.resolve()) not in seen:  # a link may lead back
            seen.add(real)
            inside = (path for path in entry.iterdir() if not path.name.startswith("."))
            waiting += sorted(inside, reverse=True)


def _leads_out(path: Path, folder: Path) -> bool:
    """Tell whether a link leads out of a resolved folder."""
    return not path.resolve().is_relative_to(folder)


def _is_data(path: Path, folder: Path) -> bool:
    """Tell whether a file below ``folder`` must be understood."""
    return path.is_file() and is_data(path.relative_to(folder)) and not llmbar.is_statistics(path)


def is_data(path: PurePath) -> bool:
    """Tell whether a file of a folder or an archive must be understood, by where it lies in it."""
    return RECORD not in path.parts and path.name.lower().removesuffix(".gz").endswith(DATA_ENDINGS)


def _left_out(folder: Path, files: Sequence[Path], why: str) -> Iterator[Note]:
    if files:
        names = ", ".join(str(file.relative_to(folder)) for file in files[:NAMED])
        more = f" and {len(files) - NAMED:,} more" if len(files) > NAMED else ""
        yield Note(Place(str(folder)), f"{why}: {names}{more}")


def _recognised(
    file: InputFile, choice: Choice, known: Callable[[Samples], Known], suggested: dict[str, ColumnMapping]
) -> Source | list[Problem]:
    """The file as a source of the first format that fits, or why none does."""
    try:
        head, problems = _head(file)
        if head is None:
            return problems or [file.problem(0, "the file is empty")]
        if choice.format_name == table.NAME:
            return _mapped(file, choice.mapping)
    except BrokenFileError as error:
        return [error.problem]
    formats = [CATALOGUE[choice.format_name]] if choice.format_name else list(CATALOGUE.values())
    for entry in formats:
        if shape := entry.shape(head):
            return Source(file, entry, shape)
    columns = ", ".join(sorted(head.fields)) or "none"
    if len(formats) == 1 and formats[0].needs != ours.NEEDS:
        return [
            file.problem(1, f"not the columns of {formats[0].name}: {columns}. Needed: {_needs(formats)}")
        ]
    samples = file.samples()
    found = guess(file.columns(), samples, choice.rows, known(samples))
    way_out = f"Needed: {_needs(formats)}"
    if found.question:
        way_out = f"{found.question.text} Try {found.as_options}"
    elif not found.mapping.faults():
        suggested[file.name] = found.mapping
        way_out = f"Try {found.as_options}"
    reason = f"no format has these columns: {columns}. {way_out}"
    return [file.problem(1, reason)]


def _needs(formats: list[Format]) -> str:
    """The fields that these formats require, for messages."""
    if len(formats) == 1:
        return formats[0].needs
    others = [entry.name for entry in formats if entry.needs not in (ours.NEEDS, table.FORMAT.needs)]
    return f"{ours.NEEDS}; or the fields of {', '.join(others)}, which docs/other-formats.md lists"


def _mapped(file: InputFile, mapping: ColumnMapping | None) -> Source | list[Problem]:
    if mapping is None:
        return [file.problem(0, "say what each column means: --kind and --map")]
    faults = mapping.faults() or mapping.missing_from(file.columns())
    if faults:
        return [file.problem(0, fault) for fault in faults]
    return _as_table(file, mapping)


def _as_table(file: InputFile, mapping: ColumnMapping) -> Source:
    return Source(file, table.FORMAT, table.shape_of(mapping))


def _head(file: InputFile) -> tuple[Head | None, list[Problem]]:
    if file.form is not Form.JSON:
        columns = file.columns()
        return (Head(file, file.form, frozenset(columns)) if columns else None), []
    if _is_spread_out(file):
        reason = (
            "the file is one JSON object over several lines; write one object per line, or a list of objects"
        )
        return None, [file.problem(1, reason)]
    problems: list[Problem] = []
    for row in islice(file.json_objects(), HEAD):
        if not isinstance(row, Problem):
            return Head(file, file.form, frozenset(row[1])), []
        problems.append(row)
    return None, problems


def _is_spread_out(file: InputFile) -> bool:
    """Tell whether the file is one JSON object over several lines."""
    return file.opening == "{" and next(line.strip() == b"{" for _, line in file.lines() if line.strip())
