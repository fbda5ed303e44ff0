"""Writing down declared values: parameters, constants and variables, scalar by scalar."""

from collections.abc import Set

from bglang.diagnostics import error
from bglang.elaborate.attributes import component_attributes
from bglang.elaborate.components import ValueComponent
from bglang.elaborate.equations import not_stepwise
from bglang.elaborate.output import Output
from bglang.elaborate.values import CONTINUOUS, PARAMETER
from bglang.graph import ir
from bglang.source import Span


def write_value(component: ValueComponent, output: Output, assigned: Set[str]) -> None:
    """A declared parameter, constant or variable; `assigned` are those that a `when` gives values to."""
    if component.shape is None:
        component.bound()
        if component.shape is None:
            return
    if component.role == "parameter" or component.role == "constant":
        write_parameters(component, output)
    elif component.type == "String":
        text = f"`{component.name}` is a text and must be a parameter or constant"
        output.report.add(error("types/variability", text, component.span))
    else:
        write_variables(component, output, assigned)


def write_parameters(component: ValueComponent, output: Output) -> None:
    bound = component.bound()
    if component.element and bound is not None and bound.variability > PARAMETER:
        return  # it modulates the element and stands in its law
    binding = component.binding() if component.layers else None
    if bound is None and component.given():
        return
    ctx, declarator, prefixes = output.ctx, component.member.declarator, component.member.component.prefixes
    constant, text = component.role == "constant", component.type == "String"
    if constant or text:
        bound = component.read()
    final = constant or "final" in prefixes or (binding is not None and binding.final)
    rows = component_attributes(component)
    for place, name in enumerate(component.flat_names()):
        row = rows[place]
        item = bound.items[place] if bound is not None else None
        start = row.start
        if item is None and start is not None and (start.written or start.fixed is False):
            item = start.value if start.written else 0.0
        output.parameters.append(
            ir.Parameter(
                name, None if text else item, component.type, row.unit, declarator.description, final,
                name in ctx.structural, start is None or start.fixed is not False, row.minimum, row.maximum,
                declarator.span, str(item or "") if text else "", row.display_unit, constant,
                binding.span if binding is not None else None,
            )
        )  # fmt: skip


def write_variables(component: ValueComponent, output: Output, assigned: Set[str]) -> None:
    declarator = component.member.declarator
    bound = component.bound()
    if bound is None and component.given():
        return
    rows = component_attributes(component)
    free_input = component.role == "input" and component.owner.parent is None and bound is None
    binding = component.binding() if bound is not None else None
    span = binding.span if binding is not None else declarator.span
    owner = component.owner.name
    if component.role == "discrete" and bound is not None and bound.variability == CONTINUOUS:
        output.report.add(not_stepwise(component.name, span))
    for place, name in enumerate(component.flat_names()):
        row = rows[place]
        discrete = component.type != "Real" or component.role == "discrete" or name in assigned
        output.variables.append(
            ir.Variable(
                name, "discrete" if discrete else "continuous", component.type, row.unit, declarator.description,
                None if free_input else row.start, row.nominal, row.minimum, row.maximum, declarator.span,
                row.display_unit, use_of(component),
            )
        )  # fmt: skip
        if component.role == "output" and component.owner.parent is None:
            output.outputs.append(name)
        if bound is not None:
            output.equations.append(ir.Equation(("v", name), bound.items[place], owner, span))
        elif free_input:
            output.inputs.append(name)
            value = row.start.value if row.start is not None else 0.0
            output.equations.append(ir.Equation(("v", name), value, owner, span))


def use_of(component: ValueComponent) -> Span | None:
    """Where the block or subsystem is declared that an input belongs to."""
    member = component.owner.member
    return member.declarator.span if component.role == "input" and member is not None else None
