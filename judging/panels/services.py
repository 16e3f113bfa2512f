"""Panels: several judges as one rater, whose verdicts follow from theirs."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from arena.audit.recording import Kind, record
from arena.models import Comparison, Rater, Study
from arena.pages.permissions import Visitor
from arena.rating.recorders import write_opinions
from arena.rules import scales
from judging.judges.services import JudgeError, store_with_rater, storing
from judging.models import Judge, JudgeRun, Panel
from judging.runs import queue

POINTS: Final = {"majority": 3, "mean": 8}  # points of the rating scale by rule


Opinion = tuple[int | None, int]
"""A rating, None without one, and the points of its scale."""


@dataclass(frozen=True)
class PanelVerdict:
    """A rating on the scale of the panel's rule; mean: before rounding, None under the majority rule."""

    rating: int | None
    points: int
    mean: float | None = None


def combined(rule: str, opinions: Sequence[Opinion], *, middle_to_second: bool) -> PanelVerdict:
    """The verdict of all members; those without a rating abstain.

    majority: the side that more than half of the voting members take, else a tie. mean: the mean preference
    from -1 to 1 (arena.rules.scales) put on 8 points and rounded to the nearest, halves away from the
    middle, so that both sides are treated alike. A mean in the very middle has no point:
    ``middle_to_second`` gives it to a side, which the caller must draw fairly.
    """
    given = [(rating, of) for rating, of in opinions if rating is not None]
    points = POINTS[rule]
    if not given:
        return PanelVerdict(None, points)
    if rule == "majority":
        return PanelVerdict(_majority([2 * rating - (of + 1) for rating, of in given]), points)
    preference = math.fsum(scales.preference(rating, of) for rating, of in given) / len(given)
    middle = (points + 1) / 2
    distance = preference * (points - 1) / 2
    if abs(distance) < 1e-9:
        rating = math.ceil(middle) if middle_to_second else math.floor(middle)
        return PanelVerdict(rating, points, middle)
    side = math.copysign(1, distance)
    # From the first point beyond the middle on; 1e-9 takes what floats leave of an exact half.
    steps = max(0, math.floor(abs(distance) + 1e-9))
    return PanelVerdict(round(middle + side * (steps + 0.5)), points, middle + distance)


def _majority(sides: Sequence[int]) -> int:
    first, second = sum(side < 0 for side in sides), sum(side > 0 for side in sides)
    if 2 * first > len(sides):
        return 1
    return 3 if 2 * second > len(sides) else 2


Showing = tuple[int, int, bool, int]
"""A pair, its order and its repeat number: what members' ratings must have in common."""


@storing()
def create_panel(
    slug: str, name: str, rule: str, members: Iterable[Judge], by: Visitor | None = None
) -> Panel:
    """A new panel with its rater. Raises JudgeError saying what is wrong."""
    chosen = _checked(members)
    panel = Panel(rater=Rater(kind=Rater.Kind.JUDGE, slug=slug, name=name), rule=rule)
    return _stored(panel, chosen, by)


@storing()
def configure_panel(
    panel: Panel,
    name: str,
    rule: str,
    members: Iterable[Judge],
    *,
    active: bool,
    by: Visitor | None = None,
) -> Panel:
    """Change a panel. Members and rule are fixed once it has given a verdict; raises JudgeError."""
    chosen = _checked(members)
    former = set(panel.members.values_list("pk", flat=True))
    changed = rule != panel.rule or {one.pk for one in chosen} != former
    if changed and Comparison.objects.filter(rater=panel.rater).exists():
        raise JudgeError(
            f"{panel} has rated pairs already, so its members and rule cannot change. Add a new panel.",
            "members",
        )
    panel.rule, panel.active, panel.rater.name = rule, active, name
    return _stored(panel, chosen, by)


def _checked(members: Iterable[Judge]) -> list[Judge]:
    chosen = list(members)
    if len(chosen) < 2:
        raise JudgeError("A panel needs at least two judges.", "members")
    single = [judge.name for judge in chosen if not judge.compares]
    if single:
        rate = "rates" if len(single) == 1 else "rate"
        why = f"A panel compares pairs. {' and '.join(single)} {rate} single answers."
        raise JudgeError(why, "members")
    return chosen


