"""What programs write when a model does not answer is no answer; what speaks of errors is one."""

import pytest

from arena.texts.errors import is_error


@pytest.mark.parametrize(
    "text",
    [
        *("$ERROR$", " $ERROR$\n", "API_ERROR", "API ERROR", "ERROR", "[ERROR]", "<error>", "#ERROR!"),
        "**ERROR**",
        *("null", "NaN", "#N/A", "#VALUE!", "No response (bad request).", "[NO RESPONSE]", "<no_output>"),
        "Failed to obtain answer via API.",
        "$MODERATION$ YOUR INPUT VIOLATES OUR CONTENT MODERATION GUIDELINES.",
        "YOUR INPUT VIOLATES OUR CONTENT MODERATION GUIDELINES. PLEASE TRY AGAIN.",
        "**NETWORK ERROR DUE TO HIGH TRAFFIC. PLEASE REGENERATE OR REFRESH THIS PAGE.** (error_code: 50004)",
        "**API REQUEST ERROR** Reason: timeout.",
        "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
        "Error: Rate limit reached for requests",
        "Error: request timed out after 60 s",
        "HTTP Error 503: Service Unavailable",
        "error 500",
        "404 Client Error: Not Found for url: https://example.org",
        "502 Bad Gateway",
        "Internal Server Error",
        *("[Error] timeout", "__ERROR__", "[FAILED]", "<EMPTY>", "GENERATION_FAILED", "Request failed."),
        "HTTPError: 503",
        *("Exception: rate limit", "Error: Failed to fetch", "Request failed with status code 429"),
        *("Error occurred while generating response", "Response blocked by safety filters"),
        "EngineDeadError",
        "{'error': {'message': 'overloaded'}}",
        "Sorry, something went wrong. Please try again.",
        "Request timed out.",
        "Connection error.",
        "Error during inference: CUDA error",
        "Error calling heron-1: no credit left",
        "litellm.RateLimitError: RateLimitError: OpenAIException - too many requests",
        "openai.APITimeoutError: Request timed out.",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='example.org', port=443)",
        "httpx.ReadTimeout",
        "CUDA out of memory. Tried to allocate 2.00 GiB",
        "upstream connect error or disconnect/reset before headers. reset reason: overflow",
        '{"error": {"message": "The model is overloaded", "type": "server_error"}}',
        '{"object":"error","message":"too long","type":"BadRequestError"}',
        "<html>\n<head><title>504 Gateway Time-out</title></head></html>",
        "Agent stopped due to iteration limit or time limit.",
    ],
)
def test_a_message_of_a_program_that_failed(text: str) -> None:
    assert is_error(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Failed", "Empty", "Blocked", "TIMEOUT", "Sorry, I cannot do that."),
        *("", " ", "hi", "No", "None", "0", "Nancy", "Null hypothesis", "nullable", "No output is printed."),
        "Error: division by zero",
        "An error occurs here.",
        "ERROR is the level above WARNING.",
        "The program prints $ERROR$ and stops.",
        "404 is the status of a page that is not there.",
        "500 years ago",
        'Return this: {"error": {"message": "no"}}',
        '{"errors": 3}',
        "Connection errors have three causes.",
        "Internal server errors come from the server.",
        "<html><head><title>My page</title></head></html>",
        "OpenAI made it.",
        "requests.get(url) raises an error",
        "Error: Rate limit" + " and so on" * 500,
    ],
)
def test_an_answer_about_errors_is_an_answer(text: str) -> None:
    assert not is_error(text)
