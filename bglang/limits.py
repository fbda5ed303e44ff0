"""How large a model may be.  A source file can come from anywhere and must not be able to exhaust the machine.

Every limit has a default that no sensible model reaches, a clear error, and a flag that raises it:
`--limit nesting=300`, or `Limits(nesting=300)` from Python.  `--limit untrusted` takes small limits for all of them.
"""

from collections.abc import Iterable

from bglang.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    # While reading a file.
    file_bytes: int = 50_000_000
    nesting: int = 100
    """brackets and blocks inside each other"""
    operators: int = 10_000
    """operators in one expression outside of its brackets (`a + b + c + ...`)"""
    identifier: int = 1_000
    """characters"""
    number: int = 400
    """digits"""
    string: int = 1_000_000
    """characters"""

    # While elaborating.
    expansion: int = 20_000_000
    """components, bonds and equations, everything counted"""
    depth: int = 100
    """components, base classes and macros inside each other"""
    array: int = 10_000_000
    """elements of one array"""
    table: int = 2_000_000
    """numbers of one table"""
    expression: int = 1_000_000
    """nodes of one flat expression"""
    evaluation: int = 10_000_000
    """statements carried out by functions at compile time"""


UNTRUSTED = Limits(
    file_bytes=200_000,
    operators=2_000,
    string=100_000,
    expansion=3_000,
    array=10_000,
    table=20_000,
    expression=10_000,
    evaluation=30_000,
)
"""For sources from strangers: within these, compiling takes seconds and some hundred megabytes (`--limit
untrusted`)."""


def with_settings(limits: Limits, settings: Iterable[str]) -> Limits:
    """Limits changed by `name=number` texts, as the flag `--limit` gives them; ValueError says what is wrong.

    `untrusted` stands for the whole set of small limits."""
    known = Limits.__match_args__
    changes: dict[str, int] = {}
    for setting in settings:
        if setting.strip() == "untrusted":
            limits = UNTRUSTED
            continue
        name, equals, number = setting.partition("=")
        if not equals or name.strip() not in known:
            raise ValueError(f"`{setting}` is not a limit; write NAME=NUMBER with one of: {', '.join(known)}")
        try:
            value = int(number.strip().replace("_", ""))
        except ValueError:
            raise ValueError(f"`{number.strip()}` is not a whole number") from None
        if value < 1:
            raise ValueError(f"the limit `{name.strip()}` must be at least 1")
        changes[name.strip()] = value
    return replace(limits, **changes)


def raise_hint(name: str, needed: int | None = None) -> str:
    """The sentence that every limit error ends with."""
    value = f"{needed}" if needed is not None else "NUMBER"
    return f"`--limit {name}={value}` raises this limit."
