"""The folder for what can be computed again: grammar tables, parsed libraries, compiled kernels.

`BGLANG_CACHE` names it; without that it is `bglang` in the user's own cache folder.  A cache that others can write to
is not used, because what is read from it is trusted.
"""

import os
import stat
import sys
from pathlib import Path


def cache_folder(*parts: str) -> Path | None:
    """The cache folder, or a folder inside it, made when missing; None where there is none that can be trusted."""
    root = _root()
    if root is None:
        return None
    folder = root
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        for part in ("", *parts):
            folder = folder / part
            folder.mkdir(mode=0o700, exist_ok=True)
            if not _is_private(folder):
                return None
    except OSError:
        return None
    return folder


def store(folder: Path, name: str, data: bytes) -> bool:
    """Write a file in one step, so that another process never reads half of it; False where that is not possible."""
    temporary = folder / f".{name}.{os.getpid()}"
    try:
        temporary.write_bytes(data)
        temporary.replace(folder / name)
    except OSError:
        temporary.unlink(missing_ok=True)
        return False
    return True


def _root() -> Path | None:
    named = os.environ.get("BGLANG_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    try:
        return _user_cache() / "bglang"
    except RuntimeError:  # no home folder
        return None


def _user_cache() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if Path(named).is_absolute() else Path.home() / ".cache"


def _is_private(folder: Path) -> bool:
    """Whether this user owns the folder and nobody else can write to it."""
    if sys.platform == "win32":  # the profile folder is private by its access list, and owners have no number
        return True
    status = folder.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
