"""Statements of functions, executed symbolically: variables hold values, which may be formulas."""

from collections.abc import Sequence
from typing import Any, Literal

from bglang.diagnostics import warning
from bglang.elaborate.expressions import Translator, conform
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.locals import UNSET, Locals
from bglang.elaborate.operators import operation
from bglang.elaborate.protocol import Fault, fault
from bglang.elaborate.subscripts import assign, positions, select
from bglang.elaborate.values import CONSTANT, PARAMETER, TypeInfo, Value
from bglang.expr import Expr
from bglang.expr.core import LEAVES, operands
from bglang.limits import raise_hint
from bglang.records import dataclass, field
from bglang.source import Span
from bglang.syntax import ast

Exit = Literal["", "break", "return"]
"""How a block ends: at its end, or by a statement that leaves the loop or the function."""


@dataclass(slots=True)
class Way:
    """A way out taken under a condition that is not known yet, with the values that the variables had there."""

    condition: Value
    values: dict[str, Value]


@dataclass(slots=True)
class Ways:
    """The ways out of the loop and of the function that are open so far."""

    breaks: list[Way] = field(default_factory=list[Way])
    returns: list[Way] = field(default_factory=list[Way])


KEPT = 1_000_000
"""Parts of formulas whose sizes are remembered at least; when there are many more than are in use, they are counted
anew."""


