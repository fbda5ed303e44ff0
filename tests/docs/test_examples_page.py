"""The page about the examples speaks of each of them, and what it proposes to try can be tried."""

import re
from pathlib import Path

import pytest

import bglang

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "examples"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^\*\*`(?P<file>\w+\.bg)`\*\*(?P<text>.*?)(?=^\*\*`|^## |\Z)", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"--set ([\w.]+)=([\w.]+)")
PICTURE = re.compile(r"!\[[^\]]*\]\((?P<file>[^)]+)\)")


def entries() -> list[tuple[str, str]]:
    return [(entry["file"], entry["text"]) for entry in ENTRY.finditer(PAGE)]


def path_of(file: str) -> Path:
    """Where the example lies: no name is used twice."""
    (path,) = FOLDER.rglob(file)
    return path


def test_every_example_is_explained() -> None:
    named = {file for file, _ in entries()}
    models = [path for path in FOLDER.rglob("*.bg") if not path.with_name("package.bg").exists()]
    missing = {path.name for path in models if f"`{path.name}`" not in PAGE}
    assert named and not missing


WITH_SETTINGS = [(file, text) for file, text in entries() if SETTING.search(text)]


@pytest.mark.parametrize(("file", "text"), WITH_SETTINGS, ids=[file for file, _ in WITH_SETTINGS])
def test_settings_can_be_tried(file: str, text: str) -> None:
    names = {row.name for row in bglang.load(path_of(file)).parameters()}
    assert {name for name, _ in SETTING.findall(text)} <= names


@pytest.mark.parametrize("page", sorted(FOLDER.rglob("README.md")), ids=lambda p: str(p.relative_to(FOLDER)))
def test_pictures_are_there(page: Path) -> None:
    for picture in PICTURE.finditer(page.read_text(encoding="utf-8")):
        assert (page.parent / picture["file"]).read_text(encoding="utf-8").find("<svg") >= 0
