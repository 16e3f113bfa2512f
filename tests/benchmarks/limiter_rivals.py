"""Prints what it costs to decide whether a judge's call may start, with our limiter and with libraries.

    pip install limits==5.8.0 pyrate-limiter==4.5.1 pybreaker==1.4.1
    python -m tests.benchmarks.limiter_rivals

Ours checks requests and tokens per minute, calls at once and the circuit, and notes the end of the call. The
libraries check one of these each.
"""

import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")

import pybreaker
import redis
from limits import RateLimitItemPerMinute, storage, strategies
from pyrate_limiter import Duration, InMemoryBucket, Limiter, Rate, RedisBucket

from judging.endpoints import limits
from tests.services.servers import start_redis

LIMITS = limits.Limits(10_000, 10**8, 10**9)
CALLS = 1024
TOKENS = 500


def microseconds(step, calls):
    """For each call, where a step is about so many of them."""
    started = time.perf_counter()
    for number in range(CALLS // calls):
        step(number)
    return 1e6 * (time.perf_counter() - started) / CALLS


def ours(store, together):
    limiter = limits.Limiter(store)

    def step(number):
        calls = [
            limits.StartingCall("j", "e", f"{number}/{one}", LIMITS, TOKENS, 60.0) for one in range(together)
        ]
        limiter.start(calls)
        limiter.end([limits.EndedCall(call, tokens=TOKENS) for call in calls])

    return microseconds(step, together)


def sliding_window(kept):
    window = strategies.SlidingWindowCounterRateLimiter(kept)
    requests, tokens = RateLimitItemPerMinute(10**8), RateLimitItemPerMinute(10**9)
    return microseconds(lambda _: (window.hit(requests, "j"), window.hit(tokens, "t", cost=TOKENS)), 1)


def leaky_bucket(bucket):
    requests, tokens = Limiter(bucket("j")), Limiter(bucket("t"))
    return microseconds(lambda _: (requests.try_acquire("j"), tokens.try_acquire("t", weight=TOKENS)), 1)


def breaker(kept):
    circuit = pybreaker.CircuitBreaker(fail_max=5, reset_timeout=5, state_storage=kept)
    return microseconds(lambda _: circuit.call(int), 1)


def main():
    with tempfile.TemporaryDirectory(prefix="limits-") as folder:
        socket = Path(folder) / "redis.sock"
        server = start_redis(socket)
        client = redis.Redis(unix_socket_path=str(socket))
        rates = [Rate(10**9, Duration.MINUTE)]
        shared = limits.RedisStore(f"redis+socket://{socket}")
        rows = [
            (f"ours, {count} calls at once", ours(limits.MemoryStore(), count), ours(shared, count))
            for count in (1, 16, 64)
        ]
        rows += [
            (
                "limits: requests and tokens",
                sliding_window(storage.MemoryStorage()),
                sliding_window(storage.RedisStorage(f"redis+unix://{socket}")),
            ),
            (
                "pyrate-limiter: requests and tokens",
                leaky_bucket(lambda name: InMemoryBucket(rates)),
                leaky_bucket(lambda name: RedisBucket.init(rates, client, name)),
            ),
            (
                "pybreaker: circuit",
                breaker(pybreaker.CircuitMemoryStorage(pybreaker.STATE_CLOSED)),
                breaker(pybreaker.CircuitRedisStorage(pybreaker.STATE_CLOSED, client)),
            ),
        ]
        server.terminate()
        server.wait()
    for name, memory, in_redis in rows:
        print(f"{name:38}{memory:8.0f} µs in memory{in_redis:8.0f} µs in Redis")


if __name__ == "__main__":
    main()
