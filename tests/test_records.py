"""Records behave as standard dataclasses do."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from bglang.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = 2.0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = "p"


@dataclass(slots=True)
class Bag:
    """A record that changes."""

    secret: str = field(repr=False)
    items: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    value: int


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    x: float
    y: float = 2.0
    tags: tuple[str, ...] = ()


def test_values_equality_and_hash() -> None:
    a, b = Point(1.0, tags=("u",)), Point(1.0, 2.0, ("u",))
    assert a == b and hash(a) == hash(b) and a != Point(1.0) and a != (1.0, 2.0, ("u",))
    assert hash(a) == hash(Standard(1.0, 2.0, ("u",))), "the same rule as that of the standard ones"
    assert Same(1) != Same(1) and len({Same(1), Same(1)}) == 2
    assert Named(1.0) != Point(1.0)


@pytest.mark.parametrize("wrong", [(), (1.0, 2.0, (), 4.0)])
def test_wrong_arguments_are_refused_by_the_first_and_by_later_objects(wrong: tuple[Any, ...]) -> None:
    for _ in range(2):
        with pytest.raises(TypeError):
            Point(*wrong)
    with pytest.raises(TypeError, match="z"):
        Point(1.0, z=3)  # type: ignore[call-arg]


def test_frozen_ones_refuse_changes() -> None:
    point: Any = Point(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    with pytest.raises((AttributeError, TypeError)):
        point.other = 1
    assert not hasattr(point, "__dict__")


def test_functions_of_the_standard_module() -> None:
    point = Point(1.0)
    assert dataclasses.asdict(point) == dataclasses.asdict(Standard(1.0))
    assert [f.name for f in dataclasses.fields(Named)] == ["x", "y", "tags", "name"]
    assert [f.default for f in dataclasses.fields(Point)][1:] == [f.default for f in dataclasses.fields(Standard)][1:]
    assert dataclasses.replace(point, y=5.0) == replace(point, y=5.0) == Point(1.0, 5.0)
    assert repr(point) == repr(Standard(1.0)).replace("Standard", "Point")
    assert dataclasses.is_dataclass(Point) and dataclasses.is_dataclass(point)


def test_copies_and_pickles() -> None:
    for thing in (Point(1.0), Named(2.0, name="q")):
        assert copy.copy(thing) == copy.deepcopy(thing) == pickle.loads(pickle.dumps(thing)) == thing


def test_patterns() -> None:
    match Point(3.0, 4.0):
        case Point(x, y):
            assert (x, y) == (3.0, 4.0)


def test_fresh_defaults_and_hidden_fields() -> None:
    first, second = Bag(secret="s"), Bag(secret="t")
    first.items.append(1)
    assert second.items == [] and first == Bag("s", [1]) and repr(first) == "Bag(items=[1])"
    first.secret = "u"
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)
