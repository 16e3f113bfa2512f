"""A plan as text and JSON."""

import json
from collections.abc import Sequence

from leaderboard.pages.aligned_text import aligned, counted, printable
from leaderboard.stats.planning import Plan, percent, raters_words


def plan_json(plan: "Plan", names: Sequence[str]) -> str:
    return json.dumps(plan.as_dict(names), indent=2, allow_nan=False)


def plan_table(plan: "Plan", names: Sequence[str]) -> str:
    ground, *warnings = plan_notes(plan, names)
    lines = [plan.sentence(names), "", *aligned(plan_rows(plan), ())]
    lines += ["", ground, *(f"\n{warning}" for warning in warnings)]
    return "\n".join(printable(line) if line else line for text in lines for line in text.split("\n"))


def plan_rows(plan: "Plan") -> list[Sequence[str]]:
    """What each number of raters of a pair needs, under headings."""
    more = plan.evidence is not None
    prompts = ["more prompts", "in all"] if more else ["prompts"]
    rows: list[Sequence[str]] = [("raters per pair", *prompts, "half-width, points")]
    for need in plan.needs:
        prompts = [str(need.more), str(need.prompts)] if more else [str(need.prompts)]
        rows.append((str(need.raters), *prompts, f"{need.half_width:.1f}"))
    return rows


def plan_notes(plan: "Plan", names: Sequence[str]) -> list[str]:
    """What the plan rests on, and warnings."""
    return [_ground(plan, names), *(f"Warning: {warning}" for warning in plan.warnings())]


def _ground(plan: "Plan", names: Sequence[str]) -> str:
    own = plan.variance
    whose = " with one rater" if own.within is None else ""
    parts = f"between prompts{whose} {own.between**0.5:.0f} points"
    if own.within is not None:
        parts += f", between raters of the same two answers {own.within**0.5:.0f}"
    width = f"Half-width of the gap's {percent(plan.aim.level)} interval by Bradley-Terry."
    if plan.evidence is None:
        return f"{_assumed(plan)} Standard deviations for one prompt: {parts}. {width}"
    there = plan.evidence
    pair = f"{names[there.first]} and {names[there.second]}"
    hand = f"{counted(there.prompts, 'prompts')} with {raters_words(there.raters)} per pair"
    alike = ""
    if there.correlation is not None:
        alike = f"Two raters' ratings of the same answers correlate by {there.correlation:.2f}. "
    ground = f"Standard deviations for one prompt, measured on {pair}: {parts}. {alike}"
    return f"{ground if there.spread_known else ''}Now: {hand}, half-width {plan.half_width_now:.1f}. {width}"


def _assumed(plan: "Plan") -> str:
    own = plan.assumptions
    if own is None:
        return ""
    alike = f"two raters' ratings of the same answers correlate by {own.correlation:.2f}"
    return f"Assumed: {own.contestants} models, {percent(100 * own.ties)} ties, and {alike}."
