"""Studies with scores of single answers."""

from io import StringIO

from django.core.management import call_command

from arena.models import Prompt, Rater, Study
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


def wildbench(judge_data):
    """WildBench's scores of six models by two judges."""
    path = judge_data / "wildbench" / "scores.jsonl"
    call_command("import_data", "wild", str(path), "--format=wildbench", stdout=StringIO())
    return Study.objects.get(slug="wild")
