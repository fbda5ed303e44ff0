"""Nothing is executed from a cache that somebody else could have written."""

import os
import stat
from pathlib import Path

import pytest

from bglang import cachedir
from bglang.store import MAGIC, SECRET, Store
from bglang.syntax import ast
from bglang.syntax.store import parse_cached


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("BGLANG_CACHE", str(folder))
    return folder


def test_a_cache_that_others_can_write_is_not_used(root: Path) -> None:
    assert cachedir.cache_folder("native") == root / "native"
    for mode in (0o770, 0o707, 0o777):
        root.chmod(mode)
        assert cachedir.cache_folder("native") is None
    root.chmod(0o700)
    (root / "native").chmod(0o722)
    assert cachedir.cache_folder("native") is None


def test_a_cache_of_somebody_else_is_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cachedir.cache_folder("native") is not None
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(root).st_uid + 1)
    assert cachedir.cache_folder("native") is None
    assert Store(root / "native").read("x") is None


def test_a_link_to_a_folder_that_others_can_write_is_not_used(root: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    root.symlink_to(shared)
    assert cachedir.cache_folder("native") is None


def test_forged_and_swapped_entries_are_not_read(root: Path) -> None:
    folder = cachedir.cache_folder("native")
    assert folder is not None
    store = Store(folder)
    assert store.write("a", b"one") and store.write("b", b"two") and store.read("a") == b"one"
    (folder / "b").write_bytes((folder / "a").read_bytes())
    assert store.read("b") is None, "an entry under another key"
    (folder / "a").write_bytes(MAGIC + bytes(32) + b"evil")
    assert store.read("a") is None, "a signature that is none"
    foreign = Store(root)
    foreign.write("a", b"evil")
    (folder / "a").write_bytes((root / "a").read_bytes())
    assert store.read("a") is None, "signed with another key"


def test_entries_of_others_links_and_open_files_are_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cachedir.cache_folder("native")
    assert folder is not None
    store = Store(folder)
    store.write("a", b"one")
    (folder / "a").chmod(0o666)
    assert store.read("a") is None, "others can write it"
    (folder / "a").chmod(0o600)
    (folder / "a").rename(folder.parent / "moved")
    (folder / "a").symlink_to(folder.parent / "moved")
    assert store.read("a") is None, "a link"
    (folder / "a").unlink()
    os.mkfifo(folder / "a")
    assert store.read("a") is None, "a pipe, which must not make us wait"


def test_a_key_that_others_could_read_is_replaced(root: Path) -> None:
    folder = cachedir.cache_folder("native")
    assert folder is not None
    Store(folder).write("a", b"one")
    old = (folder / SECRET).read_bytes()
    (folder / SECRET).chmod(0o644)
    assert Store(folder).read("a") is None
    assert (folder / SECRET).read_bytes() != old and stat.S_IMODE((folder / SECRET).stat().st_mode) == 0o600


def test_a_parsed_tree_under_another_name_is_not_taken(root: Path) -> None:
    from bglang.diagnostics import Report
    from bglang.source import Source

    def parsed(word: str) -> ast.File:
        text = f"model {word} Real x = 1; end {word};" + " " * 3000
        tree = parse_cached(Source("m.bg", text), Report())
        assert tree is not None
        return tree

    parsed("A")
    (first,) = (root / "parsed").glob("*.json")
    parsed("B")
    (second,) = set((root / "parsed").glob("*.json")) - {first}
    second.write_bytes(first.read_bytes())
    assert parsed("B").classes[0].ident == "B"
