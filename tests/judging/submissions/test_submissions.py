"""From a proposal to the leaderboard: what strangers may send, who decides, and what is done then."""

import hashlib
import re
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.data.importing.import_report import ImportReport
from arena.data.uploads import jobs
from arena.models import Completion, Contestant, ImportChunk, ImportJob, Prompt, Role, Study, StudyEvent
from arena.process.proof import origin_of
from judging.judges.services import JudgeError
from judging.models import Author, Endpoint, JudgeRun, Submission, WritingRun
from judging.submissions import proof, services
from judging.writing.services import door
from leaderboard.refreshing import services as snapshots
from leaderboard.standings.page import Board
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.working import work_off

PAGE = "/studies/rivers/evaluate/"
QUEUE = "/operate/rivers/proposals/"


@pytest.fixture(autouse=True)
def study(db: None, settings: Any) -> Study:
    settings.SENDS_MAIL, settings.PUBLIC_URL = True, "https://arena.example"
    return make.make_small_study(
        prompts=3, contestants=2, slug="rivers", name="Rivers", takes_models=True, visibility="public"
    )


def proved(token: str) -> str:
    for number in count():
        if hashlib.sha256(f"{token}:{number}".encode()).digest()[:2] == b"\0\0":
            return str(number)
    raise AssertionError


def filled(client: Client, **changed: Any) -> dict[str, Any]:
    """What a browser sends of the form."""
    token = client.get(PAGE).context["form"]["token"].value()
    given = {"name": "Loop", "base_url": "http://127.0.0.1:9/v1", "model": "loopback", "licence": "MIT"}
    given |= {"contact": "me@example.org", "consent": "on", "token": token, **changed}
    return given | {"proof": changed.get("proof", proved(given["token"]))}


def submission(study: Study, **changed: Any) -> Submission:
    own = {"token": uuid4(), "name": "Loop", "licence": "MIT", "contact": "me@example.org"}
    place = {"base_url": "http://127.0.0.1:9/v1", "model": "loopback"}
    return services.propose(study, Submission(**{**own, **place, **changed}))


