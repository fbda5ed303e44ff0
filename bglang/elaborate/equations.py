"""Equations of models and blocks: loops are unrolled, arrays taken apart, branches chosen or merged."""

from collections.abc import Iterable, Iterator

from bglang.diagnostics import Diagnostic, Report, error
from bglang.elaborate.expansion import chosen
from bglang.elaborate.expressions import Translator, translate
from bglang.elaborate.functions import execute
from bglang.elaborate.mistyped import mistyped, not_boolean, type_hint
from bglang.elaborate.protocol import Fault
from bglang.elaborate.scopes import Frame, InstanceScope
from bglang.elaborate.sizes import iterations
from bglang.elaborate.values import CONTINUOUS, DISCRETE, PARAMETER, Value, describe
from bglang.expr import Expr, call
from bglang.graph import ir
from bglang.records import dataclass, field
from bglang.source import Span
from bglang.syntax import ast


@dataclass(frozen=True, slots=True)
class Pair:
    """`left = right`, scalar; `smooth` where the left is discrete, but the right varies between events."""

    left: Expr
    right: Expr
    span: Span
    smooth: bool = False


@dataclass(slots=True)
class Collected:
    """What the equation sections of a model say."""

    equations: list[ir.Equation] = field(default_factory=list[ir.Equation])
    initial: list[ir.Equation] = field(default_factory=list[ir.Equation])
    whens: list[ir.When] = field(default_factory=list[ir.When])
    assertions: list[ir.Assertion] = field(default_factory=list[ir.Assertion])
    assigned: set[str] = field(default_factory=set[str])
    smooth: list[tuple[str, Span]] = field(default_factory=list[tuple[str, Span]])


def collect(items: Iterable[tuple[ast.Item, str, InstanceScope]]) -> Collected:
    """All equations of the model."""
    found = Collected()
    report: Report | None = None
    for node, section, scope in items:
        _Collector(found, section == "initial equation").add(node, scope, ())
        report = scope.ctx.report
    for name, span in found.smooth:
        if report is not None and name not in found.assigned:
            report.add(not_stepwise(name, span))
    return found


class _Collector:
    def __init__(self, found: Collected, initial: bool):
        self.found = found
        self.initial = initial

    def add(self, node: ast.Item, scope: InstanceScope, conditions: tuple[Expr, ...]) -> None:
        """One item; `conditions` hold where it stands (for assertions inside time-dependent branches)."""
        component = scope.instance.name if scope.instance is not None else ""
        if isinstance(node, ast.Equation):
            target = self.found.initial if self.initial else self.found.equations
            for pair in equation_pairs(node, scope):
                target.append(ir.Equation(pair.left, pair.right, component, pair.span))
                if pair.smooth and not self.initial and isinstance(pair.left, tuple) and pair.left[0] == "v":
                    self.found.smooth.append((str(pair.left[1]), pair.span))
        elif isinstance(node, ast.ForBlock):
            for place in loop_scopes(node, scope):
                for item in node.body:
                    self.add(item, place, conditions)
        elif isinstance(node, ast.IfBlock):
            self.add_if(node, scope, conditions)
        elif isinstance(node, ast.WhenBlock):
            when = read_when(node, scope, self.found.assigned)
            if when is not None:
                self.found.whens.append(when)
        elif isinstance(node, ast.CallEquation):
            self.add_call(node, scope, conditions)
        else:
            scope.ctx.report.add(error("classes/section", "only equations stand here", node.span))

    def add_if(self, node: ast.IfBlock, scope: InstanceScope, conditions: tuple[Expr, ...]) -> None:
        tests = branch_conditions(node, scope)
        if tests is None:
            return
        if tests == []:
            for item in chosen(node, scope):
                self.add(item, scope, conditions)
            return
        component = scope.instance.name if scope.instance is not None else ""
        target = self.found.initial if self.initial else self.found.equations
        for pair in merged_pairs(node, tests, scope):
            target.append(ir.Equation(pair.left, pair.right, component, pair.span))
        before = conditions
        for test, (_, items) in zip([*tests, 1.0], [*node.branches, (None, node.otherwise)], strict=True):
            for item in items:
                if isinstance(item, ast.CallEquation):
                    self.add(item, scope, (*before, test))
            before = (*before, call("not", test))

    def add_call(self, node: ast.CallEquation, scope: InstanceScope, conditions: tuple[Expr, ...]) -> None:
        name = node.call.function.span.text
        if name == "assert":
            found = read_assertion(node.call, scope, conditions)
            if found is not None:
                self.found.assertions.append(found)
            return
        hint = {
            "reinit": "put it into `when ... end when`.",
            "terminate": "put it into `when ... end when`.",
            "connect": "draw a bond: `a -> b;`.",
        }
        scope.ctx.report.add(
            error(
                "equations/call",
                f"`{name}` cannot stand here",
                node.span,
                hint=hint.get(name, "write an equation, `left = right;`."),
            )
        )


