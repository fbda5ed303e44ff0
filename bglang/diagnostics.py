"""What can be told to the user: diagnostics with places, reasons and hints, and the exceptions that carry them.

A diagnostic cannot be made without a span.  Codes are `room/problem` (`names/unknown`, `causality/conflict`); each is
documented and has a golden test under `tests/errors/`.  How a diagnostic looks on a terminal is `render.py`'s matter.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from bglang.advice import advice_for
from bglang.records import dataclass, field, replace
from bglang.source import Span

if TYPE_CHECKING:
    from bglang.results import Result

Severity = Literal["error", "warning", "note"]

_INSTANCE = re.compile(r"\[[0-9,]+\]|(?<=`)[\w.\[\],]+\.(?=\w+`)")
"""What tells the instances of one declaration apart: subscripts, and the path before the last part of a name."""
LIMIT = 20
"""At most so many errors are shown in one run; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Label:
    """A place that a diagnostic points at, with a few words about it."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message: what is wrong (`message`), where (`span`, with `label` under the carets), why and what to do.

    `related` are further places that take part, shown in the same excerpt or in one of their own.  `component` is the
    dotted instance name that the message is about, where there is one.
    """

    severity: Severity
    code: str
    message: str
    span: Span
    label: str = ""
    related: tuple[Label, ...] = ()
    reason: str = ""
    hint: str = ""
    component: str = ""


def error(
    code: str,
    message: str,
    span: Span,
    *,
    label: str = "",
    related: Iterable[Label] = (),
    reason: str = "",
    hint: str = "",
    component: str = "",
) -> Diagnostic:
    if not hint:
        advice = advice_for(code)
        reason, hint = reason or advice.reason, advice.hint
    return Diagnostic("error", code, message, span, label, tuple(related), reason, hint, component)


def warning(
    code: str,
    message: str,
    span: Span,
    *,
    label: str = "",
    related: Iterable[Label] = (),
    reason: str = "",
    hint: str = "",
    component: str = "",
) -> Diagnostic:
    if not hint:
        advice = advice_for(code)
        reason, hint = reason or advice.reason, advice.hint
    return Diagnostic("warning", code, message, span, label, tuple(related), reason, hint, component)


@dataclass(slots=True)
class _Seen:
    """Where the first of several like diagnostics stands in a report, and the texts of all of them."""

    place: int
    first: Diagnostic
    messages: set[str]


@dataclass(slots=True)
class Report:
    """Collects the diagnostics of one run.

    One mistake in a class that is used a thousand times is one message: diagnostics with the same code, place and
    text are kept once, whichever instance they name, and counted.  The only mutable thing that passes share.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    _seen: dict[tuple[str, int, int, str], "_Seen"] = field(default_factory=dict[tuple[str, int, int, str], "_Seen"])

    def add(self, diagnostic: Diagnostic) -> None:
        text = _INSTANCE.sub("", diagnostic.message)
        key = (diagnostic.code, id(diagnostic.span.source), diagnostic.span.start, text)
        seen = self._seen.get(key)
        if seen is None:
            self._seen[key] = _Seen(len(self.diagnostics), diagnostic, {diagnostic.message})
            self.diagnostics.append(diagnostic)
        elif diagnostic.message not in seen.messages:
            seen.messages.add(diagnostic.message)
            message = f"{seen.first.message} (and {len(seen.messages) - 1} more like it)"
            self.diagnostics[seen.place] = replace(seen.first, message=message)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            self.add(diagnostic)

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.severity == "error"]

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def raise_if_errors(self) -> None:
        """The end of a stage: a wrong model goes no further."""
        if self.errors:
            raise SourceError(tuple(self.diagnostics))


class BglangError(Exception):
    """Base of all errors that are the model's, the caller's or the solver's, and never bglang's own."""


class SourceError(BglangError):
    """The model is wrong.  Prints as the command would print it."""

    def __init__(self, diagnostics: Iterable[Diagnostic]):
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        from bglang.render import render_all

        return render_all(self.diagnostics)


class UsageError(BglangError):
    """The call is wrong (exit code 2): an unknown option, file, variable or parameter."""


class SimulationError(BglangError):
    """The solver gave up (exit code 3).  `result` is what was computed until then, `time` when it happened."""

    def __init__(self, diagnostic: Diagnostic, time: float, result: "Result | None" = None):
        self.diagnostic = diagnostic
        self.time = time
        self.result = result
        super().__init__(diagnostic, time)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return (self.diagnostic,)

    @property
    def component(self) -> str:
        return self.diagnostic.component

    @property
    def span(self) -> Span:
        return self.diagnostic.span

    @property
    def message(self) -> str:
        return self.diagnostic.message

    @property
    def hint(self) -> str:
        return self.diagnostic.hint

    def __str__(self) -> str:
        from bglang.render import render_all

        return render_all((self.diagnostic,))
