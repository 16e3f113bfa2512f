"""Work that a browser proves before a battle, in place of puzzles for people; it rises with use.

The first battles of a day need none, so that the page works without its script. People with an account prove
nothing. A challenge is about the visitor's next battle alone, so it is used once.
"""

from dataclasses import dataclass
from typing import Final

from django.core import signing

from arena.models import Rater
from arena.process.proof import is_proven
from judging.battles.errors import BattleError
from judging.battles.starting import begun_today
from judging.models import BattleRules

SALT: Final = "judging.battles.work"
AN_HOUR: Final = 3600  # seconds
FREE: Final = 3  # battles of a visitor on a day
FREE_THERE: Final = 20  # battles from one address on a day
LEAST: Final = 12  # bits, a tenth of a second of a browser
MOST: Final = 20  # bits, half a minute
STEP: Final = 5  # battles of a visitor after which the work doubles
STEP_THERE: Final = 20  # and from one address
SLACK: Final = 2  # bits that may be asked more since the page was made, by others at the address

UNPROVEN: Final = "Your browser has to do some work first. Let this page run its script, or sign in."
STALE: Final = "This page was open for too long, or its battle has begun already. Send it again."


@dataclass(frozen=True)
class Challenge:
    """Work that is asked: to find what makes the digest of the token begin with so many bits of zero."""

    token: str
    bits: int


def asked_bits(rules: BattleRules, rater: Rater, address: str) -> int:
    """How much work the next battle takes; 0 for none."""
    if not rater.is_visitor:
        return 0
    today = begun_today(rules)
    own, there = today.filter(rater=rater).count(), today.filter(address=address).count() if address else 0
    if own < FREE and there < FREE_THERE:
        return 0
    return min(MOST, LEAST + own // STEP + there // STEP_THERE)


def challenge(rules: BattleRules, rater: Rater, address: str) -> Challenge:
    bits = asked_bits(rules, rater, address)
    return Challenge(signing.dumps([*_about(rules, rater), bits], salt=SALT), bits)


def check(rules: BattleRules, rater: Rater, address: str, token: str, proof: str) -> None:
    """Raise BattleError unless the work that the next battle takes was done."""
    asked = asked_bits(rules, rater, address)
    if not asked:
        return
    try:
        *about, bits = signing.loads(token, salt=SALT, max_age=AN_HOUR)
    except signing.BadSignature as error:
        raise BattleError(STALE if token else UNPROVEN) from error
    if about != _about(rules, rater) or bits < asked - SLACK:
        raise BattleError(STALE)
    if not is_proven(token, proof, bits):
        raise BattleError(UNPROVEN)


def _about(rules: BattleRules, rater: Rater) -> list[int]:
    """The visitor's next battle of the day: the study, the visitor, and the battles before it."""
    return [rules.study_id, rater.pk, begun_today(rules).filter(rater=rater).count()]
