"""Fixtures for every test, and what holds for all: loopback only, services only where they are."""

import gc
import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers

from tests import emptying, migrated
from tests.chromium import CHROMIUM_ARGUMENTS, WITHOUT_OPTIMISING, find_chromium

# How long an example takes depends on what else the machine does. A property has the same examples in every
# run, so that a change fails for what it changed; --hypothesis-profile=random looks for others. Without
# the next line, values would also come from the modules that are loaded, and so depend on the tests before.
providers._get_local_constants = providers.Constants
hypothesis_settings.register_profile(
    "arena",
    deadline=None,
    derandomize=True,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.register_profile("random", deadline=None, derandomize=False, print_blob=True)
hypothesis_settings.load_profile("arena")

FIRST = ("tests/judging/", "tests/services/", "tests/browser/test_every_page.py")
"""What waits for processes and endpoints, and what takes longest: at the end nothing would fill the time."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--second-database", action="store_true", help="only tests that depend on the database")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this pass is not about: services without a real broker, and most of a second pass."""
    second_database = config.getoption("--second-database")
    config.hook.pytest_deselected(items=[item for item in items if not _belongs(item, second_database)])
    items[:] = [item for item in items if _belongs(item, second_database)]
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over modules and tests, which stay to the end, and come less often."""
    gc.freeze()
    gc.set_threshold(10_000)


def _belongs(item: pytest.Item, second_database: bool) -> bool:
    if item.get_closest_marker("services"):
        return not settings.EMBEDDED_WORKER
    both = item.get_closest_marker("both_databases")
    return not second_database or (both is not None and both.args != (False,))


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Iterator[None]:
    """No test reaches beyond this machine, save for the services its environment names."""
    allowed = _service_addresses()
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def check(sock: socket.socket, address: Any) -> None:
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            host = address[0]
            if host not in allowed and not ipaddress.ip_address(_address(host)).is_loopback:
                raise AssertionError(f"a test wanted to connect to {host}; tests use loopback only")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        check(self, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        check(self, address)
        return connect_ex(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        yield


def _address(host: str) -> str:
    return "127.0.0.1" if host == "localhost" else host.partition("%")[0]


def _service_addresses() -> set[str]:
    names = {urlsplit(os.environ.get(name, "")).hostname for name in ("DATABASE_URL", "BROKER_URL")}
    names.discard(None)
    return {str(info[4][0]) for name in names for info in socket.getaddrinfo(name, None)} | {
        name for name in names if name
    }


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Whether a database that is there is taken as it is: one of SQLite goes with its folder."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    if connection.vendor == "sqlite":
        migrated.take(settings.DATABASES["default"]["TEST"]["NAME"])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    if connection.vendor == "sqlite":
        with django_db_blocker.unblock():
            connection.ensure_connection()
            migrated.keep(connection.connection)


@pytest.fixture(autouse=True, scope="session")
def _emptied_quickly() -> Iterator[None]:
    """Tests that commit leave an empty database behind without what Django does for it by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", emptying.tear_down)
        yield


@pytest.fixture(autouse=True)
def _worth_of_no_other_study() -> None:
    """Studies of other tests had the same ids."""
    from arena.rating import offering

    offering._worth.cache_clear()


@pytest.fixture(scope="module")
def shared_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A transaction around the tests of a module, for fixtures whose rows are made once and then shared.

    Each test's own transaction lies inside it, so no test sees what another one wrote. All that stays between
    them is what a fixture of the module returned: hand out copies (``copy.deepcopy``). Not for tests that
    commit.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of public data sets; tests that read it are skipped where it is absent."""
    folder = Path(os.environ.get("ARENA_REFERENCE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no reference data in {folder}; set ARENA_REFERENCE_DATA")
    return folder


@pytest.fixture(scope="session")
def judge_data(reference_data: Path) -> Path:
    """The folder of public data about judges, beside the other."""
    folder = reference_data.parent / "judge-data"
    if not folder.is_dir():
        pytest.skip(f"no data about judges in {folder}")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium (playwright, sync); tests that use it carry the marker `browser`."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium on PATH; set CHROMIUM")
    from playwright.sync_api import sync_playwright

    # Playwright runs an event loop in this thread, which Django would take for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        arguments = [*CHROMIUM_ARGUMENTS, WITHOUT_OPTIMISING]
        chromium = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def _context(browser: Any) -> Any:
    """One for all tests: its cache holds the scripts compiled, which takes longer than most tests."""
    return browser.new_context()


@pytest.fixture
def page(_context: Any) -> Iterator[Any]:
    """A page of a browser whose cookies, storage and permissions start empty."""
    page = _context.new_page()
    yield page
    _context.set_offline(False)
    _context.clear_permissions()
    stored = _context.new_cdp_session(page)
    used = {"origin": page.evaluate("origin"), "storageTypes": "all"}
    for each in _context.pages[1:]:
        each.close()
    page.goto("about:blank")  # a page may store something as it is left
    stored.send("Storage.clearDataForOrigin", used)
    _context.clear_cookies()
    page.close()


@pytest.fixture
def plain_page(page: Any) -> Any:
    """Another page of the same browser, in which no script runs."""
    plain = page.context.new_page()
    page.context.new_cdp_session(plain).send("Emulation.setScriptExecutionDisabled", {"value": True})
    return plain
