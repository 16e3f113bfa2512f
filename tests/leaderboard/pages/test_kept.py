"""Pages that are kept for everybody: who gets them, when they are rendered anew, how they are sent."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from arena.audit.recording import record
from arena.models import Contestant, Study, StudyEvent
from arena.models.querysets import MAY_COME_LATE
from arena.people.anonymising import anonymise
from arena.studies.changes import store
from arena.studies.lifecycle import decide
from judging.judges.services import configure_judge
from judging.panels.services import create_panel
from leaderboard.models import Snapshot
from leaderboard.pages import kept
from leaderboard.pages.marks import Marks
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import text
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

BOARD = "/studies/small/"
PAGES = (
    "/",
    BOARD,
    "/studies/small/agreement/",
    "/studies/small/contestants/alpha/",
    "/studies/small/standings.json",
    "/studies/small/tables/standings.csv",
    "/studies/small/releases/",
)


@pytest.fixture(autouse=True)
def keeping(settings):
    settings.PAGE_CACHE_MB = 1


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    made = HandMade("alpha", "beta", "gamma", slug="small", categories=("coding", "poems"))
    Contestant.objects.filter(name="alpha").update(slug="alpha")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "gamma", 2)
    made.rate("alpha", "gamma", 4, prompt=1)
    made.rate("beta", "alpha", 2, rater=made.judge("strict"))
    services.refresh(made.study)
    return made


def queries(client, address, **more):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address, **more).status_code == 200
    return len(captured)


@pytest.mark.both_databases
@pytest.mark.parametrize("address", PAGES)
def test_the_second_reader_gets_the_same_page_for_one_query(client, made, address):
    first = client.get(address)
    assert queries(client, address) == 1
    second = client.get(address)
    assert second.content == first.content
    assert second.headers.pop("X-Request-ID") != first.headers.pop("X-Request-ID")
    assert dict(second.items()) == dict(first.items())
    assert second.wsgi_request.resolver_match.view_name == first.wsgi_request.resolver_match.view_name
    assert second["Cache-Control"] == "private, no-cache"
    assert {"Accept-Encoding", "Cookie"} <= set(second["Vary"].split(", "))
    assert "Content-Security-Policy" in second
    assert second["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("address", PAGES)
def test_a_study_made_private_is_gone_at_once(client, made, address):
    assert b"alpha" in client.get(address).content or "releases" in address
    Study.objects.update(visibility="private")
    response = client.get(address)
    if address == "/":
        assert "small" not in text(response)
    else:
        assert response.status_code == 404
    Study.objects.update(visibility="public")
    assert client.get(address).status_code == 200


def test_a_private_study_is_shown_to_its_operators_alone_and_never_kept(client, made):
    Study.objects.update(visibility="private")
    staff = factories.make_user(is_staff=True)
    for address in PAGES:
        client.force_login(staff)
        assert client.get(address).status_code == 200
        client.logout()
        assert client.get(address).status_code == (200 if address == "/" else 404)
        assert "beta" not in client.get(address).content.decode()


def test_no_view_keeps_a_study_that_not_everybody_may_see(made):
    """Whatever is added to the addresses: nothing is kept without a mark, and this has none."""
    asked = {read.__self__ for read in kept.MARKS.values()}
    of_a_study = [marks for marks in asked if isinstance(marks, Marks)]
    assert len(asked) == len(of_a_study) + 1, "the first page alone is about several studies"
    for marks in of_a_study:
        assert marks.for_everybody("small", contestant="alpha") is not None
        assert marks.for_everybody("unknown") is None
    Study.objects.update(visibility="private")
    assert {marks.for_everybody("small") for marks in of_a_study} == {None}
    Study.objects.update(visibility="public")
    Snapshot.objects.all().delete()
    assert {marks.for_everybody("small") for marks in of_a_study} == {None}


def test_nothing_of_who_is_signed_in_comes_from_it(client, made):
    person = factories.make_user(username="grace", is_staff=True)
    client.force_login(person)
    for address in PAGES[:4]:
        own = text(client.get(address))
        assert "grace" in own
        assert queries(client, address) > 1
    session = client.cookies.pop(django_settings.SESSION_COOKIE_NAME)
    for address in PAGES[:4]:
        page = text(client.get(address))
        assert "grace" not in page
        assert "csrf" not in page.lower()
    client.cookies[django_settings.SESSION_COOKIE_NAME] = session.value
    assert "grace" in text(client.get(BOARD))


@pytest.mark.parametrize(
    "sign",
    [
        {"headers": {"Cookie": "sessionid=unknown"}},
        {"headers": {"Cookie": "messages=unreadable"}},
        {"headers": {"Authorization": "Bearer unknown"}},
        {"headers": {"HX-Request": "something"}},
        {"headers": {"Cookie": "a; =; sessionid =x; b=c"}},
        {"headers": {"Cookie": 'csrftoken="\\"; sessionid="x'}},
    ],
)
def test_whoever_shows_a_sign_of_their_own_gets_a_page_of_their_own(client, made, sign):
    client.get(BOARD)
    assert queries(client, BOARD, **sign) > 1
    client.cookies.clear()
    assert queries(client, BOARD) == 1


def test_a_cookie_of_a_form_does_not_matter(client, made):
    client.cookies["csrftoken"] = "x" * 32
    client.get(BOARD)
    assert queries(client, BOARD) == 1


def renamed(study, name):
    study.name = name
    assert store(study, factories.make_user(is_staff=True), ["name"]) == ["name"]


def changes(made):
    judges = [factories.make_judge() for _ in range(2)]
    wanted = factories.judge_with(max_tokens=7)
    yield "a snapshot", lambda: services.refresh(made.study)
    yield "a name", lambda: renamed(made.study, "Renamed")
    yield "a judge", lambda: factories.make_judge(slug="new")
    yield "a setting of a judge", lambda: configure_judge(judges[0], "Changed", wanted)
    yield "a panel", lambda: create_panel("panel", "Panel", "majority", judges)
    yield "a model", lambda: [Contestant.objects.update(organisation="Lab"), made.study.touch()]
    yield "the close", lambda: decide(made.study, StudyEvent.Kind.CLOSED, None)
    yield "a rating, now that it is closed", lambda: made.rate("alpha", "beta", 1)


@pytest.mark.both_databases
def test_what_changes_shows_at_once_also_where_another_process_changed_it(client, made):
    addresses = (BOARD, "/studies/small/agreement/", "/studies/small/standings.json")
    for what, change in changes(made):
        for address in addresses:
            client.get(address)
        if not made.study.is_closed:
            made.rate("alpha", "beta", 3)
        record(StudyEvent.Kind.SIGN_IN_FAILED, None)
        for address in addresses:
            assert queries(client, address) == 1, "that changes nothing that is published"
        change()
        for address in addresses:
            assert queries(client, address) > 1, what
    assert "Renamed" in text(client.get(BOARD))
    assert "Renamed" in text(client.get("/"))


def log(numbers, kind):
    StudyEvent.objects.bulk_create(StudyEvent(pk=number, kind=kind) for number in numbers)


@pytest.mark.both_databases
def test_a_line_of_the_log_counts_that_is_stored_after_many_later_ones(made):
    late = record(StudyEvent.Kind.JUDGE, None).pk + 1
    log(range(late + 1, late + 1200), StudyEvent.Kind.SIGN_IN_FAILED)
    log(range(late + 1200, late + 1200 + MAY_COME_LATE - 1), StudyEvent.Kind.JUDGE)
    before = Marks().of("small")
    log([late], StudyEvent.Kind.JUDGE)
    assert Marks().of("small") > before, "of all acts it is number 1,000 from the end"


def test_a_comment_that_its_writer_removes_is_gone_at_once(client, made):
    """Also for a browser that knows the page; the numbers stay as they are."""
    said = made.rate("alpha", "beta", 3, rationale="I am the one.")
    Study.objects.update(closed_at=made.study.created_at)
    address = f"/studies/small/comparisons/{said.pair_id}/"
    staff = factories.make_client(factories.make_user(is_staff=True))
    for reader in (client, staff):
        before = reader.get(address)
        assert "I am the one." in text(before)
        reader.defaults["HTTP_IF_NONE_MATCH"] = before["ETag"]
    anonymise(said.rater, None, keep_comments=False)
    for reader in (client, staff):
        assert "I am the one." not in text(reader.get(address))


@pytest.mark.both_databases
def test_what_changes_while_a_page_is_rendered_is_not_kept(client, made, monkeypatch):
    real = kept.Kept.of

    read = Snapshot.objects.opened

    def slowly(study):
        found = read(study)
        renamed(Study.objects.get(pk=study.pk), "Renamed meanwhile")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Snapshot.objects, "opened", slowly)
        patch.setattr(kept.Kept, "of", lambda *given: pytest.fail("kept"))
        client.get(BOARD)
    assert kept.Kept.of == real
    assert "Renamed meanwhile" in text(client.get(BOARD))


def test_errors_redirects_and_pages_that_wait_are_not_kept(client, made):
    HandMade("one", slug="empty")
    for address, status in (
        ("/studies/unknown/", 404),
        ("/studies/small/?method=unknown", 404),
        ("/studies/small/computing/", 302),
        ("/studies/empty/", 200),
        ("/studies/small/?level=90.5", 200),
    ):
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                assert client.get(address).status_code == status
            assert len(captured) > 1, address


def test_a_page_with_the_token_of_a_form_is_not_kept(monkeypatch):
    def view(request):
        return HttpResponse(get_token(request))

    monkeypatch.setitem(kept.MARKS, view, lambda: ("public",))
    middleware = Direct(view)
    for _ in range(2):
        middleware.rendered = 0
        response = middleware.get("/form/")
        assert middleware.rendered == 1
    assert response.cookies


def test_head_and_what_a_browser_has(client, made):
    page = client.get(BOARD)
    head = client.head(BOARD)
    assert head.content == b""
    assert (head["Content-Length"], head["ETag"]) == (page["Content-Length"], page["ETag"])
    assert page["ETag"].startswith('W/"')
    for known in (page["ETag"], page["ETag"].removeprefix("W/"), f'"other", {page["ETag"]}', "*"):
        response = client.get(BOARD, headers={"If-None-Match": known})
        assert (response.status_code, response.content) == (304, b"")
        assert response["ETag"] == page["ETag"]
        assert response["Cache-Control"] == "private, no-cache"
    assert client.get(BOARD, headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get("/studies/small/agreement/", headers={"If-None-Match": page["ETag"]}).status_code == 200


def test_a_browser_that_knows_the_page_gets_304_from_a_process_that_renders_it_first(client, made):
    known = client.get(BOARD)["ETag"]
    client.handler.load_middleware()
    assert client.get(BOARD, headers={"If-None-Match": known}).status_code == 304
    client.handler.load_middleware()
    assert client.head(BOARD).content == b""
    assert client.get(BOARD).content, "whoever asks first with HEAD has it kept whole"


def test_it_is_compressed_once_for_whoever_reads_that(client, made):
    plain = client.get(BOARD)
    packed = [client.get(BOARD, headers={"Accept-Encoding": "gzip, br"}) for _ in range(2)]
    assert "Content-Encoding" not in plain
    assert packed[0]["Content-Encoding"] == "gzip"
    assert packed[0].content == packed[1].content
    assert int(packed[0]["Content-Length"]) == len(packed[0].content) < len(plain.content) / 2
    assert gzip.decompress(packed[0].content) == plain.content
    assert packed[0]["ETag"] == plain["ETag"]


def test_a_part_of_a_page_is_another_page(client, made):
    address = "/studies/small/tables/standings/"
    whole, part = client.get(address), client.get(address, headers={"HX-Request": "true"})
    assert len(part.content) < len(whole.content)
    assert client.get(address).content == whole.content
    assert client.get(address, headers={"HX-Request": "true"}).content == part.content


def test_other_names_of_the_site_and_http_are_other_pages(client, made, settings):
    settings.ALLOWED_HOSTS = ["testserver", "other.example"]
    client.get("/studies/small/results/")
    for more in ({"headers": {"Host": "other.example"}}, {"secure": True}):
        page = text(client.get("/studies/small/results/", **more))
        address = "https://testserver" if "secure" in more else "http://other.example"
        assert f"{address}/studies/small/" in page
    assert client.get(BOARD, headers={"Host": "evil.example"}).status_code == 400


def test_a_query_in_other_bytes_is_another_page(made):
    places = [
        kept._place(RequestFactory().get(BOARD, QUERY_STRING=query))
        for query in ("category=\xc3\xa9", "category=%C3%A9", "category=%C3%83%C2%A9", "category=%c3%a9", "")
    ]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-Host": "evil.example"},
        {"Forwarded": "host=evil.example;proto=https", "X-Forwarded-Proto": "https", "X-Forwarded-Port": "1"},
        {"X-Original-URL": "/evil.example/", "X-Rewrite-URL": "/evil.example/"},
        {"Accept-Language": "evil.example", "Accept": "evil.example", "X-Requested-With": "evil.example"},
        {"X-Request-ID": "evil.example", "User-Agent": "evil.example", "Referer": "http://evil.example/"},
        {"HX-Boosted": "true", "HX-Target": "evil.example", "HX-Current-URL": "http://evil.example/"},
        {"X-HTTP-Method-Override": "POST", "Range": "bytes=0-5", "Origin": "http://evil.example"},
        {"Cookie": "csrftoken=evil.example; anything=evil.example"},
    ],
)
def test_whatever_the_first_reader_sends_the_second_gets_the_usual_page(client, made, headers):
    usual = client.get("/studies/small/results/")
    client.handler.load_middleware()
    poisoned = client.get("/studies/small/results/", headers=headers)
    assert client.get("/studies/small/results/").content == usual.content == poisoned.content
    assert "evil.example" not in str(client.get("/studies/small/results/").headers)


def test_a_flood_of_queries_takes_no_more_memory_and_drives_out_no_page(client, made):
    client.get("/studies/small/agreement/")
    room = kept.Pages(100_000)
    page = kept.Kept(("public",), lambda: None, {}, b"x" * 5_000, False)
    for number in range(1_000):
        room.put((f"/?x={number}",), page)
    assert len(room) == 100_000 // (5_000 + len("/?x=999") + kept.OVERHEAD)
    assert room.size <= 100_000
    assert room.get(("/?x=0",)) is None
    assert room.get(("/?x=999",)) is page
    room.put((f"/?{'x' * 99_000}",), page)
    assert room.size == 0, "a query counts as much as a page"
    room.put(("/?x=999",), kept.Kept(("public",), lambda: None, {}, b"x" * 200_000, False))
    assert room.size == 0, "larger than all the room"
    for number in range(30):
        client.get(f"/studies/small/agreement/?x={number}")
    assert queries(client, "/studies/small/agreement/?x=29") == 1
    assert queries(client, "/studies/small/agreement/") == 1


def test_without_room_every_page_is_rendered(client, made, settings):
    settings.PAGE_CACHE_MB = 0
    client.get(BOARD)
    assert queries(client, BOARD) > 1


class Direct(kept.KeptPagesMiddleware):
    """The middleware around a single view, without others."""

    def __init__(self, view):
        self.rendered = 0
        self.view = view
        super().__init__(self.answer)

    def answer(self, request):
        found = self.process_view(request, self.view, (), {})
        if found is None:
            self.rendered += 1
            found = self.view(request)
            if request.META.get("CSRF_COOKIE_NEEDS_UPDATE"):
                found.set_cookie("csrftoken", "secret")
        return found

    def get(self, address):
        return self(RequestFactory().get(address))


def test_a_stampede_renders_a_page_once(monkeypatch):
    mark = ["first"]

    def view(request):
        sleep(0.05)
        return HttpResponse(f"{mark[0]} {request.path}")

    monkeypatch.setitem(kept.MARKS, view, lambda: (mark[0],))
    middleware = Direct(view)
    with ThreadPoolExecutor(50) as pool:
        for name in ("first", "second"):
            mark[0] = name
            pages = list(pool.map(middleware.get, ["/one/", "/two/"] * 100))
            assert {page.content for page in pages} == {f"{name} /one/".encode(), f"{name} /two/".encode()}
    assert middleware.rendered == 4


def test_a_view_that_fails_lets_others_try(monkeypatch):
    def view(request):
        raise OperationalError("database is locked")

    monkeypatch.setitem(kept.MARKS, view, lambda: ("public",))
    middleware = Direct(view)
    for _ in range(2):
        with pytest.raises(OperationalError):
            middleware.get("/")
    assert middleware.rendered == 2


@pytest.mark.both_databases
def test_a_database_that_is_away_is_said_by_the_page(client, made, monkeypatch):
    client.get(BOARD)

    def away(*given):
        raise OperationalError("database is locked")

    monkeypatch.setattr("leaderboard.pages.marks.Marks.of", away)
    monkeypatch.setattr("leaderboard.pages.shell.visible", away)
    response = client.get(BOARD)
    assert response.status_code == 503
    assert "busy" in response.content.decode()
