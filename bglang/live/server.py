"""HTTP on the loopback interface, for who knows the token.

Other machines cannot connect; other programs' pages cannot guess the token, and a request that names another host (a
page that made its name point here) is refused.  The page loads nothing from anywhere else and may not.
"""

import json
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from bglang.diagnostics import BglangError
from bglang.live.session import Session, Superseded, Wish

LARGEST = 256 * 1024
"""Bytes of a request."""
TOGETHER = 16
"""So many requests are served at once."""
PATIENCE = 25.0
"""Seconds after which a page that waits for changes is told that there are none."""
GLANCE = 0.4
"""Seconds between two looks at the files."""
PAGES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class LiveServer(ThreadingHTTPServer):
    """Serves one session."""

    daemon_threads = True
    request_queue_size = TOGETHER

    def __init__(self, session: Session, port: int = 0):
        super().__init__(("127.0.0.1", port), Handler)
        self.session = session
        self.token = secrets.token_urlsafe(24)
        self.places = threading.BoundedSemaphore(TOGETHER)
        self._ending = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def watch(self) -> None:
        """Look at the files now and then, until the server is closed."""
        while not self._ending.wait(GLANCE):
            self.session.look()

    def start(self) -> None:
        threading.Thread(target=self.watch, daemon=True).start()

    def server_close(self) -> None:
        self._ending.set()
        super().server_close()


class Handler(BaseHTTPRequestHandler):
    server: LiveServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "bglang", ""
    timeout = 60

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def log_message(self, format: str, *args: object) -> None:
        """The terminal is for the user."""

    # --- who may ask --------------------------------------------------------------------------------------------------

    def _guarded(self, answer: Any) -> None:
        path = self._path()
        if path is None:
            return
        if not self.server.places.acquire(timeout=5):
            self._text(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at once")
            return
        try:
            answer(path)
        except BglangError as failure:
            self._json(HTTPStatus.OK, {"failed": str(failure)})
        except Superseded:
            self._json(HTTPStatus.CONFLICT, {"superseded": True})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.server.places.release()

    def _path(self) -> str | None:
        """What is asked for behind the token; None after a refusal."""
        port = self.server.server_port
        hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        if self.headers.get("Host") not in hosts:
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "this is not the host that you look for")
            return None
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in hosts]:
            self._refuse(HTTPStatus.FORBIDDEN, "pages of others may not ask")
            return None
        _, token, *rest = self.path.split("?", 1)[0].split("/", 2) if self.path.startswith("/") else ("", "", "")
        if not rest or not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "this page needs the whole address that `bglang view` has printed")
            return None
        return rest[0]

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self.close_connection = True
        self._text(status, text)

    # --- answers ------------------------------------------------------------------------------------------------------

    def _get(self, path: str) -> None:
        session = self.server.session
        if path in PAGES:
            name, kind = PAGES[path]
            self._send(HTTPStatus.OK, kind, (files("bglang.live") / name).read_bytes())
        elif path == "model":
            self._json(HTTPStatus.OK, session.describe())
        elif path == "graph.svg":
            self._send(HTTPStatus.OK, "image/svg+xml", session.picture().encode())
        elif path.startswith("changes/") and path[8:].isdecimal():
            self._json(HTTPStatus.OK, {"version": session.wait(int(path[8:]), PATIENCE)})
        else:
            self._text(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _post(self, path: str) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            self._refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE if length.isdecimal() else HTTPStatus.LENGTH_REQUIRED, "too long"
            )
            return
        data = self.rfile.read(int(length))
        if path != "run":
            self._text(HTTPStatus.NOT_FOUND, "there is nothing here")
            return
        try:
            wish = Wish.read(json.loads(data))
        except (ValueError, RecursionError, BglangError) as wrong:
            self._text(HTTPStatus.BAD_REQUEST, str(wrong))
            return
        self._json(HTTPStatus.OK, self.server.session.run(wish))

    def _json(self, status: HTTPStatus, content: object) -> None:
        self._send(status, "application/json", json.dumps(content, allow_nan=False).encode())

    def _text(self, status: HTTPStatus, text: str) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{text}\n".encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"),
            ("Content-Security-Policy", POLICY), ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ):  # fmt: skip
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
