"""Many runners at once: processes of this machine, or the workers of a Dask cluster.

Processes, not threads: a run with events lives in Python for most of its time, and threads share one interpreter.  A
sweep begins in the calling process and stays there unless what is left would pay for starting others.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bglang.diagnostics import BglangError
from bglang.request import Request
from bglang.results.result import needs
from bglang.sweep.points import Point, Spec
from bglang.sweep.runner import Done, Runner

if TYPE_CHECKING:
    from bglang.api import Model

TRIAL = 0.5
"""Seconds after which it is known how long a sweep will take."""
PAYS = 2.0
"""Seconds that must be left for processes to be worth their start."""
CHUNK = 0.25
"""Seconds that one task of a worker should last: short enough to be told of, long enough to be worth telling."""
LARGEST = 256

_here = threading.local()


def run_points(
    model: "Model", spec: Spec, points: Sequence[Point], key: str, workers: int, scheduler: str | None
) -> Iterator[tuple[Point, Done]]:
    """Every point, in the order in which they get done."""
    if scheduler is not None:
        yield from _cluster(model.request, spec, points, key, scheduler)
        return
    runner = Runner(model, spec)
    done, began = 0, time.perf_counter()
    size = 1
    while done < len(points):
        spent = time.perf_counter() - began
        if workers > 1 and spent > TRIAL and spent / max(done, 1) * (len(points) - done) > PAYS:
            yield from _processes(model.request, spec, points[done:], key, workers, spent / max(done, 1))
            return
        part = points[done : done + size]
        yield from zip(part, runner.run(part), strict=True)
        done += len(part)
        size = min(2 * size, LARGEST) if (time.perf_counter() - began - spent) < CHUNK else max(1, size // 2)


def run_chunk(request: Request, spec: Spec, points: Sequence[Point], key: str) -> list[Done]:
    """What a worker does.  It keeps its runner for the next chunk of the same sweep."""
    if getattr(_here, "key", None) != key:
        from bglang.api import Model

        _here.runner, _here.key = Runner(Model(request), spec), key
    runner: Runner = _here.runner
    return list(runner.run(points))


def _chunks(points: Sequence[Point], size: int) -> Iterator[Sequence[Point]]:
    for first in range(0, len(points), size):
        yield points[first : first + size]


def _drive(
    chunks: Iterator[Sequence[Point]],
    ahead: int,
    submit: Callable[[Sequence[Point]], Any],
    wait_for_one: Callable[..., Any],
) -> Iterator[tuple[Point, Done]]:
    """Keep some chunks under way; give results as they come."""
    under_way = dict[Any, Sequence[Point]]()
    while True:
        while len(under_way) < ahead and (part := next(chunks, None)) is not None:
            under_way[submit(part)] = part
        if not under_way:
            return
        finished, _ = wait_for_one(list(under_way))
        for future in finished:
            yield from zip(under_way.pop(future), future.result(), strict=True)


# --- processes --------------------------------------------------------------------------------------------------------


def _processes(
    request: Request, spec: Spec, points: Sequence[Point], key: str, workers: int, seconds: float
) -> Iterator[tuple[Point, Done]]:
    size = max(1, min(LARGEST, int(CHUNK / max(seconds, 1e-6)), -(-len(points) // (2 * workers))))
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker)
    try:
        with _no_main():
            yield from _drive(
                _chunks(points, size), 2 * workers,
                lambda part: pool.submit(run_chunk, request, spec, part, key),
                lambda futures: wait(futures, return_when=FIRST_COMPLETED),
            )  # fmt: skip
    except BrokenProcessPool:
        raise BglangError(
            "a worker process died, perhaps for want of memory; what was done until then is kept, "
            "and the same call goes on from there (with fewer --workers?)"
        ) from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin_worker() -> None:
    """Ctrl-C is the parent's matter; when the parent is gone, so are we."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def _no_main() -> Iterator[None]:
    """Workers need nothing of the caller's script; a new process must not run it again to find that out."""
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: main.__dict__.pop(name) for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__["__spec__"] = None
    try:
        yield
    finally:
        main.__dict__.update(kept)


# --- a cluster --------------------------------------------------------------------------------------------------------


def _cluster(
    request: Request, spec: Spec, points: Sequence[Point], key: str, address: str
) -> Iterator[tuple[Point, Done]]:
    """On a Dask cluster.  Its workers need bglang, and the model's files under the same path."""
    distributed = needs("distributed", "cluster")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, TimeoutError, ValueError) as failure:
        raise BglangError(f"there is no Dask scheduler at `{address}`: {failure}") from None
    try:
        threads = max(1, sum(client.nthreads().values()))
        size = max(1, min(64, -(-len(points) // (8 * threads))))
        yield from _drive(
            _chunks(points, size), 3 * threads,
            lambda part: client.submit(run_chunk, request, spec, part, key, pure=False),
            lambda futures: distributed.wait(futures, return_when="FIRST_COMPLETED"),
        )  # fmt: skip
    finally:
        client.close()
