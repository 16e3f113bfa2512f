"""An OpenID Connect provider on loopback: discovery, keys, code flow with PKCE, user info."""

import base64
import hashlib
import json
import secrets
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa


@cache
def key(name: str) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def curve(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def published(name: str, *, kind: str = "RSA", **said: Any) -> dict[str, Any]:
    """The public half of a key as a provider publishes it, with whatever else is ``said`` of it."""
    algorithms = jwt.algorithms
    if kind == "EC":
        return {**json.loads(algorithms.ECAlgorithm.to_jwk(curve(name).public_key())), **said}
    return {**json.loads(algorithms.RSAAlgorithm.to_jwk(key(name).public_key())), **said}


class Provider:
    """``claims`` are said of everybody who signs in; ``signed`` makes the ID token of them."""

    client_id, client_secret = "arena", "of the arena"

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {"sub": "1", "preferred_username": "ada"}
        self.userinfo: dict[str, Any] = {}
        self.id_token: dict[str, Any] = {}  # what the ID token says otherwise
        self.key_name, self.algorithm = "right", "RS256"
        self.header: dict[str, str | None] = {"kid": "1"}
        self.keys = [published("right", kid="1", alg="RS256", use="sig")]
        self.unsaid: tuple[str, ...] = ()  # what the configuration and the replies leave out
        self.is_down = False
        self._codes: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self, dict(_flat(urlsplit(self.path).query)))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.answer(self, dict(_flat(body)))

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, given: dict[str, str]) -> None:
        path = urlsplit(request.path).path
        if self.is_down:
            return _send(request, 503, {})
        if path == "/.well-known/openid-configuration":
            return _send(request, 200, self._configuration())
        if path == "/keys":
            return _send(request, 200, {"keys": self.keys})
        if path == "/token":
            return _send(request, *self._token(given))
        if path == "/userinfo":
            return _send(request, 200, self._without(self.claims | self.userinfo))
        return _send(request, 404, {})

    def _configuration(self) -> dict[str, Any]:
        places = {f"{name}_endpoint": f"{self.url}/{name}" for name in ("authorization", "token", "userinfo")}
        return self._without({"issuer": self.url, "jwks_uri": f"{self.url}/keys", **places})

    def _without(self, said: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in said.items() if name not in self.unsaid}

    def authorize(self, address: str) -> dict[str, str]:
        """Let a person in who was sent to this address; what they come back with."""
        asked = dict(_flat(urlsplit(address).query))
        assert address.startswith(f"{self.url}/authorization?")
        assert (asked["client_id"], asked["response_type"]) == (self.client_id, "code")
        assert (asked["code_challenge_method"], "openid" in asked["scope"]) == ("S256", True)
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        return {"code": code, "state": asked["state"]}

    def _token(self, given: dict[str, str]) -> tuple[int, dict[str, Any]]:
        asked = self._codes.pop(given.get("code", ""), None)
        if asked is None or given.get("client_secret") != self.client_secret:
            return 400, {"error": "invalid_grant"}
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        if given.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        said = {"iss": self.url, "aud": self.client_id, "iat": now, "exp": now + 60, "nonce": asked["nonce"]}
        signed_with: Any = "guessed" * 8 if self.algorithm == "HS256" else key(self.key_name)
        if self.algorithm.startswith("ES"):
            signed_with = curve(self.key_name)
        if self.algorithm == "none":
            signed_with = None
        claims = self._without({**self.claims, **said, **self.id_token})
        token = jwt.encode(claims, signed_with, algorithm=self.algorithm, headers=self.header)
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}


def _flat(query: str) -> list[tuple[str, str]]:
    return [(name, values[0]) for name, values in parse_qs(query).items()]


def _send(request: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
    content = json.dumps(body).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)


def back(callback: str, given: dict[str, str]) -> str:
    return f"{callback}?{urlencode(given)}"
