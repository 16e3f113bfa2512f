"""Whether a judge can be asked about a study now."""

import os

from arena.models import Rater, Study
from judging.endpoints.keys import KeyVariableError, read_key
from judging.endpoints.simulated import Simulation
from judging.judges.services import JudgeError
from judging.models import Judge
from judging.protocols import runner
from judging.protocols.protocol import UnknownProtocolError
from judging.runs.endpoints import endpoints


def check_usable(judge: Judge, study: Study, *, remote: bool = False) -> None:
    """Raise JudgeError when the judge cannot start a run over the study now.

    ``remote``: judge workers on other machines are to ask. The key is then theirs to have.
    """
    if not judge.active:
        raise JudgeError(f"The judge {judge.name} is inactive; activate it first.")
    if judge.rater.paused_at:
        raise JudgeError(f"The judge {judge.name} is paused; resume its rater first.")
    if study.is_closed:
        raise JudgeError(f"The study {study.name} is closed; no more ratings are taken.")
    if study.imported_raters.filter(kind=Rater.Kind.JUDGE, slug=judge.slug).exists():
        raise JudgeError(
            f"{study.name} holds imported ratings of another judge {judge.slug}; make a "
            "new judge with another slug, so that the two never mix on one board."
        )
    check_wording(judge)
    if remote:
        _check_remote(judge)
    elif judge.is_simulated:
        _check_simulation(judge, study)
    else:
        _check_keys(judge)


def check_wording(judge: Judge) -> None:
    """Raise JudgeError where the judge would be asked in other words than it was first, or in none."""
    try:
        current = judge.current_prompt_hash()
    except UnknownProtocolError as error:
        raise JudgeError(
            f"{judge.name} uses the protocol {judge.protocol}, which is there no more."
        ) from error
    if judge.prompt_hash and judge.prompt_hash != current:
        raise JudgeError(
            f"The wording of protocol {judge.protocol} has changed since {judge.name} was first asked; make "
            "a new judge, so that answers to different wordings never mix."
        )


def _check_remote(judge: Judge) -> None:
    if judge.is_simulated:
        raise JudgeError(
            f"{judge.name} is a simulated judge; there is no model that workers elsewhere could ask."
        )
    if len(runner.keys(judge.manner)) > 1:
        raise JudgeError(
            f"Protocol {judge.protocol} asks in several steps; judge workers elsewhere ask in one. Let this "
            "arena's workers do it."
        )


def _check_keys(judge: Judge) -> None:
    """Everyone who is asked for the judge can be: a model that writes something for it has its own key."""
    for endpoint in endpoints(judge):
        try:
            key = read_key(endpoint.api_key_env, os.environ)
        except KeyVariableError as error:
            raise JudgeError(str(error)) from error
        if not key:
            raise JudgeError(
                f"The environment variable {endpoint.api_key_env}, which holds the key that {judge.name} "
                f"needs to ask {endpoint.model}, is not set where the arena runs."
            )


def _check_simulation(judge: Judge, study: Study) -> None:
    if not study.simulated:
        raise JudgeError(f"{judge.name} is a simulated judge; it may only rate studies marked as simulated.")
    strengths = Simulation.from_options(judge.simulation).strengths
    missing = study.contestants.active().exclude(slug__in=strengths).values_list("slug", flat=True)
    if missing:
        raise JudgeError(f"{judge.name} has no strength for {', '.join(missing)}.")
