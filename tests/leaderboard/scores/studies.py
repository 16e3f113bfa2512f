"""Studies with scores of single answers."""

from arena.models import Completion, Prompt, Rater, Score
from tests import factories


def scored_study(said, **study):
    """A study in which raters score answers: {rater: {model: [a score for each prompt]}}.

    None is a reply without a score. Raters whose names begin with "judge" are judges.
    """
    made = factories.make_study(**{"tasks": ["score"], "score_lowest": 1, "score_highest": 5, **study})
    models = sorted({model for own in said.values() for model in own})
    prompts = max(len(values) for own in said.values() for values in own.values())
    asked = Prompt.objects.bulk_create(
        Prompt(study=made, external_id=f"p{number}", turns=["What?"]) for number in range(prompts)
    )
    players = {name: factories.make_contestant(study=made, name=name) for name in models}
    texts = {
        (name, number): factories.make_completion(
            prompt=prompt, contestant=player, turns=["word " * (number + 1 + len(name))]
        )
        for name, player in players.items()
        for number, prompt in enumerate(asked)
    }
    for name, own in said.items():
        kind = Rater.Kind.JUDGE if name.startswith("judge") else Rater.Kind.PERSON
        rater = factories.make_rater(kind=kind, slug=name, name=name.capitalize())
        for model, values in own.items():
            for number, value in enumerate(values):
                missing = {"reason": "unparsable"} if value is None else {"value": value}
                factories.make_score(completion=texts[model, number], rater=rater, **missing)
    return made


def many_scores(rows, lowest, highest):
    """A study of (prompt, model, judge, value), without texts."""
    study = factories.make_study(tasks=["score"], score_lowest=lowest, score_highest=highest)
    prompts, models, judges = (sorted({row[place] for row in rows}) for place in range(3))
    asked = dict(
        zip(
            prompts,
            Prompt.objects.bulk_create(Prompt(study=study, external_id=p, turns=[]) for p in prompts),
            strict=True,
        )
    )
    players = {name: factories.make_contestant(study=study, name=name) for name in models}
    named = {name: factories.make_rater(kind="judge", slug=name, name=name) for name in judges}
    pairs = sorted({row[:2] for row in rows})
    texts = dict(
        zip(
            pairs,
            Completion.objects.bulk_create(
                Completion(prompt=asked[prompt], contestant=players[model], turns=[], digest="")
                for prompt, model in pairs
            ),
            strict=True,
        )
    )
    Score.objects.bulk_create(
        Score(
            study=study,
            completion=texts[prompt, model],
            rater=named[judge],
            lowest=lowest,
            highest=highest,
            value=value,
            status="scored",
            source="import",
        )
        for prompt, model, judge, value in rows
    )
    return study
