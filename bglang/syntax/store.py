"""Parsed files are kept in the cache, so that an unchanged file is not parsed again.

A tree is stored as JSON, flat and in postfix order: values go on a stack, a number makes a node of the topmost ones.
So deep trees need no recursion, and reading a damaged or foreign file can do no more than fail.  Entries are signed
with the user's own key: a tree that somebody else put there, or one of another text, is not taken.
"""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from bglang.cachedir import cache_folder
from bglang.diagnostics import Report
from bglang.limits import Limits
from bglang.source import Source, Span
from bglang.store import Store
from bglang.syntax import ast
from bglang.syntax.parse import DEFAULT_LIMITS, parse
from bglang.syntax.tables import grammar_path

SMALL = 2_000
"""Shorter texts are parsed faster than a file is opened."""
MAX_FILES = 1_000
"""When there are more, the older half is removed."""
_CLASSES: tuple[Any, ...] = tuple(
    value for value in vars(ast).values() if hasattr(value, "__match_args__") and value is not Span
)
_ARITIES = tuple(len(cls.__match_args__) for cls in _CLASSES)
_NUMBERS = {cls: number for number, cls in enumerate(_CLASSES)}


def parse_cached(source: Source, report: Report, limits: Limits = DEFAULT_LIMITS) -> ast.File | None:
    """Like `parse`, reading the tree from the cache if the same text was parsed before.  Only good files are stored."""
    folder = cache_folder("parsed") if len(source.text) >= SMALL else None
    if folder is None:
        return parse(source, report, limits)
    name = f"{_key(source.text, limits)}.json"
    entries = Store(folder)
    found = _read(entries, name, source)
    if found is not None:
        return found
    before = len(report.diagnostics)
    tree = parse(source, report, limits)
    if tree is not None and len(report.diagnostics) == before:
        _make_room(folder)
        entries.write(name, json.dumps(encode(tree), separators=(",", ":")).encode())
    return tree


def _key(text: str, limits: Limits) -> str:
    return sha256(f"{_version()}\0{limits}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:40]


@cache
def _version() -> str:
    """Changes whenever the grammar or the code that makes trees does."""
    files = [grammar_path(), *sorted(Path(__file__).parent.glob("*.py"))]
    return " ".join(f"{path.name}:{path.stat().st_mtime_ns}:{path.stat().st_size}" for path in files)


def _read(entries: Store, name: str, source: Source) -> ast.File | None:
    payload = entries.read(name)
    if payload is None:
        return None
    try:
        return decode(json.loads(payload), source)
    except (ValueError, TypeError, IndexError, KeyError, RecursionError):
        return None  # another version wrote it: parsed anew


def _make_room(folder: Path) -> None:
    files = list(folder.glob("*.json"))
    if len(files) <= MAX_FILES:
        return
    try:
        files.sort(key=lambda path: path.stat().st_mtime)
        for path in files[: len(files) // 2]:
            path.unlink(missing_ok=True)
    except OSError:
        return  # someone else is tidying up


# --- postfix form -----------------------------------------------------------------------------------------------------


def encode(tree: ast.File) -> list[Any]:
    """Strings, numbers and None stand for themselves; `[n]` makes a tuple, `[start, end]` a span, a list of words in a
    list a set of them, a whole number a node of that class."""
    code: list[Any] = []
    todo: list[Any] = [tree]
    while todo:  # written backwards, and turned round at the end
        value = todo.pop()
        if isinstance(value, Span):
            code.append([value.start, value.end])
        elif isinstance(value, tuple):
            code.append([len(value)])
            todo.extend(value)
        elif isinstance(value, frozenset):
            code.append([sorted(value), 0, 0])
        elif type(value) in _NUMBERS:
            code.append(_NUMBERS[type(value)])
            todo.extend(getattr(value, name) for name in value.__match_args__)
        else:
            assert value is None or isinstance(value, str | bool | float), type(value)
            code.append(value)
    code.reverse()
    return code


def decode(code: list[Any], source: Source) -> ast.File:
    stack: list[Any] = []
    push = stack.append
    for item in code:
        kind = type(item)
        if kind is int:
            arity = _ARITIES[item]
            made = _CLASSES[item](*stack[-arity:])
            del stack[-arity:]
            push(made)
        elif kind is list:
            size = len(item)
            if size == 2:
                push(Span(source, item[0], item[1]))
            elif size == 3:
                push(frozenset(item[0]))
            elif item[0]:
                made = tuple(stack[-item[0] :])
                del stack[-item[0] :]
                push(made)
            else:
                push(())
        else:
            push(item)
    (tree,) = stack
    if not isinstance(tree, ast.File):
        raise ValueError("no file")
    return tree
