"""What kind of error a judge made on a pair, as operators say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.db.models import Count, Max, OuterRef, QuerySet
from django.utils import timezone

from arena.data.export import pair_sides
from arena.files.writing import Row, Table, Type
from arena.models import Pair, Rater, Study
from leaderboard.models import ErrorTags, InstanceTag
from leaderboard.pages.marks import newest, summary

USUAL: Final = ("surface", "overlooked context", "counting", "wrong fact", "other")
MOST: Final = 20
LONGEST: Final = 50
UNTAGGED: Final = "none"
"""What addresses call errors without a tag."""


class TagNamesError(ValueError):
    """Names that cannot be offered; the message is for the operator."""


def known(study: Study) -> list[str]:
    """The names offered, then others that are set."""
    used = _of(study).order_by("name").values_list("name", flat=True).distinct()
    return list(dict.fromkeys([*offered(study), *used]))


def offered(study: Study) -> list[str]:
    names: list[str] | None = ErrorTags.objects.filter(study=study).values_list("names", flat=True).first()
    return list(USUAL) if names is None else names


def offer(study: Study, wanted: Iterable[str]) -> None:
    """Replace the names offered; tags that were set stay. Raises TagNamesError."""
    names = [" ".join(name.replace("\0", " ").split()) for name in wanted]
    names = [name for name in names if name]
    folded = [name.casefold() for name in names]
    twice = next((name for place, name in enumerate(names) if folded[place] in folded[:place]), None)
    long = next((name for name in names if len(name) > LONGEST), None)
    if UNTAGGED in folded:
        raise TagNamesError(f"“{UNTAGGED}” stands for errors without a tag. Choose another word.")
    if twice is not None:
        raise TagNamesError(f"“{twice}” stands there twice.")
    if long is not None:
        raise TagNamesError(f"“{long[:LONGEST]}…” is too long: {len(long)} characters of {LONGEST}.")
    if not 0 < len(names) <= MOST:
        raise TagNamesError(f"Write 1 to {MOST} tags, one per line. These are {len(names)}.")
    ErrorTags.objects.update_or_create(study=study, defaults={"names": names})


def put(rater: Rater, pair: Pair, name: str, author: Any) -> None:
    """Tag a judge's error, or remove it where the name is empty; the same again changes nothing."""
    if not name:
        InstanceTag.objects.filter(rater=rater, pair=pair).delete()
        return
    given = {"name": name, "author": author}
    tag, is_new = InstanceTag.objects.get_or_create(rater=rater, pair=pair, defaults=given)
    if not is_new and tag.name != name:
        InstanceTag.objects.filter(pk=tag.pk).update(**given, created_at=timezone.now())


def of_judge(study: Study, raters: Iterable[int]) -> dict[int, str]:
    """Tags by pair."""
    return dict(_of(study).filter(rater__in=list(raters)).values_list("pair", "name"))


def counts(study: Study) -> dict[str, dict[str, int]]:
    """How often each judge (by slug) has each tag."""
    found: dict[str, dict[str, int]] = {}
    counted = _of(study).values("rater__slug", "name").annotate(n=Count("pk")).order_by("rater__slug", "name")
    for slug, name, n in counted.values_list("rater__slug", "name", "n"):
        found.setdefault(slug, {})[name] = n
    return found


TABLE: Final = Table(
    "error_tags",
    {
        **dict.fromkeys(("judge", "prompt", "subset", "first", "second", "first_id", "second_id"), Type.TEXT),
        "tag": Type.TEXT,
        "created_at": Type.MOMENT,
    },
)
"""Every tag. Who set it stays in the arena."""


def rows(study: Study) -> Iterator[Row]:
    """The rows of TABLE."""
    found = list(_of(study).order_by("pk").values_list("rater__slug", "pair", "name", "created_at"))
    sides = pair_sides(pair for _, pair, _, _ in found)
    for slug, pair, name, at in found:
        yield {"judge": slug, **sides.get(pair, {}), "tag": name, "created_at": at}


_ALL: Final = InstanceTag.objects.filter(pair__prompt__study=OuterRef("pk"))

TAGS_NOW: Final = (summary(_ALL, Count("pk")), summary(_ALL, Max("created_at")), newest(ErrorTags, "names"))
"""What pages show of tags beside any snapshot."""


def _of(study: Study) -> QuerySet[InstanceTag]:
    return InstanceTag.objects.filter(pair__prompt__study=study)
