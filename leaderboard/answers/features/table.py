"""What features are worth, in words and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from leaderboard.answers.features.reading import TURNS
from leaderboard.answers.table import some_models, strength
from leaderboard.pages.columns import COLON, Column, bare
from leaderboard.pages.format import counted, signed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import COEFFICIENT, POINTS, SHARE, Estimate
from leaderboard.pages.wording import correlation_word
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.method_names import FEWEST_PROMPTS

COEFFICIENTS: Final = {
    "pearson": ("Pearson", "Pearson r with quality"),
    "spearman": ("Spearman", "Spearman rho with quality"),
    "kendall": ("Kendall", "Kendall tau with quality"),
}
"""Their names in files and, beside those of raters, on pages."""
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
    found = Estimate.of(own, "spearman")
    said = (
        f"Spearman’s correlation of {name} and {content['label']} is {COEFFICIENT.told(found)} over "
        f"{answers(content, own['n'])}"
        f"{strength(found, _word(own['spearman']))}"
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
        f"{picks} in {SHARE.told(Estimate.bare(own))} of {counted(own['n'], 'pair')}. The longer answer is "
        f"preferred in {SHARE.told(Estimate.bare(pairs['length']))}; chance would be 50%."
    )


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
    return Estimate.of(own, "spearman").side() == (-1 if better else 1)


_CORRELATION: Final[Sequence[Column[Content]]] = (
    Column("Answers", "correlation.n"),
    Column("Prompts", "correlation.prompts"),
    *(
        Column[Content](name, f"correlation.{key}", COEFFICIENT, label=label, ends=COLON)
        for key, (name, label) in COEFFICIENTS.items()
    ),
    Column("Why none", "correlation.reason"),
)
_FEATURE: Final[Sequence[Column[Content]]] = (
    Column("Feature", "called"),
    Column("Name", "feature.name"),
    Column("Variant", "feature.variant"),
    Column("Source", "feature.source"),
)
_MODEL: Final = Column[Content]("Model", "contestant")


def correlations_table(content: Content) -> DataTable:
    found = ({**each, "called": name} for name, each in rows_of(content))
    return DataTable.of("Correlation of every feature", (*_FEATURE, *_CORRELATION), found)


def models_table(content: Content) -> DataTable:
    return DataTable.of("Correlation for each model", (_MODEL, *_CORRELATION), content["contestants"])


def by_higher(content: Content) -> str:
    """What the pairs of features show of which nothing is expected."""
    own = [name for name, each in rows_of(content) if each["feature"]["higher_is_better"] is None]
    return f" Of {some_models(own, 'features')} it is how often the higher value is preferred." if own else ""


_PAIRS: Final[Sequence[Column[Content]]] = (
    *_FEATURE,
    Column("Expected of better answers", lambda each: _SIDES[each["feature"]["higher_is_better"]]),
    Column("Pairs", "pairs.feature.n"),
    Column("Without a preference", "pairs.ties"),
    Column("Picks the preferred (%)", bare("pairs.feature.value"), SHARE, ends=COLON),
    Column("Longer (%)", bare("pairs.length.value"), SHARE, label="Longer picks the preferred", ends=COLON),
    Column("Ahead (%)", bare("pairs.ahead.value"), POINTS, label="Ahead of length", ends=COLON),
)


def pairs_table(content: Content) -> DataTable:
    found = ({**each, "called": name} for name, each in rows_of(content) if each["pairs"] is not None)
    return DataTable.of("How often a feature picks the preferred answer", _PAIRS, found)


_QUALITY: Final = Column[Content]("Quality", bare("quality.value"), COEFFICIENT, ends=COLON)
_DECILES: Final[Sequence[Column[Content]]] = (
    Column("Part", "part"),
    Column("From", "low"),
    Column("To", "high"),
    Column("Answers", "quality.n"),
    _QUALITY,
)


def deciles_table(content: Content) -> DataTable:
    found = ({**each, "part": number} for number, each in enumerate(content["deciles"], start=1))
    return DataTable.of("Quality by value of the feature", _DECILES, found)


def points_table(content: Content) -> DataTable:
    rows = ((content["models"][model], value, quality) for value, quality, model in content["points"])
    columns = ("Model", content["feature"]["label"], "Quality")
    return DataTable.plain("Feature and quality of answers", columns, rows)


_STANDINGS: Final[Sequence[Column[Content]]] = (
    _MODEL,
    Column("Mean", "mean", label="Mean of the feature", ends=COLON),
    Column("Answers", "n"),
    Column("Prompts", "prompts"),
    Column("Score from pairs", "rating", label="Bradley-Terry score"),
)


def standings_table(content: Content) -> DataTable:
    ratings = content["order"]["ratings"] if content["order"] else {}
    found = ({**each, "rating": ratings.get(each["contestant"])} for each in content["standings"])
    return DataTable.of("Models by their mean", _STANDINGS, found)


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
    rows = (
        (prompt_of(each, prompts), each["contestant"], each["value"], each["quality"])
        for each in content["weakest"]
    )
    columns = ("Prompt", "Model", content["feature"]["label"], "Quality")
    return DataTable.plain("Answers expected to be weakest", columns, rows)
