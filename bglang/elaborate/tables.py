"""Tables: points given as a matrix or in a csv file, how they are joined, and what holds outside of them."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.operators import elementwise
from bglang.elaborate.protocol import Fault, Scope, fault
from bglang.elaborate.values import PARAMETER, Value, describe, describe_shape, named
from bglang.expr.numbers import unordered
from bglang.graph.ir import Table
from bglang.limits import Limits, raise_hint
from bglang.source import Span

OPTIONS = {
    "method": ("linear", "spline", "pchip"),
    "outside": ("hold", "linear", "error"),
    "ends": ("not-a-knot", "natural", "secant"),
}
"""The first of each is the default."""


Given = tuple[Value, Span]
"""An argument and its place."""


def table(op: str, of: tuple[Value, Given], options: Mapping[str, Given], scope: Scope, span: Span) -> Value:
    """`table(x, data, method = …, outside = …, ends = …)`, `pwlin(x, data)` and `interpolation(x, data)`."""
    x, (data, place) = of
    if not x.numeric:
        raise fault("types/argument", f"`{op}` needs a number, but this is {named(x)}", span)
    chosen = {name: _option(name, options.get(name)) for name in OPTIONS}
    xs, ys = _points(op, data, scope, place)
    _check(op, chosen["method"], xs, place)
    made = Table(
        key="",
        x=xs,
        y=ys,
        method=cast(Literal["linear", "spline", "pchip"], chosen["method"]),
        outside=cast(Literal["hold", "linear", "error"], chosen["outside"]),
        ends=cast(Literal["not-a-knot", "natural", "secant"], chosen["ends"]),
        span=span,
    )
    key = scope.add_table(made)
    result = elementwise(lambda a: (op, a, key), "Real", (x,), span)
    if x.known:  # the value is known in principle, but the points may be parameters
        return Value("Real", result.shape, result.items, PARAMETER)
    return result


def _option(name: str, given: Given | None) -> str:
    allowed = OPTIONS[name]
    if given is None:
        return allowed[0]
    value, span = given
    choices = " or ".join(f'"{a}"' for a in allowed)
    if value.type != "String" or value.shape:
        raise fault("tables/option", f"`{name}` must be {choices}, but this is {named(value)}", span)
    if value.items[0] not in allowed:
        raise fault(
            "tables/option",
            f'`{name}` cannot be "{value.items[0]}"',
            span,
            reason=f"It is {choices}.",
            hint=did_you_mean(value.items[0], allowed).replace("`", '"'),
        )
    return str(value.items[0])


def _points(op: str, data: Value, scope: Scope, span: Span) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if data.type == "String" and not data.shape:
        path = scope.path(data.items[0], span)
        if path is None:
            raise Fault(None)
        return read_csv(path, data.items[0], span, scope.limits)
    if not data.numeric or len(data.shape) != 2 or data.shape[1] != 2:
        raise fault(
            "tables/data",
            f"the points of `{op}` must be a matrix with two columns, but this is {_shaped(data)}",
            span,
            hint="write them as [x1, y1; x2, y2; …], or name a csv file with two columns.",
        )
    if data.variability > PARAMETER:
        raise fault(
            "tables/data", f"the points of `{op}` must be constants or parameters, but these vary in time", span
        )
    if len(data.items) > scope.limits.table:
        raise _too_large(f"this table has {len(data.items)} numbers", scope.limits, span)
    return data.items[0::2], data.items[1::2]


def _shaped(value: Value) -> str:
    return (
        describe(value) if not value.numeric or not value.shape else f"an array of shape {describe_shape(value.shape)}"
    )


def _check(op: str, method: str, xs: tuple[Any, ...], span: Span) -> None:
    """x must increase; in a linear table two equal x are a jump."""
    if len(xs) < 2:
        raise fault("tables/data", f"a table needs at least two points, but this has {len(xs)}", span)
    problem = unordered(xs, jumps=op != "interpolation" and method == "linear")
    if problem is None:
        return
    row, equal = problem
    a, b = xs[row - 1], xs[row]
    if equal:
        reason = "A linear table may jump where two points have the same x, but no third may have it."
        if op == "interpolation" or method != "linear":
            reason = (
                f"Two points of {'a polynomial' if op == 'interpolation' else f'a {method} table'} cannot have one x."
            )
        raise fault(
            "tables/order", f"points {row} and {row + 1} of this table have the same x, {a:.6g}", span, reason=reason
        )
    raise fault(
        "tables/order",
        f"x must increase, but in rows {row} and {row + 1} of this table it goes from {a:.6g} to {b:.6g}",
        span,
        hint="sort the rows by their first column.",
    )


def read_csv(path: Path, name: str, span: Span, limits: Limits) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two columns of numbers and an optional header."""
    try:
        status = path.stat()
        if status.st_size > limits.file_bytes:
            raise fault(
                "limits/table",
                f"`{name}` has {status.st_size} bytes; at most {limits.file_bytes} are read",
                span,
                hint=raise_hint("file_bytes", status.st_size),
            )
        found = _read(path, status.st_mtime_ns, status.st_size)
    except OSError as problem:
        raise fault("tables/file", f"cannot read `{name}`: {problem.strerror or problem}", span) from None
    except UnicodeDecodeError:
        raise fault("tables/file", f"`{name}` is not a text file", span) from None
    if isinstance(found, str):
        raise fault("tables/file", f"`{name}` {found}", span, hint="a csv table has two columns of numbers.")
    if 2 * len(found[0]) > limits.table:
        raise _too_large(f"`{name}` has {2 * len(found[0])} numbers", limits, span)
    return found


def _too_large(what: str, limits: Limits, span: Span) -> Fault:
    return fault("limits/table", f"{what}; at most {limits.table} are allowed", span, hint=raise_hint("table"))


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, size: int) -> tuple[tuple[float, ...], tuple[float, ...]] | str:
    """The columns, or what is wrong with the file; read once as long as it does not change."""
    xs, ys = list[float](), list[float]()
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            cells = text.replace(";", ",").split(",") if "," in text or ";" in text else text.split()
            if len(cells) != 2:
                return f"has {len(cells)} column{'s' * (len(cells) != 1)} in line {number}, not two"
            try:
                x, y = float(cells[0]), float(cells[1])
            except ValueError:
                if (not xs and number == 1) or (not xs and _header(cells)):
                    continue
                return f"has no number in line {number}: {text[:40]!r}"
            if x - x != 0 or y - y != 0:  # infinite or not a number
                return f"has a value that is not finite in line {number}"
            xs.append(x)
            ys.append(y)
    return tuple(xs), tuple(ys)


def _header(cells: list[str]) -> bool:
    return any(cell.strip().strip('"')[:1].isalpha() for cell in cells)
