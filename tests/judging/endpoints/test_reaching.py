"""Which addresses a request of a judge can reach, what it carries, and that it ends."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from judging.endpoints import openai_client
from judging.endpoints.client import NoReplyError, Request
from judging.endpoints.openai_client import OpenAIClient
from judging.endpoints.reaching import RefusedAddressError, check_address
from tests.judging.endpoints.server import ChatServer

QUESTION = [{"role": "user", "content": "x"}]
EVERYWHERE = """
http://169.254.169.254 http://[fe80::1] http://[fd00:ec2::254] http://[::ffff:169.254.169.254]
http://[64:ff9b::a9fe:a9fe] http://[2002:a9fe:a9fe::1] http://metadata.google.internal
http://METADATA.google.internal. http://168.63.129.16 http://192.0.0.192 http://[::169.254.169.254]
http://[::ffff:0:169.254.169.254] http://[64:ff9b:1::a9fe:a9fe] 100.100.100.200 http://224.0.0.1
""".split()  # noqa: SIM905 - easier to read
IN_PRODUCTION = """
127.0.0.1 [::1] [::ffff:127.0.0.1] [::127.0.0.1] 10.1.2.3 192.168.0.1 172.16.0.1 100.64.0.1 0.0.0.0
[fd12::1] [fec0::1] [3fff::1] [3fff:fff:ffff::1] [5f00::1] [4000::1] [100::1] [200::1] [2001::1]
[2001:1ff::1] [2001:db8::1] [2002:a01:203::1] [64:ff9b::a01:203] 192.0.0.8 192.88.99.1 198.18.0.1
203.0.113.1 240.0.0.1 255.255.255.255 http://api.example.com
""".split()  # noqa: SIM905


def url_of(host: str) -> str:
    return f"{host if host.startswith('http') else f'https://{host}'}/v1"


def ask(url: str, timeout: float = 5.0, key: str = "none") -> str:
    return OpenAIClient(url, key).ask(Request("loopback", QUESTION, timeout)).text


def failed(url: str, timeout: float = 5.0) -> NoReplyError:
    with pytest.raises(NoReplyError) as error:
        ask(url, timeout)
    return error.value


@pytest.fixture
def production(settings: Any) -> Any:
    settings.PRODUCTION = True
    return settings


@pytest.mark.parametrize("url", [url_of(host) for host in EVERYWHERE])
def test_no_judge_asks_for_the_credentials_of_the_machine(settings: Any, url: str) -> None:
    for named in ([], [url], [url.split("/")[2]]):
        settings.JUDGE_ENDPOINTS = named
        with pytest.raises(RefusedAddressError, match="the machine's own network"):
            check_address(url)


@pytest.mark.parametrize("url", [url_of(host) for host in IN_PRODUCTION])
def test_in_production_private_addresses_must_be_named(settings: Any, url: str) -> None:
    check_address(url)
    settings.PRODUCTION = True
    with pytest.raises(RefusedAddressError, match="JUDGE_ENDPOINTS"):
        check_address(url)
    settings.JUDGE_ENDPOINTS = [url]
    check_address(url)
    check_address(f"{url}/more")


PUBLIC = ["1.1.1.1", "100.63.255.255", "172.32.0.1", "198.20.0.1", "[2001:200::1]", "[2606:4700::1111]"]


@pytest.mark.parametrize("host", [*PUBLIC, "[2a00::1]"])
def test_public_addresses_need_no_name(production: Any, host: str) -> None:
    check_address(f"https://{host}/v1")


@pytest.mark.parametrize(
    ("entry", "url", "allowed"),
    [
        ("api.example.com", "https://api.example.com/v1", True),
        ("API.example.com", "https://api.EXAMPLE.com/v1", True),
        ("api.example.com", "https://api.example.com.evil.org/v1", False),
        ("api.example.com", "https://evil.org/api.example.com", False),
        ("api.example.com:8443", "https://api.example.com:8443/v1", True),
        ("api.example.com:8443", "https://api.example.com/v1", False),
        ("https://api.example.com/v1", "https://api.example.com/v1/", True),
        ("https://api.example.com/v1", "https://api.example.com:443/v1/eu", True),
        ("https://api.example.com/v1", "https://api.example.com/v10", False),
        ("https://api.example.com/v1", "http://api.example.com/v1", False),
        ("https://api.example.com/v1", "https://api.example.com/v1/%2e%2e/admin", False),
    ],
)
def test_where_endpoints_are_named_no_other_is_asked(
    settings: Any, entry: str, url: str, allowed: bool
) -> None:
    settings.JUDGE_ENDPOINTS = ["other.example", entry]
    if allowed:
        check_address(url)
        return
    with pytest.raises(RefusedAddressError):
        check_address(url)


@contextmanager
def resolving(monkeypatch: pytest.MonkeyPatch, *answers: str) -> Iterator[list[str]]:
    """judge.example resolves to one of these after the other; the list holds each look-up of it."""
    real, asked = socket.getaddrinfo, []

    def resolve(host: str, port: int, *rest: Any, **options: Any) -> Any:
        if host == "judge.example":
            asked.append(answers[min(len(asked), len(answers) - 1)])
            host = asked[-1]
        return real(host, port, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", resolve)
        yield asked


def test_a_name_is_resolved_once_and_checked_where_it_leads(
    model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = model.url.replace("127.0.0.1", "judge.example")
    with resolving(monkeypatch, "127.0.0.1", "169.254.169.254") as asked:
        assert ask(url).startswith("5")
    assert asked == ["127.0.0.1"]
    with resolving(monkeypatch, "169.254.169.254", "127.0.0.1") as asked:
        error = failed(url.replace("/v1", "/v2"))
    assert (error.kind, error.retryable, asked) == ("configuration", False, ["169.254.169.254"])
    assert str(error).startswith("judge.example is an address of the machine's own network")


def test_in_production_no_name_leads_to_the_machine_unless_it_is_named(
    model: ChatServer, production: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = model.url.replace("http://127.0.0.1", "https://judge.example")
    with resolving(monkeypatch, "127.0.0.1"):
        assert str(failed(url)).startswith("judge.example is a private address.")
    production.JUDGE_ENDPOINTS = ["judge.example"]
    with resolving(monkeypatch, "127.0.0.1"):
        assert ask(url.replace("https", "http")).startswith("5")
    assert len(model.requests) == 1


def test_a_request_carries_nothing_of_the_environment(
    model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    openai_client.connect.cache_clear()
    assert ask(model.url, key="sk-mine").startswith("5")
    sent = {name.lower(): value for name, value in model.headers[-1].items()}
    assert sent["authorization"] == "Bearer sk-mine"
    assert set(sent) == {
        *("host", "accept", "accept-encoding", "content-type", "content-length"),
        *("user-agent", "authorization"),
    }


@contextmanager
def dripping(*, pieces: bytes, pause: float) -> Iterator[str]:
    """A server that sends one byte after the other, and then is silent; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=drip, args=(connection,), daemon=True).start()

        def drip(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                for place in range(len(pieces)):
                    connection.sendall(pieces[place : place + 1])
                    time.sleep(pause)
                time.sleep(10)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n"


@pytest.mark.parametrize(
    ("scheme", "pieces"),
    [
        ("http", b""),
        ("http", HEAD + b"X-More: yes\r\n" * 1000),
        ("http", HEAD + b"\r\n" + b" " * 4000),
        ("https", b""),
        ("https", b"\x16\x03\x03\x40\x00" + b"\x02" * 4000),
    ],
    ids=["silence", "headers in drops", "a body in drops", "a silent handshake", "a handshake in drops"],
)
def test_one_deadline_holds_from_connecting_to_the_last_byte(scheme: str, pieces: bytes) -> None:
    with dripping(pieces=pieces, pause=0.05) as place:
        started = time.monotonic()
        error = failed(f"{scheme}://{place}/v1", timeout=0.6)
    assert error.kind in ("timeout", "unreachable")
    assert 0.5 < time.monotonic() - started < 3
