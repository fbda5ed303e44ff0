"""Spoiled sources against the compiler, in a process that is watched.

For every input: diagnostics or a model, and nothing else.  The watched process may use two seconds of processor time
and 512 MB for each input, may not open a file for writing outside of its own cache, may not start a process, open a
socket, or compile or run code that is not bglang's or an installed module's.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

SECONDS, MEGABYTES = 2.0, 512
"""Processor time, which does not depend on who else is at work, and memory beyond that of the modules."""
ROOT = Path(__file__).parents[2]
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.remove", "os.rename", "os.rmdir", "os.mkdir",
             "os.chmod", "os.link", "os.symlink", "os.truncate", "os.putenv", "subprocess.Popen", "socket.connect",
             "socket.bind", "ctypes.dlopen", "pickle.find_class", "shutil.rmtree")  # fmt: skip


class TooLong(BaseException):
    """The time is over; no `except Exception` may swallow it."""


class Forbidden(BaseException):
    """The compiler did what no source may make it do."""


@dataclass(frozen=True)
class Failure:
    seed: int
    what: str
    text: str = ""


class Guard:
    """An audit hook, which cannot be removed: armed while a source is compiled."""

    def __init__(self, cache: Path):
        self.armed = False
        self.cache = str(cache)
        places = sysconfig.get_paths()
        self.trusted = (
            str(ROOT / "bglang"),
            places["purelib"],
            places["platlib"],
            places["stdlib"],
            "<frozen",
            "<string>",
        )
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.armed:
            return
        problem = ""
        if event == "open":
            path, mode, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if (
                writes and not isinstance(path, int) and not str(path).startswith(self.cache)
            ):  # a number is open already
                problem = f"writes {path} ({mode})"
        elif event == "exec":
            code = arguments[0]
            if isinstance(code, CodeType) and not code.co_filename.startswith(self.trusted):
                problem = f"runs {code.co_filename}"
        elif event in FORBIDDEN and not any(str(a).startswith(self.cache) for a in arguments):
            problem = f"{event} {arguments}"
        if problem:
            self.armed = False
            raise Forbidden(problem)


def compile_source(data: bytes) -> str:
    """All that is done with a source before it runs; says how it went."""
    from bglang.api import Model
    from bglang.diagnostics import BglangError, Report
    from bglang.limits import UNTRUSTED
    from bglang.request import Request
    from bglang.syntax.format import format_source
    from bglang.syntax.read import decode

    report = Report()
    source = decode("spoiled.bg", data, report)
    if source is None:
        assert report.errors
        return "no text"
    try:
        model = Model(Request(source, limits=UNTRUSTED))
        model.compile()
        outcome = "model"
    except BglangError as problem:
        assert str(problem)
        outcome = type(problem).__name__
    try:
        if len(data) <= UNTRUSTED.file_bytes:
            format_source(source.text)
    except BglangError as problem:
        assert str(problem)
    return outcome


def worker(first: int, step: int, end: float, most: int) -> None:
    """Seeds first, first + step, …; one line of json for each failure, and one at the end."""
    sys.path.insert(0, str(ROOT / "tests"))
    from soak.mutate import corpus, mutant

    guard = Guard(Path(os.environ["BGLANG_CACHE"]).parent)
    for text in corpus():  # everything that is imported when needed is imported now
        compile_source(text.encode())
    _limit_memory()
    signal.signal(signal.SIGPROF, _over)
    seed, seen = first, dict[str, int]()
    while time.monotonic() < end and (seed - first) // step < most:
        data = mutant(seed)
        print(json.dumps({"seed": seed}), flush=True)
        try:
            outcome = guarded(guard, data)
            seen[outcome] = seen.get(outcome, 0) + 1
        except BaseException as problem:
            where = "".join(traceback.format_exception(problem, limit=-3))[-1500:]
            print(json.dumps({"failed": seed, "what": repr(problem)[:300] + "\n" + where}), flush=True)
        seed += step
    print(json.dumps({"seen": seen}), flush=True)


def watched_texts() -> None:
    """Texts from standard input, as json; what came out of each as json, after the name of the one being tried."""
    guard = Guard(Path(os.environ["BGLANG_CACHE"]).parent)
    texts = json.load(sys.stdin)
    compile_source((ROOT / "examples" / "dc_motor.bg").read_bytes())
    _limit_memory()
    signal.signal(signal.SIGPROF, _over)
    for name, text in texts.items():
        print(json.dumps({"name": name}), flush=True)
        try:
            outcome = guarded(guard, text.encode("utf-8", "surrogatepass"))
        except BaseException as problem:
            outcome = "".join(traceback.format_exception(problem, limit=-3))[-1500:]
        print(json.dumps({"name": name, "outcome": outcome}), flush=True)


def try_texts(texts: dict[str, str], folder: Path) -> dict[str, str]:
    """What becomes of each text in a watched process whose working folder is `folder`."""
    environment = os.environ | {"BGLANG_CACHE": str(folder / "cache"), "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "-c", "from soak.fuzz import watched_texts; watched_texts()"],
        input=json.dumps(texts), capture_output=True, text=True, cwd=folder, env=environment,
    )  # fmt: skip
    said = [json.loads(line) for line in done.stdout.splitlines()]
    found = {line["name"]: line.get("outcome", f"died: {done.stderr[-500:]}") for line in said}
    return {name: found.get(name, f"not reached: {done.stderr[-500:]}") for name in texts}


def guarded(guard: Guard, data: bytes) -> str:
    guard.armed = True
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return compile_source(data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        guard.armed = False


def _over(number: int, frame: FrameType | None) -> None:
    raise TooLong(f"more than {SECONDS:g} s")


def _limit_memory() -> None:
    """512 MB beyond what the imported modules need."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def fuzz(
    minutes: float, seed: int = 0, most: int = 10**9, workers: int = 1
) -> tuple[int, dict[str, int], list[Failure]]:
    """Run workers until the time is over or `most` inputs were tried; how many, what came out, what went wrong."""
    tried, seen, failures = 0, dict[str, int](), list[Failure]()
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="bglang-fuzz-") as folder:
        while time.monotonic() < end and tried < most:
            share = -(-(most - tried) // workers)
            running = [_start(seed + tried + k, workers, end, share, folder) for k in range(workers)]
            for process in running:
                count, more, found = _collect(process)
                tried += count
                failures += found
                for key, number in more.items():
                    seen[key] = seen.get(key, 0) + number
            if failures and not any(f.what.startswith("died") for f in failures):
                break
    return tried, seen, failures


def _start(first: int, step: int, end: float, most: int, folder: str) -> "subprocess.Popen[str]":
    left = max(1.0, end - time.monotonic())
    code = f"from soak.fuzz import worker; import time; worker({first}, {step}, time.monotonic() + {left}, {most})"
    environment = os.environ | {"BGLANG_CACHE": os.path.join(folder, "cache"), "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
    )


def _collect(process: "subprocess.Popen[str]") -> tuple[int, dict[str, int], list[Failure]]:
    count, last, seen, failures = 0, -1, None, list[Failure]()
    assert process.stdout is not None
    for line in process.stdout:
        said = json.loads(line)
        if "seed" in said:
            count, last = count + 1, said["seed"]
        elif "failed" in said:
            failures.append(Failure(said["failed"], said["what"]))
        else:
            seen = said["seen"]
    if process.wait() != 0 or seen is None:
        failures.append(Failure(last, f"died with {process.returncode}"))
    return count, seen or {}, failures
