"""Reports of errors: what reaches a server that speaks Sentry's protocol, and what does not."""

import gzip
import json
import subprocess
import sys

import pytest
from pytest_httpserver import HTTPServer

from tests.arena.process.processes import ROOT, environment

SCRIPT = """
import django
django.setup()
import sentry_sdk
from django.test import Client
from django.urls import path
from arena import urls

def fail(request, word):
    answer_of_a_model = "The answer of a model"
    raise ValueError("refused with the key " + "-".join(["a", "key", "nobody", "may", "read"]))

urls.urlpatterns.append(path("fail/<str:word>/", fail, name="fail"))
client = Client(raise_request_exception=False)
client.cookies["sessionid"] = "session-nobody-may-read"
headers = {"Authorization": "Bearer token-nobody-may-read"}
body = {"text": "body-nobody-may-read"}
reply = client.post("/fail/here/?word=query-nobody-may-read", body, headers=headers)
print(reply["X-Request-ID"])
sentry_sdk.flush(20)
"""


@pytest.mark.processes
def test_an_error_is_reported_without_what_is_private(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/7/envelope/").respond_with_data("{}")
    dsn = httpserver.url_for("/7").replace("http://", "http://public-key-of-the-project@")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=environment(
            DJANGO_SETTINGS_MODULE="tests.settings",
            SENTRY_DSN=dsn,
            MY_API_KEY="a-key-nobody-may-read",
            ALLOWED_HOSTS="testserver",
        ),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    bodies = [request.get_data() for request, _ in httpserver.log]
    sent = [gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in bodies]
    assert len(sent) == 1
    event = json.loads(sent[0].splitlines()[2])
    failed = event["exception"]["values"][-1]
    assert (failed["type"], failed["value"]) == ("ValueError", "refused with the key [hidden]")
    assert event["tags"]["request_id"] == done.stdout.strip()
    whole = json.dumps(event) + done.stderr
    assert "nobody-may-read" not in whole
    assert "The answer of a model" not in json.dumps(
        [frame.get("vars") for frame in failed["stacktrace"]["frames"]]
    )
