"""What can happen to a store of native code: every fault costs time, never correctness, and nothing foreign runs."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from kernel_cases import ladder, ladder_by_hand

import bglang.kernels.load as load_module
import bglang.store as store_module
from bglang.kernels.images import get_native, pack_image, unpack_image
from bglang.kernels.llvm import ForeignSymbol, compile_text
from bglang.kernels.load import load
from bglang.kernels.lower import lower
from bglang.kernels.native import Image, LinkError, Native
from bglang.kernels.parameters import parameter_vector
from bglang.store import SECRET, Store, content_key

PROGRAM = lower(ladder(2))
NUMBERS = parameter_vector(PROGRAM)
HERE = str(Path(__file__).parent)


def compiled_by(folder: Path | None) -> int:
    """Load the ladder in a new state of the process, check its values; how many codes had to be compiled."""
    load_module._loaded.clear()
    kernels = load(PROGRAM, "llvm", Store(folder))
    y, d = np.linspace(0.1, 0.4, 4), np.linspace(0.5, 0.8, 4)
    found = kernels.residual(0.3, y, d, NUMBERS, np.zeros(0))
    assert found == pytest.approx(ladder_by_hand(0.3, y, d, NUMBERS[: PROGRAM.parameters]), rel=1e-14)
    return kernels.compiled


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "native"
    place.mkdir(mode=0o700)
    assert compiled_by(place) > 0
    assert compiled_by(place) == 0
    return place


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != SECRET]


def damage_all(folder: Path, change: Callable[[bytes], bytes]) -> None:
    for path in entries(folder):
        path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        lambda blob: b"",
        lambda blob: blob[:20],
        lambda blob: blob[:-1],
        lambda blob: blob + b"\0",
        lambda blob: blob[: len(blob) // 2] + bytes([blob[len(blob) // 2] ^ 1]) + blob[len(blob) // 2 + 1 :],
        lambda blob: b"BGLANG" + blob[6:],
    ],
)
def test_damaged_entries_are_made_again_before_llvm_sees_a_byte(
    folder: Path, change: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    damage_all(folder, change)
    opened = []
    original = unpack_image
    monkeypatch.setattr(load_module, "unpack_image", lambda payload: opened.append(payload) or original(payload))
    assert compiled_by(folder) > 0
    assert len(opened) == len(PROGRAM_CODES) + 1, "only what was made just now is unpacked"
    assert compiled_by(folder) == 0, "and the store is whole again"


PROGRAM_CODES = {int(k) for name in load_module.NATIVE for k in PROGRAM.kernels[name].codes}


def test_an_entry_signed_by_somebody_else_is_never_used(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    assert compiled_by(other) > 0
    for path in entries(other):
        (folder / path.name).write_bytes(path.read_bytes())
    assert compiled_by(folder) > 0


def test_an_entry_cannot_be_passed_off_as_another(folder: Path) -> None:
    names = entries(folder)
    blobs = [path.read_bytes() for path in names]
    for path, blob in zip(names, [*blobs[1:], blobs[0]], strict=True):
        path.write_bytes(blob)
    assert compiled_by(folder) > 0


def test_files_that_others_may_write_or_own_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in entries(folder):
        path.chmod(0o666)
    assert compiled_by(folder) > 0
    assert compiled_by(folder) == 0
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    store = Store(folder)
    assert all(store.read(path.name) is None for path in entries(folder))


def test_links_and_pipes_under_an_entry_s_name_are_refused(folder: Path, tmp_path: Path) -> None:
    for number, path in enumerate(entries(folder)):
        elsewhere = tmp_path / path.name
        path.rename(elsewhere)
        if number % 2:
            path.symlink_to(elsewhere)
        else:
            os.mkfifo(path)
    assert compiled_by(folder) > 0
    assert compiled_by(folder) == 0


@pytest.mark.parametrize("secret", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_replaced_and_old_entries_are_not_trusted(folder: Path, secret: bytes) -> None:
    (folder / SECRET).write_bytes(secret)
    assert compiled_by(folder) > 0
    assert compiled_by(folder) == 0
    assert (folder / SECRET).stat().st_mode & 0o777 == 0o600


def test_a_secret_that_others_can_read_is_replaced(folder: Path) -> None:
    before = (folder / SECRET).read_bytes()
    (folder / SECRET).chmod(0o644)
    assert compiled_by(folder) > 0
    assert (folder / SECRET).read_bytes() != before


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert compiled_by(blocked / "native") > 0
    assert compiled_by(None) > 0

    def full(*args: object, **options: object) -> tuple[int, str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    assert compiled_by(tmp_path) > 0


def test_a_disk_that_fills_up_while_writing_leaves_no_half_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    Store(tmp_path).write("a" * 64, b"first")
    monkeypatch.setattr(os, "replace", no_space)
    assert not Store(tmp_path).write("b" * 64, b"second")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a" * 64, SECRET]


def test_two_processes_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from test_store import compiled_by\n"
        "print([compiled_by(Path(sys.argv[2])) for _ in range(3)])\n"
    )
    command = [sys.executable, "-c", script, HERE, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and out.strip().endswith("0]")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_secret_that_another_process_makes_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process is quicker, between our look for the file and our own attempt to make it."""
    made = []
    original = store_module._read_own

    def late(path: Path, private: bool = False) -> bytes | None:
        found = original(path, private)
        if not made:
            made.append(path)
            (tmp_path / SECRET).write_bytes(b"k" * 32)
            (tmp_path / SECRET).chmod(0o600)
        return found

    monkeypatch.setattr(store_module, "_read_own", late)
    assert store_module._secret_of(tmp_path) == b"k" * 32


