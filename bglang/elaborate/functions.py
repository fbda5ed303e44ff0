"""Functions that users write: a call is executed symbolically, so that its outputs become plain expressions.

Loops are unrolled, branches whose condition is not known yet become `if` expressions.  Nothing of the function is left
afterwards, which is why it can be differentiated, inverted and compiled like anything else."""

from typing import TYPE_CHECKING

from bglang.diagnostics import Diagnostic, Label, Report
from bglang.elaborate.arguments import Arguments
from bglang.elaborate.expressions import conform
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.locals import UNSET, Locals, stack_of
from bglang.elaborate.protocol import Fault, Scope, fault
from bglang.elaborate.statements import Run
from bglang.elaborate.values import CONSTANT, TypeInfo, Value, array, count, describe_shape
from bglang.records import dataclass, replace
from bglang.source import Span
from bglang.syntax import ast

if TYPE_CHECKING:
    from bglang.elaborate.expressions import Translator

CALL = 5
"""What a call costs, in statements."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable of a function; `sizes` are expressions or None for `:`."""

    name: str
    role: str
    type: ast.Name
    sizes: tuple[ast.Expression, ...]
    value: ast.Expression | None
    span: Span


def execute(t: "Translator", function: ast.Class, call: ast.Call) -> list[Value]:
    """The outputs of a call."""
    from bglang.elaborate.calls import arguments

    stack = stack_of(t.scope)
    if any(running is function for running in stack):
        raise _recursion(function, stack, call)
    given = arguments(t, call, function.ident)
    function, variables = _signature(t, function, call)
    inputs = [v for v in variables if v.role == "input"]
    chosen = _match(given, inputs, call.span)
    session = _Session(t, function, variables, call)
    before = len(t.report.diagnostics)
    try:
        return session.vectorised(inputs, chosen)
    except Fault as problem:
        if problem.diagnostic is not None:
            t.report.add(problem.diagnostic)
        raise Fault(None) from None
    finally:
        found = t.report.diagnostics
        found[before:] = [_called_from(d, call) for d in found[before:]]


def _recursion(function: ast.Class, stack: tuple[ast.Class, ...], call: ast.Call) -> Fault:
    first = next(k for k, running in enumerate(stack) if running is function)
    chain = " calls ".join(f"`{f.ident}`" for f in (*stack[first:], function))
    return fault(
        "functions/recursion",
        f"`{function.ident}` calls itself",
        call.span,
        reason=f"{chain}."
        if len(stack) > 1
        else "A function is written out where it is called, which would never end.",
        hint="use a loop instead.",
    )


def _called_from(d: Diagnostic, call: ast.Call) -> Diagnostic:
    """What is wrong inside a function also shows the call that met it."""
    inside = d.span.source is call.span.source and call.span.start <= d.span.start < call.span.end
    return d if d.related or inside else replace(d, related=(Label(call.span, "called here"),))


def _signature(t: "Translator", function: ast.Class, call: ast.Call) -> tuple[ast.Class, list[Variable]]:
    """The function itself (behind `function f = g`) and its variables in order."""
    seen = list[ast.Class]()
    while function.short is not None:
        if function in seen:
            raise fault("functions/recursion", f"`{function.ident}` stands for itself", function.name_span)
        seen.append(function)
        target = t.scope.function_scope(function).function(function.short.type)
        if target is None or function.short.args:
            raise fault(
                "functions/declaration",
                f"`{function.ident}` must be another name of a function",
                function.short.span,
                hint="`function f = g;` gives `g` a second name; anything more is a function of its own.",
            )
        function = target
    found = list[Variable]()
    for section in function.sections:
        if section.kind == "algorithm":
            continue
        for item in section.items:
            if isinstance(item, ast.Component):
                found.extend(_variables(item, section.protected))
            elif not isinstance(item, ast.Import | ast.Class):
                raise fault(
                    "functions/declaration",
                    "a function holds inputs, outputs, local variables and an `algorithm`",
                    item.span,
                    hint="put statements into the `algorithm` section, with `:=`." * isinstance(item, ast.Equation),
                )
    if not any(v.role == "output" for v in found):
        raise fault("functions/declaration", f"the function `{function.ident}` has no output", function.name_span)
    return function, found


def _variables(component: ast.Component, protected: bool) -> list[Variable]:
    role = "local"
    for word in ("input", "output", "constant"):
        if word in component.prefixes:
            role = word
    if "port" in component.prefixes or "node" in component.prefixes:
        raise fault("functions/declaration", "a function has no ports", component.span)
    return [
        Variable(d.ident, role, component.type, (*(d.subscripts or ()), *(component.subscripts or ())), d.value, d.span)
        for d in component.declarators
    ]


def _match(given: Arguments, inputs: list[Variable], span: Span) -> dict[str, tuple[Value, Span]]:
    if len(given.positional) > len(inputs):
        raise given.wrong_count(f"{'at most ' * any(v.value for v in inputs)}{len(inputs)}", len(inputs))
    chosen = {v.name: pair for v, pair in zip(inputs, given.positional, strict=False)}
    names = [v.name for v in inputs]
    for name, pair in given.named.items():
        if name not in names:
            raise fault(
                "functions/arguments",
                f"`{given.function}` has no input `{name}`",
                pair[1],
                reason=f"Its inputs are {', '.join(f'`{n}`' for n in names) or 'none'}.",
                hint=did_you_mean(name, names),
            )
        if name in chosen:
            raise fault("functions/arguments", f"`{name}` of `{given.function}` is given twice", pair[1])
        chosen[name] = pair
    missing = [v.name for v in inputs if v.name not in chosen and v.value is None]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        raise fault("functions/arguments", f"`{given.function}` needs {listed}", span)
    return chosen


