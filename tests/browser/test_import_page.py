"""An operator imports data in a real browser: the content policy blocks nothing, axe finds nothing."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from arena.data.uploads import jobs
from arena.data.uploads import jobs as uploads_jobs
from arena.models import Comparison, Completion, ImportChunk, ImportJob, Study
from tests import factories
from tests.arena.data.formats.reading import write_lines
from tests.browser import watching
from tests.browser.conftest import is_complaint

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Page = Any
WORK: dict[str, Callable[[int], None]] = {"checking": uploads_jobs.check, "applying": uploads_jobs.apply}


@pytest.fixture
def worker(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, settings: Any, request: pytest.FixtureRequest
) -> Iterator[ThreadPoolExecutor]:
    """One thread that does what workers are asked for."""

    def work(job: int, state: str) -> None:
        try:
            WORK[state](job)
        finally:
            connections.close_all()

    backend = "django.core.cache.backends.locmem.LocMemCache"
    own = {"progress": {"BACKEND": backend, "LOCATION": request.node.nodeid}}
    settings.CACHES = settings.CACHES | own
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(jobs, "nudge", lambda job, state: pool.submit(work, job, state))
        yield pool


@pytest.fixture
def study(transactional_db: None) -> Study:
    return factories.make_study(name="Greetings")


@pytest.fixture
def complaints(page: Page) -> list[str]:
    said: list[str] = []
    page.on("console", lambda entry: said.append(entry.text) if is_complaint(entry) else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


@pytest.fixture
def address(page: Page, live_server: Any, admin_client: Client, study: Study) -> str:
    """The upload page, an operator signed in."""
    session = admin_client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    return f"{live_server.url}/operate/{study.slug}/import/"


def violations(page: Page, complaints: list[str]) -> list[str]:
    """What axe finds. It trips over the content policy: what the browser says while it runs is taken back."""
    said = len(complaints)
    found = watching.violations(page, "main")
    del complaints[said:]
    return found


def fits_a_phone(page: Page) -> bool:
    page.set_viewport_size({"width": 380, "height": 700})
    fits = bool(page.evaluate("document.documentElement.scrollWidth <= 380"))
    page.set_viewport_size({"width": 1280, "height": 800})
    return fits


def follow(page: Page, link: str) -> None:
    """Click a link and wait until the scripts of the page it leads to have run."""
    with page.expect_navigation():
        page.get_by_role("link", name=link, exact=True).click()


def check(page: Page) -> None:
    page.get_by_role("button", name="Check the files").click()
    page.wait_for_selector("[name=check]", state="attached")
    page.wait_for_load_state()


def apply(page: Page) -> None:
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="Next: invite raters").wait_for()


def test_upload_check_apply(
    page: Page, address: str, study: Study, worker: ThreadPoolExecutor, complaints: list[str], tmp_path: Path
) -> None:
    prompts = write_lines(tmp_path, "prompts.jsonl", {"id": "p1", "instruction": "Say hello."})
    broken = write_lines(tmp_path, "broken.csv", "prompt,contestant,text", "p1,A,Hello", "p9,A,Hi")
    good = write_lines(tmp_path, "completions.csv", "prompt,contestant,text", "p1,A,Hello", "p1,B,")
    page.goto(address.replace("import/", "prompts/"))
    follow(page, "Import")
    assert violations(page, complaints) == []
    page.get_by_label("Files").set_input_files([prompts, broken])
    assert "broken.csv (1 KB)" in page.inner_text("#import-chosen")
    check(page)
    assert 'unknown prompt "p9"; add it or correct its id' in page.inner_text("main")
    assert page.get_by_role("button", name="Apply").count() == 0
    assert violations(page, complaints) == []
    assert fits_a_phone(page)

    page.get_by_role("button", name="Cancel and upload other files").click()
    follow(page, "Upload other files")
    page.get_by_label("Files").set_input_files([prompts, good])
    check(page)
    assert violations(page, complaints) == []
    assert fits_a_phone(page)
    second_tab = page.context.new_page()
    second_tab.goto(page.url)
    apply(page)
    assert violations(page, complaints) == []
    assert fits_a_phone(page)
    second_tab.get_by_role("button", name="Apply").click()
    second_tab.get_by_role("link", name="Next: invite raters").wait_for()
    assert Completion.objects.filter(prompt__study=study).count() == 2
    worker.submit(int).result()  # it has thrown the files away when it is free again
    assert not ImportChunk.objects.exists()
    page.goto(address)
    assert "Imported" in page.get_by_role("table", name="Recent imports").inner_text()
    assert violations(page, complaints) == []
    assert fits_a_phone(page)
    assert complaints == []


def test_columns_of_a_foreign_table(
    page: Page, address: str, study: Study, worker: Any, complaints: list[str], tmp_path: Path
) -> None:
    votes = write_lines(tmp_path, "votes.csv", "gauche,droite,gagnant", "A,B,gauche", "B,A,nul")
    page.goto(address)
    page.get_by_label("Files").set_input_files(votes)
    check(page)
    page.get_by_text("Which column is the prompt?").wait_for()
    assert violations(page, complaints) == []
    assert fits_a_phone(page)
    page.get_by_text("How the file is read").click()
    chosen = page.get_by_label("A row is")
    page.get_by_label("Format").select_option("Detect")
    assert not chosen.is_visible()
    page.get_by_label("Format").select_option("Spreadsheet")
    page.get_by_label("What droite is").select_option("The prompt's text")
    chosen.select_option("comparisons")
    assert page.get_by_label("What droite is").input_value() == "instruction"
    assert violations(page, complaints) == []
    assert fits_a_phone(page)
    for field, column in {"first": "gauche", "second": "droite", "winner": "gagnant"}.items():
        page.get_by_label(f"What {column} is").select_option(field)
    page.get_by_label("Rater", exact=True).fill("crowd")
    assert violations(page, complaints) == []
    page.get_by_role("button", name="Check the files").click()
    page.get_by_label("meaning of gauche").select_option("the first is better")
    page.get_by_label("meaning of nul").select_option("a tie")
    assert violations(page, complaints) == []
    assert fits_a_phone(page)
    page.get_by_role("button", name="Check again").click()
    page.get_by_role("button", name="Apply").wait_for()
    apply(page)
    assert sorted(Comparison.objects.values_list("rating", "rater__slug")) == [(1, "crowd"), (2, "crowd")]
    assert complaints == []


def test_columns_are_guessed_anew_for_another_kind_of_rows(
    page: Page, address: str, worker: Any, complaints: list[str]
) -> None:
    page.goto(address)
    page.get_by_label("Or paste text").fill("prompt,question,labels,farbe\nr1,Is it short?,format,rot\n")
    page.get_by_role("button", name="Check the files").click()
    page.get_by_text("How the file is read").wait_for()
    kind = page.get_by_label("A row is")
    if not kind.is_visible():
        page.get_by_text("How the file is read").click()
    kind.select_option("prompts")
    kind.select_option("questions")
    chosen = [page.get_by_label(f"What {name} is").input_value() for name in ("prompt", "question", "labels")]
    assert chosen == ["prompt", "text", "labels"]
    assert page.get_by_label("What farbe is").input_value() == ""
    assert complaints == []


def test_paste_and_cancel(page: Page, address: str, worker: Any, complaints: list[str]) -> None:
    page.goto(address)
    page.get_by_role("button", name="Check the files").click()
    page.get_by_text("Choose at least one file, or paste text.").wait_for()
    page.get_by_label("Or paste text").fill('{"id": "p1", "instruction": "Say hello."}')
    check(page)
    assert "pasted.jsonl" in page.text_content("main")
    page.get_by_role("button", name="Cancel and upload other files").click()
    page.get_by_text("Nothing was imported.").wait_for()
    assert ImportJob.objects.get().state == ImportJob.State.CANCELLED
    page.goto(address)
    row = f"p1,A,{'Hello ' * 2_000}\n"
    text = f"prompt,contestant,text\n{row * 120}"  # more than a form takes as text
    page.get_by_label("Or paste text").evaluate("(area, text) => { area.value = text }", text)
    check(page)
    assert ImportJob.objects.latest("pk").files.get().size == len(text)
    assert complaints == []


def test_cancel_while_a_worker_is_busy(
    page: Page, address: str, worker: ThreadPoolExecutor, complaints: list[str]
) -> None:
    busy = Event()
    worker.submit(busy.wait, 60)
    page.goto(address)
    page.get_by_label("Or paste text").fill('{"id": "p1", "instruction": "Say hello."}')
    page.get_by_role("button", name="Check the files").click()
    page.get_by_text("Waiting for a worker.").wait_for()
    assert violations(page, complaints) == []
    page.reload()
    page.get_by_text("Waiting for a worker.").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Nothing was imported.").wait_for()
    busy.set()
    assert complaints == []


def test_dropped_files(page: Page, address: str, worker: Any, complaints: list[str]) -> None:
    page.goto(address)
    page.evaluate(
        """() => {
            const dropped = new DataTransfer();
            dropped.items.add(new File(['{"id": "p1", "instruction": "Say hello."}'], "dropped.jsonl"));
            const drop = new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true });
            document.getElementById("import-drop").dispatchEvent(drop);
        }"""
    )
    assert "dropped.jsonl (1 KB)" in page.inner_text("#import-chosen")
    check(page)
    assert "You can import 1 record." in page.inner_text("main")
    assert complaints == []


def test_too_much_is_refused_before_it_is_sent(
    page: Page, address: str, settings: Any, worker: Any, tmp_path: Path
) -> None:
    settings.IMPORT_MAX_MB = 1
    page.goto(address)
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * 1024 * 1024 * 2)
    page.get_by_label("Files").set_input_files(large)
    page.get_by_text("These files have 2.0 MB together. You can upload at most 1.0 MB at a time.").wait_for()
    page.get_by_role("button", name="Check the files").click()
    assert not ImportJob.objects.exists()


def test_without_scripts(plain_page: Page, address: str, page: Page, worker: Any, study: Study) -> None:
    plain_page.goto(address)
    plain_page.get_by_label("Or paste text").fill('{"id": "p1", "instruction": "Say hello."}')
    plain_page.get_by_role("button", name="Check the files").click()
    plain_page.get_by_role("button", name="Apply").wait_for()
    plain_page.get_by_role("button", name="Apply").click()
    plain_page.get_by_role("link", name="Next: invite raters").wait_for()
    assert study.prompts.count() == 1
