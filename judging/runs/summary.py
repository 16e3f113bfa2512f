"""Judge runs in words for a terminal, from what the API says about them. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from django.conf import settings

from judging.endpoints.costs import in_words

REASONS: Final = {
    "empty": "empty",
    "out_of_range": "outside the scale",
    "unparsable": "unreadable",
    "truncated": "cut off",
    "refused": "refused",
    "undecided": "undecided",
    "neither": "without an acceptable answer",
}
"""Why a reply brought no rating."""

JsonObject = Mapping[str, Any]


BESIDE: Final = {
    "failed": "failed",
    "put_aside": "put aside",
    "in_flight": "in flight",
    "cached": "from the cache",
    "retried": "repeated",
}


def label(found: JsonObject) -> str:
    return " (simulated, asks no model)" if found["simulated"] else ""


def progress(run: JsonObject) -> str:
    done = run["assigned"] - run["waiting"] - run["failed"] - run["put_aside"]
    unscored = f", {_unscored(run):,} not rated" if _unscored(run) else ""
    identical = f", {run['identical']:,} identical" if run["identical"] else ""
    parts = [f"{done:,}/{run['assigned']:,} done: {run['scored']:,} rated{unscored}{identical}"]
    parts += [f"{run[name]:,} {words}" for name, words in BESIDE.items() if run[name]]
    if run["cost"] is not None:
        parts.append(f"cost {_spent(run)}")
    if run["per_minute"]:
        parts.append(f"{run['per_minute']:.0f}/min")
    if run["seconds_left"]:
        parts.append(f"{duration(run['seconds_left'])} left")
    if run["trouble"]:
        parts.append(run["trouble"])
    return "; ".join(parts)


def summary(run: JsonObject) -> str:
    reasons = ", ".join(f"{count:,} {REASONS[reason]}" for reason, count in sorted(run["unscored"].items()))
    lacking = run["lacks_logprobs"]
    lines = [
        f"Run {run['id']} is {run['state']}.{' ' + run['error'] if run['error'] else ''}",
        f"Assigned   {run['assigned']:,}",
        f"Rated      {run['scored']:,}",
        f"Not rated  {_unscored(run):,} ({reasons})" if reasons else "",
        f"Failed     {run['failed']:,}" if run["failed"] else "",
        f"Identical  {run['identical']:,}" if run["identical"] else "",
        f"Put aside  {run['put_aside']:,}: their answers were excluded meanwhile" if run["put_aside"] else "",
        f"Not asked  {run['waiting']:,}" if run["waiting"] else "",
        f"Calls      {', '.join(_calls(run))}",
        f"Logprobs   {lacking:,} replies came without the log-probabilities asked for" if lacking else "",
        f"Tokens     {run['prompt_tokens']:,} input, {run['completion_tokens']:,} output"
        + (f", {run['reasoning_tokens']:,} of them thinking" if run["reasoning_tokens"] else ""),
    ]
    if not run["simulated"] and (run["calls"] or run["cost"] is not None):
        unknown = "unknown: no price was set when the calls were made"
        lines.append(f"Cost       {_spent(run) if run['cost'] is not None else unknown}")
    return "\n".join(line for line in lines if line)


def _calls(run: JsonObject) -> list[str]:
    kinds = {
        "retried": "repeated",
        "attempts_failed": "failed",
        "abandoned": "abandoned",
        "cached": "more from the cache",
    }
    return [f"{run['calls']:,}", *(f"{run[name]:,} {words}" for name, words in kinds.items() if run[name])]


def whats_next(run: JsonObject) -> str:
    """What an operator can do; "" unless the run is paused."""
    if run["state"] != "paused":
        return ""
    raised = " --budget AMOUNT" if run["budget"] is not None else ""
    return f"Continue with: {settings.COMMAND} judge --resume {run['id']}{raised}"


def is_well(run: JsonObject) -> bool:
    """Whether a run came to its end and brought ratings."""
    return run["state"] == "finished" and not run["error"]


def estimate(found: JsonObject, budget: str | None = None) -> str:
    rows = estimated(found, budget)
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows)


def estimated(found: JsonObject, budget: str | None = None) -> list[tuple[str, str]]:
    """Pairs of a label and a value in words, without what is 0."""
    sampled = found["looked_at"] < found["assignments"]
    rows = [
        ("Pairs" if found["task"] == "compare" else "Answers", f"{found['pairs']:,}"),
        ("Questions", f"{found['assignments']:,}" if found["assignments"] != found["pairs"] else ""),
        ("Identical pairs", f"{found['identical']:,}, recorded without asking" if found["identical"] else ""),
        ("Calls", _range(found["calls"], sampled=sampled)),
        ("From the cache", _cached(found, sampled=sampled)),
        ("Input tokens", "" if found["simulated"] else _range(found["prompt_tokens"], sampled=sampled)),
        ("Output tokens", "" if found["simulated"] else _range(found["reply_tokens"], sampled=sampled)),
        ("Cost", _cost(found, sampled=sampled)),
        ("Prices", "; ".join(_price(price) for price in found["prices"])),
        ("Time", _time(found)),
    ]
    if budget is not None and found["covered"] is not None:
        amount = in_words(Decimal(budget), found["currency"])
        rows.append((f"Budget {amount}", _covered(found)))
    return [(name, value) for name, value in rows if value]


def notes(found: JsonObject) -> list[str]:
    if found["simulated"]:
        return []
    lines = []
    if found["looked_at"] < found["assignments"]:
        lines.append(f"Estimated from {found['looked_at']:,} of {found['assignments']:,} questions.")
    if found["habits_from"]:
        lines.append(f"Based on {found['habits_from']:,} earlier replies of the model.")
    else:
        lines.append("No earlier reply tells of the model, so this is a guess from the length of the texts.")
    return lines


def kind_of_failure(kind: str) -> str:
    """The kind of a failure in words."""
    return kind.replace("http_", "HTTP ").replace("_", " ")


LONGEST_QUOTE: Final = 200


def one_line(text: str) -> str:
    """The beginning of what a model or its endpoint said, fit for a terminal."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text[:2000]).split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


