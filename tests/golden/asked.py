"""What is asked: addresses of the API with their parameters, and commands."""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final
from urllib.parse import urlencode

PARAMETERS: Final = {
    "raters": (
        *("people", "judge:simulated-judge-a", "judge:simulated-judge-c", "judge:gpt-4"),
        *("group:simulated-judges", "nobody"),
    ),
    "category": ("coding", "-coding", "nothing"),
    "method": ("bradley-terry", "davidson", "ordinal", "elo-study", "magic"),
    "ties": ("off", "maybe"),
    "band": ("3-6", "9-1"),
    "level": ("80", "200"),
    "contestants": ("models",),
    "resample": ("games", "dice"),
    "adjust": ("length", "weight"),
    "pairwise": ("on",),
    "pairs": ("random", "all"),
    "ratings": ("expected", "none"),
    "criterion": ("overall", "nowhere"),
    "contestant": ("redshank-13b", "nowhere"),
    "against": ("dunnock-7b", "nowhere"),
    "power": ("90", "1"),
    "margin": ("20", "x"),
    "looks": ("every", "no"),
    "gold": ("labels", "people", "nobody"),
    "base": ("gpt-4-vanilla", "simulated-judge-c", "nobody"),
    "unscored": ("wrong", "right"),
    "published": ("llmbar", "nowhere"),
    "subset": ("Natural", "nowhere"),
    "missing": ("no", "script", "yes"),
    "contested": ("out", "in"),
    "beside": ("people", "nobody"),
    "turn": ("0", "x"),
    "feature": ("entropy", "nothing"),
    "variant": ("paper", "none"),
    "source": ("a server", "nothing"),
    "limit": ("2", "0"),
    "offset": ("1", "-1"),
    "after": ("10", "x"),
}
"""Values of each parameter of the API; another parameter has those of OTHERS."""

OTHERS: Final = ("1", "nothing")

PLACES: Final = {
    "first": ("redshank-13b", "nowhere"),
    "second": ("dunnock-7b", "nowhere"),
    "run_id": ("1", "99"),
    "number": ("1", "99"),
    "other": ("2",),
    "snapshot_id": ("1", "2", "99"),
    "kind": (
        *("standings", "matrices", "ratings", "length", "correlation", "agreement", "data", "trust"),
        *("requirements", "scores", "features", "nowhere"),
    ),
}
"""Values of each part of an address of the API; ``slug`` is a study or a judge."""

BODIES: Final = ({}, [], {"nonsense": 1}, {"study": "nowhere", "judge": "nobody", "assignment": "nothing"})
"""Sent to every address of the API that takes one."""

COMMANDS: Final = """
export STUDY --what all --format [csv|jsonl] --out OUT/STUDY-[csv|jsonl]
bundle STUDY --out OUT/bundle-STUDY.zip
agreement STUDY --rounds 50 --format [text|json]
anchor --study STUDY --judges nobody
compare --study STUDY --rounds 50 --format [table|json]
correlate STUDY --feature entropy --with people --format [table|json]
drfr STUDY --format [table|json]
find_names STUDY
meta_evaluate STUDY --rounds 50 --format [table|json]
plan --study STUDY [--gap 30|--format json]
scores STUDY --format [table|json]
standings STUDY --method [elo|bradley-terry|davidson|ordinal] --rounds 50 --format [table|json]
make_constraints made --from STUDY --kinds any --n 2 --dry-run
"""
"""Asked of a study, one command a line; [a|b] is first a, then b."""

COMMANDS_OF_CLOSED: Final = """
drfr demo-closed [--raters people|--missing no|--missing script|--raters nobody]
scores demo-closed [--raters people|--turn 1|--raters nobody]
meta_evaluate demo-closed --rounds 50 [--judges simulated-judge-c|--gold people --least 2|--unscored wrong|\
--ties tie|--matrix|--gold nobody|--judges nobody|--base simulated-judge-c]
correlate demo-closed --feature [entropy|nothing] --with [judge:simulated-judge-c|scores:people|nobody]
import_data demo-closed OUT/[features|more].jsonl --dry-run
make_constraints twins --from demo-closed --negate --dry-run
recompute OUT/bundle-demo-closed.zip
export demo-closed --what preferences --conversational --out OUT/conversational.jsonl
export demo-closed --what arena --raters all --out OUT/of-all.csv
export demo-closed --what evalica --ties off --out OUT/evalica.csv
export demo-closed --what nothing --out OUT/nothing.csv
export demo-closed --what arena --format csv --out OUT/arena.csv
rank OUT/arena.csv --method [elo|davidson|ordinal] --rounds 20 --format [table|json]
rank OUT/arena.csv [--ties off|--resample raters|--pairwise|--no-bootstrap] --rounds 20
compare --study demo-closed --rounds 50 [--raters judge:simulated-judge-c|--category writing|\
--category coding]
decide demo-closed heron-24b plover-12b --format [text|json]
decide demo-closed heron-24b plover-12b [--margin 20|--ties off|--margin x|--raters nobody]
plan --study demo-closed --between "Heron 24B" [A|"Plover 12B"]
anchor --study demo-closed --judges simulated-judge-c --format [table|json]
ablate demo-closed --judges simulated-judge-c,people --rounds 20
agreement demo-closed --rounds 20 --raters judge:simulated-judge-c [--against people|--unmirrored|--ties off]
judge demo-closed --judge [strict --dry-run|nobody]
generate demo-closed --contestant [heron-24b --dry-run|nobody]
traces demo-closed --contestant [heron-24b --dry-run|nobody]
protocols [likert|likert-debias|scores|vanilla|metrics-reference|swap-cot|chateval|rating|multi-role|\
prepair|protocol-consistency|arena-hard|wildbench|alpaca-eval|nothing]
protocols [--json|--markdown]
"""
"""Asked of the closed demo as well."""


def operations_of(paths: dict[str, Any], studies: Iterable[str]) -> Iterator[str]:
    """An address for each GET operation and each value of a parameter."""
    for path in (path for path, known in paths.items() if "get" in known):
        found = paths[path]["get"].get("parameters", [])
        names = [each["name"] for each in found if each["in"] == "query"]
        values_of = ((name, PARAMETERS.get(name, OTHERS)) for name in names)
        queries = [
            "?nonsense=1",
            *(f"?{urlencode({name: value})}" for name, values in values_of for value in values),
        ]
        slugs = ("strict", "nobody") if "judges" in path else (*studies, "nowhere")
        inside = re.findall(r"{(\w+)}", path)
        for values in product(*(PLACES.get(name, OTHERS) if name != "slug" else slugs for name in inside)):
            filled = path.format(**dict(zip(inside, values, strict=True)))
            yield filled
            if not {"nowhere", "nobody"} & set(values):  # one refusal is enough
                yield from (filled + query for query in queries)


def choices_of(line: str) -> list[str]:
    """The commands that a line of COMMANDS stands for."""
    found = re.search(r"\[[^\]]*\]", line)
    if found is None:
        return [line]
    choices = found[0][1:-1].split("|")
    return [each for choice in choices for each in choices_of(line.replace(found[0], choice))]
