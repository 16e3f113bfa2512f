"""What a stranger's proposal shows: the form it was sent with, and work that a browser did."""

from typing import Final
from uuid import UUID, uuid4

from django.core import signing

from judging.judges.services import JudgeError

SALT: Final = "judging.submissions"
A_DAY: Final = 24 * 3600  # seconds
BITS: Final = 16  # of work, which takes a browser a second or two


def new_token() -> str:
    """Signs one form: a proof is about it, and sent twice it makes one proposal."""
    return signing.dumps(str(uuid4()), salt=SALT)


def read_token(token: str) -> UUID:
    try:
        return UUID(signing.loads(token, salt=SALT, max_age=A_DAY))
    except signing.BadSignature as error:
        raise JudgeError("This page was open for too long. Send it again.") from error