# --- plain equations -------------------------------------------------------------------------------------------------


def all_pairs(items: Iterable[tuple[ast.Item, InstanceScope]]) -> list[Pair]:
    """Equations, loops and branches as scalar equations; used for the laws of elements."""
    pairs = list[Pair]()
    for node, scope in items:
        if isinstance(node, ast.Equation):
            pairs += equation_pairs(node, scope)
        elif isinstance(node, ast.ForBlock):
            for place in loop_scopes(node, scope):
                pairs += all_pairs((item, place) for item in node.body)
        elif isinstance(node, ast.IfBlock):
            tests = branch_conditions(node, scope)
            if tests == []:
                pairs += all_pairs((item, scope) for item in chosen(node, scope))
            elif tests is not None:
                pairs += merged_pairs(node, tests, scope)
    return pairs


def equation_pairs(node: ast.Equation, scope: InstanceScope) -> list[Pair]:
    """The scalar equations of one equation; none after reporting."""
    report = scope.ctx.report
    if isinstance(node.left, ast.Tuple):
        return tuple_pairs(node, node.left, scope)
    left, right = translate(node.left, scope, report), translate(node.right, scope, report)
    if left is None or right is None or not comparable(left, right, node.span, report):
        return []
    scope.ctx.count(len(left.items), node.span)
    smooth = right.variability == CONTINUOUS and left.variability == DISCRETE and left.type == "Real"
    return [Pair(x, y, node.span, smooth) for x, y in zip(left.items, right.items, strict=True)]


def tuple_pairs(node: ast.Equation, left: ast.Tuple, scope: InstanceScope) -> list[Pair]:
    """`(a, b) = f(x);`"""
    report = scope.ctx.report
    function = scope.function(node.right.function) if isinstance(node.right, ast.Call) else None
    if not isinstance(node.right, ast.Call) or function is None:
        report.add(error("equations/tuple", "several results come from a call of a function", node.right.span))
        return []
    try:
        values = execute(Translator(scope, report), function, node.right)
    except Fault as problem:
        if problem.diagnostic is not None:
            report.add(problem.diagnostic)
        return []
    if len(left.items) > len(values):
        text = f"the function has {len(values)} outputs, but {len(left.items)} are asked for"
        report.add(error("equations/tuple", text, left.span))
        return []
    pairs = list[Pair]()
    for target, value in zip(left.items, values, strict=False):
        if target is None:
            continue
        found = translate(target, scope, report)
        if found is not None and comparable(found, value, node.span, report):
            pairs += [Pair(x, y, node.span) for x, y in zip(found.items, value.items, strict=True)]
    return pairs


def not_stepwise(name: str, span: Span) -> Diagnostic:
    return error(
        "equations/discrete",
        f"`{name}` is discrete, but what it is set equal to varies between events",
        span,
        reason="A discrete variable keeps its value between events and changes only at them.",
        hint=f"remove `discrete` from its declaration, or assign it in a `when`: `when … then {name} = …; end when;`.",
    )