def _stored(panel: Panel, members: Sequence[Judge], by: Visitor | None) -> Panel:
    panel.rater.simulated = any(judge.is_simulated for judge in members)
    panel.rater.derived_from = sorted(judge.slug for judge in members)
    store_with_rater(panel)
    panel.members.set(members)
    rated_by, state = ", ".join(panel.rater.derived_from), "active" if panel.active else "inactive"
    note = f"Panel {panel.rater.slug} saved: {panel.rater.name}; {panel.rule} of {rated_by}; {state}."
    record(Kind.JUDGE, by, note, rater=panel.rater)
    if panel.active:
        transaction.on_commit(lambda: queue.nudge_panels([panel.pk]))
    return panel


@transaction.atomic
def convene(panel_id: int) -> int:
    """Write every verdict that follows by now from the members' comparisons; returns how many.

    One for each showing that every member has answered; revised answers revise it. Harmless when called
    twice.
    """
    # Locked, so that two of them never write the same verdict.
    locked = Panel.objects.select_for_update(of=("self",), no_key=True).filter(pk=panel_id, active=True)
    panel = locked.select_related("rater").first()
    if panel is None:
        return 0
    panel.seen = _newest(panel)
    panel.save(update_fields=["seen"])
    members = dict(panel.members.values_list("rater", "rater__name"))
    answered = Comparison.objects.current().filter(rater__in=members).order_by()
    studies = Study.objects.filter(pk__in=answered.values("study").distinct())
    # They count as no ratings of their pairs, and closing a study does not end them: they say nothing new.
    verdicts = [one for study in studies for one in _verdicts(panel, members, study)]
    write_opinions(Comparison, verdicts)
    return len(verdicts)


def _verdicts(panel: Panel, members: dict[int, str], study: Study) -> Iterator[Comparison]:
    ratings: dict[Showing, dict[int, Comparison]] = defaultdict(dict)
    current = Comparison.objects.current().filter(study=study, status__in=["scored", "unscored"])
    both = current.filter(rater__in=[panel.rater_id, *members]).order_by("pk")
    for one in both.only("pair", "turn", "swapped", "repeat", "rater", "rating", "points", "expected"):
        ratings[one.pair_id, one.turn, one.swapped, one.repeat][one.rater_id] = one
    for (pair, turn, swapped, repeat), by_rater in ratings.items():
        own = by_rater.pop(panel.rater_id, None)
        if len(by_rater) < len(members):
            continue
        verdict = combined(
            panel.rule,
            [(one.rating, one.points) for one in by_rater.values()],
            # The same answer in both orders, and each of the two for half of all pairs.
            middle_to_second=bool(pair % 2) != swapped,
        )
        if own and (own.rating, own.points, own.expected) == (verdict.rating, verdict.points, verdict.mean):
            continue
        yield Comparison(
            study=study,
            rater=panel.rater,
            pair_id=pair,
            turn=turn,
            swapped=swapped,
            repeat=repeat,
            points=verdict.points,
            rating=verdict.rating,
            reason="" if verdict.rating else Comparison.Reason.UNDECIDED,
            expected=verdict.mean,
            rationale="\n".join(_reasons(members, by_rater, verdict)),
            revises=own,
            source=Comparison.Source.PANEL,
        )


def _reasons(
    members: Mapping[int, str], by_rater: Mapping[int, Comparison], verdict: PanelVerdict
) -> Iterator[str]:
    """Lines of a rationale: each member's rating, and the mean before it was rounded."""
    for rater, said in sorted(by_rater.items()):
        yield f"{members[rater]}: {f'{said.rating} of {said.points}' if said.rating else 'no rating'}"
    if verdict.mean is not None:
        yield f"Mean: {verdict.mean:.4g} of {verdict.points}, rounded to {verdict.rating}"


def sweep_panels() -> int:
    """Send messages to convene every panel with something new; returns how many."""
    # A panel waits until no member has a run going on, so that all have seen the same pairs.
    due = [panel.pk for panel in Panel.objects.filter(active=True) if _is_due(panel)]
    queue.nudge_panels(due)
    return len(due)


def _is_due(panel: Panel) -> bool:
    if _newest(panel) <= panel.seen:
        return False
    at_work = [JudgeRun.State.QUEUED, JudgeRun.State.RUNNING]
    return not JudgeRun.objects.filter(judge__panels=panel, state__in=at_work).exists()


def _newest(panel: Panel) -> int:
    newest = (
        Comparison.objects.filter(rater=rater).order_by("-pk").values_list("pk", flat=True).first()
        for rater in panel.members.values_list("rater", flat=True)
    )
    return max((pk for pk in newest if pk), default=0)
