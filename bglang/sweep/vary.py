"""What is varied: `k=linspace(1,10,100)` as a name and values.

Values are constant expressions of the language itself, so nothing here can do more than a model can.  Five functions
that make samples and scales are added: they may stand alone, with constant expressions as arguments.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from bglang.diagnostics import Report, SourceError, UsageError, error
from bglang.records import dataclass
from bglang.source import Source
from bglang.syntax import ast
from bglang.syntax.parse import parse

Value: TypeAlias = float | bool | str
"""A number, a truth value, or text of the language (a String parameter, an array, an enumeration)."""

MOST = 10_000_000
"""So many values one parameter may take."""


@dataclass(frozen=True, slots=True)
class Variation:
    """One parameter or start, and the values that it takes."""

    name: str
    values: tuple[Value, ...]


def variations(vary: Mapping[str, object] | Iterable[str]) -> tuple[Variation, ...]:
    """From `NAME=VALUES` texts, or from a mapping of names to texts, arrays or lists."""
    if isinstance(vary, Mapping):
        found = tuple(Variation(name, _values(name, given)) for name, given in vary.items())
    else:
        found = tuple(map(variation, vary))
    names = [v.name for v in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"`{name}` is varied twice; give all its values at once: {name}={{1, 2, 5}}")
    if not found:
        raise UsageError("nothing is varied: give `--vary 'k=linspace(1,10,100)'`")
    return found


def variation(text: str) -> Variation:
    """One `--vary` of the command."""
    name, equals, values = text.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise UsageError(f"`--vary {text}` is not of the form NAME=VALUES, as in `--vary 'k=linspace(1,10,100)'`")
    return Variation(name.strip(), read_values(values.strip()))


def _values(name: str, given: object) -> tuple[Value, ...]:
    """Values given from Python."""
    if isinstance(given, str):
        return read_values(given)
    items = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(items, bool | int | float):
        items = [items]
    if not isinstance(items, Iterable):
        raise UsageError(f"`{name}` cannot be varied over {given!r}: give a list, an array or a text")
    values = tuple(_value(name, item) for item in items)
    if not values:
        raise UsageError(f"`{name}` has no values to take")
    return values


def _value(name: str, item: object) -> Value:
    if isinstance(item, bool | str):
        return item
    if isinstance(item, int | float | np.integer | np.floating):
        return float(item)
    if isinstance(item, np.ndarray | list | tuple):  # a whole array as one value
        return "{" + ", ".join(str(_value(name, entry)) for entry in item) + "}"
    raise UsageError(f"`{name}` cannot be set to {item!r}")


# --- texts ------------------------------------------------------------------------------------------------------------


def read_values(text: str) -> tuple[Value, ...]:
    """Values from text of the language: `linspace(1,10,100)`, `{1,2,5}`, `1:0.5:3`, `normal(0, 1, 50, seed = 7)`."""
    expression = _parsed(text)
    if isinstance(expression, ast.Call):
        name = ".".join(part.ident for part in expression.function.parts)
        if name in SPECIAL:
            return _special(name, expression)
    items = expression.items if isinstance(expression, ast.ArrayList) else ()
    if any(isinstance(item, ast.String | ast.Bool | ast.ArrayList) for item in items):
        return tuple(map(_as_written, items))
    try:
        return _numbers(text)
    except SourceError:
        if items and all(isinstance(item, ast.Name) and len(item.parts) > 1 for item in items):
            return tuple(map(_as_written, items))  # members of an enumeration, which the model knows
        raise


def _parsed(text: str) -> ast.Expression | None:
    source = _source(text)
    report = Report()
    file = parse(source, report)
    report.raise_if_errors()
    assert file is not None
    items = [item for section in file.classes[0].sections for item in section.items]
    component = items[0] if len(items) == 1 and len(file.classes) == 1 else None
    if not isinstance(component, ast.Component) or len(component.declarators) != 1:
        raise UsageError(f"`{text}` is not one expression")
    return component.declarators[0].value


def _source(text: str) -> Source:
    # the text stands on a line of its own, which is what messages show
    return Source(f"--vary {text}", f"model 'varied' parameter Real 'values'[:] =\n{text}\n; end 'varied';")


def _numbers(text: str) -> tuple[Value, ...]:
    from bglang.api import loads

    source = _source(text)
    try:
        rows = loads(source.text, name=source.name).parameters()
    except SourceError as failure:
        if not any(d.code == "arrays/shape" for d in failure.diagnostics):
            raise
        rows = loads(
            source.text.replace("'values'[:]", "'values'", 1), name=source.name
        ).parameters()  # a single number
    if len(rows) > MOST:
        raise UsageError(f"`{text}` has {len(rows)} values; at most {MOST} make sense")
    if not rows:
        raise UsageError(f"`{text}` has no values")
    return tuple(float(row.value) for row in rows if row.value is not None)


def _as_written(item: ast.Expression) -> Value:
    """A value that is no number is handed to the model as it is written."""
    return item.value if isinstance(item, ast.Bool | ast.String) else item.span.text


# --- samples and scales -----------------------------------------------------------------------------------------------


def _logspace(low: float, high: float, count: int) -> list[float]:
    with np.errstate(all="ignore"):
        values = np.logspace(low, high, count)
    if not np.isfinite(values).all() or values[0] == 0.0:
        raise UsageError("`logspace` takes exponents of ten; `geomspace(1, 1000, 4)` takes the ends themselves")
    return [float(v) for v in values]


def _geomspace(low: float, high: float, count: int) -> list[float]:
    if low == 0.0 or high == 0.0 or (low < 0.0) != (high < 0.0):
        raise UsageError("the ends of `geomspace` must have the same sign, and none may be 0")
    return [float(v) for v in np.geomspace(low, high, count)]


def _uniform(low: float, high: float, count: int, seed: int) -> list[float]:
    return [float(v) for v in np.random.default_rng(seed).uniform(low, high, count)]


def _normal(mean: float, deviation: float, count: int, seed: int) -> list[float]:
    if deviation < 0.0:
        raise UsageError("the standard deviation of `normal` cannot be negative")
    return [float(v) for v in np.random.default_rng(seed).normal(mean, deviation, count)]


def _lognormal(median: float, factor: float, count: int, seed: int) -> list[float]:
    if median <= 0.0 or factor < 1.0:
        raise UsageError("`lognormal` needs a positive median and a factor of at least 1")
    sample = np.random.default_rng(seed).normal(0.0, np.log(factor), count)
    return [float(v) for v in median * np.exp(sample)]


SPECIAL: dict[str, tuple[tuple[str, ...], Callable[..., list[float]]]] = {
    "logspace": (("low", "high", "count"), _logspace),
    "geomspace": (("low", "high", "count"), _geomspace),
    "uniform": (("low", "high", "count", "seed"), _uniform),
    "normal": (("mean", "deviation", "count", "seed"), _normal),
    "lognormal": (("median", "factor", "count", "seed"), _lognormal),
}
"""Functions that are known here only: their arguments (the seed is 0 unless given), and what they do."""


def _special(name: str, call: ast.Call) -> tuple[Value, ...]:
    words, function = SPECIAL[name]
    given = dict[str, float]()
    for i, argument in enumerate(call.args):
        key = ".".join(p.ident for p in argument.name.parts) if argument.name is not None and argument.value else ""
        key = key or (words[i] if i < len(words) else "")
        expression = argument.value if argument.value is not None else argument.name
        if key not in words or key in given or expression is None:
            raise SourceError([error("functions/arguments", _usage(name, words), argument.span)])
        values = _numbers(expression.span.text)
        if len(values) != 1:
            raise SourceError([error("functions/arguments", f"`{key}` of `{name}` must be one number", argument.span)])
        given[key] = float(values[0])
    if "seed" in words:
        given.setdefault("seed", 0.0)
    if len(given) < len(words):
        raise SourceError([error("functions/arguments", _usage(name, words), call.span)])
    for key in ("count", "seed"):
        if key in given and not (given[key].is_integer() and 0 <= given[key] <= (MOST if key == "count" else 2**63)):
            raise UsageError(f"`{key}` of `{name}` must be a whole number that is not negative, not {given[key]:g}")
    if given["count"] < 1:
        raise UsageError(f"`{name}` with count 0 has no values")
    whole = {key: int(value) if key in ("count", "seed") else value for key, value in given.items()}
    return tuple(function(*(whole[word] for word in words)))


def _usage(name: str, words: tuple[str, ...]) -> str:
    shown = ", ".join(word if word != "seed" else "seed = 0" for word in words)
    return f"`{name}` is called as `{name}({shown})`"
