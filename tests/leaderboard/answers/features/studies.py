"""Studies whose answers have features."""

from arena.models import Prompt, Rater
from tests import factories


def measured_study(features, preferences=None, scores=None, **study):
    """Answers of models: {model: [a value for each prompt]} of the feature entropy by the published formula.

    ``preferences``: {rater: {(model, other): [a rating for each prompt, None for no comparison]}}.
    ``scores``: {rater: {model: [a score from 1 to 5 for each prompt]}}. Raters whose names begin with "judge"
    are judges.
    """
    made = factories.make_study(**{"score_lowest": 1, "score_highest": 5, **study})
    prompts = max(len(values) for values in features.values())
    asked = Prompt.objects.bulk_create(
        Prompt(study=made, external_id=f"p{number}", turns=["What?"]) for number in range(prompts)
    )
    texts = {}
    for place, (name, values) in enumerate(features.items()):
        player = factories.make_contestant(study=made, name=name)
        for number, value in enumerate(values):
            texts[name, number] = factories.make_completion(
                prompt=asked[number], contestant=player, turns=["word " * (1 + place + 2 * (number % 2))]
            )
            if value is not None:
                factories.make_feature(completion=texts[name, number], value=value)
    raters = {name: _rater(name) for name in {**(preferences or {}), **(scores or {})}}
    for name, own in (preferences or {}).items():
        for (one, other), ratings in own.items():
            for number, rating in enumerate(ratings):
                first, second = texts[one, number], texts[other, number]
                pair = first.pairs_as_first.filter(second=second).first() if rating else None
                if rating:
                    pair = pair or factories.make_pair(prompt=asked[number], first=first, second=second)
                    factories.make_comparison(pair=pair, rater=raters[name], rating=rating)
    for name, own in (scores or {}).items():
        for model, values in own.items():
            for number, value in enumerate(values):
                factories.make_score(completion=texts[model, number], rater=raters[name], value=value)
    return made


def _rater(name):
    kind = Rater.Kind.JUDGE if name.startswith("judge") else Rater.Kind.PERSON
    return factories.make_rater(kind=kind, slug=name, name=name.capitalize())


def study_of_turns(values, scores, judge="judge", **study):
    """Answers of two turns: {model: [a pair of values of entropy for each prompt]}, and scores by a judge."""
    made = factories.make_study(**{"score_lowest": 1, "score_highest": 10, "tasks": ["score"], **study})
    rater = _rater(judge)
    for name, own in values.items():
        player = factories.make_contestant(study=made, name=name)
        for number, of_turns in enumerate(own):
            prompt = made.prompts.filter(external_id=f"p{number}").first() or factories.make_prompt(
                study=made, external_id=f"p{number}", turns=["What?", "And?"]
            )
            text = factories.make_completion(prompt=prompt, contestant=player, turns=["Yes.", "No, I say."])
            for turn, value in enumerate(of_turns, start=1):
                score = scores[name][number][turn - 1]
                factories.make_feature(completion=text, turn=turn, value=value)
                factories.make_score(completion=text, rater=rater, turn=turn, value=score, highest=10)
    return made
