"""Builders of rows with sensible defaults: make_x(**overrides)."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client

from arena.data.uploads import jobs
from arena.data.uploads import jobs as uploads_jobs
from arena.models import (
    Answer,
    Assignment,
    Comparison,
    Completion,
    CompletionFeature,
    Contestant,
    ImportJob,
    Membership,
    Pair,
    Prompt,
    Question,
    Rater,
    RaterGroup,
    Score,
    Study,
)
from arena.rules.subsets import TRAINING_SUBSET

_numbers = count(1)


def make_study(**overrides: Any) -> Study:
    number = next(_numbers)
    return Study.objects.create(**{"slug": f"study-{number}", "name": f"Study {number}", **overrides})


def make_prompt(**overrides: Any) -> Prompt:
    number = next(_numbers)
    defaults = {"external_id": f"prompt-{number}", "category": "coding", "turns": [f"Instruction {number}"]}
    overrides.setdefault("study", None)
    overrides["study"] = overrides["study"] or make_study()
    return Prompt.objects.create(**{**defaults, **overrides})


def make_text(**of_study: Any) -> Completion:
    """An answer of a study that asks for pairs, scores and checks."""
    study = make_study(**{"tasks": ["compare", "score", "check"], **of_study})
    return make_completion(prompt=make_prompt(study=study))


def make_contestant(**overrides: Any) -> Contestant:
    number = next(_numbers)
    overrides["study"] = overrides.get("study") or make_study()
    defaults = {"slug": f"contestant-{number}", "name": f"Contestant {number}"}
    return Contestant.objects.create(**{**defaults, **overrides})


def make_completion(**overrides: Any) -> Completion:
    number = next(_numbers)
    overrides["prompt"] = overrides.get("prompt") or make_prompt()
    if "contestant" not in overrides:
        overrides["contestant"] = make_contestant(study=overrides["prompt"].study)
    return Completion.objects.create(
        **{"turns": [f"Answer {number}"], "digest": f"{number:064x}", **overrides}
    )


def make_pair(**overrides: Any) -> Pair:
    prompt = overrides.setdefault("prompt", None) or make_prompt()
    overrides["prompt"] = prompt
    overrides["first"] = overrides.get("first") or make_completion(prompt=prompt)
    overrides["second"] = overrides.get("second") or make_completion(prompt=prompt)
    both = {side: overrides[side] for side in ("first", "second")}
    pair = Pair.rows.filter(**both, is_waiting=True).first() or Pair()
    for name, value in (overrides | {"is_waiting": False}).items():
        setattr(pair, name, value)
    pair.save()
    return pair


def make_user(**overrides: Any) -> Any:
    """An account; one of staff may start paid runs, unless ``paid_runs=False``."""
    number = next(_numbers)
    paid_runs = overrides.pop("paid_runs", overrides.get("is_staff", False))
    user = get_user_model().objects.create_user(
        **{"username": f"user-{number}", "password": "pw", **overrides}
    )
    if paid_runs:
        user.user_permissions.add(Permission.objects.get(codename="start_paid_run"))
    return user


def make_client(user: Any) -> Client:
    """A browser in which somebody has signed in."""
    client = Client()
    client.force_login(user)
    return client


def make_rater(**overrides: Any) -> Rater:
    number = next(_numbers)
    defaults = {"kind": Rater.Kind.PERSON, "slug": f"rater-{number}", "name": f"Rater {number}"}
    return Rater.objects.create(**{**defaults, **overrides})


def make_member(study: Study, **overrides: Any) -> Rater:
    """A person with an account who may rate in the study."""
    rater = make_rater(**{"user": make_user(), **overrides})
    Membership.objects.create(study=study, rater=rater)
    return rater


def make_assignment(**overrides: Any) -> Assignment:
    """An assignment claimed by a person for half an hour: of a pair, or by kind of a completion."""
    from django.utils import timezone

    from arena.rating.offering import lease_time

    completion = overrides.get("completion")
    pair = None if completion else overrides.pop("pair", None) or make_pair()
    defaults = {
        "study": (completion or pair).prompt.study,
        "pair": pair,
        "rater": overrides.pop("rater", None) or make_rater(),
        "leased_until": timezone.now() + lease_time(),
    }
    return Assignment.objects.create(**{**defaults, **overrides})


def make_comparison(**overrides: Any) -> Comparison:
    """A scored comparison on 8 points; pass reason=... for an unscored one."""
    pair = overrides.pop("pair", None) or make_pair()
    status = "unscored" if overrides.get("reason") else "scored"
    defaults = {
        "study": pair.prompt.study,
        "pair": pair,
        "rater": overrides.pop("rater", None) or make_rater(),
        "swapped": False,
        "points": 8,
        "status": status,
        "rating": None if status == "unscored" else 3,
        "source": Comparison.Source.IMPORT,
    }
    return Comparison.objects.create(**{**defaults, **overrides})


def make_question(**overrides: Any) -> Question:
    number = next(_numbers)
    overrides["prompt"] = overrides.get("prompt") or make_prompt()
    defaults = {"position": overrides["prompt"].questions.count() + 1, "text": f"Is it number {number}?"}
    return Question.objects.create(**{**defaults, **overrides})


def make_score(**overrides: Any) -> Score:
    """A score of 3 from 1 to 5; pass reason=... for an unscored one."""
    return Score.objects.create(
        **_about_a_text({"value": 3.0, "lowest": 1.0, "highest": 5.0, **overrides}, overrides)
    )


def make_answer(**overrides: Any) -> Answer:
    """A yes to one question about one text; pass reason=... for an unscored one."""
    completion = overrides.setdefault("completion", None) or make_completion()
    overrides["completion"] = completion
    overrides["question"] = overrides.get("question") or make_question(prompt=completion.prompt)
    return Answer.objects.create(**_about_a_text({"value": "yes", **overrides}, overrides))


def make_feature(**overrides: Any) -> CompletionFeature:
    overrides["completion"] = overrides.get("completion") or make_completion()
    return CompletionFeature.objects.create(
        **{"name": "entropy", "variant": "paper", "value": 0.5, **overrides}
    )


def _about_a_text(fields: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    completion = overrides.get("completion") or make_completion()
    is_unscored = bool(overrides.get("reason"))
    if is_unscored:
        fields = {**fields, "value": None}
    defaults = {
        "study": completion.prompt.study,
        "status": "unscored" if is_unscored else "scored",
        "source": Score.Source.IMPORT,
        "rater": overrides.get("rater") or make_rater(),
    }
    return {**defaults, **fields, **overrides, "completion": completion}


def make_small_study(prompts: int = 2, contestants: int = 3, **overrides: Any) -> Study:
    """A study in which every contestant answers every prompt."""
    study = make_study(**overrides)
    field = [make_contestant(study=study) for _ in range(contestants)]
    for _ in range(prompts):
        prompt = make_prompt(study=study)
        for contestant in field:
            make_completion(prompt=prompt, contestant=contestant)
    return study


def make_training_pairs(study: Study, pairs: int = 2) -> list[Pair]:
    """Training pairs of a study, as an import makes them; the first answer is the better one of each."""
    made = []
    for _ in range(pairs):
        prompt = make_prompt(study=study, subset=TRAINING_SUBSET)
        texts = [
            make_completion(prompt=prompt, contestant=None, external_id=side) for side in ("first", "second")
        ]
        labels = {"gold": "first", "gold_source": "test", "explanation": f"Why, for {prompt}."}
        made.append(make_pair(prompt=prompt, first=texts[0], second=texts[1], use="train", **labels))
    return made


def make_group(**overrides: Any) -> RaterGroup:
    number = next(_numbers)
    return RaterGroup.objects.create(**{"slug": f"group-{number}", "name": f"Group {number}", **overrides})


def make_judge(**overrides: Any) -> Any:
    """A judge that asks an endpoint; fields as in judging.models.Judge, and those of its endpoint."""
    from judging.judges.services import create_judge

    number = next(_numbers)
    slug, name = overrides.pop("slug", f"judge-{number}"), overrides.pop("name", f"Judge {number}")
    return create_judge(slug, name, judge_with(**overrides))


def judge_with(**fields: Any) -> Any:
    """A judge that is not stored, with an endpoint unless it is simulated."""
    from judging.judges.services import OF_ENDPOINT
    from judging.models import Endpoint, Judge

    defaults = {"model": "loopback", "base_url": "http://127.0.0.1:9/v1", "timeout": 5.0}
    given = defaults | {name: fields.pop(name) for name in OF_ENDPOINT if name in fields}
    endpoint = None if fields.get("provider") == "simulated" else Endpoint(**given)
    return Judge(endpoint=endpoint, **fields)


def make_author(**overrides: Any) -> Any:
    """A contestant that can be asked; fields as in judging.models.Author, and those of its endpoint."""
    from judging.judges.services import OF_ENDPOINT, store_endpoint
    from judging.models import Author, Endpoint

    contestant = overrides.pop("contestant", None) or make_contestant()
    defaults = {"model": "loopback", "base_url": "http://127.0.0.1:9/v1", "timeout": 5.0}
    given = defaults | {name: overrides.pop(name) for name in OF_ENDPOINT if name in overrides}
    return Author.objects.create(
        contestant=contestant, endpoint=store_endpoint(Endpoint(**given)), **overrides
    )


AMOUNTS = ("budget", "spent", "reserved", "currency")


def make_run(**overrides: Any) -> Any:
    """A running run with its purse, of whose amounts some can be given."""
    from judging.models import JudgeRun
    from judging.spending.reservations import open_purse

    amounts = {name: overrides.pop(name) for name in AMOUNTS if name in overrides}
    with transaction.atomic():
        run = JudgeRun.objects.create(**{"state": "running", **overrides})
        purse = open_purse(run)
    for name, value in amounts.items():
        setattr(purse, name, value)
    purse.save()
    return run


def make_price(**overrides: Any) -> Any:
    """What the model of make_judge costs wherever it is asked: 2 and 8 for a million tokens."""
    from judging.models import Price

    return Price.objects.create(**{"model": "loopback", "prompt": 2, "completion": 8, **overrides})


def make_call(run: Any, number: int = 0, **overrides: Any) -> Any:
    """A call in flight about an assignment of the run, by its place in it; unless another is given."""
    from django.utils import timezone

    from judging.models import JudgeCall

    if not overrides.keys() & {"assignment", "assignment_id"}:
        overrides["assignment"] = run.run_assignments.order_by("pk")[number].assignment
    defaults = {"run": run, "key": "rate", "attempt": 1, "worker": "w", "messages": []}
    defaults["deadline"] = timezone.now() + timedelta(minutes=1)
    return JudgeCall.objects.create(**{**defaults, **overrides})


def make_battle_rules(**overrides: Any) -> Any:
    """Everybody may battle in the study, between two models that can be asked unless others are given."""
    from judging.models import BattleRules

    study = overrides.pop("study", None) or make_study(visibility="public")
    authors = overrides.pop("authors", None)
    rules = BattleRules.objects.create(**{"study": study, "open_to": "everybody", **overrides})
    rules.authors.set(authors or [make_author(contestant=make_contestant(study=study)) for _ in range(2)])
    return rules


def make_visitor(**overrides: Any) -> Rater:
    return make_rater(**{"is_visitor": True, **overrides})


def make_battle(*answers: str, rules: Any = None, **overrides: Any) -> Any:
    """A battle of a visitor between the first two models of the rules.

    With both answers it is answered, and all of them can be seen.
    """
    from django.utils import timezone

    from judging.models import Battle

    rules = rules or make_battle_rules()
    first, second = rules.authors.order_by("pk")[:2]
    defaults = {"study": rules.study, "first": first.contestant, "second": second.contestant}
    defaults |= {"rater": overrides.pop("rater", None) or make_visitor(), "turns": ["Why is the sky blue?"]}
    if answers:
        now = timezone.now()
        defaults |= {"state": "ready", "begun_at": now - timedelta(minutes=1), "released_at": now}
        defaults["released"] = max(map(len, answers))
    battle = Battle.objects.create(**{**defaults, **overrides})
    for side, text in enumerate(answers):
        make_battle_call(battle=battle, side=side, text=text, state="replied")
    return battle


def make_battle_call(**overrides: Any) -> Any:
    """A request to a side of a battle for its answer to the newest turn; all of its text may be seen."""
    from judging.models import Author, BattleCall

    battle = overrides["battle"]
    contestant = battle.second_id if overrides.setdefault("side", 0) else battle.first_id
    defaults = {"author": Author.objects.get(contestant=contestant), "turn": battle.turn, "model": "loopback"}
    defaults["shown"] = overrides.get("text", "")
    return BattleCall.objects.create(**{**defaults, **overrides})


def make_import_job(*files: tuple[str, str], **overrides: Any) -> ImportJob:
    """An uploaded job, waiting for its check; files are names and contents."""
    job = ImportJob.objects.create(study=overrides.pop("study", None) or make_study(), **overrides)
    uploads_jobs.store(job, [ContentFile(content.encode(), name) for name, content in files])
    if "state" not in overrides:
        jobs.request_check(job)
    job.refresh_from_db()
    return job
