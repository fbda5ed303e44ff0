"""Units: texts such as "N.m/rad" become a dimension and a scale.  Nothing is ever converted."""

import math
import re
from functools import lru_cache

from bglang.records import dataclass

Dimension = tuple[float, ...]
"""Exponents of kg, m, s, A, K, mol, cd; the radian is 1."""

_BASE = ("kg", "m", "s", "A", "K", "mol", "cd")


@dataclass(frozen=True, slots=True)
class Unit:
    """What is counted (`dimension`), how much one of it is in SI units (`scale`), where its zero lies (`offset`)."""

    dimension: Dimension
    scale: float = 1.0
    offset: float = 0.0

    def __mul__(self, other: "Unit") -> "Unit":
        return Unit(_add(self.dimension, other.dimension, 1), self.scale * other.scale)

    def __truediv__(self, other: "Unit") -> "Unit":
        scale = self.scale / other.scale if other.scale else math.nan
        return Unit(_add(self.dimension, other.dimension, -1), scale)

    def __pow__(self, exponent: float) -> "Unit":
        return Unit(tuple(round(d * exponent, 9) for d in self.dimension), _power(self.scale, exponent))

    def fits(self, other: "Unit") -> bool:
        """The same quantity on the same scale."""
        same = self.dimension == other.dimension and self.offset == other.offset
        return same and math.isclose(self.scale, other.scale, rel_tol=1e-9)

    @property
    def plain(self) -> bool:
        """A pure number, in whatever scale."""
        return not any(self.dimension)


def _power(scale: float, exponent: float) -> float:
    """Scales of units from a source may be anything; one that is too large or too small fits nothing."""
    try:
        return float(scale**exponent)
    except (OverflowError, ZeroDivisionError):
        return math.nan


def _add(a: Dimension, b: Dimension, sign: int) -> Dimension:
    return tuple(x + sign * y for x, y in zip(a, b, strict=True))


def _dimension(**exponents: float) -> Dimension:
    return tuple(exponents.get(name, 0) for name in _BASE)


ONE = Unit(_dimension())
SECOND = Unit(_dimension(s=1))
WATT = Unit(_dimension(kg=1, m=2, s=-3))
JOULE = Unit(_dimension(kg=1, m=2, s=-2))

_SCALABLE: dict[str, Unit] = {
    "m": Unit(_dimension(m=1)),
    "g": Unit(_dimension(kg=1), 1e-3),
    "s": SECOND,
    "A": Unit(_dimension(A=1)),
    "K": Unit(_dimension(K=1)),
    "mol": Unit(_dimension(mol=1)),
    "cd": Unit(_dimension(cd=1)),
    "Hz": Unit(_dimension(s=-1)),
    "N": Unit(_dimension(kg=1, m=1, s=-2)),
    "Pa": Unit(_dimension(kg=1, m=-1, s=-2)),
    "J": JOULE,
    "W": WATT,
    "C": Unit(_dimension(A=1, s=1)),
    "V": Unit(_dimension(kg=1, m=2, s=-3, A=-1)),
    "F": Unit(_dimension(kg=-1, m=-2, s=4, A=2)),
    "ohm": Unit(_dimension(kg=1, m=2, s=-3, A=-2)),
    "Ohm": Unit(_dimension(kg=1, m=2, s=-3, A=-2)),
    "Ω": Unit(_dimension(kg=1, m=2, s=-3, A=-2)),
    "S": Unit(_dimension(kg=-1, m=-2, s=3, A=2)),
    "Wb": Unit(_dimension(kg=1, m=2, s=-2, A=-1)),
    "T": Unit(_dimension(kg=1, s=-2, A=-1)),
    "H": Unit(_dimension(kg=1, m=2, s=-2, A=-2)),
    "lm": Unit(_dimension(cd=1)),
    "lx": Unit(_dimension(cd=1, m=-2)),
    "Bq": Unit(_dimension(s=-1)),
    "rad": ONE,
    "sr": ONE,
    "L": Unit(_dimension(m=3), 1e-3),
    "l": Unit(_dimension(m=3), 1e-3),
    "bar": Unit(_dimension(kg=1, m=-1, s=-2), 1e5),
    "eV": Unit(JOULE.dimension, 1.602176634e-19),
    "VA": WATT,
    "var": WATT,
    "t": Unit(_dimension(kg=1), 1e3),
    "cal": Unit(JOULE.dimension, 4.184),
}
"""Units that take prefixes."""

