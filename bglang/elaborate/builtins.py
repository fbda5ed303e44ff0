"""The functions that the language knows, as tables: names, parameters, defaults."""

import math

from bglang.elaborate.values import Value, real
from bglang.expr import TIME
from bglang.records import dataclass

NAMES: dict[str, Value] = {"pi": real(math.pi), "time": real(TIME)}
"""Values that every scope knows; anything but `time` may be hidden by a declaration."""

ELEMENTARY = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(("exp", "log", "log10", "sqrt"), 1),
    "atan2": 2,
}
"""Smooth functions of Reals, with their number of arguments."""

STEPPING = {"abs": 1, "sign": 1, "floor": 1, "ceil": 1, "integer": 1, "mod": 2, "div": 2, "rem": 2}
"""Functions whose branches are modes of the running model."""

ARRAY_FUNCTIONS = frozenset(
    {"size", "ndims", "sum", "product", "min", "max", "zeros", "ones", "fill", "identity", "diagonal", "linspace",
     "transpose", "cross", "outerProduct", "skew", "symmetric", "cat", "scalar", "vector", "matrix", "array", "inv",
     "det", "solve"}
)  # fmt: skip
OPERATORS = frozenset(
    {"noEvent", "smooth", "pre", "edge", "change", "sample", "initial", "terminal", "der", "semiLinear", "homotopy",
     "String", "Integer"}
)  # fmt: skip
TABLES = frozenset({"table", "pwlin", "interpolation"})


@dataclass(frozen=True, slots=True)
class Signature:
    """A function by position and name: `parameters` in order; the last `len(defaults)` may be left out.

    `aliases` are further names of parameters (`abs2(x, c1 = 2)`)."""

    parameters: tuple[str, ...]
    defaults: tuple[float, ...]
    aliases: tuple[tuple[str, str], ...] = ()


_FAMILY = Signature(("x", "c1", "c2", "c3", "c4"), (1.0, 1.0, 0.0, 0.0))
_FACTOR = Signature(("x", "c"), (1.0,), (("c1", "c"),))

ENPORT: dict[str, Signature] = {
    "linear": Signature(("x", "c0", "c1"), (0.0, 1.0)),
    "abs2": _FACTOR,
    "absqrt": _FACTOR,
    "coulomb": Signature(("x", "level"), (1.0,), (("c1", "level"),)),
    "breakpoint": Signature(("x", "x1", "y1", "c1", "c2"), (0.0, 0.0, 1.0, 1.0)),
    "saturation": Signature(("x", "x1", "y1", "x2", "y2"), (-1.0, -1.0, 1.0, 1.0)),
    "adjustable_saturation": Signature(("x", "x1", "y1", "x2", "y2", "c1", "c2"), (-1.0, -1.0, 1.0, 1.0, 1.0, 1.0)),
    "reciprocal_square": Signature(("x", "c0", "c1", "c2"), (0.0, 1.0, 1.0)),
    "inverse": Signature(("x",), ()),
    **dict.fromkeys(
        [
            "sine",
            "cosine",
            "arcsine",
            "arccosine",
            "exponential",
            "logarithm",
            "reciprocal_sine",
            "reciprocal_cosine",
            "reciprocal_arcsine",
            "reciprocal_arccosine",
        ],
        _FAMILY,
    ),
}
POLY_DEFAULTS = (1.0, 1.0, 0.0, 0.0, 0.0)

RELATED = frozenset(STEPPING) | {"min", "max", "table", "pwlin", "coulomb", "semiLinear"} | {
    "abs2", "absqrt", "breakpoint", "saturation", "adjustable_saturation"
}  # fmt: skip
"""Functions that make events; inside loops of functions they do not."""

ALONE = {
    "reinit": "`reinit(x, value);` stands alone in a `when`.",
    "assert": "`assert(condition, message);` stands alone in an `equation` section or a function.",
    "terminate": "`terminate(message);` stands alone in a `when`.",
}
"""Words that look like functions but have no value."""

ABSENT = {
    "cardinality": "`port X p(optional = true)` may stay open; a Boolean parameter says which case is meant.",
    "spatialDistribution": "write the line as an array of sections.",
    "ceiling": "the function is called `ceil`.",
    "ln": "the natural logarithm is called `log`.",
    "pow": "a power is written `x^n`.",
    "arcsin": "the function is called `asin`.",
    "arccos": "the function is called `acos`.",
    "arctan": "the function is called `atan`.",
    "fabs": "the function is called `abs`.",
}
"""What people may look for under another name."""

ALL = frozenset(ELEMENTARY) | frozenset(STEPPING) | ARRAY_FUNCTIONS | OPERATORS | TABLES | frozenset(ENPORT) | {
    "const", "poly"
}  # fmt: skip
"""Every function that has a value."""
