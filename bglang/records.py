"""Records: what the standard `@dataclass(slots=True)` makes, made when somebody needs it.

The standard decorator writes and compiles up to six methods for every class, called or not: with some two hundred
classes that was a third of the time of a small run, and its module brings `inspect` and more with it.  Here `__init__`
is compiled when the first object is made, and all other methods are the same functions for every class.
`dataclasses.fields`, `asdict`, `replace`, `copy` and pattern matching work as with a standard one.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")
_MISSING = object()


class _Made:
    """A default that is made for every object anew."""

    __slots__ = ("factory", "repr")

    def __init__(self, factory: Any, repr: bool) -> None:
        self.factory, self.repr = factory, repr


_NONE = _Made(_MISSING, True)
"""A field without a default."""


def field(*, default_factory: Any = _MISSING, repr: bool = True) -> Any:
    """A field with a fresh default for every object, or one that `repr` leaves out."""
    return _Made(default_factory, repr)


@dataclass_transform(field_specifiers=(field,))
def dataclass(*, slots: bool, frozen: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """As the standard one, for classes with slots; `frozen` ones are hashed by value, unless `eq` is false."""
    assert slots, "records have slots"

    def decorate(cls: type[T]) -> type[T]:
        made: type[T] = _make(cls, frozen, eq)
        return made

    return decorate


def replace(record: T, **changes: Any) -> T:
    """A copy with other values in some fields."""
    cls: Any = type(record)
    for name in cls.__match_args__:
        if name not in changes:
            changes[name] = getattr(record, name)
    made: T = cls(**changes)
    return made


def _make(cls: Any, frozen: bool, eq: bool) -> Any:
    own = tuple(cls.__annotations__)
    inherited = {name: None for base in reversed(cls.__mro__[1:]) for name in getattr(base, "__match_args__", ())}
    names = tuple({**inherited, **dict.fromkeys(own)})
    defaults = {k: v for base in reversed(cls.__mro__) for k, v in getattr(base, "_record_defaults", {}).items()}
    defaults |= {name: cls.__dict__[name] for name in own if name in cls.__dict__}
    body = {k: v for k, v in cls.__dict__.items() if k not in own and k not in ("__dict__", "__weakref__")}
    body |= {"__slots__": tuple(name for name in own if name not in inherited), "__match_args__": names}
    body["__qualname__"] = cls.__qualname__
    body |= {"_record_defaults": defaults, "_record_values": _getter(names), "_record_frozen": frozen}
    body["__dataclass_fields__"] = _Fields()
    for name, method in (("__repr__", _repr), ("__reduce__", _reduce)):
        body.setdefault(name, method)
    if eq:
        body.setdefault("__eq__", _equal)
        body["__hash__"] = body.get("__hash__") or (_hash if frozen else None)
    if frozen:
        body["__setattr__"], body["__delattr__"] = _refuse, _refuse
    made: Any = type(cls)(cls.__name__, cls.__bases__, body)
    if "__init__" not in cls.__dict__:
        made.__init__ = _first_init(made)
    return made


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """All values of an object as a tuple."""
    if len(names) > 1:
        return staticmethod(attrgetter(*names))
    return staticmethod(lambda record: tuple(getattr(record, name) for name in names))


def _first_init(cls: Any) -> Callable[..., None]:
    """The constructor until the first object is made."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        cls.__init__ = made = _compile_init(cls)
        made(self, *values, **named)

    return __init__


def _compile_init(cls: Any) -> Callable[..., None]:
    """`__init__` from the names of the fields; nothing else enters the text."""
    known: dict[str, Any] = {"__name__": cls.__module__, "_missing": _MISSING, "_set": object.__setattr__}
    arguments, lines = ["self"], list[str]()
    for number, name in enumerate(cls.__match_args__):
        assert name.isidentifier()
        default, value, optional = cls._record_defaults.get(name, _NONE), name, f"{name}=_default{number}"
        if not isinstance(default, _Made):
            known[f"_default{number}"] = default
        elif default.factory is _MISSING:
            optional = name
        else:
            known[f"_make{number}"], optional = default.factory, f"{name}=_missing"
            value = f"_make{number}() if {name} is _missing else {name}"
        arguments.append(optional)
        lines.append(f" _set(self, {name!r}, {value})" if cls._record_frozen else f" self.{name} = {value}")
    exec(f"def __init__({', '.join(arguments)}):\n" + "\n".join(lines or [" pass"]), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


class _Fields:
    """`__dataclass_fields__`, when the functions of the standard module ask for it."""

    def __get__(self, record: object, cls: Any) -> dict[str, Any]:
        import dataclasses

        body: dict[str, Any] = {"__annotations__": dict.fromkeys(cls.__match_args__, Any)}
        for name, default in cls._record_defaults.items():
            if isinstance(default, _Made):
                given = {} if default.factory is _MISSING else {"default_factory": default.factory}
                body[name] = dataclasses.field(repr=default.repr, **given)
            else:
                body[name] = default
        fields: dict[str, Any] = dataclasses.dataclass(type("_", (), body)).__dict__["__dataclass_fields__"]
        cls.__dataclass_fields__ = fields
        return fields


# --- methods of all records -------------------------------------------------------------------------------------------


def _repr(self: Any) -> str:
    hidden = {
        name for name, default in self._record_defaults.items() if isinstance(default, _Made) and not default.repr
    }
    shown = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__ if name not in hidden)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self is other or self._record_values(self) == self._record_values(other)


def _hash(self: Any) -> int:
    return hash(self._record_values(self))


def _reduce(self: Any) -> Any:
    return type(self), self._record_values(self)


def _refuse(self: Any, name: str, value: object = None) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")
