"""What features are worth, in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from leaderboard.answers.features.reading import TURNS
from leaderboard.answers.table import some_models, strength
from leaderboard.pages.format import counted, number_range, percent, percent_range, signed
from leaderboard.pages.guessed import guessed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import Cell, percent_cell
from leaderboard.pages.wording import correlation_word
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.presentation import FEWEST_PROMPTS

COEFFICIENTS: Final = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
WITH_QUALITY: Final = {
    "Pearson": "Pearson r with quality",
    "Spearman": "Spearman rho with quality",
    "Kendall": "Kendall tau with quality",
}
"""What pages call the coefficients, beside those of raters."""
PICKS: Final = {"Longer (%)": "Longer picks the preferred (%)", "Ahead (%)": "Ahead of length (points)"}
FEWEST_MODELS: Final = 3
"""Models of which an order can be like another by more than luck."""
_VARIANTS: Final = {"released": "released code"}


def feature_name(own: Mapping[str, Any], among: Sequence[Mapping[str, Any]] = ()) -> str:
    """With its variant and source, where others ``among`` these are called the same."""
    same = [each for each in among if each["label"] == own["label"]]
    variants, sources = ({each[name] for each in same} for name in ("variant", "source"))
    more = [
        *([own["variant"]] if len(variants) > 1 or own["variant"] in _VARIANTS else []),
        *([own["source"]] if len(sources) > 1 and own["source"] else []),
    ]
    return f"{own['label']} ({', '.join(more)})" if more else str(own["label"])


def rows_of(content: Content) -> list[tuple[str, Content]]:
    """Name and summary of each feature."""
    features = [each["feature"] for each in content["features"]]
    return [(feature_name(each["feature"], features), each) for each in content["features"]]


def verdict(content: Content) -> tuple[str, str]:
    """How far the feature goes with quality, and how often it picks the better answer."""
    own, name = content["correlation"], content["feature"]["label"]
    if not own["n"]:
        return f"No answer has both {name} and an opinion of {content['label']}.", ""
    if own["reason"]:
        return f"No correlation can be told of {answers(content, own['n'])}: {own['reason']}.", ""
    ends = number_range(own["spearman_low"], own["spearman_high"])
    said = (
        f"Spearman’s correlation of {name} and {content['label']} is {signed(own['spearman'])}"
        f"{f' ({ends})' if ends else ''} over {answers(content, own['n'])}"
        f"{strength(own['spearman'], own['spearman_low'], own['spearman_high'], _word(own['spearman']))}"
    )
    return said, " ".join(filter(None, (_by_model(content), _picks(content))))


def _word(value: float) -> str:
    return correlation_word(value, below="negative")


def _by_model(content: Content) -> str:
    """What of the correlation is left among the answers of one model, where values have one scale."""
    found = [each["correlation"]["spearman"] for each in content["contestants"]]
    known = [value for value in found if value is not None]
    if len(content["models"]) < 2 or not known:
        return ""
    low, high = signed(min(known)), signed(max(known))
    between = f"is {low}" if low == high else f"ranges from {low} to {high}"
    return f"Among the answers of a single model it {between}."


def _picks(content: Content) -> str:
    pairs = content["pairs"]
    if pairs is None or not pairs["feature"]["n"]:
        return ""
    own, known = pairs["feature"], content["feature"]["higher_is_better"] is not None
    picks = (
        "The feature picks the preferred answer" if known else "The answer with the higher value is preferred"
    )
    return (
        f"{picks} in {_share(own)} of {counted(own['n'], 'pair')}. "
        f"The longer answer is preferred in {_share(pairs['length'])}; chance would be 50%."
    )


def _share(own: Content) -> str:
    ends = percent_range(own["low"], own["high"])
    return f"{percent(own['value'])}{f' ({ends})' if ends else ''}"


def notes(content: Content) -> Iterator[str]:
    """What must be said beside the numbers."""
    own, found = content["feature"], content["correlation"]
    if len(content["models"]) > 1:
        yield "Probabilities of different models have no common scale: look at each model by itself."
    if own["bound"]:
        yield "This is a bound. The value itself is not known."
    if own["variant"] == "released":
        yield "By the code released with the paper, which may compute something else under this name."
    if own["computed"]:
        yield "Computed here over the answers of each model: both parts scaled from 0 to 1 among them."
    yield from expected(content)
    if found["prompts"] == 1:
        yield "All answers are to one prompt, so there are no intervals."
    elif 0 < found["prompts"] < FEWEST_PROMPTS:
        yield f"Only {counted(found['prompts'], 'prompt')}: other prompts may say something else."


_SIDES: Final = {True: "higher", False: "lower", None: "not known"}


def expected(content: Content) -> Iterator[str]:
    """What nobody expects of better answers, or what speaks against it."""
    better = content["feature"]["higher_is_better"]
    if better is None:
        yield "Whether better answers have higher or lower values is not known, so none are called weakest."
        return
    alone = content["contestants"] if len(content["contestants"]) > 1 else ()
    models = [each["contestant"] for each in alone if _is_against(each["correlation"], better=better)]
    here = ["here"] if _is_against(content["correlation"], better=better) else []
    if models:
        here.append(f"among those of {some_models(models)}")
    if here:
        yield (
            f"Better answers clearly have {_SIDES[not better]} values {' and '.join(here)}, against what is "
            "expected: do not rely on which answers are called weakest, or which are picked."
        )


def _is_against(own: Content, *, better: bool) -> bool:
    low, high = own["spearman_low"], own["spearman_high"]
    return low is not None and bool(high < 0 if better else low > 0)


def _correlation_cells(own: Content) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"Answers": own["n"], "Prompts": own["prompts"]}
    for key, label in COEFFICIENTS.items():
        ends = {"": "", ": low": "_low", ": high": "_high"}
        cells |= {f"{label}{end}": own[f"{key}{key_end}"] for end, key_end in ends.items()}
    return {**cells, "Why none": own["reason"]}


def _named_cells(name: str, own: Content) -> dict[str, Cell]:
    return {"Feature": name, "Name": own["name"], "Variant": own["variant"], "Source": own["source"]}


def correlations_table(content: Content) -> DataTable:
    rows = [
        {**_named_cells(name, each["feature"]), **_correlation_cells(each["correlation"])}
        for name, each in rows_of(content)
    ]
    return guessed("Correlation of every feature", rows, WITH_QUALITY)


def models_table(content: Content) -> DataTable:
    rows = [
        {"Model": each["contestant"], **_correlation_cells(each["correlation"])}
        for each in content["contestants"]
    ]
    return guessed("Correlation for each model", rows, WITH_QUALITY)


def by_higher(content: Content) -> str:
    """What the pairs of features show of which nothing is expected."""
    own = [name for name, each in rows_of(content) if each["feature"]["higher_is_better"] is None]
    return f" Of {some_models(own, 'features')} it is how often the higher value is preferred." if own else ""


def pairs_table(content: Content) -> DataTable:
    rows = []
    for name, each in rows_of(content):
        pairs = each["pairs"]
        if pairs is not None:
            cells: dict[str, Cell] = {
                "Expected of better answers": _SIDES[each["feature"]["higher_is_better"]],
                "Pairs": pairs["feature"]["n"],
                "Without a preference": pairs["ties"],
            }
            for key, label in (("feature", "Picks the preferred"), ("length", "Longer"), ("ahead", "Ahead")):
                ends = {"": "value", ": low": "low", ": high": "high"}
                cells |= {f"{label} (%){end}": percent_cell(pairs[key][at]) for end, at in ends.items()}
            rows.append({**_named_cells(name, each["feature"]), **cells})
    return guessed("How often a feature picks the preferred answer", rows, PICKS)


def deciles_table(content: Content) -> DataTable:
    rows = [
        {
            "Part": number,
            "From": each["low"],
            "To": each["high"],
            "Answers": each["quality"]["n"],
            "Quality": each["quality"]["value"],
            "Quality: low": each["quality"]["low"],
            "Quality: high": each["quality"]["high"],
        }
        for number, each in enumerate(content["deciles"], start=1)
    ]
    return guessed("Quality by value of the feature", rows)


def points_table(content: Content) -> DataTable:
    rows = [
        {"Model": content["models"][model], content["feature"]["label"]: value, "Quality": quality}
        for value, quality, model in content["points"]
    ]
    return guessed("Feature and quality of answers", rows)


def standings_table(content: Content) -> DataTable:
    ratings = content["order"]["ratings"] if content["order"] else {}
    rows = [
        {
            "Model": each["contestant"],
            "Mean": each["mean"],
            "Mean: low": each["mean_low"],
            "Mean: high": each["mean_high"],
            "Answers": each["n"],
            "Prompts": each["prompts"],
            "Score from pairs": ratings.get(each["contestant"]),
        }
        for each in content["standings"]
    ]
    words = {"Mean": "Mean of the feature", "Score from pairs": "Bradley-Terry score"}
    return guessed("Models by their mean", rows, words)


def order_sentence(content: Content) -> str:
    """Whether the order by means is that of pairs."""
    order, side = content["order"], content["feature"]["higher_is_better"]
    better = (
        "Whether better answers have higher or lower values is not known. The highest come first."
        if side is None
        else f"Better answers are expected to have {_SIDES[side]} values, so these come first."
    )
    if order is None or order["kendall"] is None or order["n"] < FEWEST_MODELS:
        return better
    return (
        f"{better} Kendall’s tau with the order of pairs by {order['label']} is {signed(order['kendall'])} "
        f"over {counted(order['n'], 'model')}."
    )


def answers(content: Content, number: int) -> str:
    """Of how many answers, or turns of answers, something is told."""
    return counted(number, "turn" if content["feature"].get("turn") == TURNS else "answer")


def prompt_of(weak: Content, prompts: Mapping[int, str]) -> str:
    turn = f", turn {weak['turn']}" if weak.get("turn") else ""
    return prompts.get(weak["text"], "") + turn


def weakest_table(content: Content, prompts: Mapping[int, str]) -> DataTable:
    rows = [
        {
            "Prompt": prompt_of(each, prompts),
            "Model": each["contestant"],
            content["feature"]["label"]: each["value"],
            "Quality": each["quality"],
        }
        for each in content["weakest"]
    ]
    return guessed("Answers expected to be weakest", rows)