def comparable(left: Value, right: Value, span: Span, report: Report) -> bool:
    """Whether two values can be equal: the same shape and type."""
    if left.shape != right.shape:
        text = f"{describe(left)} and {describe(right)}"
        report.add(error("arrays/shape", "the sides of this equation have different shapes", span, label=text))
        return False
    if left.type == right.type and left.enum == right.enum and left.type != "String":
        return True
    if left.numeric and right.numeric:
        return True
    text, hint = f"{describe(left)} and {describe(right)}", type_hint(left.enum or left.type, right)
    message = "the sides of this equation have different types"
    report.add(error("types/mismatch", message, span, label=text, hint=hint))
    return False


def loop_scopes(node: ast.ForBlock, scope: InstanceScope) -> Iterator[InstanceScope]:
    """The scope of every pass of a loop."""
    scopes = [scope]
    for iterator in node.iterators:
        inner = list[InstanceScope]()
        for place in scopes:
            values = iterations(iterator, place)
            if values is None:
                return
            scope.ctx.count(len(values), node.span)
            inner += [place.with_frame(Frame(iterator.ident, value, place.frame)) for value in values]
        scopes = inner
    yield from scopes


# --- branches --------------------------------------------------------------------------------------------------------


def branch_conditions(node: ast.IfBlock, scope: InstanceScope) -> list[Expr] | None:
    """Conditions that vary in time; [] when all are known before the run, None after reporting."""
    tests = list[Expr]()
    varies = False
    for test, _ in node.branches:
        value = translate(test, scope, scope.ctx.report)
        if value is None:
            return None
        if value.type != "Boolean" or value.shape:
            scope.ctx.report.add(not_boolean(value, test.span))
            return None
        varies = varies or value.variability > PARAMETER
        tests.append(value.items[0])
    return tests if varies else []


def merged_pairs(node: ast.IfBlock, tests: list[Expr], scope: InstanceScope) -> list[Pair]:
    """Branches that change in time: each must have as many equations, which are merged pairwise."""
    branches = [[i for i in items if not isinstance(i, ast.CallEquation)] for _, items in node.branches]
    branches.append([i for i in node.otherwise if not isinstance(i, ast.CallEquation)])
    rows = [all_pairs((item, scope) for item in items) for items in branches]
    if len({len(row) for row in rows}) > 1:
        counts = ", ".join(str(len(row)) for row in rows)
        scope.ctx.report.add(
            error(
                "equations/branches",
                "the branches have different numbers of equations",
                node.span,
                label=f"they have {counts}",
                reason="Their condition changes during the run, and each time the model needs as many equations.",
                hint="give every branch, `else` too, an equation for each variable.",
            )
        )
        return []
    return [merge([row[k] for row in aligned(rows)], tests, node.span) for k in range(len(rows[0]))]


def aligned(rows: list[list[Pair]]) -> list[list[Pair]]:
    """Equations for the same left side come at the same place, where each branch has one."""
    lefts = [[pair.left for pair in row] for row in rows]
    if any(len(set(row)) < len(row) or set(row) != set(lefts[0]) for row in lefts):
        return rows
    return [[row[left.index(wanted)] for wanted in lefts[0]] for row, left in zip(rows, lefts, strict=True)]


def merge(pairs: list[Pair], tests: list[Expr], span: Span) -> Pair:
    """One equation that holds the right branch at any time."""
    same = all(pair.left == pairs[0].left for pair in pairs)
    values = [pair.right if same else call("-", pair.left, pair.right) for pair in pairs]
    value = values[-1]
    for test, other in zip(reversed(tests), reversed(values[:-1]), strict=True):
        value = call("if", test, other, value)
    return Pair(pairs[0].left if same else 0.0, value, pairs[0].span if same else span)


# --- assertions and events -------------------------------------------------------------------------------------------


