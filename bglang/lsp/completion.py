"""What could be written here."""

import re
from collections.abc import Iterable, Iterator

from bglang.elaborate import builtins
from bglang.elaborate.definitions import BUILTINS, Builtin, Definition
from bglang.lsp.project import View
from bglang.lsp.symbols import SETTINGS, Symbol, class_symbol, lookup, members, members_of
from bglang.records import dataclass
from bglang.syntax.text import RESERVED


@dataclass(frozen=True, slots=True)
class Proposal:
    text: str
    kind: str
    detail: str = ""


_PATH = re.compile(r"((?:[A-Za-z_]\w*|'[^'\n]*')(?:\[[^\[\]\n]*\])?\s*\.\s*)*(\w*)$")
_CLASS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\""
    r"|\b(?P<head>model|element|block|macro|package|domain|function|class)\s+(?P<name>\w+|'[^'\n]*')"
    r"|\bend\s+(?P<end>\w+|'[^'\n]*')",
    re.DOTALL,
)
_BLOCKS = frozenset({"if", "for", "when", "while"})


def enclosing(text: str, offset: int) -> list[str]:
    """Names of the classes that are open at an offset, whether the text can be parsed or not."""
    stack = list[str]()
    for match in _CLASS.finditer(text, 0, offset):
        if match["name"]:
            stack.append(match["name"].strip("'"))
        elif match["end"] and match["end"] not in _BLOCKS and match["end"].strip("'") in stack:
            while stack.pop() != match["end"].strip("'"):
                pass
    return stack


def complete(view: View, older: View | None, offset: int) -> list[Proposal]:
    """What could be written at an offset.  `older` is the last view of this text that had a tree."""
    text = view.source.text
    known = view if view.file is not None else older
    before = text[:offset]
    if known is None or _in_comment_or_string(before):
        return []
    scope = _scope(known, enclosing(text, offset))
    match = _PATH.search(before)
    path = before[match.start() : offset] if match else ""
    idents = [re.sub(r"\[.*?\]", "", word).strip().strip("'") for word in path.split(".")]
    if len(idents) > 1:
        return _unique(_after_dot(known, scope, idents[:-1]))
    proposals = list(_modifiers(known, scope, before))
    proposals += _visible(known, scope)
    return _unique(proposals)


def _in_comment_or_string(before: str) -> bool:
    line = before[before.rfind("\n") + 1 :]
    bare = re.sub(r'"(?:\\.|[^"\\])*"', "", line)
    return "//" in bare or '"' in bare or before.rfind("/*") > before.rfind("*/")


def _scope(view: View, names: list[str]) -> Definition | None:
    found = None
    for k, name in enumerate(names):
        if k == 0:
            found = view.place.own(name) if view.place is not None else view.library.top.own(name)
        else:
            found = found.own(name) if isinstance(found, Definition) else None
    return found if isinstance(found, Definition) else None


def _after_dot(view: View, scope: Definition | None, idents: list[str]) -> Iterator[Proposal]:
    if scope is not None:
        found = lookup(scope, idents[0])
    else:
        target = view.library.top.own(idents[0])
        found = class_symbol(target) if target is not None else None
    for ident in idents[1:]:
        found = next((s for s in members_of(found) if s.name == ident), None) if found is not None else None
    for s in members_of(found) if found is not None else ():
        yield _proposal(s)


def _proposal(s: Symbol) -> Proposal:
    type_name = s.type.name if s.type is not None and s.declarator is not None else ""
    return Proposal(s.name, s.kind, " ".join(filter(None, [type_name, s.description and f"— {s.description}"])))


def _modifiers(view: View, scope: Definition | None, before: str) -> Iterator[Proposal]:
    """Inside the parentheses after a declared name: what its class lets one set."""
    if scope is None:
        return
    statement = before[max(before.rfind(";"), before.rfind("\n\n")) + 1 :]
    opened = re.match(
        r"\s*(?:\w+\s+)*?(?P<type>[A-Za-z_][\w.]*)\s+\w+(?:\[[^\]]*\])?\((?P<rest>.*)$", statement, re.DOTALL
    )
    if opened is None or opened["rest"].count("(") != opened["rest"].count(")"):
        return
    idents = opened["type"].split(".")
    target = scope.lookup(idents[0])
    for ident in idents[1:]:
        target = target.inner(ident) if isinstance(target, Definition) else None
    bases = [target] if isinstance(target, Builtin) else []
    if isinstance(target, Definition):
        bases = [b.target for d in target.lineage() for b in d.bases() if isinstance(b.target, Builtin)]
        for s in members(target):
            if s.kind in ("parameter", "input"):
                yield _proposal(s)
    for base in bases:
        for ident, description in SETTINGS.get(base.name, {}).items():
            yield Proposal(ident, "parameter", description)


def _visible(view: View, scope: Definition | None) -> Iterator[Proposal]:
    if scope is not None:
        for s in members(scope):
            yield _proposal(s)
        for name in scope.visible():
            target = scope.lookup(name) if name in BUILTINS else None
            yield Proposal(name, "class", class_symbol(target).description if target is not None else "")
        for name in builtins.ALL | builtins.ALONE.keys():
            yield Proposal(name, "function")
        for name in builtins.NAMES:
            yield Proposal(name, "constant")
    else:
        for name in view.library.top.class_names():
            yield Proposal(name, "class")
    for word in RESERVED:
        yield Proposal(word, "keyword")


def _unique(proposals: Iterable[Proposal]) -> list[Proposal]:
    found = dict[str, Proposal]()
    for proposal in proposals:
        found.setdefault(proposal.text, proposal)
    return list(found.values())
