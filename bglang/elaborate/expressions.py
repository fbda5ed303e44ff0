"""Expressions of the source become values: names are looked up, arrays are taken apart, types are checked."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bglang.diagnostics import Report
from bglang.elaborate import arrays
from bglang.elaborate.locals import Locals, end_of, impure, quiet, stack_of
from bglang.elaborate.operators import RELATIONS, binary, choose, unary
from bglang.elaborate.protocol import Fault, Scope, fault
from bglang.elaborate.values import (
    CONSTANT,
    PARAMETER,
    TypeInfo,
    Value,
    boolean,
    describe_shape,
    integer,
    named,
    string,
)
from bglang.expr import TIME, leaves
from bglang.limits import raise_hint
from bglang.source import Span
from bglang.syntax import ast

__all__ = ["Scope", "Translator", "TypeInfo", "conform", "translate", "translate_constant"]

_TIME = Value("Real", (), (TIME,), 3)


def translate(expression: ast.Expression, scope: Scope, report: Report) -> Value | None:
    """The value of an expression; None after an error was reported."""
    try:
        return Translator(scope, report).value(expression)
    except Fault as problem:
        if problem.diagnostic is not None:
            report.add(problem.diagnostic)
        return None


def translate_constant(expression: ast.Expression, scope: Scope, report: Report) -> Value | None:
    """The value of an expression that must be known at compile time; None after an error was reported."""
    try:
        return Translator(scope, report).constant(expression)
    except Fault as problem:
        if problem.diagnostic is not None:
            report.add(problem.diagnostic)
        return None


def conform(value: Value, info: TypeInfo, span: Span, report: Report, what: str) -> Value | None:
    """A value as it is stored where a type and shape are declared: Integers turn into Reals; None after reporting."""
    if value.shape != info.shape:
        report.add(_misshapen(value, info, span, what).diagnostic or _never())
        return None
    if value.type == info.type and value.enum == info.enum:
        return value
    if value.type == "Integer" and info.type == "Real":
        return Value("Real", value.shape, value.items, value.variability)
    report.add(_mistyped(value, info, span, what).diagnostic or _never())
    return None


def _never() -> Any:
    raise AssertionError("a fault made here has its diagnostic")


def _misshapen(value: Value, info: TypeInfo, span: Span, what: str) -> Fault:
    shapes = f"{what} needs {_shape(info.shape)}, but this is {_shape(value.shape)}"
    return fault("arrays/shape", shapes, span)


def _shape(shape: tuple[int, ...]) -> str:
    return f"an array of shape {describe_shape(shape)}" if shape else "a scalar"


def _mistyped(value: Value, info: TypeInfo, span: Span, what: str) -> Fault:
    hint = ""
    if info.type == "Integer" and value.type == "Real":
        hint = "`integer(x)` rounds down; `/` always gives a Real, `div(a, b)` an Integer."
    elif info.type == "Boolean" and value.numeric:
        hint = "A relation such as `x > 0` is a Boolean."
    expected = info.enum or info.type
    message = f"{what} needs {_article(expected)}, but this is {_article(value.enum or value.type)}"
    return fault("types/mismatch", message, span, hint=hint)


def _article(word: str) -> str:
    return f"{'an' if word[0] in 'AEIOU' else 'a'} {word}"


class Translator:
    """Translates in one scope.  Its methods raise `Fault`; mistakes in several operands are all reported."""

    __slots__ = ("report", "scope")

    def __init__(self, scope: Scope, report: Report):
        self.scope = scope
        self.report = report

    def value(self, e: ast.Expression) -> Value:
        return _VISIT[type(e)](self, e)

    def values(self, expressions: Iterable[ast.Expression]) -> list[Value]:
        """All values; where some are wrong, each is reported before giving up."""
        found = [self._reported(e) for e in expressions]
        right = [value for value in found if value is not None]
        if len(right) < len(found):
            raise Fault(None)
        return right

    def constant(self, e: ast.Expression) -> Value:
        return self.fixed(self.value(e), e.span)

    def fixed(self, value: Value, span: Span) -> Value:
        """The value as known at compile time."""
        if value.variability == CONSTANT:
            return value
        if value.variability == PARAMETER:
            known = self.scope.constant(value, span)
            if known is None:
                raise Fault(None)
            return known
        raise fault(
            "expressions/not-constant",
            "this must be known at compile time",
            span,
            reason=f"It depends on {_varying(value)}, which changes during a run.",
        )

    def size(self, e: ast.Expression) -> int:
        """An Integer known at compile time."""
        value = self.constant(e)
        return self.as_size(value, e.span)

    def as_size(self, value: Value, span: Span) -> int:
        value = self.fixed(value, span)
        if value.type != "Integer" or value.shape:
            raise fault("types/argument", f"an Integer is needed here, but this is {named(value)}", span)
        return int(value.items[0])

    # --- leaves -----------------------------------------------------------------------------------------------------

    def _number(self, e: ast.Number) -> Value:
        return Value("Integer" if e.integer else "Real", (), (float(e.value),), CONSTANT)

    def _string(self, e: ast.String) -> Value:
        return string(e.value)

    def _bool(self, e: ast.Bool) -> Value:
        return boolean(e.value)

    def _name(self, e: ast.Name) -> Value:
        if len(e.parts) == 1 and e.parts[0].ident == "time" and not e.rooted:
            if e.parts[0].subscripts is not None:
                raise fault("arrays/index", "`time` is not an array, so it takes no subscripts", e.span)
            stack = stack_of(self.scope)
            if stack:
                raise impure("`time`", stack[-1], e.span)
            return _TIME
        value = self.scope.resolve(e)
        if value is None:
            raise Fault(None)
        return value

    def _end(self, e: ast.End) -> Value:
        size = end_of(self.scope)
        if size is None:
            raise fault(
                "expressions/end", "`end` as a value stands only in a subscript, where it is the last index", e.span
            )
        return integer(size)

    def _colon(self, e: ast.Colon) -> Value:
        raise fault("arrays/index", "`:` stands for all items of an array, in a subscript alone", e.span)

    def _tuple(self, e: ast.Tuple) -> Value:
        raise fault(
            "expressions/tuple",
            "a list in parentheses is not a value",
            e.span,
            hint="it receives the outputs of a function: `(a, b) := f(x);`.  An array is written `{a, b}`.",
        )

    # --- operators --------------------------------------------------------------------------------------------------

    def _unary(self, e: ast.Unary) -> Value:
        return unary(e.op, self.value(e.operand), e.span)

    def _binary(self, e: ast.Binary) -> Value:
        """Long chains (`a + b + c …`) hang to the left: they are walked, not recursed into."""
        chain = [e]
        while isinstance(e.left, ast.Binary):
            e = e.left
            chain.append(e)
        result = self._reported(e.left)
        for node in reversed(chain):
            if result is not None and _decided(node.op, result):
                continue
            right = self._reported(node.right)
            if result is None or right is None:
                result = None
                continue
            if result.type == "String" and right.type == "String" and not result.shape and not right.shape:
                self._short_enough(len(result.items[0]) + len(right.items[0]), node.span)
            result = binary(node.op, result, right, node.span)
            if node.op in RELATIONS:
                result = self.silent(result)
        if result is None:
            raise Fault(None)
        return result

    def _short_enough(self, length: int, span: Span) -> None:
        limit = self.scope.limits.string
        if length > limit:
            text = f"this text has {length} characters; at most {limit} are allowed"
            raise fault("limits/string", text, span, hint=raise_hint("string", length))

    def _reported(self, e: ast.Expression) -> Value | None:
        try:
            return self.value(e)
        except Fault as problem:
            if problem.diagnostic is not None:
                self.report.add(problem.diagnostic)
            return None

    def silent(self, value: Value) -> Value:
        """Relations in loops of functions make no events."""
        if value.known or not quiet(self.scope):
            return value
        items = tuple(("noEvent", item) if isinstance(item, tuple) else item for item in value.items)
        return Value(value.type, value.shape, items, value.variability, value.enum)

    def condition(self, e: ast.Expression) -> Value:
        value = self.value(e)
        if value.type != "Boolean" or value.shape:
            hint = "compare it with something, as in `x > 0`." if value.numeric else ""
            raise fault(
                "types/condition", f"a condition must be a Boolean, but this is {named(value)}", e.span, hint=hint
            )
        return value

    def _if(self, e: ast.IfExpression) -> Value:
        """A branch that cannot be taken is not looked at: its sizes may not fit, it may divide by zero."""
        pending = list[tuple[Value, Value, Span]]()
        result: Value | None = None
        for condition, branch in e.branches:
            test = self.condition(condition)
            if not test.known:
                pending.append((test, self.value(branch), condition.span))
            elif test.items[0]:
                result = self.value(branch)
                break
        if result is None:
            result = self.value(e.otherwise)
        for test, value, place in reversed(pending):
            result = self._choose(test, value, result, place, e.span)
        return result

    def _choose(self, test: Value, then: Value, otherwise: Value, place: Span, span: Span) -> Value:
        decided = then.shape != otherwise.shape or (then.type == "String" and then.items != otherwise.items)
        if decided and test.variability == PARAMETER:  # shapes and texts are fixed at compile time
            test = self.fixed(test, place)
            return then if test.items[0] else otherwise
        return choose(test.items[0], test.variability, then, otherwise, span)

    # --- arrays -----------------------------------------------------------------------------------------------------

    def _array(self, e: ast.ArrayList) -> Value:
        if len(e.items) > 8 and all(type(item) is ast.Number for item in e.items):
            return _literals(e.items, (len(e.items),))
        return arrays.stack(self.values(e.items), e.span)

    def _matrix(self, e: ast.MatrixList) -> Value:
        width = len(e.rows[0])
        if len(e.rows) > 8 and all(len(r) == width and all(type(x) is ast.Number for x in r) for r in e.rows):
            return _literals([x for row in e.rows for x in row], (len(e.rows), width))
        return arrays.matrix_of([self.values(row) for row in e.rows], e.span)

    def _range(self, e: ast.Range) -> Value:
        ends = [self.constant(e.start), self.constant(e.stop)]
        step = integer(1) if e.step is None else self.constant(e.step)
        return arrays.span_of(ends[0], step, ends[1], e.span, self.scope.limits)

    def _comprehension(self, e: ast.Comprehension) -> Value:
        """`{f(i, j) for i in a, j in b}` is `{{f(i, j) for i in a} for j in b}`: the last iterator is the outermost."""
        return self._iterate(e.body, e.iterators, {}, e.span)

    def _iterate(
        self, body: ast.Expression, iterators: tuple[ast.Iterator, ...], bound: dict[str, Value], span: Span
    ) -> Value:
        if not iterators:
            self.scope.work(1, span)
            inner = Translator(Locals(self.scope, self.report, bound), self.report)
            return inner.value(body)
        last = iterators[-1]
        found = list[Value]()
        for value in self.iteration(last, bound):
            bound[last.ident] = value
            found.append(self._iterate(body, iterators[:-1], bound, span))
        bound.pop(last.ident, None)
        return arrays.stack(found, span)

    def iteration(self, iterator: ast.Iterator, bound: dict[str, Value] | None = None) -> list[Value]:
        """The values that an iterator takes, one after another."""
        if iterator.range is None:
            raise fault(
                "expressions/iterator",
                f"`{iterator.ident}` needs a range",
                iterator.span,
                hint=f"write `{iterator.ident} in 1:n`, or `{iterator.ident} in 1:size(x, 1)`.",
            )
        scope = Locals(self.scope, self.report, dict(bound)) if bound else self.scope
        values = Translator(scope, self.report).value(iterator.range)
        if values.variability <= PARAMETER:
            values = self.fixed(values, iterator.range.span)
        if len(values.shape) != 1:
            raise fault(
                "arrays/shape",
                f"`{iterator.ident}` runs through a vector, but this is {_shape(values.shape)}",
                iterator.range.span,
                hint=f"write `{iterator.ident} in 1:n`.",
            )
        kinds = [values.variability if isinstance(item, tuple) else CONSTANT for item in values.items]
        return [Value(values.type, (), (i,), kind, values.enum) for i, kind in zip(values.items, kinds, strict=True)]

    def _call(self, e: ast.Call) -> Value:
        from bglang.elaborate.calls import call

        return call(self, e)


def _literals(items: Sequence[Any], shape: tuple[int, ...]) -> Value:
    """Long lists of plain numbers (tables) without a value for each of them."""
    whole = all(item.integer for item in items)
    return Value("Integer" if whole else "Real", shape, tuple(float(item.value) for item in items), CONSTANT)


def _decided(op: str, left: Value) -> bool:
    """Whether the right operand does not matter: `n > 0 and 1/n > x`."""
    if (op != "and" and op != "or") or left.type != "Boolean" or not left.known or left.shape:
        return False
    return bool(left.items[0]) == (op == "or")


def _varying(value: Value) -> str:
    for item in value.items:
        for leaf in leaves(item):
            if leaf[0] == "t":
                return "`time`"
            if leaf[0] == "v":
                return f"`{leaf[1]}`"
    return "an event"


_VISIT: dict[type, Callable[[Translator, Any], Value]] = {
    ast.Number: Translator._number,
    ast.String: Translator._string,
    ast.Bool: Translator._bool,
    ast.Name: Translator._name,
    ast.End: Translator._end,
    ast.Colon: Translator._colon,
    ast.Tuple: Translator._tuple,
    ast.Unary: Translator._unary,
    ast.Binary: Translator._binary,
    ast.IfExpression: Translator._if,
    ast.ArrayList: Translator._array,
    ast.MatrixList: Translator._matrix,
    ast.Range: Translator._range,
    ast.Comprehension: Translator._comprehension,
    ast.Call: Translator._call,
}