def answers(*lines: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("answers.csv", "\n".join(["prompt,contestant,text", *lines]).encode())


def said(response: Any) -> str:
    return str(response.content.decode())


def test_from_an_address_to_a_provisional_place(
    client: Client,
    staff: Client,
    study: Study,
    model: ChatServer,
    messages: deque[Any],
    drain: Callable[[], None],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    make.make_price()
    judge = make.make_judge(base_url=model.url, both_orders=True)
    make.make_run(study=study, judge=judge, state="finished", both_orders=True)
    stranger = Client()
    data = filled(stranger, base_url=model.url)
    assert stranger.post(PAGE, data).status_code == 302
    assert stranger.post(PAGE, data).status_code == 302
    row = Submission.objects.get()
    assert (row.account, row.consent, len(row.origin)) == (None, services.CONSENT, 40)
    assert model.requests == []
    assert not study.contestants.filter(name="Loop").exists()

    page = row.get_absolute_url()
    shown = staff.get(page).context["form"]
    accepted = {name: shown[name].value() or "" for name in shown.fields} | {"options": "{}"}
    with django_capture_on_commit_callbacks(execute=True):
        assert staff.post(page, accepted | {"prompt_price": "2", "reply_price": "8"}).status_code == 302
    loop = Contestant.objects.get(name="Loop")
    assert (loop.provisional, loop.licence, loop.author.endpoint.base_url) == (True, "MIT", model.url)
    [sent] = mail.outbox
    assert (sent.to, sent.subject) == (["me@example.org"], "Your model was accepted")
    assert "Loop" not in sent.body
    assert f"Proposal {row.pk}, a model for the study Rivers, was accepted." in sent.body

    assert "Have it write" in said(staff.get(page))
    staff.post(page, {"write": "1", "budget": "1"})
    assert WritingRun.objects.get().wanted == 3
    work_off(door)
    shown_page = staff.get(page)
    [(run, taken, why)] = shown_page.context["planned"]
    assert (run.judge, taken.assignments, why) == (judge, 12, "")  # 3 prompts, 2 others, both orders
    assert "at most" in said(shown_page)

    model.script = lambda body: Answer("2")
    with django_capture_on_commit_callbacks(execute=True):
        staff.post(page, {"judge": "1", "budget": "1"})
    staff.post(page, {"judge": "1"})  # a second click
    started = JudgeRun.objects.get(contestant=loop)
    assert (started.kind, started.both_orders, started.purse.budget) == ("extend", True, 1)
    drain()
    assert set(started.run_assignments.values_list("assignment__pair__prompt", flat=True)) == set(
        Prompt.objects.values_list("pk", flat=True)
    )
    assert started.run_assignments.count() == 12
    staff.post(f"/operate/rivers/contestants/{loop.pk}/", {"confirm": "1"})
    assert not Contestant.objects.get(name="Loop").provisional
    notes = list(StudyEvent.objects.values_list("kind", "note"))
    assert ("proposal", f"Proposal {row.pk} accepted: Loop.") in notes
    assert ("setting", "Model Loop, Provisional: no. Before: yes.") in notes


def test_from_files_to_answers(
    client: Client, study: Study, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    operator = make.make_member(study)
    study.memberships.update(role=Role.OPERATOR)
    client.force_login(operator.user)  # type: ignore[arg-type]
    first, second = study.prompts.values_list("external_id", flat=True)[:2]
    files = answers(f"{first},Loop,Ours", f"{second},Loop,Ours too")
    sent = filled(client, base_url="", model="", proof="", uploads=files)
    assert client.post(PAGE, sent).status_code == 302
    row = Submission.objects.get()
    assert row.account == operator.user
    held = row.job
    assert held is not None
    assert held.state == "held"
    jobs.sweep(timezone.now() + 9 * jobs.KEPT)
    assert ImportChunk.objects.filter(file__job=held).exists()
    assert client.get(reverse("operate-import-job", args=["rivers", held.pk])).status_code == 404
    assert not client.get("/operate/rivers/import/").context["recent"]

    page = row.get_absolute_url()
    assert "answers.csv" in said(client.get(page))
    client.post(page, {"accept": "1"})
    jobs.check(held.pk)
    assert not Completion.objects.filter(contestant__name="Loop").exists()
    shown = client.get(page)
    assert "What would be imported" in said(shown)
    seen = re.findall(r'name="seen" value="([^"]+)"', shown.content.decode())
    assert jobs.request_check(ImportJob.objects.get(pk=held.pk), held.files.all())
    jobs.check(held.pk)
    for old in (seen[0], ""):
        assert jobs.CHECKED_AGAIN in said(client.post(page, {"import": "1", "seen": old}, follow=True))
        assert ImportJob.objects.get(pk=held.pk).state == "checked"
    (seen,) = re.findall(r'name="seen" value="([^"]+)"', client.get(page).content.decode())
    client.post(page, {"import": "1", "seen": seen})
    jobs.apply(held.pk)
    texts = Completion.objects.filter(contestant__name="Loop").values_list("turns", flat=True)
    assert sorted(texts) == [["Ours"], ["Ours too"]]
    assert "2 answers of" in said(client.get(page))
    assert "staff account can have judges rate" in said(client.get(page))
    for step in ("write", "judge"):
        assert client.post(page, {step: "1"}).status_code == 403


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["prompt,contestant,text", "{id},Contestant,x"], "answers of"),
        (["prompt,contestant,text", "nowhere,Loop,x"], 'unknown prompt "nowhere"'),
        (["id,instruction,category", "{id},Another text,odd"], "nothing to import"),
        (["prompt,first,second,rater,rating,points", "{id},a,b,me,8,8"], "answers of"),
    ],
)
def test_files_bring_answers_of_the_proposed_model_alone(study: Study, lines: list[str], reason: str) -> None:
    prompt = study.prompts.first()
    content = "\n".join(lines).format(id=prompt.external_id)  # type: ignore[union-attr]
    held = make.make_import_job(("a.csv", content), study=study, state="held")
    row = Submission.objects.create(study=study, token=uuid4(), name="Loop", licence="MIT", job=held)
    before = list(Prompt.objects.values()), Completion.objects.count()
    services.accept(row, None, None)
    jobs.check(held.pk)
    report = ImportReport.from_dict(ImportJob.objects.get().report or {})
    assert reason in report.errors[0].reason
    assert (list(Prompt.objects.values()), Completion.objects.count()) == before


