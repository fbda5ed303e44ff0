"""Random expressions: translated, evaluated and compared with the same computation in Python; printed and read back."""

import math
from collections.abc import Callable

from expression_scope import TestScope, value_of, variable
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bglang.expr.numbers import NotANumber, evaluate
from bglang.expr.text import text

VALUES = {"x": 0.7, "y": -1.3, "z": 2.5}
Sample = tuple[str, Callable[[], float]]


def literal(value: float) -> Sample:
    return (f"({value!r})" if value < 0 else repr(value)), lambda: value


def binary(op: str, compute: Callable[[float, float], float]) -> Callable[[Sample, Sample], Sample]:
    return lambda a, b: (f"({a[0]} {op} {b[0]})", lambda: compute(a[1](), b[1]()))


def call(name: str, compute: Callable[..., float]) -> Callable[..., Sample]:
    return lambda *args: (f"{name}({', '.join(a[0] for a in args)})", lambda: compute(*[a[1]() for a in args]))


leaf = st.one_of(
    st.integers(-5, 5).map(lambda n: literal(n)),
    st.floats(-10, 10).map(lambda f: literal(round(f, 3))),
    st.sampled_from(sorted(VALUES)).map(lambda n: (n, lambda: VALUES[n])),
)


def deeper(inner: st.SearchStrategy[Sample]) -> st.SearchStrategy[Sample]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda p: binary("+", lambda a, b: a + b)(*p)),
        two.map(lambda p: binary("-", lambda a, b: a - b)(*p)),
        two.map(lambda p: binary("*", lambda a, b: a * b)(*p)),
        two.map(lambda p: binary("/", lambda a, b: a / b)(*p)),
        two.map(lambda p: call("min", min)(*p)),
        two.map(lambda p: call("max", max)(*p)),
        two.map(lambda p: call("atan2", lambda a, b: math.atan2(a + 0.0, b + 0.0))(*p)),
        inner.map(lambda a: (f"(-{a[0]})", lambda: -a[1]())),
        inner.map(lambda a: call("sin", math.sin)(a)),
        inner.map(lambda a: call("abs", abs)(a)),
        inner.map(lambda a: (f"({a[0]})^2", lambda: a[1]() ** 2)),
        inner.map(lambda a: call("sqrt", math.sqrt)(call("abs", abs)(a))),
        inner.map(lambda a: call("sign", lambda v: float((v > 0) - (v < 0)))(a)),
        st.tuples(inner, inner, inner, inner).map(
            lambda p: (
                f"(if {p[0][0]} < {p[1][0]} then {p[2][0]} else {p[3][0]})",
                lambda: p[2][1]() if p[0][1]() < p[1][1]() else p[3][1](),
            )
        ),
        two.map(lambda p: (f"({{{p[0][0]}, 2}}*{{3, {p[1][0]}}})", lambda: p[0][1]() * 3 + 2 * p[1][1]())),
    )


samples = st.recursive(leaf, deeper, max_leaves=12)


@settings(max_examples=300, deadline=None)
@given(samples)
def test_translation_computes_what_python_computes(sample: Sample) -> None:
    source, compute = sample
    try:
        expected = compute()
    except (ZeroDivisionError, OverflowError, ValueError):
        assume(False)
    scope = TestScope({name: variable(name) for name in VALUES})
    try:
        value = value_of(source, scope)
        found = evaluate(value.item, lambda leaf: VALUES[leaf[1]])
    except (AssertionError, NotANumber):
        # a branch that Python did not take may divide by zero at compile time
        assume(False)
    assert math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@settings(max_examples=300, deadline=None)
@given(samples)
def test_text_reads_back(sample: Sample) -> None:
    scope = TestScope({name: variable(name) for name in VALUES})
    try:
        first = value_of(sample[0], scope).item
        expected = evaluate(first, lambda leaf: VALUES[leaf[1]])
    except (AssertionError, NotANumber):
        assume(False)
    printed = text(first)
    second = value_of(printed, scope).item
    assert text(second) == printed
    assert evaluate(second, lambda leaf: VALUES[leaf[1]]) == expected
