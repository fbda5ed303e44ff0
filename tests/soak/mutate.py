"""Spoiled sources: bytes, words and whole pieces of grammar changed at random, everything from one seed."""

import random
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'[^\']*\'|//[^\n]*'
    r"|[A-Za-z_]\w*|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|->\||\|->|->|\S|\s+"
)
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NASTY = (
    "0", "-1", "1e308", "1e-308", "99999999", "1e18", "2^1000", "1/0", "nan", "time", "der(x)", "pre(x)", "end", "::",
    "__import__('os')", "eval(\"1\")", "'__class__'", "{1, 2}", "[1, 2; 3, 4]", "{}", "zeros(0)", "1:0", "1:1000000",
    "if true then 1 else 2", "sum({i for i in 1:9})", "time > 0", "sample(0, 1e-9)", "\"${HOME}\"", "'a.b'", "each",
    "J1", "J0", "R", "C", "I", "TF", "GY", "Se", "Sf", "MCK", "FMU", "Any", "Real", "Integer", "String", "Boolean",
    "parameter", "constant", "final", "replaceable", "redeclare", "extends", "partial", "protected", "optional",
    "start", "fixed", "sin", "min", "table", "coulomb", "inv", "solve", "size", "\0", "\ufeff", "\u202e", "𝟙", "ſ", "é",
    "\ud7ff",
)  # fmt: skip


@cache
def corpus() -> tuple[str, ...]:
    """Every example, every file of the standard library, and every model in the documentation."""
    files = sorted([*(ROOT / "examples").rglob("*.bg"), *(ROOT / "stdlib").rglob("*.bg")])
    pages = sorted((ROOT / "docs").glob("*.md"))
    blocks = [text for page in pages for text in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return (*(path.read_text(encoding="utf-8") for path in files), *(text for text in blocks if "end " in text))


@cache
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(TOKEN.findall(text))


@cache
def _statements() -> tuple[str, ...]:
    """Pieces of sources between semicolons: what grammar-level changes are made of."""
    return tuple(piece for text in corpus() for piece in text.split(";") if len(piece) < 300)


def mutant(seed: int) -> bytes:
    """One spoiled source, as the bytes of a file."""
    rng = random.Random(seed)
    text = rng.choice(corpus())
    how = rng.random()
    if how < 0.3:
        return _bytes(text.encode(), rng)
    if how < 0.6:
        return _words(text, rng).encode()
    if how < 0.8:
        return _pieces(text, rng).encode()
    return _values(text, rng).encode()


def _bytes(data: bytes, rng: random.Random) -> bytes:
    spoiled = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 30])):
        at = rng.randrange(len(spoiled) + 1)
        match rng.randrange(5):
            case 0:
                spoiled[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 4)))
            case 1:
                del spoiled[at : at + rng.randint(1, 40)]
            case 2 if at < len(spoiled):
                spoiled[at] ^= 1 << rng.randrange(8)
            case 3:
                other = rng.randrange(len(spoiled) + 1)
                spoiled[at:at] = spoiled[other : other + rng.randint(1, 200)]
            case _:
                spoiled[at:at] = bytes([rng.choice(b"()[]{};,.=\"'\\/*<>-^:0")]) * rng.choice([1, 1, 2, 50])
    return bytes(spoiled)


def _words(text: str, rng: random.Random) -> str:
    words = list(_tokens(text))
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        places = [k for k, word in enumerate(words) if not word.isspace()] or [0]
        at = rng.choice(places)
        match rng.randrange(5):
            case 0:
                words[at] = words[rng.choice(places)]
            case 1:
                words[at] = rng.choice(NASTY)
            case 2:
                words.insert(at, " " + rng.choice(NASTY) + " ")
            case 3:
                del words[at]
                words = words or [""]
            case _:
                other = rng.choice(places)
                words[at], words[other] = words[other], words[at]
    return "".join(words)


def _pieces(text: str, rng: random.Random) -> str:
    pieces = text.split(";")
    for _ in range(rng.choice([1, 2, 3])):
        at = rng.randrange(len(pieces))
        match rng.randrange(4):
            case 0:
                pieces.insert(at, rng.choice(_statements()))
            case 1:
                pieces[at] = rng.choice(_statements())
            case 2 if len(pieces) > 1:
                del pieces[at]
            case _:
                pieces.insert(rng.randrange(len(pieces)), pieces[at])
    return ";".join(pieces)


def _values(text: str, rng: random.Random) -> str:
    """Only names and numbers, each by one of its kind: most of these still parse, and many reach the equations."""
    words = list(_tokens(text))
    for _ in range(rng.choice([1, 1, 2, 4])):
        for pattern in rng.sample([r"[A-Za-z_]\w*", r"\d.*"], 1):
            places = [k for k, word in enumerate(words) if re.fullmatch(pattern, word)]
            if places:
                odd = ["0", "1e300", "1e-300", "-0.5", "7", "2.5"] if pattern.startswith(r"\d") else []
                words[rng.choice(places)] = rng.choice([*odd, words[rng.choice(places)]])
    return "".join(words)
