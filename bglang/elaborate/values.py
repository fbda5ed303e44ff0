"""Values of expressions during elaboration: scalars and arrays of known shape whose items are flat expressions."""

from collections.abc import Iterable
from typing import Any

from bglang.expr import Expr
from bglang.graph.ir import ValueType
from bglang.records import dataclass

CONSTANT, PARAMETER, DISCRETE, CONTINUOUS = range(4)
"""How much a value may vary: known now; known when the run starts; changing at events only; changing always."""

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression is worth.

    `items` stand in row-major order: expressions for numbers, Booleans (1.0, 0.0) and enumerations (1.0 ... n), floats
    where they are known; texts for String.  `variability` is CONSTANT exactly when every item is a float or a text."""

    type: ValueType
    shape: Shape
    items: tuple[Any, ...]
    variability: int
    enum: str = ""

    @property
    def item(self) -> Any:
        """The single item of a scalar."""
        assert not self.shape, "a scalar is needed here"
        return self.items[0]

    @property
    def known(self) -> bool:
        return self.variability == CONSTANT

    @property
    def numeric(self) -> bool:
        return self.type == "Real" or self.type == "Integer"

    def integers(self) -> tuple[int, ...]:
        """The items of a known Integer value as Python integers."""
        return tuple(int(item) for item in self.items)


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """What a type name stands for where a value is declared; `shape` are the dimensions that the type itself has."""

    type: ValueType
    shape: Shape = ()
    enum: str = ""
    unit: str = ""


def count(shape: Shape) -> int:
    """How many items an array of this shape has."""
    total = 1
    for size in shape:
        total *= size
    return total


def real(item: Expr, variability: int | None = None) -> Value:
    return scalar("Real", item, variability)


def integer(item: int) -> Value:
    return Value("Integer", (), (float(item),), CONSTANT)


def boolean(item: bool) -> Value:
    return Value("Boolean", (), (1.0 if item else 0.0,), CONSTANT)


def string(text: str) -> Value:
    return Value("String", (), (text,), CONSTANT)


def scalar(type: ValueType, item: Any, variability: int | None = None) -> Value:
    """A scalar; a number is CONSTANT whatever was said, an expression is CONTINUOUS where nothing is said."""
    if not isinstance(item, tuple):
        return Value(type, (), (item,), CONSTANT)
    return Value(type, (), (item,), CONTINUOUS if variability is None else max(variability, PARAMETER))


def array(type: ValueType, shape: Shape, items: Iterable[Any], variability: int, enum: str = "") -> Value:
    """A value of any shape; it is CONSTANT when all items turn out to be known."""
    items = tuple(items)
    assert len(items) == count(shape)
    if variability != CONSTANT and not any(isinstance(item, tuple) for item in items):
        variability = CONSTANT
    return Value(type, shape, items, variability, enum)


def describe(value: Value) -> str:
    """Type and shape in the user's words: `Real`, `Integer[3]`, `Real[2, 3]`."""
    name = value.enum or value.type
    return f"{name}[{', '.join(map(str, value.shape))}]" if value.shape else name


def named(value: Value) -> str:
    """The same with its article: `a Real`, `an Integer[3]`."""
    text = describe(value)
    return f"{'an' if text[0] in 'AEIOU' else 'a'} {text}"


def describe_shape(shape: Shape) -> str:
    """`a scalar`, `[3]`, `[2, 3]`."""
    return f"[{', '.join(map(str, shape))}]" if shape else "a scalar"
