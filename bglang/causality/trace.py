"""Causal paths: from a dependent storage back to what decides it."""

from bglang.causality.gains import Gain, cross, element_sign
from bglang.causality.result import Dependence, PortKey, Step
from bglang.causality.signals import Signals
from bglang.causality.structure import OTHER
from bglang.causality.wording import gain_text
from bglang.records import dataclass


@dataclass(slots=True)
class Budget:
    """How many steps may still be written down; paths of a large model can be longer than the model itself."""

    steps: int


def trace(signals: Signals, port: PortKey, budget: Budget | None = None) -> Dependence:
    """Everything that the input of a dependent storage port is made of, with one path to each.

    A path begins at the dependent storage and ends at an independent storage, a source or a resistance."""
    n, p = port
    half = signals.half_of[n, p]
    start = 2 * (half >> 1) + (signals.stroke[half >> 1] != (half & 1))
    came_from: dict[int, int] = {start: -1}
    queue, ends, split = [start], list[int](), False
    for signal in queue:
        if budget is not None:
            budget.steps -= 1
            if budget.steps < 0:
                return Dependence(port, (), ())
        causes = signals.causing(signal)
        if not causes and signals.s.kind[signals.s.node[signals.receiver(signal) ^ 1]] == OTHER:
            ends.append(signal)
        for cause in causes:
            if cause in came_from:
                split = True
            else:
                came_from[cause] = signal
                queue.append(cause)
    found: dict[PortKey, tuple[Step, ...]] = {}
    for end in ends:
        key = _owner(signals, end)
        path = _path(signals, came_from, end)
        if budget is not None:
            budget.steps -= len(path)
        found.setdefault(key, path)
    return Dependence(port, tuple(found), tuple(found.values()), split)


def _owner(signals: Signals, signal: int) -> PortKey:
    """The element and port that give a signal."""
    half = signals.receiver(signal) ^ 1
    bond = signals.s.graph.bonds[half >> 1]
    end = bond.head if half & 1 else bond.tail
    return end.element, end.port


def _path(signals: Signals, came_from: dict[int, int], end: int) -> tuple[Step, ...]:
    """Steps in the order from the dependent storage to the end; each gain turns the next variable into this one."""
    s = signals.s
    letter = end & 1
    giver = signals.receiver(end) ^ 1
    steps = [Step(s.node[giver], end >> 1, gain_text(Gain(element_sign(s, giver, letter))))]
    signal = end
    while came_from[signal] >= 0:
        following = came_from[signal]
        into, out = signals.receiver(signal), signals.receiver(following) ^ 1
        steps.append(Step(s.node[into], signal >> 1, gain_text(cross(s, into, out, signal & 1))))
        signal = following
    taker = signals.receiver(signal)
    steps.append(Step(s.node[taker], signal >> 1, gain_text(Gain(element_sign(s, taker, signal & 1)))))
    return tuple(reversed(steps))
