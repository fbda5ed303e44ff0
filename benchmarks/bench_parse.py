"""How fast sources are parsed: lines per second, growth with the size, and the cost of a warm start.

python benchmarks/bench_parse.py
"""

import math
import subprocess
import sys
import time

from bglang.diagnostics import Report
from bglang.source import Source
from bglang.syntax.parse import parse


def flat_text(lines: int) -> str:
    """A flat model: declarations with laws and starts, then the bonds."""
    sections = lines // 4
    text = ["model Big"]
    for i in range(sections):
        text.append(f'  J1 v{i} "velocity";')
        text.append(f"  I m{i}(I = 1.5, p(start = 0.1));")
        text.append(f"  R r{i}(e = c{i}*f + 0.5*f*abs(f));")
    text.append("bonds")
    text += [f"  v{i} -> m{i}, r{i};" for i in range(sections)]
    return "\n".join([*text, "end Big;", ""])


def seconds(text: str) -> float:
    source = Source("big.bg", text)
    began = time.process_time()
    assert parse(source, Report()) is not None
    return time.process_time() - began


WARM_START = """
import time
began = time.perf_counter()
from bglang.diagnostics import Report
from bglang.source import Source
from bglang.syntax.parse import parse
parse(Source("a.bg", "model A J1 v; I m(I = 1); bonds v -> m; end A;"), Report())
print(time.perf_counter() - began)
"""


def main() -> None:
    seconds(flat_text(100))
    times = {lines: min(seconds(flat_text(lines)) for _ in range(3)) for lines in (5_000, 20_000, 80_000)}
    for lines, used in times.items():
        print(f"{lines:>7} lines  {used:6.2f} s  {lines / used:8.0f} lines/s")
    print(f"growth exponent {math.log(times[80_000] / times[5_000]) / math.log(16):.3f}")
    runs = [float(subprocess.check_output([sys.executable, "-c", WARM_START], text=True)) for _ in range(7)]
    print(f"warm start with a small file {min(runs) * 1000:.1f} ms")


if __name__ == "__main__":
    main()