class Run:
    """Executes the statements of one call; `values` are changed as they go."""

    def __init__(self, scope: Locals, values: dict[str, Value], types: dict[str, TypeInfo], function: ast.Class):
        self.values = values
        self.types = types
        self.function = function
        self.loop = Locals(scope, scope.report, quiet=True)
        self.translator = Translator(scope, scope.report)
        self.report = scope.report
        self.limits = scope.limits
        self.count = 0
        self.sizes: dict[int, tuple[Any, int]] = {}
        self.kept, self.most = 0, KEPT

    def body(self, items: Sequence[ast.Item]) -> None:
        """The whole algorithm; values of early returns are merged in at the end."""
        ways = Ways()
        self._block(items, ways)
        self._merge_ways(ways.returns)

    # --- blocks -----------------------------------------------------------------------------------------------------

    def _block(self, items: Sequence[ast.Item], ways: Ways) -> Exit:
        for item in items:
            self.count += 1
            if self.count > self.limits.evaluation:
                raise fault(
                    "limits/evaluation",
                    f"`{self.function.ident}` takes more than {self.limits.evaluation} statements",
                    item.span,
                    hint=raise_hint("evaluation"),
                )
            self.translator.scope.work(1, item.span)
            left = self._statement(item, ways)
            if left:
                return left
        return ""

    def _statement(self, item: ast.Item, ways: Ways) -> Exit:
        match item:
            case ast.Assignment():
                self._assign(item)
            case ast.IfBlock():
                return self._if(item, ways)
            case ast.ForBlock():
                return self._for(item, ways)
            case ast.WhileBlock():
                return self._while(item, ways)
            case ast.Break():
                return "break"
            case ast.Return():
                return "return"
            case ast.CallEquation():
                self._call(item)
            case ast.Equation():
                raise fault("functions/statement", "a statement is written with `:=`", item.span)
            case _:
                raise fault("functions/statement", "this cannot stand in an algorithm", item.span)
        return ""

    def _if(self, item: ast.IfBlock, ways: Ways) -> Exit:
        return self._branches(item.branches, item.otherwise, ways, item.span)

    def _branches(
        self,
        branches: Sequence[tuple[ast.Expression, Sequence[ast.Item]]],
        otherwise: Sequence[ast.Item],
        ways: Ways,
        span: Span,
    ) -> Exit:
        if not branches:
            return self._block(otherwise, ways)
        (condition, items), rest = branches[0], branches[1:]
        test = self.translator.condition(condition)
        if test.known:
            return self._block(items, ways) if test.items[0] else self._branches(rest, otherwise, ways, span)
        before = dict(self.values)
        then_ways, else_ways = Ways(), Ways()
        then_exit = self._block(items, then_ways)
        then = dict(self.values)
        self._restore(before)
        else_exit = self._branches(rest, otherwise, else_ways, span)
        opposite = Value("Boolean", (), (operation("not", test.items, span),), test.variability)
        self._inherit(ways, then_ways, test, span)
        self._inherit(ways, else_ways, opposite, span)
        if then_exit == else_exit:
            self._merge(test, then, self.values)
            return then_exit
        return self._fork(test, opposite, (then_exit, then), else_exit, ways)

    def _fork(
        self, test: Value, opposite: Value, taken: tuple[Exit, dict[str, Value]], other: Exit, ways: Ways
    ) -> Exit:
        """One branch leaves and the other goes on (or both leave differently): the one that leaves is remembered."""
        then_exit, then = taken
        if then_exit:
            (ways.breaks if then_exit == "break" else ways.returns).append(Way(test, then))
            return other
        (ways.breaks if other == "break" else ways.returns).append(Way(opposite, dict(self.values)))
        self._restore(then)
        return ""

    def _inherit(self, ways: Ways, inner: Ways, test: Value, span: Span) -> None:
        """Ways out found inside a branch are taken only if the branch is."""
        for mine, theirs in ((ways.breaks, inner.breaks), (ways.returns, inner.returns)):
            for way in theirs:
                item = operation("and", (test.items[0], way.condition.items[0]), span)
                variability = max(test.variability, way.condition.variability)
                mine.append(Way(Value("Boolean", (), (item,), variability), way.values))

    def _merge_ways(self, ways: list[Way]) -> None:
        """The first way out that is taken counts: what came after it did not happen."""
        for way in reversed(ways):
            self._merge(way.condition, way.values, self.values)

    def _merge(self, test: Value, then: dict[str, Value], otherwise: dict[str, Value]) -> None:
        for name, b in list(otherwise.items()):
            a = then[name]
            if a is not b:
                items = tuple(_either(test.items[0], x, y) for x, y in zip(a.items, b.items, strict=True))
                known = not any(isinstance(item, tuple) for item in items)
                variability = CONSTANT if known else max(test.variability, a.variability, b.variability)
                if a.type == "String" and a.items != b.items:
                    raise fault(
                        "expressions/not-constant",
                        f"which text `{name}` holds is not known at compile time",
                        self.function.name_span,
                    )
                self.values[name] = Value(b.type, b.shape, items, variability, b.enum)

    def _restore(self, values: dict[str, Value]) -> None:
        self.values.clear()
        self.values.update(values)

    # --- loops ------------------------------------------------------------------------------------------------------

    def _for(self, item: ast.ForBlock, ways: Ways) -> Exit:
        inner = Ways(returns=ways.returns)
        outside = self._enter_loop()
        left = self._iterate(item.iterators, item.body, inner)
        self.translator = outside
        self._merge_ways(inner.breaks)
        return "return" if left == "return" else ""

    def _enter_loop(self) -> Translator:
        outside = self.translator
        self.translator = Translator(self.loop, self.report)
        return outside

    def _iterate(self, iterators: tuple[ast.Iterator, ...], body: Sequence[ast.Item], ways: Ways) -> Exit:
        if not iterators:
            return self._block(body, ways)
        name = iterators[0].ident
        hidden = self.values.pop(name, None)
        values = self._range(iterators[0])
        left: Exit = ""
        for value in values:
            self.values[name] = value
            left = self._iterate(iterators[1:], body, ways)
            if left:
                break
        self.values.pop(name, None)
        for way in (*ways.breaks, *ways.returns):
            way.values.pop(name, None)
        if hidden is not None:
            self.values[name] = hidden
            for way in (*ways.breaks, *ways.returns):
                way.values.setdefault(name, hidden)
        return left

    def _range(self, iterator: ast.Iterator) -> list[Value]:
        try:
            return self.translator.iteration(iterator)
        except Fault as problem:
            if problem.diagnostic is None or problem.diagnostic.code != "expressions/not-constant":
                raise
            raise fault(
                "functions/loop",
                "how often this loop runs is not known at compile time",
                iterator.span,
                reason="Loops of functions are unrolled, so their bounds are constants, parameters or sizes of arrays.",
                hint="let the loop run to a fixed bound and leave it with `if … then break; end if;`.",
            ) from None

    def _while(self, item: ast.WhileBlock, ways: Ways) -> Exit:
        inner = Ways(returns=ways.returns)
        outside = self._enter_loop()
        left: Exit = ""
        while not left:
            self.count += 1
            if self.count > self.limits.evaluation:
                raise fault(
                    "limits/evaluation",
                    f"this loop runs more than {self.limits.evaluation} times",
                    item.condition.span,
                    hint=raise_hint("evaluation"),
                )
            test = self.translator.condition(item.condition)
            if test.variability > PARAMETER or inner.breaks or inner.returns:
                raise _endless(item)
            if not self.translator.fixed(test, item.condition.span).items[0]:
                break
            left = self._block(item.body, inner)
        self.translator = outside
        return "return" if left == "return" else ""

    # --- assignments ------------------------------------------------------------------------------------------------

    def _assign(self, item: ast.Assignment) -> None:
        if isinstance(item.target, ast.Tuple):
            self._assign_outputs(item.target, item)
        else:
            self._store(item.target, self.translator.value(item.value), item.value.span)

    def _assign_outputs(self, target: ast.Tuple, item: ast.Assignment) -> None:
        from bglang.elaborate.functions import execute

        function = self.translator.scope.function(item.value.function) if isinstance(item.value, ast.Call) else None
        if function is None or not isinstance(item.value, ast.Call):
            raise fault(
                "functions/statement",
                "a list in parentheses receives the outputs of a function",
                item.value.span,
                hint="`(a, b) := f(x);`",
            )
        outputs = execute(self.translator, function, item.value)
        if len(target.items) > len(outputs):
            raise fault(
                "functions/arguments",
                f"`{function.ident}` has {len(outputs)} output{'s' * (len(outputs) != 1)}, "
                f"but {len(target.items)} are taken",
                target.span,
            )
        for place, value in zip(target.items, outputs, strict=False):
            if place is not None:
                self._store(place, value, item.value.span)

    def _store(self, target: ast.Expression, value: Value, span: Span) -> None:
        if not isinstance(target, ast.Name) or len(target.parts) != 1 or target.rooted:
            raise fault("functions/statement", "only variables of the function can be assigned", target.span)
        part = target.parts[0]
        info = self.types.get(part.ident)
        if info is None:
            raise fault(
                "names/unknown",
                f"`{self.function.ident}` has no variable `{part.ident}`",
                target.span,
                hint=did_you_mean(part.ident, self.types),
            )
        if part.ident in self._inputs():
            message = f"`{part.ident}` is an input of `{self.function.ident}` and cannot be assigned"
            raise fault("functions/statement", message, target.span, hint="assign to a local variable instead.")
        old = self.values[part.ident]
        if part.subscripts is None:
            stored = self._conformed(value, info, span, part.ident)
            self.values[part.ident] = stored
        else:
            scope = self.translator.scope
            places = positions(part.subscripts, info.shape, scope, self.report, part.ident, part.span)
            if places is None:
                raise Fault(None)
            shape = select(old, places).shape
            stored = self._conformed(value, TypeInfo(info.type, shape, info.enum), span, part.ident)
            self.values[part.ident] = assign(old, places, stored)
        for item in stored.items:
            self._limit(item, span)

    def _inputs(self) -> set[str]:
        return {
            d.ident
            for s in self.function.sections
            for c in s.items
            if isinstance(c, ast.Component) and ("input" in c.prefixes or "constant" in c.prefixes)
            for d in c.declarators
        }

    def _conformed(self, value: Value, info: TypeInfo, span: Span, name: str) -> Value:
        found = conform(value, info, span, self.report, f"`{name}`")
        if found is None:
            raise Fault(None)
        return found

    def _limit(self, item: Expr, span: Span) -> None:
        """A formula that is written out must stay of a size that can be compiled; shared parts count each time."""
        if not isinstance(item, tuple):
            return
        self.translator.scope.work(len(item) // 8, span)  # a sum that grows is copied each time
        if self._size(item) > self.limits.expression:
            raise fault(
                "limits/expression",
                f"`{self.function.ident}` makes a formula of more than {self.limits.expression} parts",
                span,
                reason="Each round of a loop puts the formulas of the one before into its own.",
                hint=f"use fewer rounds.  {raise_hint('expression')}",
            )

    def _size(self, e: tuple[Any, ...]) -> int:
        stack, anew = [e], self.kept > self.most
        if anew:
            self.sizes.clear()
            self.kept = 0
        while stack:
            node = stack[-1]
            if id(node) in self.sizes:
                stack.pop()
                continue
            args = [] if node[0] in LEAVES else [a for a in operands(node) if isinstance(a, tuple)]
            waiting = [a for a in args if id(a) not in self.sizes]
            if waiting:
                stack.extend(waiting)
            else:
                stack.pop()
                self.kept += len(node)
                self.sizes[id(node)] = node, len(node) - len(args) + sum(self.sizes[id(a)][1] for a in args)
        if anew:
            self.most = max(KEPT, 4 * self.kept)
        return self.sizes[id(e)][1]

    # --- calls ------------------------------------------------------------------------------------------------------

    def _call(self, item: ast.CallEquation) -> None:
        name = ".".join(part.ident for part in item.call.function.parts)
        if name != "assert":
            self.translator.value(item.call)
            return
        if len(item.call.args) < 2:
            raise fault("functions/arguments", "`assert` takes a condition and a message", item.span)
        condition, message = (a.value for a in item.call.args[:2])
        if condition is None or message is None:
            raise fault("functions/arguments", "`assert` takes a condition and a message", item.span)
        test = self.translator.condition(condition)
        text = self.translator.value(message)
        if test.variability == PARAMETER:
            test = self.translator.fixed(test, condition.span)
        if not test.known:
            self.report.add(
                warning(
                    "functions/assert",
                    "this assertion is not checked during a run",
                    item.span,
                    reason="In a function, `assert` is checked at compile time, and its condition varies.",
                    hint="put the `assert` into the `equation` section of the model.",
                )
            )
        elif not test.items[0]:
            raise fault("functions/assertion", f"{text.items[0]}", item.span, reason="This assertion is false.")


def _either(test: Expr, a: Any, b: Any) -> Any:
    """An item that has no value in one of the branches has none afterwards."""
    if a is b or a is UNSET or b is UNSET:
        return b if a is not UNSET else a
    if not isinstance(a, tuple) and not isinstance(b, tuple) and a == b:
        return a
    return ("if", test, a, b)


def _endless(item: ast.WhileBlock) -> Fault:
    return fault(
        "functions/loop",
        "when this loop ends is not known at compile time",
        item.condition.span,
        reason="Loops of functions are unrolled, so a `while` ends by constants and parameters alone.",
        hint="write `for i in 1:20 loop … if done then break; end if; end for;` with a bound that is always enough.",
    )
