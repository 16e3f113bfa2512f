"""The page that explains the API: every operation of the OpenAPI document."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase

Schema = Mapping[str, Any]

_OPEN: Final = "OpenAuth"


@dataclass(frozen=True)
class Field:
    """A value of a request or response; in ``path`` [] is every entry, NAME any name."""

    path: str
    kind: str
    required: bool
    meaning: str


@dataclass(frozen=True)
class Answer:
    """A status and the fields of its response."""

    status: int
    phrase: str
    fields: list[Field]

    @property
    def says_more(self) -> bool:
        """Whether it has more than the fields of an error."""
        return not {field.path for field in self.fields} <= {"detail", "field"}


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    method: str
    path: str
    subject: str
    element: str
    summary: str
    paragraphs: list[str]
    needs_token: bool
    parameters: list[Field]
    body: list[Field]
    answers: list[Answer]

    @property
    def results(self) -> list[Answer]:
        return [each for each in self.answers if each.says_more]


def _operation(method: str, path: str, entry: Schema, schemas: Schema) -> Operation:
    return Operation(
        method.upper(),
        path,
        subject=entry["tags"][0],
        element=entry["operationId"],
        summary=entry["summary"],
        paragraphs=[" ".join(each.split()) for each in entry.get("description", "").split("\n\n") if each],
        needs_token=not any(_OPEN in each for each in entry.get("security", ())),
        parameters=[
            Field(
                each["name"], _kind(each["schema"]), each.get("required", False), each.get("description", "")
            )
            for each in entry.get("parameters", ())
        ],
        body=_content_fields(entry.get("requestBody", {}), schemas),
        answers=[
            Answer(int(status), HTTPStatus(int(status)).phrase, _content_fields(given, schemas))
            for status, given in sorted(entry["responses"].items())
        ],
    )


def _content_fields(given: Schema, schemas: Schema) -> list[Field]:
    media = given.get("content", {}).values()
    return [field for each in media for field in _fields(each["schema"], schemas)]


def _fields(
    schema: Schema, schemas: Schema, before: str = "", opened: tuple[str, ...] = ()
) -> Iterator[Field]:
    """The fields of objects in a value; one inside itself is not opened again."""
    for name, mark in _objects(schema):
        found = schemas[name] if name not in opened else {}
        start = f"{before}{mark}.".lstrip(".")
        for key, value in found.get("properties", {}).items():
            required = key in found.get("required", ())
            yield Field(f"{start}{key}", _kind(value), required, value.get("description", ""))
            yield from _fields(value, schemas, f"{start}{key}", (*opened, name))


def _objects(schema: Schema, mark: str = "") -> Iterator[tuple[str, str]]:
    """The names of objects in a value, and the paths to them."""
    if "$ref" in schema:
        yield schema["$ref"].rpartition("/")[2], mark
    for each in schema.get("anyOf", ()):
        yield from _objects(each, mark)
    if isinstance(schema.get("items"), Mapping):
        yield from _objects(schema["items"], f"{mark}[]")
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield from _objects(schema["additionalProperties"], f"{mark}.NAME")


def _kind(schema: Schema) -> str:
    """A type in words: "integer or null", "one of 2, 3, 5, 8", "list of text"."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return "one of " + ", ".join(str(each) for each in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    kind = str(schema.get("type", "object" if "$ref" in schema else "any"))
    if kind == "array":
        return f"list of {_kind(schema['items'])}" if schema.get("items") else "list"
    if schema.get("format") == "date-time":
        return "date and time"
    return "text" if kind == "string" else kind


def operations(document: Schema) -> list[Operation]:
    schemas = document.get("components", {}).get("schemas", {})
    return [
        _operation(method, path, entry, schemas)
        for path, methods in document["paths"].items()
        for method, entry in methods.items()
    ]


def by_subject(found: Iterable[Operation]) -> dict[str, list[Operation]]:
    """Operations by their first tag."""
    groups: dict[str, list[Operation]] = {}
    for each in found:
        groups.setdefault(each.subject, []).append(each)
    return groups


class Reference(DocsBase):
    """Ninja's documentation page, made without scripts."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        context = {"document_url": self.get_openapi_url(api, kwargs), **_explained(api)}
        return render(request, "arena/api_reference.html", context)


@cache
def _explained(api: NinjaAPI) -> dict[str, object]:
    """The part of the context that never changes; it takes a tenth of a second."""
    document = api.get_openapi_schema()
    groups = by_subject(operations(document))
    rendered = render_to_string("arena/_api_operations.html", {"groups": groups})
    return {"about": document["info"], "groups": groups, "operations": rendered}
