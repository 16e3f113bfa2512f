"""The one retry layer: how long to wait before asking again. Pure.

Waiting itself is done by the queue: the time is stored with the work and no thread sleeps.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from judging.llm.client import NoReplyError


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently to ask. Times are in seconds."""

    attempts: int
    base: float
    cap: float

    def next_try(
        self, error: NoReplyError, failures: int, now: datetime, rng: random.Random
    ) -> datetime | None:
        """When to ask again after ``failures`` failed attempts; None to give up.

        Exponential backoff with full jitter on its upper half. A Retry-After of the endpoint is a lower
        bound, up to the cap.
        """
        if not error.retryable or failures >= self.attempts:
            return None
        backoff = min(self.cap, self.base * 2 ** (failures - 1)) * rng.uniform(0.5, 1)
        asked = min(self.cap, retry_after_seconds(error.retry_after, now))
        return now + timedelta(seconds=max(backoff, asked))


def retry_after_seconds(header: str, now: datetime) -> float:
    """Seconds to wait by a Retry-After header, a number of seconds or an HTTP date; 0 if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            when = parsedate_to_datetime(header)
        except (ValueError, OverflowError):  # a time zone of many digits is too large for the parser
            return 0.0
        seconds = (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds()
    return seconds if 0 < seconds < float("inf") else 0.0
