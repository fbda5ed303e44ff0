"""The LALR automaton: shifts tokens and reduces phrases, calling the tree builder for each.

It does what lark's own parser does with the same table, without token objects and without walking through chains of
rules that only pass a value on (`expression` to `simple` to ... to `name`): where such a chain ends is looked up after
the first time.  That makes it several times faster, and its stacks are open to error recovery.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from bglang.records import dataclass
from bglang.syntax.lexer import Tokens
from bglang.syntax.tables import LIST_RULE, SAME_RULE, Rule, Tables, load_tables

Maker = Callable[[list[Any], int, int], Any]


_PHRASES, _LISTS, _SAME, _GROW = range(4)
"""How a rule's values are taken from the stack: one by one; some being lists whose members are meant; the one value
that it passes on; a list that grows by one value."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A rule in the form that the loop wants.  Offsets count back from the top of the stack; 0 is an omitted phrase."""

    mode: int
    length: int
    symbol: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    tables: Tables
    steps: tuple[_Step, ...]
    passing: frozenset[int]
    """rules that only pass on the value of their one symbol"""
    chains: dict[int, int]
    """the state after a reduction, by state, symbol and next terminal; filled as needed"""


@cache
def _plan() -> _Plan:
    tables = load_tables()
    passing = frozenset(i for i, r in enumerate(tables.rules) if r.name == SAME_RULE and r.length == 1)
    return _Plan(tables, tuple(map(_step, tables.rules)), passing, {})


def _step(rule: Rule) -> _Step:
    offsets = tuple(pick - rule.length if pick >= 0 else 0 for pick in rule.picks)
    mode = _PHRASES
    if rule.name == SAME_RULE:
        mode = _SAME
    elif rule.name == LIST_RULE and rule.spliced == (True, False):
        mode = _GROW
    elif any(rule.spliced):
        mode = _LISTS
    return _Step(mode, rule.length, rule.symbol, offsets)


class Machine:
    """One run over the tokens of one source.  `run` stops at the first token that fits nowhere."""

    def __init__(self, tokens: Tokens, builder: object, depth: int):
        self.tokens = tokens
        self.position = 0
        self.depth = depth
        self.too_deep = False
        plan = _plan()
        self.states = [plan.tables.start]
        self.values: list[Any] = []
        self.starts: list[int] = []
        self._makers = [_maker(builder, rule.name) for rule in plan.tables.rules]

    def run(self) -> bool:
        """Goes on from the current position; True when the whole file has been read.

        After False, `position` is the token that cannot follow, or `too_deep` is set.  This is the inner loop of the
        parser: everything is a local name, and what can be decided beforehand is in the plan."""
        plan = _plan()
        actions, steps, chains, makers = plan.tables.actions, plan.steps, plan.chains, self._makers
        kinds, token_starts, texts = self.tokens.kinds, self.tokens.starts, self.tokens.texts
        states, values, starts = self.states, self.values, self.starts
        position, depth, accept = self.position, self.depth, plan.tables.accept
        kind = kinds[position]
        state = states[-1]
        while True:
            action = actions[state].get(kind)
            if action is None:
                self.position = position
                return False
            if action >= 0:
                states.append(action)
                values.append(texts[position])
                starts.append(token_starts[position])
                position += 1
                kind = kinds[position]
                state = action
                if len(states) > depth:
                    self.position, self.too_deep = position - 1, True
                    return False
                continue
            step = steps[~action]
            length = step.length
            start = starts[-length] if length else token_starts[position]
            mode = step.mode
            if mode == _SAME:
                value = values[step.offsets[0]]
            elif mode == _GROW:
                value = values[-length]
                offset = step.offsets[1]
                value.append(values[offset] if offset else None)
            else:
                if mode == _PHRASES:
                    value = [values[offset] if offset else None for offset in step.offsets]
                else:
                    value = _spliced(values, plan.tables.rules[~action], step.offsets)
                make = makers[~action]
                if make is not None:
                    value = make(
                        value, start, token_starts[position - 1] + len(texts[position - 1]) if length else start
                    )
            if length:
                del states[-length:], values[-length:], starts[-length:]
            values.append(value)
            starts.append(start)
            key = (step.symbol << 40) | (states[-1] << 16) | (kind + 1)
            state = chains.get(key, -1)
            if state < 0:
                state = chains[key] = _after(plan, states[-1], step.symbol, kind)
            states.append(state)
            if state == accept and kind == 0:
                self.position = position
                return True


def _after(plan: _Plan, state: int, symbol: int, kind: int) -> int:
    """The state after a reduction, with all rules applied that only pass the value on."""
    gotos, actions, rules = plan.tables.gotos[state], plan.tables.actions, plan.tables.rules
    target = gotos[symbol]
    while (action := actions[target].get(kind)) is not None and action < 0 and ~action in plan.passing:
        target = gotos[rules[~action].symbol]
    return target


def _spliced(values: list[Any], rule: Rule, offsets: tuple[int, ...]) -> list[Any]:
    result: list[Any] = []
    for offset, is_list in zip(offsets, rule.spliced, strict=True):
        if is_list:
            result.extend(values[offset])
        else:
            result.append(values[offset] if offset else None)
    return result


def _maker(builder: object, name: str) -> Maker | None:
    if name in (LIST_RULE, SAME_RULE):
        return None
    found: Maker = getattr(builder, "class_" if name == "class" else name)
    return found
