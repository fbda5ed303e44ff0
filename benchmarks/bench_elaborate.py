"""How fast and how lean elaboration is: ladders of n sections, written with arrays, with macros and with models.

    python benchmarks/bench_elaborate.py [sections ...]

Prints nodes and bonds per second of processor time, bytes kept per node, and how the cost grows with the size."""

import gc
import math
import sys
import time
import tracemalloc

from bglang.elaborate import load_model
from bglang.source import Source

ARRAYS = """
model Ladder
  parameter Integer n = {n};
  parameter Real R0 = 1, L0 = 1, C0 = 1;
  J1 i[n]; J0 u[n]; R r[n](each R = R0); I l[n](each I = L0); C c[n](each C = C0); Se s(e = 1);
bonds
  s -> i[1];
  for k in 1:n loop i[k] -> u[k]; i[k] -> r[k], l[k]; u[k] -> c[k]; end for;
  for k in 1:n-1 loop u[k] -> i[k+1]; end for;
end Ladder;
"""
MACROS = """
macro Section(node a, node b, Real L, Real C, Real R)
  J1 i; I l(I = L); R r(R = R); C c(C = C);
bonds
  a -> i -> b; i -> l, r; b -> c;
end Section;
model Line
  parameter Integer n = {n};
  parameter Real L = 1, C = 1, R = 1;
  Se pulse(e = 1); J1 j; J0 u[n+1]; R load(R = 1);
bonds
  pulse -> j -> u[1];
  for k in 1:n loop Section s[k](u[k], u[k+1], L = L/n, C = C/n, R = R/n); end for;
  u[n+1] -> load;
end Line;
"""
MODELS = """
model Cell
  port Electrical a; port Electrical b;
  parameter Real R = 1, L = 1, C = 1;
  J1 i; J0 u; Electrical.Resistor r(R = R); Electrical.Inductor l(L = L); C c(C = C);
bonds
  a -> i -> u -> b; i -> r, l; u -> c;
end Cell;
model Chain
  parameter Integer n = {n};
  Cell cell[n](each R = 2); Se s(e = 1); Se o(e = 0);
bonds
  s -> cell[1].a; cell[1:n-1].b -> cell[2:n].a; cell[n].b -> o;
end Chain;
"""


def seconds(text: str) -> tuple[float, int]:
    gc.collect()
    before = time.process_time()
    graph = load_model(Source("ladder.bg", text))
    return time.process_time() - before, len(graph.elements)


def kept(text: str) -> float:
    """Bytes per node that stay when the graph is made."""
    gc.collect()
    tracemalloc.start()
    graph = load_model(Source("ladder.bg", text))
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / len(graph.elements)


def main() -> None:
    sizes = [int(a) for a in sys.argv[1:]] or [2_000, 10_000, 50_000]
    for name, template in (("arrays", ARRAYS), ("macros", MACROS), ("models", MODELS)):
        seconds(template.format(n=10))
        times = []
        for n in sizes:
            used, nodes = seconds(template.format(n=n))
            times.append(used)
            print(f"{name:7} {n:7} sections  {used:6.2f} s  {nodes / used:8.0f} nodes/s")
        if len(sizes) > 1:
            growth = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
            print(
                f"{name:7} cost grows with the power {growth:.2f}, {kept(template.format(n=2000)):.0f} bytes per node"
            )


if __name__ == "__main__":
    main()