def arguments_of(node: ast.Call, names: tuple[str, ...], scope: InstanceScope) -> dict[str, ast.Expression] | None:
    """Arguments of a built-in statement by name."""
    given = dict[str, ast.Expression]()
    from bglang.elaborate.macros import argument_expression

    for number, argument in enumerate(node.args):
        named = argument.name is not None and argument.value is not None
        ident = (
            argument.name.parts[0].ident
            if named and argument.name is not None
            else names[number]
            if number < len(names)
            else ""
        )
        if ident not in names or ident in given:
            text = f"`{node.function.span.text}` takes {', '.join(f'`{n}`' for n in names)}"
            scope.ctx.report.add(error("types/argument", text, argument.span))
            return None
        given[ident] = argument_expression(argument)
    return given


def read_text(expression: ast.Expression | None, scope: InstanceScope) -> str | None:
    if expression is None:
        return ""
    value = translate(expression, scope, scope.ctx.report)
    if value is None:
        return None
    if value.type != "String" or value.shape:
        scope.ctx.report.add(mistyped("the message is a String", "String", value, expression.span))
        return None
    return str(value.items[0])


def read_boolean(expression: ast.Expression, scope: InstanceScope) -> Expr | None:
    value = translate(expression, scope, scope.ctx.report)
    if value is None:
        return None
    if value.type != "Boolean" or value.shape:
        scope.ctx.report.add(not_boolean(value, expression.span))
        return None
    item: Expr = value.items[0]
    return item


def read_assertion(node: ast.Call, scope: InstanceScope, conditions: tuple[Expr, ...] = ()) -> ir.Assertion | None:
    """`assert(condition, message, level)`"""
    given = arguments_of(node, ("condition", "message", "level"), scope)
    if given is None:
        return None
    if "condition" not in given:
        scope.ctx.report.add(error("types/argument", "`assert` needs a condition", node.span))
        return None
    condition, message = read_boolean(given["condition"], scope), read_text(given.get("message"), scope)
    if condition is None or message is None:
        return None
    level = given.get("level")
    word = level.parts[-1].ident if isinstance(level, ast.Name) else "error"
    if word not in ("error", "warning"):
        scope.ctx.report.add(
            error("types/choice", "the level is `AssertionLevel.error` or `AssertionLevel.warning`", node.span)
        )
        return None
    if conditions:
        condition = call("or", *[call("not", c) for c in conditions], condition)
    component = scope.instance.name if scope.instance is not None else ""
    return ir.Assertion(condition, message, word, component, node.span)  # type: ignore[arg-type]


def read_when(node: ast.WhenBlock, scope: InstanceScope, assigned: set[str]) -> ir.When | None:
    branches = list[ir.WhenBranch]()
    for test, items in node.branches:
        value = translate(test, scope, scope.ctx.report)
        if value is not None and (value.type != "Boolean" or len(value.shape) > 1):
            scope.ctx.report.add(not_boolean(value, test.span))
            value = None
        actions = read_actions(items, scope, assigned)
        if value is not None:
            branches.append(ir.WhenBranch(value.items, tuple(actions), test.span))
    component = scope.instance.name if scope.instance is not None else ""
    return ir.When(tuple(branches), component) if len(branches) == len(node.branches) else None


def read_actions(items: Iterable[ast.Item], scope: InstanceScope, assigned: set[str]) -> list[ir.Action]:
    """What happens when a condition becomes true."""
    actions = list[ir.Action]()
    for node in items:
        if isinstance(node, ast.Equation):
            actions += assignments(node, scope, assigned)
        elif isinstance(node, ast.ForBlock):
            for place in loop_scopes(node, scope):
                actions += read_actions(node.body, place, assigned)
        elif isinstance(node, ast.IfBlock):
            actions += branch_actions(node, scope, assigned)
        elif isinstance(node, ast.CallEquation):
            actions += call_actions(node.call, scope)
        else:
            scope.ctx.report.add(error("equations/when", "this cannot stand in a `when`", node.span))
    return actions


