from io import BytesIO

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from arena.process.no_body import NoBodyMiddleware


@pytest.mark.parametrize(
    "whole",
    [
        lambda: HttpResponse(b"text", headers={"Content-Length": "4"}),
        lambda: StreamingHttpResponse([b"te", b"xt"], headers={"Content-Length": "4"}),
        lambda: FileResponse(BytesIO(b"text")),
    ],
)
def test_head_is_get_without_the_body(whole):
    answer = NoBodyMiddleware(lambda request: whole())
    made = RequestFactory()
    assert b"".join(answer(made.get("/"))) == b"text"
    response = answer(made.head("/"))
    assert (b"".join(response), response["Content-Length"]) == (b"", "4")
    assert getattr(response, "file_to_stream", None) is None, "the server would send the file"
