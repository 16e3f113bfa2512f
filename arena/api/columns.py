"""Bodies and replies made of columns of tables, so that types, limits and choices are said once."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator
from django.db.models import BooleanField, DecimalField, Field, FloatField, IntegerField, JSONField, Model
from django.utils.text import capfirst
from ninja import Field as About
from ninja import Schema
from pydantic import create_model

from arena.api.schemas import Name
from arena.models import Study
from arena.models.settings import SETTINGS
from arena.texts.markdown import LONGEST_WRITTEN


def _nothing() -> None:
    """The value of what is left out, of which the document says no default."""


def body_of(title: str, doc: str, columns: Iterable["Field[Any, Any]"], /, **more: Any) -> type[Schema]:
    """A body in which every column may be left out; ``more`` are further fields."""
    given: dict[str, Any] = {
        column.name: (_given(column), About(default_factory=_nothing, description=_about(column)))
        for column in columns
    }
    model = create_model(title, __base__=Schema, __doc__=doc, **{**given, **more})
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    return model


def reply_of(title: str, doc: str, columns: Iterable["Field[Any, Any]"], /, **more: Any) -> Any:
    told: dict[str, Any] = {
        column.name: (_told(column), About(..., description=_about(column))) for column in columns
    }
    return create_model(title, __base__=Schema, __doc__=doc, **{**more, **told})


def columns_of(model: type[Model], names: Iterable[str]) -> list["Field[Any, Any]"]:
    return [model._meta.get_field(name) for name in names]  # type: ignore[misc]


def given_by(body: Schema) -> Mapping[str, Any]:
    """Return what the body says, without what it leaves out."""
    return body.model_dump(exclude_unset=True)


def _about(column: "Field[Any, Any]") -> str:
    if column.model is not Study:
        return str(column.help_text) or f"{capfirst(column.verbose_name)}."
    setting = SETTINGS[column.name]
    share = "A share from 0 to 1." if setting.unit else ""
    return " ".join(filter(None, (f"{setting.name}.", setting.help, share)))


def _given(column: "Field[Any, Any]") -> Any:
    limits = {
        name: limit
        for name, kind, choose in (("ge", MinValueValidator, max), ("le", MaxValueValidator, min))
        if (
            limit := choose(
                (each.limit_value for each in column.validators if isinstance(each, kind)), default=None
            )
        )
        is not None
    }
    if isinstance(column, BooleanField):
        kind: Any = Annotated[bool, About(strict=True)]
    elif column.choices:
        kind = Literal[tuple(value for value, _ in column.flatchoices)]
    elif isinstance(column, IntegerField):
        kind = Annotated[int, About(strict=True, **limits)]
    elif isinstance(column, FloatField):
        kind = Annotated[float, About(strict=True, allow_inf_nan=False, **limits)]
    elif isinstance(column, JSONField):
        kind = dict[str, Any] if column.get_default() == {} else list[Name]
    else:
        longest = [each.limit_value for each in column.validators if isinstance(each, MaxLengthValidator)]
        kind = Annotated[Name, About(max_length=min(longest, default=LONGEST_WRITTEN))]
    return kind | None if column.null else kind


def _told(column: "Field[Any, Any]") -> Any:
    kinds = {BooleanField: bool, IntegerField: int, FloatField: float, DecimalField: str}
    kind: Any = next((told for each, told in kinds.items() if isinstance(column, each)), str)
    if isinstance(column, JSONField):
        kind = dict[str, Any] if column.get_default() == {} else list[str]
    return kind | None if column.null else kind
