"""The parser's tables, made from `grammar/bglang.lark` by lark and shipped with the package as JSON.

Lark analyses the grammar (strictly LALR) in about half a second, which is too long for every start, and for the first
one too.  Its own way to store a parser is pickle, which runs whatever it finds; JSON holds only numbers and names, is
read in a few milliseconds, and spares the import of lark altogether.  The key is the content of the grammar and of this
file: where either was changed the tables are made anew and kept in the cache.

    python -m bglang.syntax.tables      makes the shipped file; a test tells when that is due
"""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bglang.cachedir import cache_folder, store
from bglang.records import dataclass

if TYPE_CHECKING:
    from lark import Lark
    from lark.grammar import Rule as LarkRule

END_OF_FILE = "$END"
LIST_RULE = "[]"
"""The name of a rule whose value is the list of its phrases (what `*` and `+` in the grammar stand for)."""
SAME_RULE = ""
"""The name of a rule whose value is that of its single phrase."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How many symbols a reduction takes, what it makes of them, and which of them the builder sees.

    `picks` holds positions counted from the rule's first symbol; -1 stands for an omitted optional phrase.  `spliced`
    says which of the picked values are lists whose members are meant."""

    symbol: int
    length: int
    name: str
    picks: tuple[int, ...]
    spliced: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """`actions[state][terminal]` is a state to shift to, or `~rule` to reduce; `gotos[state][symbol]` follows it.

    The pattern matches blanks, comments and then one token, whose terminal is `groups[lastindex]`; words among the
    identifiers are looked up in `words`."""

    terminals: tuple[str, ...]
    pattern: str
    groups: tuple[int, ...]
    words: dict[str, int]
    actions: tuple[dict[int, int], ...]
    gotos: tuple[dict[int, int], ...]
    rules: tuple[Rule, ...]
    start: int
    accept: int


SHIPPED = Path(__file__).with_name("tables.json")
BAD_TOKEN = -1
"""The terminal of what is no token: the beginning of an endless comment, string or name, or a strange character."""