BAD = [
    ({"base_url": "http://169.254.169.254/v1"}, services.OUT_OF_REACH),
    ({"base_url": "nonsense"}, "Enter an address like"),
    ({"base_url": "https://a:b@x.example/v1"}, "Leave the user name and password out"),
    ({"base_url": "https://x.example/v1?key=1"}, services.NO_QUERY),
    ({"base_url": ""}, services.EITHER),
    ({"uploads": SimpleUploadedFile("a.csv", b"prompt,text")}, services.EITHER),
    ({"name": "a\u202eb"}, "This text contains"),
    ({"contact": "a@b.example\nBcc: c@d.example"}, "valid email"),
    ({"contact": "me@\u00ad.example"}, "valid email"),  # its domain has no form in ASCII
    ({"contact": f"me@{'ü' * 63}.example"}, "valid email"),
    ({"consent": ""}, "required"),
    ({"proof": "x"}, "Sign in, or let this page run its script"),
    ({"token": "x"}, "open for too long"),
]


@pytest.mark.parametrize(("changed", "sentence"), BAD)
def test_what_cannot_be_proposed_is_told(changed: dict[str, Any], sentence: str) -> None:
    stranger = Client()
    answer = stranger.post(PAGE, filled(stranger, **changed))
    assert answer.status_code == 422
    assert sentence in said(answer)
    assert not Submission.objects.exists()
    assert not ImportJob.objects.unended().exists()


def test_strangers_learn_nothing_of_addresses_that_may_be_asked(study: Study, settings: Any) -> None:
    settings.JUDGE_ENDPOINTS = ["inside.example"]
    with pytest.raises(JudgeError, match="may not ask this address") as error:
        submission(study, base_url="https://x.example/v1")
    assert "inside" not in str(error.value)


def test_too_much_is_told_and_not_kept(study: Study, settings: Any) -> None:
    settings.IMPORT_MAX_MB = 1
    stranger = Client()
    large = SimpleUploadedFile("a.csv", b"x" * 2 * 1024 * 1024)
    sent = filled(stranger, base_url="", model="", uploads=large)
    assert "at most 1 MB" in said(stranger.post(PAGE, sent))
    make.make_import_job(("a.csv", "x" * 5 * 1024 * 1024), study=study, state="held")
    sent = filled(stranger, base_url="", model="", uploads=answers("p,x"))
    assert services.FULL in said(stranger.post(PAGE, sent))
    assert ImportJob.objects.unended().count() == 1


def test_the_same_model_waits_once(study: Study) -> None:
    row = submission(study)
    assert submission(study, token=row.token) == row
    for other in ({}, {"name": " LOOP "}, {"name": "Other"}, {"name": study.contestants.all()[0].name}):
        with pytest.raises(JudgeError, match="was proposed and waits") as error:
            submission(study, **{**other, **({"model": "x"} if other.get("name") != "Other" else {})})
        assert error.value.field == "name"
    services.decline(row, "No.", None)
    assert submission(study).pk != row.pk


def test_a_mail_is_promised_only_where_mail_is_set_up(study: Study, staff: Client, settings: Any) -> None:
    place = f"{QUEUE}{submission(study).pk}/"
    assert "Mailed to the contact" in said(staff.get(place))
    settings.SENDS_MAIL = False
    assert "write to the contact yourself" in said(staff.get(place))


