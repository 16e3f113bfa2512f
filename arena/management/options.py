"""Options of commands that take what a body of the API takes, with its types, limits and choices."""

import json
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Collection, Mapping
from typing import Any

from django.core.management.base import CommandError
from ninja import Schema
from pydantic import ValidationError

from arena.api.columns import given_by
from arena.api.schemas import first_wrong
from arena.management.command import ArenaCommand
from arena.pages.filled import FormError
from arena.studies.changes import SettingError


def add_options(parser: ArgumentParser, body: type[Schema], without: Collection[str] = ()) -> None:
    for name, told in body.model_json_schema()["properties"].items():
        if name in without:
            continue
        kind, more = _kind(told), dict[str, Any](help=str(told.get("description", "")).replace("%", "%%"))
        if kind.get("type") == "boolean":
            more["action"] = BooleanOptionalAction
        elif kind.get("type") == "array":
            more |= {"nargs": "*", "metavar": "TEXT"}
        elif "enum" in kind:
            more["choices"] = [str(value) for value in kind["enum"]]
        else:
            more["metavar"] = "JSON" if kind.get("type") == "object" else "VALUE"
        parser.add_argument(f"--{name.replace('_', '-')}", **more)


def _kind(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a property is where it is not null."""
    of: list[Mapping[str, Any]] = told.get("anyOf", [told])
    return next(each for each in of if each.get("type") != "null")


def body_from(body: type[Schema], options: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
    """Return what the options say. Raises CommandError for what the body refuses."""
    told = body.model_json_schema()["properties"]
    given = {name: options[name] for name in told if options.get(name) is not None}
    read = {name: _read(name, value, told[name]) for name, value in given.items()}
    try:
        return given_by(body(**{**read, **more}))
    except ValidationError as error:
        raise CommandError(_of_option(first_wrong(error.errors()).detail)) from error


def _read(name: str, value: Any, told: Mapping[str, Any]) -> Any:
    kind = _kind(told)
    if not isinstance(value, str):
        return value
    if value == "none" and "anyOf" in told:
        return None
    if kind.get("type") not in ("integer", "number", "object"):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise CommandError(_of_option(f"{name}: “{value}” is no JSON {kind['type']}.")) from error


def _of_option(said: str) -> str:
    field, _, why = said.partition(": ")
    return f"--{field.replace('_', '-')}: {why}"


class SettingUpCommand(ArenaCommand):
    """A command that makes what a route of the API makes, by the same services."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print what the API replies")

    def told(self, reply: Schema, said: str, options: Mapping[str, Any]) -> None:
        self.stdout.write(reply.model_dump_json(indent=2) if options["json"] else said)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except (SettingError, FormError) as error:
            raise CommandError(
                _of_option(f"{error.field}: {error}") if error.field else str(error)
            ) from error
