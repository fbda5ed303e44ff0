"""Laws for random elements, as text of the language, and the same text understood by numpy.

Every curve grows through the origin or near it, so that a random model has one solution and mostly loses energy. `x` is
the argument, `a` a slope of 0.3 to 3, `b` a smaller number that never outweighs it.  The numpy side is written from the
language's description, not from the compiler: it is the other opinion that the soak asks for."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

SMOOTH = (
    "{a}*x",
    "{a}*x + {b}*x^3",
    "{a}*x + {b}*sinh(x)",
    "{a}*x + {b}*tanh(3*x)",
    "{a}*x + {b}*atan(x)",
    "linear(x, 0.02, {a})",
    "poly(x, {{0, {a}, 0, {b}}})",
    "{a}*x + sine(x, {b}, 1, 0.2, 0)",
    "{a}*x + cosine(x, {b}, 1, 0, -{b})",
    "{a}*x + arcsine(tanh(x), {b})",
    "{a}*x - arccosine(tanh(x), {b}, 1, 0, -{b}*pi/2)",
    "{a}*x + exponential(x, {b}, 0.4, 0, -{b})",
    "{a}*x + logarithm(1 + x^2, {b})",
    "{a}*x + reciprocal_sine(2 + 0.4*tanh(x), {b}, 1, 0, -{b})",
    "{a}*x + reciprocal_cosine(0.4*tanh(x), {b}, 1, 0, -{b})",
    "{a}*x + reciprocal_arcsine(0.6 + 0.2*tanh(x), 0.3*{b})",
    "{a}*x + reciprocal_arccosine(0.3*tanh(x), {b})",
    "{a}*x + reciprocal_square(x, 0, {b}, 1)",
    "{a}*x + inverse(2 + x^2)*{b}",
    "{a}*x + const(x, 0.1)",
    "{a}*x + {b}*interpolation(x, [-3, -5; -1, -1; 1, 1; 3, 5])",
    '{a}*x + table(x, [-4, -2; -1, -0.7; 0, 0; 1, 0.5; 4, 1.5], method = "spline", outside = "linear")',
)
"""Twice differentiable."""
ROUGH = (
    "abs2(x, {b}) + {a}*x",
    "{a}*x + {b}*x*abs(x)",
    "{a}*x + 0.5*{b}*abs(x)",
    "{a}*x + {b}*max(0, x - 0.2)",
    "{a}*min(x, 2*x) + {b}*x",
    "min({a}*x, max({b}*x, {a}*x - 0.3))",
    "breakpoint(x, 0.1, 0.1*{a}, {a}, {a} + {b})",
    "saturation(x, -0.4, -0.4*{a}, 0.4, 0.4*{a}) + {b}*x",
    "adjustable_saturation(x, -0.3, -0.3*{a}, 0.3, 0.3*{a}, {b}, {a})",
    "pwlin(x, [-9, -11; -0.2, -0.3; 0, 0; 0.3, 0.2; 9, 12])*{a} + {b}*x",
    '{a}*table(x, [-9, -8; -0.2, -0.3; 0.1, 0.15; 9, 12], outside = "linear")',
    '{a}*x + table(x, [-1, -0.4; 0, 0; 1, 0.5; 2, 0.6], method = "pchip", outside = "hold")',
    "if x > 0.1 then {a}*x + 0.1*{b} else ({a} + {b})*x",
)
"""Continuous, with corners: each branch is a mode."""
STEEP = ("absqrt(x, {b}) + {a}*x",)
STICKING = ("{a}*x + coulomb(x, {b})", "coulomb(x, {b})*1.5 + {a}*x")

_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\[\d+\])?(?:\.[a-z]\w*(?:\[\d+\])?)+")
_OWN = re.compile(r"(?<![\w.])[efqp](?![\w.(])")


def references(text: str) -> list[str]:
    """Variables of other nodes that a text mentions."""
    return list(dict.fromkeys(_REFERENCE.findall(text)))


def to_python(text: str, own: str) -> str:
    """The text as a Python expression over `V["name"]`; `own` is what the element's own letters belong to."""
    text = re.sub(r'"(\w+)"', r"'\1'", text)
    if text.startswith("if "):
        condition, rest = text[3:].split(" then ")
        yes, no = rest.split(" else ")
        text = f"where({condition}, {yes}, {no})"
    text = re.sub(r"(?<![\w\]])\[([^\]]*)\]", r"matrix('\1')", text)
    text = text.replace("{", "[").replace("}", "]").replace("^", "**")
    names = list[str]()

    def keep(name: str) -> str:
        names.append(name)
        return f"@{len(names) - 1}@"

    text = _REFERENCE.sub(lambda m: keep(m.group()), text)
    text = _OWN.sub(lambda m: keep(f"{own}.{m.group()}"), text)
    return re.sub(r"@(\d+)@", lambda m: f'V["{names[int(m.group(1))]}"]', text)


