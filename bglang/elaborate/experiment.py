"""The experiment annotation: how long to run, how exactly, and from where."""

from typing import Any

from bglang.diagnostics import error, warning
from bglang.elaborate.expressions import translate_constant
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.macros import argument_expression
from bglang.elaborate.objects import Instance
from bglang.elaborate.scopes import scope_of
from bglang.graph.ir import Experiment
from bglang.syntax import ast

NUMBERS = {"StartTime": "start", "StopTime": "stop", "Tolerance": "tolerance", "Interval": "interval"}
SETTINGS = {
    "method": str,
    "dependent": str,
    "form": str,
    "alpha": float,
    "beta": float,
    "points": float,
    "NumberOfIntervals": float,
    "max_step": float,
    "stabilisation": str,
    "stabilise": str,
    "coordinates": str,
    "strong": str,
    "constraints": str,
    "stiffness": float,
    "damping": float,
    "epsilon": float,
}
"""Further keys, with the type of their value."""


COUNTED = {
    "Interval": "It is the time between two rows of the result.",
    "NumberOfIntervals": "It says how many rows the result has.",
    "points": "It says how many rows the result has.",
    "max_step": "It bounds the steps of the integrator.",
}
"""Keys whose value is more than zero, and why."""


def read_experiment(root: Instance) -> Experiment:
    """The experiment of the model: its own, else that of the nearest base."""
    if root.body.experiment is None:
        return Experiment()
    args, definition = root.body.experiment
    scope, report = scope_of(root, definition), root.ctx.report
    fields, settings, steady = dict[str, Any](), list[tuple[str, float | str | bool]](), False
    for argument in args:
        key = argument.name.span.text if argument.name is not None else ""
        if key not in NUMBERS and key not in SETTINGS and key != "initial":
            known = (*NUMBERS, *SETTINGS, "initial")
            text = f"`{key}` is no key of an experiment"
            report.add(warning("experiment/unknown", text, argument.span, hint=did_you_mean(key, known)))
            continue
        value = translate_constant(argument_expression(argument), scope, report)
        if value is None:
            continue
        item = value.items[0] if value.items and not value.shape else None
        if key == "initial":
            if item not in ("steady", "given"):
                report.add(error("types/choice", '`initial` is `"steady"` or `"given"`', argument.span))
            steady = item == "steady"
        elif key in NUMBERS:
            if isinstance(item, float):
                fields[NUMBERS[key]] = item
            else:
                report.add(error("types/mismatch", f"`{key}` is a number", argument.span))
        elif isinstance(item, float | str) and isinstance(item, SETTINGS[key]):
            settings.append((key, item))
        else:
            wanted = "a text" if SETTINGS[key] is str else "a number"
            report.add(error("types/mismatch", f"`{key}` is {wanted}", argument.span))
    experiment = Experiment(steady=steady, settings=tuple(settings), **fields)
    check(experiment, args, root)
    return experiment


def check(experiment: Experiment, args: tuple[ast.Argument, ...], root: Instance) -> None:
    """Times and tolerance must make sense."""
    spans = {a.name.span.text: a.span for a in args if a.name is not None}
    report = root.ctx.report
    if experiment.stop < experiment.start:
        span = spans.get("StopTime", spans.get("StartTime", args[0].span))
        text = f"the run would stop at {experiment.stop:g}, before it starts at {experiment.start:g}"
        report.add(error("experiment/times", text, span))
    if not 1e-14 <= experiment.tolerance <= 1:
        text = f"the tolerance {experiment.tolerance:g} must lie between 1e-14 and 1"
        report.add(error("experiment/tolerance", text, spans.get("Tolerance", args[0].span)))
    for key, value in (("Interval", experiment.interval), *experiment.settings):
        if key in COUNTED and isinstance(value, float) and value <= 0 and key in spans:
            hint = "leave it out to take the default."
            report.add(
                error("experiment/times", f"`{key}` must be positive", spans[key], reason=COUNTED[key], hint=hint)
            )
