"""The cache folder, the grammar's tables in it, and parsed files."""

import json
import os
from pathlib import Path

import pytest
from programs import ALL

from bglang.cachedir import cache_folder, store
from bglang.diagnostics import Report
from bglang.limits import Limits
from bglang.source import Source
from bglang.syntax import store as parsed
from bglang.syntax import tables
from bglang.syntax.dump import dump
from bglang.syntax.parse import parse
from bglang.syntax.store import decode, encode, parse_cached

posix = pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "deep" / "cache"
    monkeypatch.setenv("BGLANG_CACHE", str(folder))
    return folder


@posix
def test_the_folder_is_private(root: Path) -> None:
    folder = cache_folder("a", "b")
    assert folder == root / "a" / "b"
    assert (root.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o700, 0o700)


@posix
def test_a_folder_that_others_can_write_is_not_used(root: Path) -> None:
    (root / "a").mkdir(parents=True)
    (root / "a").chmod(0o777)
    assert cache_folder("a") is None
    assert cache_folder("b") is not None
    root.chmod(0o770)
    assert cache_folder("b") is None


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BGLANG_CACHE", str(tmp_path / "file" / "cache"))
    assert cache_folder() is None
    assert not store(tmp_path / "nowhere", "x", b"")


def test_without_the_variable_it_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BGLANG_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative is ignored")
    folder = cache_folder()
    assert folder is not None and folder.is_relative_to(tmp_path) and folder.name == "bglang"


def test_the_shipped_tables_are_those_of_the_grammar(root: Path) -> None:
    """Otherwise every first run waits for lark: `python -m bglang.syntax.tables` makes them anew."""
    shipped = tables.load_tables.__wrapped__()
    assert not (root / "grammar").exists() or not list((root / "grammar").iterdir()), "nothing had to be made"
    made = tables.make_tables(tables.grammar_path().read_text(encoding="utf-8"))
    assert (made.pattern, made.terminals, made.words) == (shipped.pattern, shipped.terminals, shipped.words)
    assert sorted(map(repr, made.rules)) == sorted(map(repr, shipped.rules))
    assert len(made.actions) == len(shipped.actions)


def test_tables_of_another_grammar_are_kept_and_survive_damage(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SHIPPED", root / "absent.json")
    made = tables.load_tables.__wrapped__()
    (file,) = (root / "grammar").iterdir()
    assert tables.load_tables.__wrapped__() == made, "the stored tables are the same"
    for damage in (b"", b"{}", b"\xff", b'{"terminals": 3}'):
        file.write_bytes(damage)
        again = tables.load_tables.__wrapped__()  # states are numbered anew, so only the sizes can be compared
        assert (again.pattern, len(again.actions), len(again.rules)) == (
            made.pattern,
            len(made.actions),
            len(made.rules),
        )
        assert json.loads(file.read_bytes())["start"] == again.start, "and they are stored again"


@pytest.mark.parametrize("name", ALL)
def test_trees_survive_storing(name: str) -> None:
    source = Source("t.bg", ALL[name])
    tree = parse(source, Report())
    assert tree is not None
    again = decode(json.loads(json.dumps(encode(tree))), source)
    assert dump(again, places=True) == dump(tree, places=True)


def test_deep_trees_can_be_stored() -> None:
    source = Source("t.bg", "model M Real x = " + " + ".join(["1"] * 5000) + "; end M;")
    tree = parse(source, Report())
    assert tree is not None
    assert dump(decode(json.loads(json.dumps(encode(tree))), source)) == dump(tree)


def test_an_unchanged_file_is_not_parsed_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(ALL["laws"] for _ in range(3))
    first = parse_cached(Source("a.bg", text), Report())
    with monkeypatch.context() as patch:
        patch.setattr(parsed, "parse", None)  # would fail
        second = parse_cached(Source("b.bg", text), Report())
    assert first is not None and second is not None and dump(first) == dump(second)
    assert second.span.source.name == "b.bg"
    (file,) = (root / "parsed").glob("*.json")
    file.write_bytes(b"[3]")
    assert dump(parse_cached(Source("a.bg", text), Report())) == dump(first), "a damaged file is parsed anew"
    report = Report()
    assert parse_cached(Source("a.bg", text), report, Limits(nesting=1)) is None, "limits are part of the key"
    assert report.errors


def test_wrong_files_are_reported_every_time(root: Path) -> None:
    text = ALL["laws"] * 3 + "model"
    for _ in range(2):
        report = Report()
        assert parse_cached(Source("a.bg", text), report) is None and report.errors


def test_the_cache_does_not_grow_without_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "MAX_FILES", 4)
    for i in range(12):
        parse_cached(Source("a.bg", ALL["laws"] * 2 + f"// {i}"), Report())
    assert len(list((root / "parsed").iterdir())) <= 5