class _Session:
    """One call being executed."""

    def __init__(self, t: "Translator", function: ast.Class, variables: list[Variable], call: ast.Call):
        self.caller = t
        self.function = function
        self.variables = variables
        self.call = call
        self.lookup: Scope = t.scope.function_scope(function)
        self.stack = (*stack_of(t.scope), function)

    def vectorised(self, inputs: list[Variable], chosen: dict[str, tuple[Value, Span]]) -> list[Value]:
        """Arrays given where scalars are expected are taken item by item."""
        wide = [v.name for v in inputs if not v.sizes and v.name in chosen and chosen[v.name][0].shape]
        wide = [name for name in wide if not self._typed_array(name)]
        if not wide:
            return self._once(chosen)
        shape = chosen[wide[0]][0].shape
        for name in wide:
            if chosen[name][0].shape != shape:
                shapes = f"{describe_shape(shape)} and {describe_shape(chosen[name][0].shape)}"
                message = f"`{self.function.ident}` is called with arrays of the shapes {shapes}"
                raise fault("arrays/shape", message, chosen[name][1], reason="The shapes must be equal.")
        results = list[list[Value]]()
        for k in range(count(shape)):
            part = dict(chosen)
            for name in wide:
                value, span = chosen[name]
                part[name] = Value(value.type, (), (value.items[k],), value.variability, value.enum), span
            results.append(self._once(part))
        if not results:
            return [Value("Real", shape, (), CONSTANT) for v in self.variables if v.role == "output"]
        return [_gathered(column, shape) for column in zip(*results, strict=True)]

    def _typed_array(self, name: str) -> bool:
        variable = next(v for v in self.variables if v.name == name)
        info = self.lookup.value_type(variable.type)
        return info is not None and bool(info.shape)

    def _once(self, chosen: dict[str, tuple[Value, Span]]) -> list[Value]:
        self.caller.scope.work(CALL, self.call.span)
        values = dict[str, Value]()
        report = self.caller.report
        scope = Locals(self.lookup, report, values, stack=self.stack, caller=self.caller.scope)
        types = dict[str, TypeInfo]()
        run = Run(scope, values, types, self.function)
        for variable in sorted(self.variables, key=lambda v: v.role != "input"):
            types[variable.name], values[variable.name] = self._start(variable, chosen, run, report)
        run.body([item for s in self.function.sections if s.kind == "algorithm" for item in s.items])
        outputs = [v for v in self.variables if v.role == "output"]
        for variable in outputs:
            if UNSET in values[variable.name].items:
                raise fault(
                    "functions/unassigned",
                    f"the output `{variable.name}` of `{self.function.ident}` is not always given a value",
                    variable.span,
                )
        return [values[v.name] for v in outputs]

    def _start(
        self, variable: Variable, chosen: dict[str, tuple[Value, Span]], run: Run, report: Report
    ) -> tuple[TypeInfo, Value]:
        """Declared type with its sizes, and the first value of a variable."""
        info = self.lookup.value_type(variable.type)
        if info is None:
            raise Fault(None)
        given = chosen.get(variable.name)
        if given is None and variable.value is not None:
            given = run.translator.value(variable.value), variable.value.span
        shape = self._shape(variable, info, given, run)
        info = TypeInfo(info.type, shape, info.enum, info.unit)
        if given is None:
            unset = Value(info.type, shape, (UNSET,) * count(shape), CONSTANT, info.enum)
            return info, unset
        value = conform(given[0], info, given[1], report, f"`{variable.name}` of `{self.function.ident}`")
        if value is None:
            raise Fault(None)
        return info, value

    def _shape(self, variable: Variable, info: TypeInfo, given: tuple[Value, Span] | None, run: Run) -> tuple[int, ...]:
        sizes = list[int]()
        for k, size in enumerate(variable.sizes):
            if not isinstance(size, ast.Colon):
                sizes.append(run.translator.size(size))
                if sizes[-1] < 0:
                    raise fault("arrays/shape", f"the size of `{variable.name}` is {sizes[-1]}", size.span)
            elif given is None:
                message = f"the size of `{variable.name}` is not known"
                raise fault("arrays/shape", message, variable.span, hint="write its size, as in `Real x[n]`.")
            elif k < len(given[0].shape):
                sizes.append(given[0].shape[k])
            else:
                n = len(variable.sizes) + len(info.shape)
                raise fault(
                    "arrays/shape",
                    f"`{variable.name}` of `{self.function.ident}` needs an array with {n} dimension{'s' * (n > 1)}, "
                    f"but this has {len(given[0].shape) or 'none'}",
                    given[1],
                )
        return (*sizes, *info.shape)


def _gathered(values: tuple[Value, ...], shape: tuple[int, ...]) -> Value:
    first = values[0]
    items = [item for value in values for item in value.items]
    return array(first.type, (*shape, *first.shape), items, max(v.variability for v in values), first.enum)
