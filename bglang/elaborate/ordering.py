"""Parameters in an order in which each can be computed from those before it; circles are reported."""

from bglang.elaborate.context import Context
from bglang.expr import leaves
from bglang.graph.ir import Parameter


def in_dependency_order(parameters: list[Parameter], ctx: Context) -> tuple[Parameter, ...]:
    """Declaration order, except that what a parameter needs comes before it."""
    needs = dict[str, list[str]]()
    for parameter in parameters:
        value = parameter.value
        if isinstance(value, tuple):
            needs[parameter.name] = [leaf[1] for leaf in leaves(value) if leaf[0] == "p"]
    seen = set[str]()
    for parameter in parameters:
        if parameter.name in needs and not seen.issuperset(needs[parameter.name]):
            break
        seen.add(parameter.name)
    else:
        return tuple(parameters)  # as they stand, which is usual
    by_name = {parameter.name: parameter for parameter in parameters}
    ordered, state = list[Parameter](), dict[str, int]()
    for parameter in parameters:
        _visit(parameter.name, needs, by_name, ordered, state, ctx)
    return tuple(ordered)


def _visit(
    name: str,
    needs: dict[str, list[str]],
    by_name: dict[str, Parameter],
    ordered: list[Parameter],
    state: dict[str, int],
    ctx: Context,
) -> None:
    """Depth first without recursion; state 1 is "being visited", 2 "done"."""
    if name in state:
        return
    path = [(name, iter(needs.get(name, ())))]
    state[name] = 1
    while path:
        current, rest = path[-1]
        following = next(rest, None)
        if following is None:
            path.pop()
            state[current] = 2
            if current in by_name:
                ordered.append(by_name[current])
        elif state.get(following) == 1:
            names = [entry for entry, _ in path]
            circle = names[names.index(following) :]
            ctx.report_cycle(circle, by_name[circle[0]].span if circle[0] in by_name else None)
        elif following not in state:
            state[following] = 1
            path.append((following, iter(needs.get(following, ()))))
