"""Records that are made when somebody looks at them, and fields that are computed when somebody reads them.

A stored model of a hundred thousand equations is opened in milliseconds because almost nobody looks at one of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast, overload

EAGER = 256
"""Tables of at most so many records are made at once."""


class Later:
    """A value that has not been computed yet."""

    __slots__ = ("_argument", "_make")

    def __init__(self, make: Callable[[Any], Any], argument: Any) -> None:
        self._make, self._argument = make, argument

    def __call__(self) -> Any:
        return self._make(self._argument)


def lazy_class(cls: type, names: Sequence[str]) -> type:
    """The frozen dataclass with some fields that may be given as `Later` and are computed when first read.

    The generated `__init__` of a frozen dataclass sets its fields through `object.__setattr__`, which finds these
    properties; copies by `dataclasses.replace` work as always."""

    def lazily(name: str) -> property:
        hidden = f"_{name}"

        def get(self: Any) -> Any:
            value = getattr(self, hidden)
            if isinstance(value, Later):
                value = value()
                object.__setattr__(self, hidden, value)
            return value

        def put(self: Any, value: Any) -> None:
            object.__setattr__(self, hidden, value)

        return property(get, put)

    slots = {"__slots__": tuple(f"_{name}" for name in names)}
    return type(f"Stored{cls.__name__}", (cls,), {**slots, **{name: lazily(name) for name in names}})


class Records(Sequence[Any]):
    """A tuple whose items are made one by one, each when it is first asked for.

    `columns` are the fields by the number of the record, for those who want one field of all of them."""

    def __init__(self, count: int, make: Callable[[int], Any], columns: Mapping[str, Callable[[int], Any]]) -> None:
        self._made: list[Any] = [None] * count
        self._make, self._columns = make, columns
        self._read: dict[tuple[str, str], list[Any]] = {}

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return tuple(self[k] for k in range(*at.indices(len(self._made))))
        found = self._made[at]
        if found is None:
            number = at if at >= 0 else at + len(self._made)
            found = self._made[at] = self._make(number)
        return found

    def __iter__(self) -> Iterator[Any]:
        for k in range(len(self._made)):
            yield self[k]

    def column(self, field: str) -> list[Any]:
        """A plain field of all records, none of which is made."""
        key = ("column", field)
        if key not in self._read:
            self._read[key] = self._all(field)
        return self._read[key]

    def present(self, field: str) -> list[bool]:
        """Which records have the field; expressions are not rebuilt for that."""
        key = ("present", field)
        if key not in self._read:
            self._read[key] = [value is not None for value in self._all(field)]
        return self._read[key]

    def _all(self, field: str) -> list[Any]:
        get = self._columns[field]
        everything = getattr(get, "all", None)
        return list(map(get, range(len(self._made)))) if everything is None else list(everything())

    def __add__(self, other: Sequence[Any]) -> tuple[Any, ...]:
        return (*self, *other)

    def __radd__(self, other: Sequence[Any]) -> tuple[Any, ...]:
        return (*other, *self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, Records)) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def make_records(
    count: int, make: Callable[[int], Any], columns: Mapping[str, Callable[[int], Any]]
) -> tuple[Any, ...]:
    """A real tuple of a few records, or a lazy one of many."""
    if count <= EAGER:
        return tuple(make(k) for k in range(count))
    return cast(tuple[Any, ...], Records(count, make, columns))
