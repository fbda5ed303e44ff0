"""Locals of elements: names for parts of their laws.

The laws are read with the locals written out, so that what a law says does not depend on how it is written: a port
whose `q` it reads by way of a local is a C all the same."""

from bglang.elaborate.components import ValueComponent
from bglang.elaborate.equations import Pair
from bglang.elaborate.laws import mentions
from bglang.elaborate.objects import ArrayObject, ElementObject, Instance
from bglang.expr import Expr, leaves, map_leaves
from bglang.graph.ir import Equation


def local_values(inner: Instance) -> dict[str, Expr]:
    """Locals that are declared with a value, by flat name."""
    found = dict[str, Expr]()
    for component in local_components(inner):
        bound = component.bound()
        if bound is not None:
            found.update(zip(component.flat_names(), bound.items, strict=True))
    return found


def local_components(inner: Instance) -> list[ValueComponent]:
    found = list[ValueComponent]()
    for thing in inner.order:
        for item in thing.items.values() if isinstance(thing, ArrayObject) else (thing,):
            if isinstance(item, ValueComponent) and item.role not in ("parameter", "constant"):
                found.append(item)
    return found


def solved(values: dict[str, Expr]) -> dict[str, Expr]:
    """The values in terms of what is no local; locals that need each other stay names."""
    needs = {
        name: {leaf[1] for leaf in leaves(value) if leaf[0] == "v" and leaf[1] in values}
        for name, value in values.items()
    }
    found = dict[str, Expr]()
    ready = [name for name, needed in needs.items() if not needed]
    users: dict[str, list[str]] = {}
    for name, needed in needs.items():
        for other in needed:
            users.setdefault(other, []).append(name)
    while ready:
        name = ready.pop()
        found[name] = write_out(values[name], found)
        for user in users.get(name, ()):
            needs[user].discard(name)
            if not needs[user]:
                ready.append(user)
    return found


def write_out(expression: Expr, values: dict[str, Expr]) -> Expr:
    if not values:
        return expression
    return map_leaves(expression, lambda leaf: values.get(leaf[1], leaf) if leaf[0] == "v" else leaf)


def split_locals(element: ElementObject, pairs: list[Pair], wanted: int, equations: list[Equation]) -> list[Pair]:
    """Equations that define locals become equations of the model; the others are laws, with locals written out."""
    assert element.inner is not None
    local = {name for c in local_components(element.inner) if c.bound() is None for name in c.flat_names()}
    laws = list[Pair]()
    for pair in pairs:
        if is_local(pair.left, local) or is_local(pair.right, local):
            equations.append(Equation(pair.left, pair.right, element.name, pair.span))
        else:
            laws.append(pair)
    for pair in reversed(laws[:]):
        if len(laws) > wanted and any(mentions(side, name) for side in (pair.left, pair.right) for name in local):
            laws.remove(pair)
            equations.append(Equation(pair.left, pair.right, element.name, pair.span))
    values = local_values(element.inner)
    for equation in equations:
        if isinstance(equation.left, tuple) and equation.left[0] == "v" and equation.left[1] in local:
            values.setdefault(equation.left[1], equation.right)
    values = solved(values)
    return [Pair(write_out(pair.left, values), write_out(pair.right, values), pair.span) for pair in laws]


def is_local(side: Expr, local: set[str]) -> bool:
    if isinstance(side, tuple) and side[0] == "der":
        side = side[1]
    return isinstance(side, tuple) and side[0] == "v" and side[1] in local
