"""What limits strangers: work that a browser proves, and a digest of where it comes from."""

import hashlib
from ipaddress import ip_network

from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from arena.process.addresses import client_address


def is_proven(token: str, answer: str, bits: int) -> bool:
    """Tell whether the digest of token and answer begins with so many bits of zero.

    To find such an answer, a browser tries about 2 to the power of so many.
    """
    digest = hashlib.sha256(f"{token}:{answer}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest) >> (8 * len(digest) - bits) == 0


def origin_of(request: HttpRequest, salt: str) -> str:
    """A keyed digest of the address a request comes from, of IPv6 of its network: the address is not kept."""
    told = client_address(request).partition("%")[0]
    place = ip_network(f"{told}/64", strict=False) if ":" in told else told
    return salted_hmac(salt, str(place)).hexdigest()
