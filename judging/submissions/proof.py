"""What limits proposals by strangers: work that a browser proves, and where it comes from."""

import hashlib
from ipaddress import ip_network
from typing import Final
from uuid import UUID, uuid4

from django.core import signing
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from arena.process.addresses import client_address
from judging.judges.services import JudgeError

SALT: Final = "judging.submissions"
A_DAY: Final = 24 * 3600  # seconds
BITS: Final = 16  # a browser tries about 2 to the power of so many answers, which takes a second or two


def new_token() -> str:
    """Signs one form: a proof is about it, and sent twice it makes one proposal."""
    return signing.dumps(str(uuid4()), salt=SALT)


def read_token(token: str) -> UUID:
    try:
        return UUID(signing.loads(token, salt=SALT, max_age=A_DAY))
    except signing.BadSignature as error:
        raise JudgeError("This page was open for too long. Send it again.") from error


def is_proven(token: str, answer: str) -> bool:
    """Tell whether the digest of token and answer begins with so many bits of zero."""
    digest = hashlib.sha256(f"{token}:{answer}".encode()).digest()
    return int.from_bytes(digest) >> (8 * len(digest) - BITS) == 0


def origin_of(request: HttpRequest) -> str:
    """A keyed digest of the address a request comes from, of IPv6 of its network: the address is not kept."""
    told = client_address(request).partition("%")[0]
    place = ip_network(f"{told}/64", strict=False) if ":" in told else told
    return salted_hmac(SALT, str(place)).hexdigest()
