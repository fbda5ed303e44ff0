"""Systems of equations for the tests of this folder, put together by hand."""

from collections.abc import Sequence

import numpy as np

from bglang.equations.system import Mode, Output, Row, System, SystemParameter, Unknown
from bglang.expr import Expr
from bglang.expr.evaluate import Floats
from bglang.graph.ir import Experiment, Table
from bglang.source import NOWHERE


def parameter(name: str, value: Expr) -> SystemParameter:
    return SystemParameter(name, value, True, None, None, NOWHERE)


def system(
    rows: Sequence[Expr],
    parameters: Sequence[Expr] = (),
    unknowns: int | None = None,
    roots: Sequence[Expr] = (),
    outputs: Sequence[Expr] = (),
    tables: Sequence[Table] = (),
    initial: Sequence[Expr] = (),
    positions: dict[int, Expr] | None = None,
    starts: Sequence[Expr] = (),
) -> System:
    """A system with the given rows; names are x0, x1, ... p0, p1, ... o0, o1, ..."""
    count = len(rows) if unknowns is None else unknowns
    begin = [*starts, *[0.0] * (count - len(starts))]
    return System(
        name="case",
        unknowns=tuple(Unknown(f"x{i}", "state", begin[i], False, False, None, "", NOWHERE) for i in range(count)),
        rows=tuple(Row(e, True, f"row{k}", NOWHERE, (positions or {}).get(k)) for k, e in enumerate(rows)),
        initial=tuple(Row(e, False, "", NOWHERE) for e in initial),
        parameters=tuple(parameter(f"p{k}", e) for k, e in enumerate(parameters)),
        modes=tuple(Mode("relation", (g,), (), f"m{k}", "", "", NOWHERE) for k, g in enumerate(roots)),
        whens=(),
        assertions=(),
        outputs=tuple(Output(f"o{k}", e, "", "") for k, e in enumerate(outputs)),
        audit=(),
        tables=tuple(tables),
        experiment=Experiment(),
    )


def ladder(sections: int) -> System:
    """RLC ladder with cubic capacitors, driven by a sine that fades in, loaded by a power law: sections of p and q."""

    def own(i: int, j: int) -> Expr:
        return ("p", 5 + 4 * i + j)

    def flow(i: int) -> Expr:
        return ("/", ("y", 2 * i), own(i, 0))

    def effort(i: int) -> Expr:
        q: Expr = ("y", 2 * i + 1)
        return ("+", ("*", own(i, 2), q), ("*", own(i, 3), ("^", q, 3.0)))

    source: Expr = (
        "*",
        ("p", 0),
        ("sin", ("*", ("p", 1), ("t",))),
        ("-", 1.0, ("exp", ("/", ("neg", ("t",)), ("p", 2)))),
    )
    last = effort(sections - 1)
    load: Expr = ("*", ("p", 3), last, ("^", ("+", ("*", last, last), 1e-6), ("p", 4)))
    rows = list[Expr]()
    for i in range(sections):
        before = effort(i - 1) if i else source
        after = flow(i + 1) if i < sections - 1 else load
        rows.append(("-", ("d", 2 * i), ("-", ("-", before, effort(i)), ("*", own(i, 1), flow(i)))))
        rows.append(("-", ("d", 2 * i + 1), ("-", flow(i), after)))
    random = np.random.default_rng(1)
    numbers = [1.0, 2.0, 0.1, 0.3, -0.25, *(0.5 + random.random(4 * sections)).tolist()]
    outputs = [e for i in range(sections) for e in (effort(i), flow(i))]
    return system(rows, numbers, outputs=outputs, roots=[("-", effort(0), 0.25)])


def ladder_by_hand(t: float, y: Floats, d: Floats, p: Floats) -> Floats:
    """The same residual written from the physics: an independent check."""
    u, w, tau, g, m = p[:5]
    inertia, loss, k1, k3 = p[5:].reshape(-1, 4).T
    momentum, charge = y[0::2], y[1::2]
    f, e = momentum / inertia, k1 * charge + k3 * charge**3
    before = np.concatenate([[u * np.sin(w * t) * (1 - np.exp(-t / tau))], e[:-1]])
    after = np.concatenate([f[1:], [g * e[-1] * (e[-1] ** 2 + 1e-6) ** m]])
    out = np.empty_like(y)
    out[0::2], out[1::2] = d[0::2] - (before - e - loss * f), d[1::2] - (f - after)
    return out
