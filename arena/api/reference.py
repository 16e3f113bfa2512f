"""The page that explains the API: every operation of the OpenAPI document."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
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
    entry: Schema
    schemas: Mapping[str, Schema]

    @property
    def element(self) -> str:
        return str(self.entry["operationId"])

    @property
    def summary(self) -> str:
        return str(self.entry["summary"])

    @property
    def paragraphs(self) -> list[str]:
        return [" ".join(each.split()) for each in self.entry.get("description", "").split("\n\n") if each]

    @property
    def needs_token(self) -> bool:
        return not any(_OPEN in each for each in self.entry.get("security", ()))

    @property
    def parameters(self) -> list[Field]:
        return [
            Field(
                each["name"], _kind(each["schema"]), each.get("required", False), each.get("description", "")
            )
            for each in self.entry.get("parameters", ())
        ]

    @property
    def body(self) -> list[Field]:
        content = self.entry.get("requestBody", {}).get("content", {})
        return list(self._fields(content))

    @cached_property
    def answers(self) -> list[Answer]:
        return [
            Answer(int(status), HTTPStatus(int(status)).phrase, list(self._fields(given.get("content", {}))))
            for status, given in sorted(self.entry["responses"].items())
        ]

    @property
    def results(self) -> list[Answer]:
        return [each for each in self.answers if each.says_more]

    def _fields(self, content: Schema) -> Iterator[Field]:
        for media in content.values():
            yield from self._within(media["schema"])

    def _within(self, schema: Schema, before: str = "", opened: tuple[str, ...] = ()) -> Iterator[Field]:
        """The fields of objects in a value; one inside itself is not opened again."""
        for name, mark in _objects(schema):
            found = self.schemas[name] if name not in opened else {}
            start = f"{before}{mark}.".lstrip(".")
            for key, value in found.get("properties", {}).items():
                required = key in found.get("required", ())
                yield Field(f"{start}{key}", _kind(value), required, value.get("description", ""))
                yield from self._within(value, f"{start}{key}", (*opened, name))


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
        Operation(method.upper(), path, entry, schemas)
        for path, methods in document["paths"].items()
        for method, entry in methods.items()
    ]


def by_subject(found: Iterable[Operation]) -> dict[str, list[Operation]]:
    """Operations by their first tag."""
    groups: dict[str, list[Operation]] = {}
    for each in found:
        groups.setdefault(each.entry["tags"][0], []).append(each)
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
    return {"about": document["info"], "groups": by_subject(operations(document))}