def duration(seconds: float) -> str:
    """A time in words: 45 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _unscored(run: JsonObject) -> int:
    return sum(run["unscored"].values())


def _spent(run: JsonObject) -> str:
    if run["budget"] is None:
        return in_words(Decimal(run["cost"]), run["currency"])
    return f"{in_words(Decimal(run['cost']))} of {in_words(Decimal(run['budget']), run['currency'])}"


def _range(numbers: JsonObject, *, sampled: bool = False) -> str:
    """A range of whole numbers; ``sampled``: its upper end is no bound."""
    low, high = (None if numbers[end] is None else Decimal(numbers[end]) for end in ("about", "at_most"))
    if low == high:
        return f"{'about ' if sampled else ''}{low:,}"
    if high is None:
        return f"about {low:,}, no upper limit known"
    return f"about {low:,}, {_at_most(sampled)} {high:,}"


def _at_most(sampled: bool) -> str:
    return "at most about" if sampled else "at most"


def _cached(found: JsonObject, *, sampled: bool) -> str:
    about = "about " if sampled else ""
    return f"{about}{found['cached']:,} that are not asked again" if found["cached"] else ""


def _cost(found: JsonObject, *, sampled: bool) -> str:
    if found["simulated"]:
        return "nothing, because a simulated judge asks no model"
    if not found["assignments"]:
        return "nothing, as nothing is asked"
    if found["unpriced"]:
        return f"unknown, no price for {', '.join(found['unpriced'])}"
    if found["cost"] is None:
        return "unknown, prices are in different currencies"
    low = in_words(Decimal(found["cost"]["about"]), found["currency"])
    if found["cost"]["at_most"] is None:
        return f"about {low}, no upper limit because the judge has no max tokens"
    return (
        f"about {low}, {_at_most(sampled)} {in_words(Decimal(found['cost']['at_most']), found['currency'])}"
    )


def _price(price: JsonObject) -> str:
    prompt = in_words(Decimal(price["prompt"]), price["currency"])
    replies = in_words(Decimal(price["completion"]))
    return f"{price['model']}: {prompt} per million input tokens, {replies} per million output tokens"


def _time(found: JsonObject) -> str:
    if found["seconds"] is None:
        return "unknown, as no earlier reply tells of the model" if found["assignments"] else ""
    low, high = (found["seconds"][end] for end in ("about", "at_most"))
    least = duration(float(low))
    most = None if high is None else duration(float(high))
    return f"about {least}" if most in (least, None) else f"about {least}, at most {most}"


def _covered(found: JsonObject) -> str:
    if found["covered"] >= found["assignments"]:
        return "probably enough for all"
    return f"enough for about {found['covered']:,} of {found['assignments']:,} questions"
