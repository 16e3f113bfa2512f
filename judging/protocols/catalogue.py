"""Every protocol by name, as ``catalogue.toml`` declares them."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any, Final

from judging.protocols.answer_scales import FORMS
from judging.protocols.deciding import compared, contradict, debated, last_of
from judging.protocols.protocol import About, Catalogue, Parameter, Part, Protocol, Step, Task, Value
from judging.protocols.rendering import read_text
from judging.protocols.replies import Place

FORMS_OF: Final = {Task.COMPARE: tuple(FORMS), Task.SCORE: ("score",), Task.CHECK: ("yes_no",)}
RULES: Final[Mapping[str, Callable[..., Any]]] = {
    rule.__name__: rule for rule in (compared, contradict, debated, last_of)
}
"""Ways to decide, called with the names of steps."""

Declared = Mapping[str, Any]


def _protocols(declared: dict[str, Any]) -> Iterable[Protocol]:
    shared = declared.pop("shared")
    known: dict[str, Protocol] = {}
    for family, members in declared.items():
        for name, given in members.items():
            fields: dict[str, Any] = {"name": name, "family": family, "aliases": ()}
            fields |= _fields(name, given, shared, known)
            like = known.get(given.get("like", ""))
            known[name] = replace(like, **fields) if like else Protocol(**fields)
    return known.values()


def _fields(
    name: str, given: Declared, shared: Declared, known: Mapping[str, Protocol]
) -> Iterator[tuple[str, object]]:
    """The fields of a protocol that its table declares."""
    for field, value in given.items():
        match field:
            case "steps":
                yield field, tuple(_step(name, shared["steps"].get(one["name"], {}) | one) for one in value)
            case "parameters":
                parameters = {one: shared["parameters"].get(one, {}) | own for one, own in value.items()}
                yield field, {one: _parameter(declared) for one, declared in parameters.items()}
            case "parts":
                yield field, tuple(Part(part, known[part]) for part in value)
            case "task":
                yield field, Task(value)
                yield "forms", FORMS_OF[Task(value)]
            case "examples":
                yield field, {name.rpartition("/")[2]: read_text(name) for name in value}
            case "citation" | "lacks":
                yield field, Template(value).substitute(shared["words"])
            case "like":
                pass
            case _:
                yield field, _plain(field, value)


def _step(protocol: str, declared: Declared) -> Step:
    given = dict(declared)
    template = read_text(f"{given.pop('folder', protocol)}/{given.get('text', given['name'])}")
    return Step(template=template, **{field: _plain(field, value) for field, value in given.items()})


def _parameter(declared: Declared) -> Parameter:
    """A parameter whose default is declared, or the text of a file."""
    given = dict(declared)
    texts: Sequence[Sequence[str]] = given.pop("texts", ())
    shown: dict[Value, str] = {n: "\n\n".join(map(read_text, names)) for n, names in enumerate(texts)}
    if "file" in given:
        given["default"] = read_text(given.pop("file"))
    return Parameter(texts=shown, **{field: _plain(field, value) for field, value in given.items()})


def _plain(field: str, value: Any) -> Any:
    """A value of TOML as the field holds it."""
    if field in ("decide", "needed"):
        rule, *steps = value
        return RULES[rule](*steps)
    as_field = {"place": Place, "about": About}.get(field, tuple if isinstance(value, list) else None)
    return as_field(value) if as_field else value


PROTOCOLS = Catalogue(
    *_protocols(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))
)
