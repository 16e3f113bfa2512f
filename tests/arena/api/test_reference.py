"""The page that explains the API: every operation and field of the OpenAPI document, and nothing else."""

import html
import re

from django.test import Client

from arena.api.reference import Field, by_subject, operations

MARKS = {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Mark"}}
NODE = {
    "properties": {
        "name": {"type": "string", "description": "What it is called."},
        "next": {"anyOf": [{"$ref": "#/components/schemas/Node"}, {"type": "null"}]},
        "marks": {"type": "array", "items": MARKS},
    },
    "required": ["name"],
}
MARK = {"properties": {"points": {"enum": [2, 8]}, "at": {"type": "string", "format": "date-time"}}}
DOCUMENT = {
    "components": {"schemas": {"Node": NODE, "Mark": MARK}},
    "paths": {
        "/nodes/": {
            "post": {
                "operationId": "make",
                "summary": "Make a node",
                "description": "One line\nand its end.\n\nAnother.",
                "tags": ["nodes"],
                "security": [{"BearerAuth": []}],
                "parameters": [{"name": "dry", "in": "query", "schema": {"type": "boolean"}}],
                "requestBody": {
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}
                },
                "responses": {
                    "422": {"description": "", "content": {}},
                    "200": {"content": {"application/json": {"schema": {"additionalProperties": MARKS}}}},
                    "201": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Mark"}}}
                    },
                },
            },
            "get": {
                "operationId": "read",
                "summary": "Read",
                "tags": ["nodes"],
                "security": [{"OpenAuth": []}],
                "responses": {"304": {"description": ""}},
            },
        }
    },
}


def test_an_operation_is_told_with_all_that_goes_in_and_comes_out() -> None:
    make, read = by_subject(operations(DOCUMENT))["nodes"]
    assert (make.method, make.path) == ("POST", "/nodes/")
    assert make.paragraphs == ["One line and its end.", "Another."]
    assert (make.needs_token, read.needs_token) == (True, False)
    assert make.parameters == [Field("dry", "boolean", False, "")]
    assert make.body == [
        Field("name", "text", True, "What it is called."),
        Field("next", "object or null", False, ""),
        Field("marks", "list of object", False, ""),
        Field("marks[].NAME.points", "one of 2, 8", False, ""),
        Field("marks[].NAME.at", "date and time", False, ""),
    ], "a node within a node is not opened again"
    answers = [(200, "OK"), (201, "Created"), (422, "Unprocessable Entity")]
    assert [(each.status, each.phrase) for each in make.answers] == answers
    paths = [field.path for each in make.results for field in each.fields]
    assert paths == ["NAME.NAME.points", "NAME.NAME.at", "points", "at"]
    assert (read.body, read.results) == ([], [])


def test_the_page_has_every_operation_and_every_field(client: Client) -> None:
    page = html.unescape(client.get("/api/v1/docs").content.decode())
    document = client.get("/api/v1/openapi.json").json()
    shown = re.findall(r'<span class="badge badge-info">(\w+)</span> <code>([^<]+)</code>', page)
    assert sorted(shown) == sorted(
        (method.upper(), path) for path, methods in document["paths"].items() for method in methods
    )
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)), "each operation has a link of its own"
    named = {name.rpartition(".")[2] for name in re.findall(r"<dt><code>([^<]+)</code>", page)}
    for schema in document["components"]["schemas"].values():
        if schema["title"] != "ErrorOut":  # refusals are told once, in words
            assert set(schema.get("properties", ())) <= named, schema["title"]
    # It needs no script of its own and nothing from elsewhere.
    assert "https://" not in page
    assert [each for each in re.findall(r'<script src="([^"]+)"', page) if "htmx" not in each] == []