def test_sent_twice_at_the_same_moment_it_is_one_proposal(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, token = services._check, uuid4()

    def after_its_twin(*args: Any, **more: Any) -> None:
        monkeypatch.setattr(services, "_check", real)
        submission(study, token=token)
        real(*args, **more)

    monkeypatch.setattr(services, "_check", after_its_twin)
    assert submission(study, token=token) == Submission.objects.get()


def test_a_private_study_tells_nobody_who_is_in_it(study: Study) -> None:
    Study.objects.update(visibility="private")
    study.refresh_from_db()
    name = study.contestants.all()[0].name
    row = submission(study, name=name)
    with pytest.raises(JudgeError, match="Rename that one first"):
        services.accept(row, Author(endpoint=Endpoint(base_url=row.base_url, model="m")), None)
    assert (Submission.objects.get().state, Author.objects.count()) == ("waiting", 0)


def test_three_a_day_from_an_account_and_from_an_address(study: Study) -> None:
    stranger, user = Client(), make.make_user()
    for number in range(services.MOST_A_DAY):
        for sender in ({"account": user}, {"origin": "here"}):
            submission(study, name=f"{number} {sender}", model=f"{number} {sender}", **sender)
    for sender in ({"account": user}, {"origin": "here"}):
        with pytest.raises(JudgeError, match="3 models within a day"):
            submission(study, name="One more", model="more", **sender)
    Submission.objects.update(created_at=timezone.now() - timezone.timedelta(days=2))
    assert submission(study, name="One more", model="more", origin="here").pk
    assert stranger.post(PAGE, filled(stranger)).status_code == 302


@pytest.mark.parametrize("changed", [{"takes_models": False}, {"is_draft": True, "visibility": "private"}])
def test_only_studies_that_ask_for_models_have_the_page(study: Study, changed: dict[str, Any]) -> None:
    assert "Have your model evaluated" in said(Client().get(PAGE))
    Study.objects.update(**changed)
    assert Client().get(PAGE).status_code == Client().post(PAGE).status_code == 404


def test_a_closed_study_takes_none(study: Study) -> None:
    stranger = Client()
    data = filled(stranger)
    Study.objects.update(closed_at=timezone.now())
    assert "takes no more models" in said(stranger.get(PAGE))
    assert "takes no more models" in said(stranger.post(PAGE, data))
    assert not Submission.objects.exists()


def test_the_first_decision_stands_and_is_mailed_once(
    study: Study, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    one, other = make.make_user(username="one"), make.make_user(username="other")
    row, stale = submission(study), Submission.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        services.decline(row, " Too small.\nSorry. ", one)
    for decide in (
        lambda: services.decline(stale, "No.", other),
        lambda: services.accept(stale, Author(endpoint=Endpoint(base_url="http://x/v1")), other),
    ):
        with pytest.raises(JudgeError, match="one has declined this proposal already"):
            decide()
    row.refresh_from_db()
    assert (row.state, row.decided_by, row.reason) == ("declined", one, "Too small.\nSorry.")
    assert [sent.subject for sent in mail.outbox] == ["Your model was declined"]
    assert "Too small.\nSorry." in mail.outbox[0].body
    assert row.mailed_at
    assert not study.contestants.filter(name="Loop").exists()
    with pytest.raises(JudgeError, match="Say why"):
        services.decline(row, " ", one)


def test_a_name_that_was_taken_meanwhile_is_told_with_what_helps(study: Study) -> None:
    row, place = submission(study), Author(endpoint=Endpoint(base_url="http://x/v1", model="x"))
    make.make_contestant(study=study, name="LOOP")
    for name, remedy in (("", "Rename that one first, or decline."), ("loop", "Give another name.")):
        with pytest.raises(JudgeError) as refused:
            services.accept(row, place, None, name)
        assert str(refused.value).endswith(f"or one that reads like it. {remedy}")
    assert Submission.objects.get().state == "waiting"


def test_a_mail_that_cannot_be_sent_is_no_failure(
    study: Study, settings: Any, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    own = submission(study)
    odd = Submission.objects.create(study=study, token=uuid4(), name="Odd", contact="me@\u00ad.example")
    with django_capture_on_commit_callbacks(execute=True):
        services.decline(odd, "No.", None)
        services.decline(own, "No.", None)
    for row in Submission.objects.all():
        assert (row.state, row.mailed_at) == ("declined", None)
    # Its own process may still be at it; later the sweep mails it, once, and gives up after an hour.
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    for minutes, sent in ((0, 0), (90, 0), (2, 1), (2, 1)):
        decided_at = timezone.now() - timedelta(minutes=minutes)
        Submission.objects.update(decided_at=decided_at)
        services.mail_again()
        assert len(mail.outbox) == sent


def test_who_may_see_and_decide(study: Study, client: Client, staff: Client) -> None:
    row = submission(study)
    page = row.get_absolute_url()
    for other in (Client(), client):
        assert other.get(page).status_code == other.get(QUEUE).status_code == 302 or other is client
    stranger = Client()
    stranger.force_login(make.make_user())
    assert stranger.get(page).status_code == stranger.post(page, {"decline": "1"}).status_code == 404
    operator, rater = Client(), make.make_member(study)
    study.memberships.update(role=Role.OPERATOR)
    operator.force_login(rater.user)  # type: ignore[arg-type]
    assert "Ask somebody with a staff account" in said(operator.get(page))
    assert operator.post(page, {"model": "x"}).status_code == 403
    assert "Say why" in said(operator.post(page, {"decline": "1"}, follow=True))
    assert operator.post(page, {"decline": "1", "reason": "No."}).status_code == 302
    assert Submission.objects.get().state == "declined"
    assert "declined" in said(operator.get(QUEUE))


def test_starting_needs_the_right_to_spend(study: Study, client: Client) -> None:
    row = submission(study)
    services.accept(row, Author(endpoint=Endpoint(base_url="http://127.0.0.1:9/v1", model="m")), None)
    make.make_run(study=study, judge=make.make_judge(), state="finished")
    client.force_login(make.make_user(is_staff=True, paid_runs=False))
    for step in ("write", "judge"):
        told = said(client.post(row.get_absolute_url(), {step: "1"}, follow=True))
        assert "right to start paid runs" in told
    assert not WritingRun.objects.exists()
    assert JudgeRun.objects.count() == 1


def test_names_are_escaped(study: Study, staff: Client) -> None:
    row = submission(study, name="<script>x</script>", licence="<b>", model="<i>")
    for page in (QUEUE, row.get_absolute_url()):
        shown = said(staff.get(page))
        assert "<script>x" not in shown
        assert "&lt;script&gt;x" in shown


def test_the_contact_goes_with_the_account(study: Study) -> None:
    user = make.make_user()
    submission(study, account=user)
    user.delete()
    row = Submission.objects.get()
    assert (row.contact, row.account) == ("", None)


def test_a_network_of_ipv6_is_one_place() -> None:
    from django.test import RequestFactory

    def of(address: str) -> str:
        return origin_of(RequestFactory().get("/", REMOTE_ADDR=address), proof.SALT)

    assert of("2001:db8::1") == of("2001:db8::ffff") != of("2001:db8:0:1::1")
    assert of("203.0.113.1") != of("203.0.113.2")
    assert "203" not in of("203.0.113.1")


def test_the_board_marks_it_until_it_is_confirmed(study: Study) -> None:
    made = list(study.contestants.order_by("name"))
    Contestant.objects.filter(pk=made[0].pk).update(provisional=True)
    for prompt in study.prompts.all():
        first, second = prompt.completions.order_by("contestant__name")
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        for number in range(12):
            make.make_comparison(pair=pair, rating=2 + number % 6)
    snapshots.refresh(study)
    rows = {row.contestant: row.provisional for row in Board.newest(study, {}).rows}
    assert rows == {made[0].name: "waits for an operator to confirm it", made[1].name: ""}
    assert "waits for an operator to confirm it" in said(Client().get("/studies/rivers/"))
    Contestant.objects.update(provisional=False)
    study.touch()
    snapshots.refresh(study)
    assert not any(row.provisional for row in Board.newest(study, {}).rows)
