"""Sources from strangers: diagnostics in bounded time and memory, no file touched, no code run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_texts import HARMLESS, REFUSED
from soak.fuzz import ROOT, fuzz, try_texts

import bglang
from bglang.diagnostics import SourceError, UsageError
from bglang.limits import UNTRUSTED, Limits, with_settings

TABLE = 'model M R r(f = table(e, "{}")); J1 v; I m(I = 1); bonds v -> r, m; end M;'


def test_attacks_are_answered_with_diagnostics(tmp_path: Path) -> None:
    found = try_texts(REFUSED, tmp_path)
    assert {name: what for name, what in found.items() if what not in ("SourceError", "UsageError", "no text")} == {}
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_what_only_looks_dangerous_compiles(tmp_path: Path) -> None:
    found = try_texts(HARMLESS, tmp_path)
    assert {name: what for name, what in found.items() if what != "model"} == {}


def test_spoiled_sources_give_diagnostics() -> None:
    tried, seen, failures = fuzz(minutes=2, seed=20_000, most=300)
    assert failures == [] and tried == 300 and seen["SourceError"] > 150


def test_the_watch_sees_what_it_shall_see(tmp_path: Path) -> None:
    """The guard itself: writing, starting processes and running code are noticed."""
    code = """
import os, sys
from pathlib import Path
from soak.fuzz import Forbidden, Guard
guard = Guard(Path(sys.argv[1]) / "allowed")
deeds = [lambda: open(sys.argv[1] + "/x", "w"), lambda: os.system("true"), lambda: exec(compile("1", "bad.bg", "exec")),
         lambda: os.mkdir(sys.argv[1] + "/y")]
for deed in deeds:
    guard.armed = True
    try:
        deed()
    except Forbidden:
        guard.armed = False
        print("seen")
"""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() == ["seen"] * 4


def codes(path: Path, **options: bool) -> list[str]:
    try:
        bglang.load(path, **options).compile()  # type: ignore[arg-type]
    except SourceError as problem:
        return [d.code for d in problem.diagnostics if d.severity == "error"]
    return []


@pytest.fixture
def place(tmp_path: Path) -> Path:
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret.csv").write_text("0,0\n1,1\n")
    (inside / "own.csv").write_text("0,0\n1,1\n")
    return inside


def test_files_outside_of_the_folder_are_not_read(place: Path) -> None:
    main = place / "m.bg"
    (place / "link.csv").symlink_to(place.parent / "secret.csv")
    (place / "up").symlink_to(place.parent)
    for name in ("../secret.csv", str(place.parent / "secret.csv"), "link.csv", "up/secret.csv", "./../secret.csv"):
        main.write_text(TABLE.format(name))
        assert codes(main) == ["files/outside"], name
        assert codes(main, allow_read=True) == [], name
    main.write_text(TABLE.format("own.csv"))
    assert codes(main) == []


def test_pipes_devices_and_folders_are_no_tables(place: Path) -> None:
    main = place / "m.bg"
    os.mkfifo(place / "pipe.csv")
    (place / "zero.csv").symlink_to("/dev/zero")
    for name, code in (("pipe.csv", "files/missing"), ("zero.csv", "files/outside"), (".", "files/missing")):
        main.write_text(TABLE.format(name))
        assert codes(main) == [code]
    main.write_text(TABLE.format("/dev/zero"))
    assert codes(main, allow_read=True) == ["files/missing"]


def test_a_huge_table_is_not_read(place: Path) -> None:
    main = place / "m.bg"
    with open(place / "huge.csv", "wb") as file:
        file.truncate(10 * 2**30)  # sparse: it takes no room on the disk
    main.write_text(TABLE.format("huge.csv"))
    assert codes(main) == ["limits/table"]


def test_the_main_file_must_be_a_file_of_sensible_size(place: Path) -> None:
    os.mkfifo(place / "pipe.bg")
    for path in ("/dev/zero", place / "pipe.bg", place):
        with pytest.raises(UsageError, match="no plain file"):
            bglang.load(path)
    with open(place / "huge.bg", "wb") as file:
        file.truncate(10 * 2**30)
    assert codes(place / "huge.bg") == ["limits/file"]


def test_small_limits_by_one_word() -> None:
    assert with_settings(Limits(), ["untrusted"]) == UNTRUSTED
    assert with_settings(Limits(), ["untrusted", "nesting=7"]).nesting == 7
