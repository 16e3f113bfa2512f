"""The pages where judges and panels are put together."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from judging.models import Judge, Panel
from tests.factories import make_judge
from tests.judging.judges.test_pages import FORM

pytestmark = pytest.mark.django_db

NEW = "/judging/judges/new/"
OWN = "Which is better?\n\n$notice\n\n$query\n\n$answers\n\n$verdict"


def text_file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "text/plain")


def test_everything_about_a_judge_can_be_set(staff: Client) -> None:
    given = {"samples": "3", "logprobs": "on", "both_orders": "on", "concurrency": "64"}
    given |= {"requests_per_minute": "600", "tokens_per_minute": "90000", "form": "binary"}
    assert staff.post(NEW, {**FORM, **given}).status_code == 302
    judge = Judge.objects.get()
    assert (judge.samples, judge.logprobs, judge.both_orders) == (3, True, True)
    limits = judge.asks
    assert (limits.concurrency, limits.requests_per_minute, limits.tokens_per_minute) == (64, 600, 90000)
    # An answer scale brings its points.
    assert (judge.form, judge.points) == ("binary", 2)


def test_a_text_of_the_protocol_can_be_replaced_from_a_file(staff: Client) -> None:
    own = Judge(protocol="likert").current_prompt_hash()
    files = {"wording_files": [text_file("rate.txt", OWN.encode())]}
    assert staff.post(NEW, {**FORM, **files}).status_code == 302
    judge = Judge.objects.get()
    assert judge.wording == {"rate": OWN}
    assert judge.current_prompt_hash() != own
    assert "rate" in staff.get("/judging/judges/loop/edit/").content.decode()
    assert staff.post("/judging/judges/loop/edit/", {**FORM, "own_wording": ["rate"]}).status_code == 302
    assert Judge.objects.get().wording == {"rate": OWN}
    assert staff.post("/judging/judges/loop/edit/", FORM).status_code == 302
    assert Judge.objects.get().wording == {}


def test_the_file_of_a_paper_is_taken_by_its_own_name(staff: Client) -> None:
    text = "{input}\n{output_1}\n{output_2}"
    files = {"wording_files": [text_file("Vanilla.txt", text.encode())]}
    given = {**FORM, "protocol": "published", "form": "binary", **files}
    assert staff.post(NEW, given).status_code == 302
    judge = Judge.objects.get()
    assert (judge.wording, judge.form, judge.points) == ({"ask": text}, "binary", 2)
    files = {"wording_files": [text_file("CoT.txt", b"{input}")]}
    page = staff.post("/judging/judges/loop/edit/", {**given, **files}).content.decode()
    assert "Text &quot;ask&quot;: it must show {output_1}." in page
    assert Judge.objects.get().wording == {"ask": text}


def test_a_file_that_is_no_text_is_refused(staff: Client) -> None:
    files = {"wording_files": [text_file("rate.txt", b"\xff\xfe\x00")]}
    reply = staff.post(NEW, {**FORM, **files})
    assert "rate.txt is not a text file in UTF-8" in reply.content.decode()
    long = {"wording_files": [text_file("rate.txt", b"x" * 100_001)]}
    assert "rate.txt is longer than 100,000 bytes" in staff.post(NEW, {**FORM, **long}).content.decode()


def test_the_chosen_protocol_is_described(staff: Client) -> None:
    page = staff.get("/judging/judges/protocol/", {"protocol": "likert"}).content.decode()
    assert "rate.txt" in page
    swap = staff.get("/judging/judges/protocol/", {"protocol": "swap"}).content.decode()
    assert "Calls per pair in one order: 2 to 3." in swap
    samples = staff.get("/judging/judges/protocol/", {"protocol": "cot-self-consistency"}).content.decode()
    assert "Samples: 9, unless you set another number above 1." in samples
    assert "Temperature: 0.7, in place of the judge's." in samples
    debate = staff.get("/judging/judges/protocol/", {"protocol": "multi-role"}).content.decode()
    assert "Default: <code>true</code>" in debate  # as the field takes it
    assert staff.get("/judging/judges/protocol/", {"protocol": "nonsense"}).content.decode().strip() == ""


def test_the_answer_scales_follow_the_protocol(staff: Client) -> None:
    chosen = {"protocol": "arena-hard", "form": "binary"}
    page = staff.get("/judging/judges/protocol/", chosen).content.decode()
    expected = [("likert", ""), ("binary", " selected"), ("scores", ""), ("grades", ""), ("letters", "")]
    assert re.findall(r'<option value="(\w+)"( selected)?', page) == expected
    page = staff.get(
        "/judging/judges/protocol/", {"protocol": "published", "form": "likert"}
    ).content.decode()
    assert 'value="letters" selected' in page
    page = staff.get("/judging/judges/protocol/", {"protocol": "rating", "form": "likert"}).content.decode()
    assert re.findall(r'<option value="(\w+)"', page) == ["scores"]
    assert "Answer scales: scores, because it asks for scores" in page


def test_a_panel_is_put_together_and_changed(staff: Client) -> None:
    judges = [make_judge(), make_judge(), make_judge()]
    given = {"name": "All", "slug": "all", "rule": "mean", "members": [judge.pk for judge in judges]}
    assert staff.post("/judging/panels/new/", given).status_code == 302
    panel = Panel.objects.get()
    assert (str(panel), panel.rule, panel.members.count()) == ("All", "mean", 3)
    assert "All" in staff.get("/judging/").content.decode()
    fewer = {**given, "name": "Two", "members": [judge.pk for judge in judges[:2]]}
    assert staff.post("/judging/panels/all/edit/", fewer).status_code == 302
    panel = Panel.objects.get()
    assert (str(panel), panel.members.count(), panel.active) == ("Two", 2, False)


def test_a_simulated_panel_says_so_wherever_it_shows_and_one_judge_is_no_panel(staff: Client) -> None:
    simulated = {"provider": "simulated", "base_url": "", "simulation": {"strengths": {}}}
    judges = [make_judge(), make_judge(**simulated)]
    given = {"name": "All", "slug": "all", "rule": "mean", "members": [judges[0].pk]}
    reply = staff.post("/judging/panels/new/", given)
    assert reply.status_code == 422
    assert "A panel needs at least two judges" in reply.content.decode()
    assert staff.post("/judging/panels/new/", given | {"members": ["9" * 20]}).status_code == 422
    staff.post("/judging/panels/new/", given | {"members": [judge.pk for judge in judges]})
    title = staff.get("/judging/panels/all/edit/").content.decode().partition("</h1>")[0]
    assert 'All <span class="badge badge-simulated">simulated</span>' in title