_FIXED: dict[str, Unit] = {
    "1": ONE,
    "%": Unit(ONE.dimension, 0.01),
    "deg": Unit(ONE.dimension, math.pi / 180),
    "rev": Unit(ONE.dimension, 2 * math.pi),
    "turn": ONE,
    "turns": ONE,
    "rpm": Unit(_dimension(s=-1), math.pi / 30),
    "min": Unit(SECOND.dimension, 60.0),
    "h": Unit(SECOND.dimension, 3600.0),
    "d": Unit(SECOND.dimension, 86400.0),
    "degC": Unit(_dimension(K=1), 1.0, 273.15),
    "degF": Unit(_dimension(K=1), 5 / 9, 459.67 * 5 / 9),
    "atm": Unit(_dimension(kg=1, m=-1, s=-2), 101325.0),
    "psi": Unit(_dimension(kg=1, m=-1, s=-2), 6894.757293168361),
    "in": Unit(_dimension(m=1), 0.0254),
    "ft": Unit(_dimension(m=1), 0.3048),
    "lb": Unit(_dimension(kg=1), 0.45359237),
    "lbf": Unit(_dimension(kg=1, m=1, s=-2), 4.4482216152605),
    "kgf": Unit(_dimension(kg=1, m=1, s=-2), 9.80665),
    "gn": Unit(_dimension(m=1, s=-2), 9.80665),
    "°C": Unit(_dimension(K=1), 1.0, 273.15),
    "°": Unit(ONE.dimension, math.pi / 180),
}

_PREFIXES = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 1e1,
    "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18,
    "z": 1e-21, "y": 1e-24,
}  # fmt: skip


SMALLEST = 1e-100
"""A unit that is smaller, or larger than the inverse, is a slip."""


class UnknownUnit(Exception):
    """A text that is not a unit; the message says which part of it."""


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit:
    """The unit that a text names.  Raises `UnknownUnit`."""
    if len(text) > 200:
        raise UnknownUnit("the unit is too long")
    parser = _Parser(text)
    unit = parser.product()
    if parser.peek() is not None:
        raise UnknownUnit(f"`{parser.peek()}` cannot stand there")
    if not SMALLEST < unit.scale < 1 / SMALLEST:
        raise UnknownUnit("it is beyond all measure")
    return unit


_TOKENS = re.compile(r"\s*(?:([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|([^\W\d_]+|%|°C?)|([-+^()/.*·]))")


class _Parser:
    """`.`, `*` and `/` from left to right, exponents written behind a unit, with or without `^`."""

    def __init__(self, text: str):
        self.tokens = list[tuple[str, str]]()
        position = 0
        while position < len(text.rstrip()):
            found = _TOKENS.match(text, position)
            if found is None:
                raise UnknownUnit(f"`{text[position:].strip()}` cannot be read")
            number, name, sign = found.groups()
            self.tokens.append(("number", number) if number else ("name", name) if name else ("sign", sign))
            position = found.end()
        self.next = 0

    def peek(self) -> str | None:
        return self.tokens[self.next][1] if self.next < len(self.tokens) else None

    def product(self, depth: int = 0) -> Unit:
        result = self.factor(depth)
        while self.peek() in (".", "*", "·", "/"):
            sign = self.peek()
            self.next += 1
            other = self.factor(depth)
            result = result / other if sign == "/" else result * other
        return result

    def factor(self, depth: int) -> Unit:
        if self.next >= len(self.tokens) or depth > 20:
            raise UnknownUnit("something is missing at its end")
        kind, token = self.tokens[self.next]
        self.next += 1
        if token == "(":
            inner = self.product(depth + 1)
            if self.peek() != ")":
                raise UnknownUnit("a parenthesis is not closed")
            self.next += 1
        elif kind == "name":
            inner = _named(token)
        elif kind == "number":
            inner = ONE if float(token) == 1 else Unit(ONE.dimension, float(token))
        else:
            raise UnknownUnit(f"`{token}` cannot stand there")
        return self.exponent(inner, after_number=kind == "number")

    def exponent(self, unit: Unit, after_number: bool) -> Unit:
        start = self.next
        written = self.peek() == "^"
        self.next += written
        bracket = written and self.peek() == "("
        self.next += bracket
        sign = -1 if self.peek() == "-" else 1
        self.next += self.peek() in ("-", "+")
        if self.next >= len(self.tokens) or self.tokens[self.next][0] != "number" or (after_number and not written):
            if written or self.next != start:
                raise UnknownUnit("an exponent must be a number")
            return unit
        value = sign * float(self.tokens[self.next][1])
        self.next += 1
        if bracket and self.peek() == "/":
            self.next += 1
            kind, token = self.tokens[self.next] if self.next < len(self.tokens) else ("", "")
            if kind != "number" or float(token) == 0:
                raise UnknownUnit("an exponent must be a number")
            value /= float(token)
            self.next += 1
        if bracket:
            if self.peek() != ")":
                raise UnknownUnit("a parenthesis is not closed")
            self.next += 1
        if abs(value) > 20:
            raise UnknownUnit(f"the exponent {value:g} is too large")
        return unit if value == 1 else unit**value


