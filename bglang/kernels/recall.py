"""Compiled models on disk: a request that was answered before is answered again without parsing or compiling.

The key says what was asked for: the main source, the model, the settings, and this version of bglang.  The entry holds
which files were read and which folders were looked into, with a hash of their content: it is used only while all of
that is still the same, so a changed library, or a new file that would now be found first, makes the model anew.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import bglang
from bglang.kernels.codec import BadData
from bglang.kernels.serial import Stored, read_model, write_model
from bglang.records import replace
from bglang.store import Store, content_key


def request_key(main: str, text: str, model: str | None, settings: Mapping[str, object]) -> str:
    """`main` is the name under which the source is shown, `settings` everything else that shapes the equations."""
    wanted = json.dumps({key: str(value) for key, value in settings.items()}, sort_keys=True)
    return content_key("model", own_version(), main, text, "" if model is None else f"model {model}", wanted)


@cache
def own_version() -> str:
    """The version of bglang and the state of its files: another bglang compiles models anew."""
    return "\n".join([bglang.__version__, *sorted(_own_files(os.path.dirname(bglang.__file__), ""))])


def _own_files(folder: str, below: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith((".py", ".lark")):
                status = entry.stat()
                yield f"{below}/{name} {status.st_size} {status.st_mtime_ns}"
            elif "." not in name and name != "__pycache__" and entry.is_dir():
                yield from _own_files(entry.path, f"{below}/{name}")


def remember(store: Store, key: str, stored: Stored, files: Iterable[Path], folders: Iterable[Path] = ()) -> bool:
    """Keep a compiled model with what it depends on: files by content, folders by the names in them."""
    if len(stored.program.output_numbers) < len(stored.system.outputs):
        from bglang.kernels.lower import lower

        stored = replace(stored, program=lower(stored.system, range(len(stored.system.outputs))))
    seen = {**{str(path): _file_state(path) for path in files}, **{str(path): _folder_state(path) for path in folders}}
    line = json.dumps(seen, sort_keys=True).encode() + b"\n"
    return store.write(key, line + bytes(-len(line) % 8) + write_model(stored))


def recall(store: Store, key: str) -> Stored | None:
    """The model, if everything that it depends on is as it was."""
    payload = store.read(key)
    if payload is None:
        return None
    end = payload.find(b"\n") + 1
    try:
        seen = json.loads(payload[:end])
        for name, state in seen.items():
            path = Path(name)
            now = _folder_state(path) if state.startswith("folder") else _file_state(path)
            if now != state:
                return None
        return read_model(payload[end + -end % 8 :])
    except (BadData, ValueError, AttributeError):
        return None  # another version wrote it


def _file_state(path: Path) -> str:
    try:
        return f"file {hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError:
        return "file absent"


def _folder_state(path: Path) -> str:
    """The names in a folder that a library could have."""
    try:
        with os.scandir(path) as items:
            names = sorted(f"{item.name}/" if item.is_dir() else item.name for item in items if _may_matter(item))
    except OSError:
        return "folder absent"
    return f"folder {hashlib.sha256(json.dumps(names).encode()).hexdigest()}"


def _may_matter(item: "os.DirEntry[str]") -> bool:
    return item.name.endswith(".bg") or (item.is_dir() and not item.name.startswith((".", "__")))
