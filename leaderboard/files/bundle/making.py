"""Makes a bundle from a study and the snapshot that its board shows."""

import json
import platform
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, Final

from django.conf import settings
from django.db.models import Q

from arena.data.interchange import question
from arena.models import Completion, Prompt, Study
from leaderboard.answers.asked import CHECKS, FEATURES, SCORES
from leaderboard.answers.stored.texts import TextOpinions, text_opinions_of
from leaderboard.data.left_out import left_out_by_reason
from leaderboard.files.bundle import archive
from leaderboard.files.bundle.archive import BundleError, Writer, line_of, place_of, pretty, sha256
from leaderboard.files.bundle.arrays import (
    Numbered,
    facts_json,
    lines_csv,
    numbered,
    rows_csv,
    sizes_json,
)
from leaderboard.files.bundle.judges import configurations
from leaderboard.files.bundle.right_answers import right_answers_json
from leaderboard.files.bundle.text_opinions import checks_files, features_csv, scores_files
from leaderboard.files.selection import NamedRater, no_scores, rater_names
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.refreshing.tables import tables
from leaderboard.snapshots.canonical import Table
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.declarations import method_of
from leaderboard.snapshots.reading import opinions_of
from leaderboard.snapshots.settings import CONFIDENCE, SEALED, prompt_words
from leaderboard.snapshots.text_sizes import texts
from leaderboard.trust.content import labelled


def readme(study: Study, snapshot: Snapshot, facts: Mapping[str, Any], *, with_texts: bool) -> str:
    which = prompt_words(snapshot.counts.get("prompts_shown", ""))
    held = f"\nIt holds the ratings of {which}.\n" if which else ""
    made_up = (
        "\nSimulated ratings. They say nothing about real models.\n"
        if any(one["simulated"] for one in snapshot.counts["raters"]) or study.simulated
        else ""
    )
    texts = (
        f"| `{archive.PROMPT_TEXTS}`, `{archive.COMPLETION_TEXTS}` | the texts themselves |\n"
        if with_texts
        else ""
    )
    commit = f", commit {facts['versions']['commit']}" if facts["versions"]["commit"] else ""
    return f"""# {" ".join(study.name.split())}: the published leaderboard and everything it was computed from

Data as of {snapshot.created_at:%Y-%m-%d %H:%M} UTC, watermark {snapshot.watermark},
method version {snapshot.methodology}, seed {snapshot.seed}.
Made by Likert Arena {facts["versions"]["likert-arena"]}{commit}.
{made_up}{held}
## Compute it again

Install the same version of Likert Arena. You need no study, account or database:

    python manage.py recompute THIS-FILE.zip

The command computes every table in `{archive.RESULTS}` from the files in `inputs/` and says which are
equal. The exit code is 0 if all are, else 1. Numbers are rounded to six decimals. Processors
may differ in the fifteenth digit. If that changes the sixth decimal, the command says so and does not
count it as a difference.

## What is in it

| file | what it holds |
|---|---|
| `{archive.MANIFEST}` | every file with its size and SHA-256 |
| `{archive.PARAMETERS}` | method, resamples, seed, interval, versions, and which rows imports left out |
| `{archive.JUDGES}` | every judge as it was set up: model, protocol, wording, parameters, prices |
| `{archive.COMPARISONS}` | one line per rating in the order given, columns below |
| `{archive.CONTESTANTS}` | the ranked models, by number |
| `{archive.RATERS}` | who rated: judges by name, people by a pseudonym; `derived_from`: a panel's judges |
| `{archive.PROMPTS}` | the prompts rated: id, category, subset, SHA-256 of `[turns, input]` as JSON |
| `{archive.COMPLETIONS}` | the answers: prompt, model, SHA-256 of the turns as JSON |
| `{archive.OPINIONS}` | names, categories, which raters can be selected together, types of the columns |
| `{archive.SIZES}` | how long the texts are: words, distinct words, tokens, characters |
| `{archive.RIGHT_ANSWERS}` | if there are any: pairs with a gold label, and how judges were asked |
| `{archive.REQUIREMENTS}`, `{archive.CHECKS}` | if there are any: requirements, and checks of them |
| `{archive.SCORED}`, `{archive.SCORES}` | if there are any: scores of single answers |
| `{archive.FEATURES}` | if there are any: what models' own probabilities say about their answers |
{texts}| `{archive.RESULTS}` | the published tables, one line each |

In `{archive.COMPARISONS}`, `pair`, `rater`, `prompt`, `first_text` and `second_text` are numbers of the
other files. `first` and `second` are the models in the order shown (-1: no model, -2: a retired model),
`swapped` says whether the pair's second answer was shown first. `rating` runs from 1 (first much better)
to `points` (second much better); it is 0 if the pair was not rated, and `reason` says why. `category` is
a place in the list of categories, `score_difference` the first minus the second score of a rater that
gives scores.
"""


