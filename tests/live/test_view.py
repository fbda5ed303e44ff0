"""The live page over HTTP: who may ask, what is answered, runs that are given up, files that change."""

import http.client
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bglang.cli import main
from bglang.live import server as live
from bglang.live.server import LiveServer
from bglang.live.session import Session, Superseded, Wish
from bglang.request import Request

MODEL = """\
model Decay "a capacitor empties"
  parameter Real R(unit = "ohm") = 2 "leak";
  parameter Integer n = 1;
  J0 u;
  Electrical.Resistor leak[n](each R = n*R);
  Electrical.Capacitor c(C = 0.5, q(start = 1));
bonds
  u -> leak, c;
end Decay;
"""
LONG = """\
model Long "hundred million radians of an oscillation"
  Real x(start = 1), y;
equation
  der(x) = y;
  der(y) = -1e8*x;
annotation(experiment(StopTime = 1e6));
end Long;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "decay.bg"
    path.write_text(MODEL)
    return path


@pytest.fixture
def server(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    monkeypatch.setattr(live, "GLANCE", 0.05)
    with LiveServer(Session(Request(path), seconds=20)) as server:
        server.start()
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: LiveServer, path: str, body: object = None, headers: dict[str, str] | None = None, token: str | None = None
) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    whole = f"/{server.token if token is None else token}/{path}"
    connection.request("GET" if data is None else "POST", whole, data, headers or {})
    response = connection.getresponse()
    found = response.status, response.read(), {k.lower(): v for k, v in response.getheaders()}
    connection.close()
    return found


def run(server: LiveServer, **wish: object) -> dict[str, Any]:
    status, body, _ = ask(server, "run", wish)
    assert status == 200, body
    found: dict[str, Any] = json.loads(body)
    return found


def test_the_page_loads_nothing_from_elsewhere(server: LiveServer) -> None:
    texts = list[str]()
    for name, kind in (("", "text/html"), ("page.css", "text/css"), ("page.js", "text/javascript")):
        status, body, headers = ask(server, name)
        assert status == 200 and headers["content-type"].startswith(kind)
        assert "default-src 'none'" in headers["content-security-policy"] and headers["cache-control"] == "no-store"
        texts.append(body.decode())
    assert not [text for text in texts if re.search(r"https?://|//cdn|@import|eval\(|innerHTML", text)]


def test_only_who_knows_the_token_may_ask(server: LiveServer) -> None:
    assert server.server_address[0] == "127.0.0.1" and len(server.token) >= 32
    for wrong in ("", "x", server.token[:-1], server.token + "x", "..", "%2e%2e", "é"):
        assert ask(server, "model", token=wrong.encode("ascii", "ignore").decode())[0] == 403
    for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1", ""):
        assert ask(server, "model", headers={"Host": host})[0] == 421
    assert ask(server, "model", headers={"Host": f"localhost:{server.server_port}"})[0] == 200
    assert ask(server, "run", {}, headers={"Origin": "http://evil.example"})[0] == 403
    assert ask(server, "run", {}, headers={"Origin": f"http://127.0.0.1:{server.server_port}"})[0] == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400), (b"[]", 400), (b'{"set": 3}', 400), (b'{"set": {"R": 3}}', 400), (b'{"vars": "x"}', 400),
        (b'{"stop": "soon"}', 400), (b"[" * 100_000, 400), (b"x" * 300_000, 413),
    ],
)  # fmt: skip
def test_nonsense_is_refused(server: LiveServer, body: bytes, status: int) -> None:
    assert ask(server, "run", body)[0] == status
    assert ask(server, "model")[0] == 200  # and the server lives on


def test_other_paths_lead_nowhere(server: LiveServer, path: Path) -> None:
    for wrong in ("../decay.bg", "session.py", "/etc/passwd", "changes/x", "changes/", "page.html"):
        assert ask(server, wrong)[0] == 404
    assert ask(server, "model", {})[0] == 404


def test_the_model_is_described_and_drawn(server: LiveServer) -> None:
    about = json.loads(ask(server, "model")[1])
    assert about["model"] == "Decay" and not about["wrong"] and about["chosen"] == ["c.q"]
    values = {p["name"]: p for p in about["parameters"]}
    assert values["R"]["value"] == "2" and values["R"]["unit"] == "ohm" and values["R"]["description"] == "leak"
    assert values["n"]["structural"] and values["n"]["whole"] and values["c.q.start"]["value"] == "1"
    assert any(v["name"] == "leak[1].f" for v in about["variables"])
    status, body, headers = ask(server, "graph.svg")
    assert status == 200 and headers["content-type"] == "image/svg+xml" and body.startswith(b"<svg")


def test_runs_follow_the_values(server: LiveServer) -> None:
    found = run(server, vars=["c.q", "leak[1].f", "nothing"], tol=1e-9)
    (charge, current) = found["curves"]
    assert charge["y"][-1] == pytest.approx(math.exp(-1), rel=1e-6) and charge["unit"] == "C"
    assert current["name"] == "leak[1].f" and found["failed"] == ""
    assert found["audit"]["dissipated"] == pytest.approx(1 - math.exp(-2), rel=1e-6) and found["events"] == []
    for values, final in (
        ({"R": "4"}, math.exp(-0.5)),
        ({"R": "2^2"}, math.exp(-0.5)),
        ({"c.q.start": "3"}, 3 * math.exp(-1)),
        ({"n": "3", "R": "4"}, math.exp(-0.5)),
    ):
        found = run(server, vars=["c.q"], tol=1e-9, set=values)
        assert found["curves"][0]["y"][-1] == pytest.approx(final, rel=1e-6), values
    assert run(server, vars=["c.q"], stop=3)["curves"][0]["t"][-1] == 3


def test_wrong_values_are_told(server: LiveServer) -> None:
    for values in ({"R": "two"}, {"R": "__import__('os')"}, {"Q": "3"}, {"R": "-"}, {"n": "1.5"}):
        found = run(server, set=values)
        assert found["failed"] and "Traceback" not in found["failed"] and "curves" not in found
    assert "forward in time" in run(server, stop=-1)["failed"]


def test_the_page_follows_the_file(server: LiveServer, path: Path) -> None:
    version = json.loads(ask(server, "model")[1])["version"]
    answers = list[tuple[int, bytes, dict[str, str]]]()
    waiting = threading.Thread(target=lambda: answers.append(ask(server, f"changes/{version}")))
    waiting.start()
    path.write_text(MODEL.replace("u -> leak", "u -> leek"))
    waiting.join(timeout=20)
    assert json.loads(answers[0][1])["version"] == version + 1
    about = json.loads(ask(server, "model")[1])
    assert about["wrong"] and "did you mean `leak`" in about["problems"][0]["text"]
    assert "wrong" in run(server)["failed"]
    path.write_text(MODEL.replace("= 2 ", "= 4 "))
    assert json.loads(ask(server, f"changes/{version + 1}")[1])["version"] == version + 2
    assert run(server, vars=["c.q"], tol=1e-9)["curves"][0]["y"][-1] == pytest.approx(math.exp(-0.5), rel=1e-6)


def test_a_newer_wish_ends_an_older_run(tmp_path: Path) -> None:
    path = tmp_path / "long.bg"
    path.write_text(LONG)
    session = Session(Request(path), seconds=60)
    outcomes = dict[str, object]()

    def older(name: str) -> None:
        try:
            outcomes[name] = session.run(Wish())
        except Superseded:
            outcomes[name] = "superseded"

    threads = [threading.Thread(target=older, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
        time.sleep(0.3)
    began = time.monotonic()
    found = session.run(Wish(names=("x",), stop=1e-3))
    assert found["curves"][0]["t"][-1] == pytest.approx(1e-3) and time.monotonic() - began < 10
    for thread in threads:
        thread.join(timeout=20)
    assert outcomes == {"first": "superseded", "second": "superseded"}


def test_a_run_without_end_is_stopped_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "long.bg"
    path.write_text(LONG)
    found = Session(Request(path), seconds=0.3).run(Wish(names=("x",), stop=1e4))
    assert "stopped after 0.3 s" in found["failed"] and 0 < found["curves"][0]["t"][-1] < 1e4


def test_a_failed_run_shows_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "blow.bg"
    path.write_text(
        "model Blow Real x(start = 1); equation der(x) = x^2; annotation(experiment(StopTime = 2)); end Blow;"
    )
    found = Session(Request(path), seconds=20).run(Wish(names=("x",)))
    assert found["failed"] and 0.5 < found["curves"][0]["t"][-1] < 1.1


def test_the_command_prints_its_address_and_ends_with_ctrl_c(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bglang", "view", str(path), "--no-browser"], stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout is not None
    match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32,})/\n", process.stdout.readline())
    assert match is not None
    connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=30)
    connection.request("GET", f"/{match[2]}/")
    assert connection.getresponse().status == 200
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=20) == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing.bg"], "no file"),
        (["decay.bg", "--port", "70000"], "port"),
        (["decay.bg", "--seconds", "0"], "positive"),
    ],
)
def test_wrong_calls(
    path: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    assert main(["view", *words]) == 2
    assert says in capsys.readouterr().err