def test_killed_while_writing(tmp_path: Path) -> None:
    """A process that dies at any moment leaves a store that works."""
    script = (
        "import sys, os; sys.path.insert(0, sys.argv[1])\n"
        "import threading\n"
        "from pathlib import Path\n"
        "from bglang.store import Store\n"
        "store = Store(Path(sys.argv[2]))\n"
        "print('ready', flush=True)\n"
        "while True: store.write('c' * 64, os.urandom(300000))\n"
    )
    for wait in (0.0, 0.01, 0.03):
        process = subprocess.Popen([sys.executable, "-c", script, HERE, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        threading.Event().wait(wait)
        process.kill()
        process.wait()
        process.stdout.close()
        content = Store(tmp_path).read("c" * 64)
        assert content is None or len(content) == 300000
    assert compiled_by(tmp_path) > 0
    assert compiled_by(tmp_path) == 0


def test_the_store_stays_within_its_size_and_keeps_what_was_used_last(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for k in range(10):
        store.write(f"{k + 1:064d}", bytes(1000))
        os.utime(tmp_path / f"{k + 1:064d}", (k, k))
    assert store.read(f"{1:064d}") == bytes(1000)  # used: now the youngest
    store.prune(limit=4000)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {SECRET, f"{1:064d}", f"{9:064d}", f"{10:064d}"}
    assert store.read(f"{9:064d}") is not None


def test_writing_prunes_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store.prune, "__defaults__", (5000,))
    store = Store(tmp_path)
    for k in range(200):
        store.write(content_key(str(k)), bytes(500))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 5000 + 40 * 600


def test_keys_tell_texts_apart() -> None:
    assert content_key("ab", "c") != content_key("a", "bc")
    assert content_key("a") != content_key("a", "")


def test_code_that_wants_more_than_mathematics_is_not_compiled() -> None:
    text = "declare i32 @system(ptr)\ndefine i32 @f(ptr %c) {\n %r = call i32 @system(ptr %c)\n ret i32 %r\n}\n"
    with pytest.raises(ForeignSymbol, match="system"):
        compile_text(text)
    with pytest.raises(ForeignSymbol, match="environ"):
        compile_text("@environ = external global ptr\ndefine ptr @f() {\n ret ptr @environ\n}\n")
    with pytest.raises(LinkError):
        Native([Image((b"not an object file",), {"f": "f"})])


def test_other_native_code_uses_the_same_store(tmp_path: Path) -> None:
    builds = []

    def build() -> Image:
        builds.append(1)
        return Image(
            (compile_text("define double @twice(double %x) {\n %r = fadd double %x, %x\n ret double %r\n}"),),
            {"f": "twice"},
        )

    import ctypes

    for _ in range(2):
        native = get_native("twice", build, Store(tmp_path))
        assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(native["f"])(2.5) == 5.0
    assert len(builds) == 1
    image = Image((b"ab", b"", b"c"), {"x": "y"})
    assert unpack_image(pack_image(image)) == image