def _named(name: str) -> Unit:
    found = _FIXED.get(name) or _SCALABLE.get(name)
    if found is not None:
        return found
    for length in (1, 2):
        factor, base = _PREFIXES.get(name[:length]), _SCALABLE.get(name[length:])
        if factor is not None and base is not None:
            return Unit(base.dimension, base.scale * factor)
    raise UnknownUnit(f"`{name}` is not a known unit")


_SPELLED = (
    "N", "Pa", "J", "W", "C", "V", "F", "ohm", "S", "Wb", "T", "H", "N.s", "N/m", "N.s/m", "m/s", "Pa.s", "V/s", "A/s",
    "W/K", "J/K",
)  # fmt: skip
"""What a result is called, the first that fits."""


def spell(unit: Unit) -> str:
    """A readable text for a unit that nobody wrote."""
    for name in _SPELLED:
        if unit.fits(parse_unit(name)):
            return name
    if (prefixed := _prefixed(unit)) is not None:
        return prefixed
    over = [f"{n}{_exponent(d)}" for n, d in zip(_BASE, unit.dimension, strict=True) if d > 0]
    under = [f"{n}{_exponent(-d)}" for n, d in zip(_BASE, unit.dimension, strict=True) if d < 0]
    text = ".".join(over) or "1"
    if under:
        text += "/" + (f"({'.'.join(under)})" if len(under) > 1 else under[0])
    if unit.offset:
        text = "degC" if unit.fits(_FIXED["degC"]) else text
    if math.isclose(unit.scale, 1.0, rel_tol=1e-9):
        return text
    return f"{unit.scale:.6g}" if text == "1" else f"{unit.scale:.6g} {text}"


def _prefixed(unit: Unit) -> str | None:
    """`mm` for a thousandth of a metre, where one unit with a prefix says it."""
    if math.isclose(unit.scale, 1.0, rel_tol=1e-9) or unit.plain or unit.offset:
        return None
    for name in ("m", "g", "s", "A", "K", "mol", *(n for n in _SPELLED if n in _SCALABLE)):
        base = _SCALABLE[name]
        for prefix, factor in (("", 1.0), *_PREFIXES.items()):
            if unit.fits(Unit(base.dimension, base.scale * factor)):
                return prefix + name
    return None


def _exponent(d: float) -> str:
    return "" if d == 1 else f"{d:g}" if d == int(d) else f"^{d:g}"


def factor_hint(wanted: Unit, found: Unit, wanted_text: str, found_text: str) -> str:
    """How two scales of one quantity relate, or an empty text for different quantities."""
    if wanted.dimension != found.dimension:
        return ""
    if wanted.offset != found.offset:
        return f"`{found_text}` and `{wanted_text}` count from different zeros; nothing is converted here."
    factor = found.scale / wanted.scale
    how = f"multiply by {factor:.6g}" if factor >= 1 else f"divide by {1 / factor:.6g}"
    if found_text[0].isdigit():
        return f"{how}, nothing is converted here."
    return f"1 {found_text} is {factor:.6g} {wanted_text}: {how}, nothing is converted here."