AT_ONCE: Final = 1000


def make(study: Study, file: IO[bytes], *, with_texts: bool = False, private: bool = False) -> Snapshot:
    """Write the bundle of the newest snapshot. Raises BundleError."""
    snapshot = Snapshot.objects.newest(study)
    if snapshot is None:
        raise BundleError(no_scores(study))
    of_snapshot = opinions_of(snapshot)
    read = of_snapshot.at()
    about_texts = text_opinions_of(snapshot)
    if read.mark != snapshot.data or about_texts is None:
        raise BundleError("The published scores are older than the data; refresh the study and try again.")
    if not len(read) and not about_texts:
        raise BundleError("Nobody has rated in this study yet.")
    sizes = texts(study, of_snapshot.usual_prompts)
    inputs, facts = numbered(read, sizes.completion), _parameters(study, snapshot)
    writer = Writer(file)
    writer.add(archive.README, [readme(study, snapshot, facts, with_texts=with_texts).encode()])
    writer.add(archive.PARAMETERS, [pretty(facts).encode()])
    judges = configurations({*inputs.ids["rater"].tolist(), *about_texts.raters})
    writer.add(archive.JUDGES, [pretty({"judges": judges}).encode()])
    _add_inputs(writer, study, inputs)
    writer.add(archive.SIZES, [sizes_json(sizes, inputs.ids["text"]).encode()])
    right = labelled(study, read)
    if right is not None:
        writer.add(archive.RIGHT_ANSWERS, [right_answers_json(right, inputs).encode()])
    _add_text_opinions(writer, study, about_texts, with_texts=with_texts)
    if features := list(features_csv(study, inputs.numbers("text"))):
        writer.add(archive.FEATURES, features)
    if with_texts:
        _add_texts(writer, study, inputs, private=private)

    def every(known: Payloads) -> Iterator[Table]:
        return tables(read, method_of(snapshot), known, sizes, right)

    writer.add(archive.RESULTS, results(snapshot, every))
    writer.close({name: facts[name] for name in ("study", "snapshot_at", "watermark", "methodology")})
    return snapshot


def _add_text_opinions(writer: Writer, study: Study, found: TextOpinions, *, with_texts: bool) -> None:
    if found.checked is not None:
        files = checks_files(study, found.checked, with_texts=with_texts)
        writer.add(archive.REQUIREMENTS, [files.facts])
        writer.add(archive.CHECKS, [files.rows])
    if found.rows is not None:
        files = scores_files(study, found.rows)
        writer.add(archive.SCORED, [files.facts])
        writer.add(archive.SCORES, [files.rows])


def results(snapshot: Snapshot, every: Callable[[Payloads], Iterator[Table]]) -> Iterator[bytes]:
    """The tables of the snapshot and those of ``every`` that it does not hold.

    None that is made of others, of features or of judges' probabilities: these are not computed again.
    """
    of_others = Q(kind__in=(CHECKS, SCORES)) & ~Q(method="")
    beside = Q(kind="trust", method__in=(SEALED, CONFIDENCE)) | Q(kind=FEATURES) | of_others
    stored = SnapshotSlice.objects.filter(snapshot=snapshot).exclude(beside)
    found = {place_of(row): row.payload for row in stored}
    if snapshot.counts.get("large"):
        known = {row.inputs: row.payload for row in stored if row.inputs}
        found = {place_of(table): table.payload for table in every(known)} | found
    for place in sorted(found):
        yield line_of(place, found[place]).encode()


def _parameters(study: Study, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "study": study.slug,
        "name": study.name,
        "snapshot_at": snapshot.created_at.isoformat(),
        "watermark": snapshot.watermark,
        "methodology": snapshot.methodology,
        "seed": snapshot.seed,
        **snapshot.parameters,
        "simulated": study.simulated,
        "left_out_rows": left_out_by_reason(study),
        "versions": versions(),
    }


def versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {
        "likert-arena": settings.VERSION,
        "commit": commit(settings.BASE_DIR),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    for package in ("numpy", "scipy", "pandas"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def commit(folder: Path) -> str | None:
    """The checked-out commit from git's files; None outside a working tree."""
    try:
        head = (folder / ".git" / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        loose = folder / ".git" / name
        if loose.is_file():
            return loose.read_text().strip()
        packed = (folder / ".git" / "packed-refs").read_text().splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), None)
    except OSError:
        return None


def _completions(study: Study) -> Any:
    return Completion.objects.filter(prompt__study=study).order_by("pk")


def _add_inputs(writer: Writer, study: Study, inputs: Numbered) -> None:
    read = inputs.opinions
    writer.add(archive.OPINIONS, [facts_json(read).encode()])
    writer.add(archive.COMPARISONS, rows_csv(read))
    players = zip(range(len(read.names)), read.names, read.kinds, strict=True)
    writer.add(archive.CONTESTANTS, [lines_csv([("number", "name", "kind"), *players])])
    names = rater_names(study)
    raters = ((number, *_of_rater(names[pk])) for pk, number in inputs.numbers("rater").items())
    header = ("number", "rater", "kind", "simulated", "derived_from")
    writer.add(archive.RATERS, [lines_csv([header, *raters])])
    writer.add(archive.PROMPTS, _prompts(study, inputs))
    writer.add(archive.COMPLETIONS, _completion_hashes(study, inputs))


def _of_rater(one: NamedRater) -> tuple[str, str, int, str]:
    return one.name, one.kind, int(one.simulated), " ".join(one.derived_from or ())


def _prompts(study: Study, inputs: Numbered) -> Iterator[bytes]:
    number = inputs.numbers("prompt")
    yield lines_csv([("number", "id", "category", "subset", "sha256")])
    for prompt in Prompt.objects.filter(study=study).order_by("pk").iterator(AT_ONCE):
        if prompt.pk in number:
            name = question(prompt.external_id, prompt.subset)
            row = (number[prompt.pk], name, prompt.category, prompt.subset, prompt_digest(prompt))
            yield lines_csv([row])


def prompt_digest(prompt: Prompt) -> str:
    """Empty for an unknown text, and for a private one, which could be guessed by it."""
    if not prompt.turns or prompt.is_private:
        return ""
    text = json.dumps([prompt.turns, prompt.input], ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass"))


def _completion_hashes(study: Study, inputs: Numbered) -> Iterator[bytes]:
    number, prompts = inputs.numbers("text"), inputs.numbers("prompt")
    yield lines_csv([("number", "prompt", "contestant", "sha256")])
    fields = ("pk", "prompt", "contestant__name", "digest", "turns", "is_empty", "prompt__is_private")
    for pk, prompt, contestant, digest, turns, empty, private in (
        _completions(study).values_list(*fields).iterator(AT_ONCE)
    ):
        if pk in number:  # what was added meanwhile is none of the snapshot's
            known = digest if (turns or empty) and not private else ""
            yield lines_csv([(number[pk], prompts.get(prompt, ""), contestant or "", known)])


def _add_texts(writer: Writer, study: Study, inputs: Numbered, *, private: bool) -> None:
    number, prompts = inputs.numbers("text"), inputs.numbers("prompt")
    told = study.prompts.all() if private else study.prompts.filter(is_private=False)
    asked = told.order_by("pk").values_list("pk", "turns", "input")
    writer.add(
        archive.PROMPT_TEXTS,
        (
            _line({"number": prompts[pk], "turns": turns, "input": given})
            for pk, turns, given in asked.iterator(AT_ONCE)
            if pk in prompts
        ),
    )
    answers = _completions(study).filter(prompt__in=told)
    answered = answers.values_list("pk", "turns").iterator(AT_ONCE)
    writer.add(
        archive.COMPLETION_TEXTS,
        (_line({"number": number[pk], "turns": turns}) for pk, turns in answered if pk in number),
    )


def _line(content: dict[str, Any]) -> bytes:
    return (json.dumps(content) + "\n").encode()
