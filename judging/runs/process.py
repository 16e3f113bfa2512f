"""The name of this process among all that ever ask models."""

import os
import secrets
import socket
from functools import cache


def this_worker() -> str:
    return _name_of(os.getpid())


@cache
def _name_of(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{secrets.token_hex(4)}"