def grammar_path() -> Path:
    """`bglang.lark`: inside the installed package, or beside it in a working copy."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "grammar" / "bglang.lark"
    return installed if installed.is_file() else package.parent / "grammar" / "bglang.lark"


@cache
def load_tables() -> Tables:
    grammar = grammar_path().read_text(encoding="utf-8")
    key = _key(grammar)
    folder = cache_folder("grammar")
    for path in (SHIPPED, *([] if folder is None else [folder / f"{key}.json"])):
        try:
            return _from_json(path.read_text(encoding="utf-8"), key)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not there, damaged, or of another grammar
    tables = make_tables(grammar)
    if folder is not None:
        store(folder, f"{key}.json", _to_json(tables, key))
    return tables


def _key(grammar: str) -> str:
    return sha256(grammar.encode() + Path(__file__).read_bytes()).hexdigest()[:32]


def _to_json(tables: Tables, key: str) -> bytes:
    from dataclasses import asdict

    return json.dumps({"key": key, **asdict(tables)}, separators=(",", ":")).encode()


def _from_json(text: str, key: str) -> Tables:
    data = json.loads(text)
    if data["key"] != key:
        raise ValueError("tables of another grammar")
    return Tables(
        terminals=tuple(data["terminals"]),
        pattern=data["pattern"],
        groups=tuple(data["groups"]),
        words=data["words"],
        actions=tuple({int(k): v for k, v in row.items()} for row in data["actions"]),
        gotos=tuple({int(k): v for k, v in row.items()} for row in data["gotos"]),
        rules=tuple(
            Rule(r["symbol"], r["length"], r["name"], tuple(r["picks"]), tuple(r["spliced"])) for r in data["rules"]
        ),
        start=data["start"],
        accept=data["accept"],
    )


# --- from the grammar -------------------------------------------------------------------------------------------------


def make_tables(grammar: str) -> Tables:
    from lark import Lark

    parser = Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=True)
    table = parser.parser.parser._parse_table  # lark has no public way to it
    terminals = (END_OF_FILE, *(t.name for t in parser.terminals))
    terminal_number = {name: i for i, name in enumerate(terminals)}
    symbols = {name: i for i, name in enumerate(dict.fromkeys(str(rule.origin.name) for rule in parser.rules))}
    rules: dict[Any, int] = {}
    actions: list[dict[int, int]] = []
    gotos: list[dict[int, int]] = []
    for state in range(len(table.states)):
        action_row: dict[int, int] = {}
        goto_row: dict[int, int] = {}
        for symbol, (action, target) in table.states[state].items():
            if action.name == "Reduce":
                action_row[terminal_number[symbol]] = ~rules.setdefault(target, len(rules))
            elif symbol in terminal_number:
                action_row[terminal_number[symbol]] = target
            else:
                goto_row[symbols.setdefault(symbol, len(symbols))] = target
        actions.append(action_row)
        gotos.append(goto_row)
    pattern, groups, words = _lexical(parser, terminal_number)
    return Tables(
        terminals=terminals,
        pattern=pattern,
        groups=groups,
        words=words,
        actions=tuple(actions),
        gotos=tuple(gotos),
        rules=tuple(_rule(rule, symbols[str(rule.origin.name)]) for rule in rules),
        start=table.start_states["start"],
        accept=table.end_states["start"],
    )


def _rule(rule: "LarkRule", symbol: int) -> Rule:
    """What lark would hand to a transformer for this rule: words left out, omitted phrases as None, lists flat."""
    omitted = rule.options.empty_indices or (False,) * len(rule.expansion)
    picks: list[int] = []
    spliced: list[bool] = []
    position = 0
    for is_omitted in omitted:
        if is_omitted:
            picks.append(-1)
            spliced.append(False)
            continue
        part = rule.expansion[position]
        is_word = part.is_term and getattr(part, "filter_out", False)
        if rule.options.keep_all_tokens or not is_word:
            picks.append(position)
            spliced.append(not part.is_term and part.name.startswith("_"))
        position += 1
    origin = str(rule.origin.name)
    name = rule.alias or origin
    if origin.startswith("__"):
        name = LIST_RULE
    elif rule.options.expand1 and not rule.alias and len(picks) == 1:
        name = SAME_RULE
    return Rule(symbol, len(rule.expansion), name, tuple(picks), tuple(spliced))


def _lexical(parser: "Lark", terminal_number: dict[str, int]) -> tuple[str, tuple[int, ...], dict[str, int]]:
    """One pattern for all tokens.  Lark orders its terminals so that the first match is the right one."""
    ignored = set(parser.ignore_tokens)
    blanks = [t.pattern.to_regexp() for t in parser.terminals if t.name in ignored]
    words: dict[str, int] = {}
    tokens: list[str] = [r"\Z", r"/\*"]
    groups: list[int] = [BAD_TOKEN, terminal_number[END_OF_FILE], BAD_TOKEN]  # groups are counted from 1
    ordered = sorted(parser.terminals, key=lambda t: (-t.priority, t.pattern.type == "str", -t.pattern.max_width))
    for terminal in ordered:
        if terminal.name in ignored:
            continue
        if terminal.pattern.type == "str" and terminal.pattern.value.isidentifier():
            words[terminal.pattern.value] = terminal_number[terminal.name]
            continue
        tokens.append(terminal.pattern.to_regexp())
        groups.append(terminal_number[terminal.name])
    tokens.append(r"[\s\S]")
    groups.append(BAD_TOKEN)
    pattern = f"(?:{'|'.join(blanks)})*(?:{'|'.join(f'({token})' for token in tokens)})"
    return pattern, tuple(groups), words


if __name__ == "__main__":
    text = grammar_path().read_text(encoding="utf-8")
    SHIPPED.write_bytes(_to_json(make_tables(text), _key(text)))
