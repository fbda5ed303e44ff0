"""The colours that the repository ships for VS Code know the language."""

import json
import re
from pathlib import Path

from bglang.elaborate.definitions import BUILTINS
from bglang.syntax.text import RESERVED

FOLDER = Path(__file__).parent.parent.parent / "editors" / "vscode"


def rules() -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((FOLDER / "bglang.tmLanguage.json").read_text())["patterns"]
    return found


def test_every_reserved_word_is_coloured() -> None:
    patterns = [re.compile(rule["match"]) for rule in rules() if "match" in rule]
    for word in RESERVED:
        assert any(p.fullmatch(word) for p in patterns), word
    for word in BUILTINS.keys() - {"Any"}:
        assert any(p.match(f"{word} x") for p in patterns), word


def test_rules_are_good_and_the_files_are_named() -> None:
    for rule in rules():
        for key in ("match", "begin", "end"):
            if key in rule:
                re.compile(rule[key])
    manifest = json.loads((FOLDER / "package.json").read_text())
    json.loads((FOLDER / "language-configuration.json").read_text())
    for grammar in manifest["contributes"]["grammars"]:
        assert (FOLDER / grammar["path"]).is_file()