def assignments(node: ast.Equation, scope: InstanceScope, assigned: set[str]) -> list[ir.Action]:
    actions = list[ir.Action]()
    for pair in equation_pairs(node, scope):
        if not isinstance(pair.left, tuple) or pair.left[0] != "v":
            scope.ctx.report.add(
                error(
                    "equations/when",
                    "the left side of an equation in a `when` is a variable",
                    node.left.span,
                    hint="write `x = value`, or `reinit(x, value)` for a state.",
                )
            )
            return []
        assigned.add(pair.left[1])
        actions.append(ir.Assign(pair.left[1], pair.right, node.span))
    return actions


def branch_actions(node: ast.IfBlock, scope: InstanceScope, assigned: set[str]) -> list[ir.Action]:
    """`if` inside `when`: what a branch does not mention keeps its value."""
    tests = branch_conditions(node, scope)
    if tests is None:
        return []
    if tests == []:
        return read_actions(chosen(node, scope), scope, assigned)
    rows = [read_actions(items, scope, assigned) for _, items in node.branches]
    rows.append(read_actions(node.otherwise, scope, assigned))
    merged = list[ir.Action]()
    seen = set[tuple[type, str]]()
    for action in (action for row in rows for action in row):
        if not isinstance(action, ir.Assign | ir.Reinit):
            scope.ctx.report.add(
                error(
                    "equations/when",
                    "only values may depend on an `if` in a `when`",
                    action.span,
                    hint="use `elsewhen`.",
                )
            )
            continue
        key = (type(action), action.target)
        if key in seen:
            continue
        seen.add(key)
        keep: Expr = ("pre", ("v", action.target)) if isinstance(action, ir.Assign) else ("v", action.target)
        values = [value_in(row, action, keep) for row in rows]
        value = values[-1]
        for test, other in zip(reversed(tests), reversed(values[:-1]), strict=True):
            value = call("if", test, other, value)
        merged.append(type(action)(action.target, value, action.span))
    return merged


def value_in(row: list[ir.Action], wanted: ir.Assign | ir.Reinit, keep: Expr) -> Expr:
    """What a branch gives to the target of an action."""
    for action in row:
        if (
            isinstance(action, ir.Assign | ir.Reinit)
            and type(action) is type(wanted)
            and action.target == wanted.target
        ):
            return action.value
    return keep


def call_actions(node: ast.Call, scope: InstanceScope) -> list[ir.Action]:
    name, report = node.function.span.text, scope.ctx.report
    if name == "assert":
        assertion = read_assertion(node, scope)
        return [assertion] if assertion is not None else []
    if name == "terminate":
        given = arguments_of(node, ("message",), scope)
        message = read_text(given.get("message"), scope) if given is not None else None
        return [ir.Terminate(message, node.span)] if message is not None else []
    if name != "reinit":
        report.add(
            error(
                "equations/call",
                f"`{name}` cannot stand in a `when`",
                node.span,
                hint="`reinit`, `assert` and `terminate` can.",
            )
        )
        return []
    given = arguments_of(node, ("x", "expr"), scope)
    if given is None or len(given) < 2:
        if given is not None:
            report.add(
                error("types/argument", "`reinit` takes a state and its new value", node.span, hint="`reinit(x, 0)`.")
            )
        return []
    target, value = translate(given["x"], scope, report), translate(given["expr"], scope, report)
    if target is None or value is None or not comparable(target, value, node.span, report):
        return []
    actions = list[ir.Action]()
    for left, right in zip(target.items, value.items, strict=True):
        if not isinstance(left, tuple) or left[0] != "v":
            report.add(
                error(
                    "equations/when", "`reinit` takes a state", given["x"].span, hint="name a state: `reinit(m.p, 0)`."
                )
            )
            return []
        actions.append(ir.Reinit(left[1], right, node.span))
    return actions
