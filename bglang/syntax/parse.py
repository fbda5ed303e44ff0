"""From a source text to its syntax tree."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from bglang.diagnostics import LIMIT, Diagnostic, Report, error
from bglang.limits import Limits
from bglang.source import Source, Span
from bglang.syntax import ast
from bglang.syntax.bounds import check_text, check_tokens, too_deep
from bglang.syntax.lexer import Tokens, lex
from bglang.syntax.machine import Machine
from bglang.syntax.tree_classes import TreeBuilder

DEFAULT_LIMITS = Limits()
_STACK_PER_LEVEL = 8
"""How many symbols of the parser's stack one level of nesting may take."""


def parse(source: Source, report: Report, limits: Limits = DEFAULT_LIMITS) -> ast.File | None:
    """The syntax tree of a file; None after errors, which are in the report."""
    tree, problems = parse_partly(source, limits)
    report.extend(problems)
    return None if problems else tree


def parse_partly(source: Source, limits: Limits = DEFAULT_LIMITS) -> tuple[ast.File | None, list[Diagnostic]]:
    """The tree of what could be understood, and what is wrong with the rest: for text that is being written."""
    with _no_garbage_collection():
        tree, problems = _parse(source, limits)
    return tree, sorted(problems, key=lambda problem: problem.span.start)


def _parse(source: Source, limits: Limits) -> tuple[ast.File | None, list[Diagnostic]]:
    wrong = check_text(source, limits)
    if wrong is not None:
        return None, [wrong]
    tokens = lex(source)
    problems = list(check_tokens(tokens, limits))
    if any(problem.code.startswith("limits/") for problem in problems):
        return None, problems
    builder = TreeBuilder(source, limits)
    tree = _run(tokens, builder, limits, problems)
    problems += builder.problems
    if not problems and tree is not None and not tree.classes and not tree.imports:
        problems.append(_empty(source))
    return tree, problems


def _run(tokens: Tokens, builder: TreeBuilder, limits: Limits, problems: list[Diagnostic]) -> ast.File | None:
    """Parse to the end if possible, with a message for each statement that is wrong."""
    machine = Machine(tokens, builder, _STACK_PER_LEVEL * limits.nesting + 100)
    while not machine.run():
        if machine.too_deep:
            problems.append(too_deep(tokens, machine.position, limits))
            return None
        if not _report_and_recover(machine, builder, problems):
            return None
    tree: ast.File = machine.values[0]
    return tree


def _report_and_recover(machine: Machine, builder: TreeBuilder, problems: list[Diagnostic]) -> bool:
    """Explain what does not fit; True if parsing can go on.  Good files need nothing of this, not even its import."""
    from bglang.syntax.errors import explain
    from bglang.syntax.failure import Failure
    from bglang.syntax.recover import recover

    found = explain(Failure(machine))
    problems.append(found)
    return len(problems) <= LIMIT and recover(machine, builder, found)


def _empty(source: Source) -> Diagnostic:
    return error(
        "syntax/empty-file",
        "this file holds no class",
        Span(source, 0, 0),
        hint="a model begins with `model Name` and ends with `end Name;`.",
    )


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A tree is built that stays: looking for garbage meanwhile only costs time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