def _table(x: Any, data: Any, method: str = "linear", outside: str = "hold") -> Any:
    xs, ys = data[:, 0], data[:, 1]
    if method == "linear":
        inner: Callable[[Any], Any] = lambda u: np.interp(u, xs, ys)  # noqa: E731
        low, high = (ys[1] - ys[0]) / (xs[1] - xs[0]), (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])
    else:
        curve = CubicSpline(xs, ys, bc_type="not-a-knot") if method == "spline" else PchipInterpolator(xs, ys)
        inner, slope = curve, curve.derivative()
        low, high = slope(xs[0]), slope(xs[-1])
    y = inner(np.clip(x, xs[0], xs[-1]))
    if outside == "linear":
        y = y + low * np.minimum(x - xs[0], 0) + high * np.maximum(x - xs[-1], 0)
    return y


def _family(g: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, c1=1.0, c2=1.0, c3=0.0, c4=0.0: c1 * g(c2 * x + c3) + c4


def _lines(x: Any, x1: float, y1: float, x2: float, y2: float, c1: float, c2: float) -> Any:
    middle = y1 + (y2 - y1) / (x2 - x1) * (x - x1)
    return np.where(x < x1, y1 + c1 * (x - x1), np.where(x > x2, y2 + c2 * (x - x2), middle))


FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs")},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "min": np.minimum, "max": np.maximum, "where": np.where,
    "pi": np.pi, "sign": np.sign,
    "matrix": lambda text: np.array([[float(v) for v in row.split(",")] for row in text.split(";")]),
    "table": _table, "pwlin": lambda x, data: _table(x, data, outside="linear"),
    "interpolation": lambda x, data: np.polyval(np.polyfit(data[:, 0], data[:, 1], len(data) - 1), x),
    "linear": lambda x, c0=0.0, c1=1.0: c0 + c1 * x, "poly": lambda x, c: sum(v * x**k for k, v in enumerate(c)),
    "const": lambda x, c: c + 0 * x, "abs2": lambda x, c: c * x * np.abs(x),
    "absqrt": lambda x, c: c * np.sign(x) * np.sqrt(np.abs(x)),
    "coulomb": lambda x, level: level * np.where(np.abs(x) < 1e-7, 0.0, np.sign(x)),
    "breakpoint": lambda x, x1, y1, c1, c2: y1 + np.where(x <= x1, c1, c2) * (x - x1),
    "saturation": lambda x, x1, y1, x2, y2: _lines(x, x1, y1, x2, y2, 0.0, 0.0),
    "adjustable_saturation": _lines,
    "reciprocal_square": lambda x, c0, c1, c2: c0 + c1 / (1 + (x / c2) ** 2), "inverse": lambda x: 1 / x,
    "sine": _family(np.sin), "cosine": _family(np.cos), "arcsine": _family(np.arcsin), "arccosine": _family(np.arccos),
    "exponential": _family(np.exp), "logarithm": _family(np.log),
    "reciprocal_sine": _family(lambda u: 1 / np.sin(u)), "reciprocal_cosine": _family(lambda u: 1 / np.cos(u)),
    "reciprocal_arcsine": _family(lambda u: 1 / np.arcsin(u)),
    "reciprocal_arccosine": _family(lambda u: 1 / np.arccos(u)),
}  # fmt: skip
