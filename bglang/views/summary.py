"""What a run was, on one screen."""

from collections import Counter

import numpy as np

from bglang.results.record import Audit, Event
from bglang.results.result import Result

FINAL_VALUES, EVENT_KINDS, ENTRIES = 8, 5, 6


def summary(result: Result, color: bool = False) -> str:
    """Steps, events, method and why, time per phase, energy balance, final values."""
    bold = (lambda text: f"\033[1m{text}\033[0m") if color else (lambda text: text)
    body = [_cost(result), _events(result), _drift(result), _energy(result.audit), _final(result)]
    parts = [bold(_title(result)), *body]
    return "\n".join(part for part in parts if part)


def _title(result: Result) -> str:
    if not len(result):
        return f"{result.model}: no rows"
    span = f"{result.model}: time {result.time[0]:g} to {result.time[-1]:g}, {len(result)} rows"
    return span + (f" — {result.ending}" if result.ending else "")


def _cost(result: Result) -> str:
    stats = result.stats
    lines = [f"  method    {stats.method} ({stats.reason})"] if stats.method else []
    rejected = ", ".join(f"{count} for {why}" for why, count in stats.rejections.items())
    lines.append(
        f"  steps     {stats.steps}"
        + (f", {stats.rejected} rejected ({rejected})" if rejected else "")
        + f"; {stats.evaluations} evaluations, {stats.jacobians} Jacobians"
    )
    if stats.seconds:
        total = sum(stats.seconds.values())
        each = ", ".join(f"{name} {_seconds(s)}" for name, s in stats.seconds.items() if s >= 0.01 * total)
        lines.append(f"  time      {_seconds(total)} ({each})")
    return "\n".join(lines)


def _seconds(s: float) -> str:
    return f"{s:.2f} s" if s >= 1.0 else f"{1e3 * s:.3g} ms"


def _events(result: Result) -> str:
    if not result.stats.events and not result.events:
        return ""
    kinds = [_kind(e) for e in result.events]
    counts = Counter(kinds)
    lines = [f"  events    {result.stats.events}"]
    for (relation, component), count in counts.most_common(EVENT_KINDS):
        last = result.events[len(kinds) - 1 - kinds[::-1].index((relation, component))]
        where = f" of {component}" if component else ""
        change = f", {last.old} -> {last.new}" if last.old or last.new else ""
        lines.append(f"            {count} x {relation}{where}, last at t = {last.time:.6g}{change}")
    if len(counts) > EVENT_KINDS:
        lines.append(f"            … {len(counts) - EVENT_KINDS} more kinds")
    return "\n".join(lines)


def _kind(event: Event) -> tuple[str, str]:
    """What counts as one kind: jumps of one state, whatever their size."""
    relation, jump, _ = event.relation.partition(" jumps by ")
    return (f"{relation} jumps", "") if jump else (event.relation, event.component)


def _drift(result: Result) -> str:
    """How far constraints were left, where multipliers hold them."""
    if not result.stats.drift:
        return ""
    return "  drift     " + ", ".join(f"{name} {value:.2g}" for name, value in result.stats.drift.items())


def _energy(audit: Audit | None) -> str:
    if audit is None:
        return ""
    jumps = f" + {audit.jumps:.5g} in jumps" if abs(audit.jumps) > 1e-12 * audit.scale else ""
    modulation = f" + {audit.modulation:.5g} by modulation" if audit.modulation else ""
    line = (
        f"  energy    supplied {audit.supplied:.5g} J{modulation}{jumps} = stored {audit.stored:.5g} J"
        f" + dissipated {audit.dissipated:.5g} J; error {audit.error:.1e} J ({audit.relative_error:.0e})"
    )
    lines = [line]
    domains = {domain: kinds for domain, kinds in audit.of_domain().items() if domain}
    if len(domains) > 1:
        for domain, kinds in domains.items():
            lines.append(f"            {domain}: " + ", ".join(f"{kind} {value:.5g}" for kind, value in kinds.items()))
    largest = sorted(audit.entries, key=lambda e: -abs(e.energy))[:ENTRIES]
    if largest and any(e.energy for e in largest):
        lines.append("            " + ", ".join(f"{e.element} {e.kind} {e.energy:.4g}" for e in largest if e.energy))
    return "\n".join(lines)


def _final(result: Result) -> str:
    names = list(result.states or result.names)
    if not names or not len(result):
        return ""
    shown = names[:FINAL_VALUES]
    row = result.values(shown)[-1]
    cells = [
        f"{name} = {value:.6g} {result.unit(name)}".rstrip() for name, value in zip(shown, np.asarray(row), strict=True)
    ]
    kind = "states" if result.states else "variables"
    rest = f", … {len(names) - len(shown)} more {kind}" if len(names) > len(shown) else ""
    return "  final     " + ", ".join(cells) + rest
