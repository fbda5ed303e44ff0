"""The store: what was compiled once, kept on disk by content.

An entry's name is the hash of everything it was made from, so nothing ever becomes stale; its content is authenticated
with a key that only this user can read, so a file that somebody else put there is never executed, whatever its name.
Everything that can go wrong with files (missing, truncated, altered, foreign, read-only, full disk, two processes at
once) means that the entry is made again: it costs time, never correctness.
"""

import contextlib
import hashlib
import hmac
import os
import stat
import sys
from pathlib import Path

from bglang.cachedir import cache_folder

LAYOUT = "1"
"""Changes whenever the layout of entries or the calling conventions of kernels change."""
MAGIC = b"bglang\x00" + LAYOUT.encode()
LIMIT = 256 * 2**20
"""Bytes that a store may hold; then the entries that were not used for longest are removed."""
SECRET = "secret"
_DIGEST = hashlib.sha256().digest_size
_KEY_SIZE = 32


def content_key(*parts: str) -> str:
    """A name for whatever is made from these texts."""
    digest = hashlib.sha256(LAYOUT.encode())
    for part in parts:
        blob = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(blob))
        digest.update(blob)
    return digest.hexdigest()


def default_store() -> "Store":
    """The store in the user's cache; one that keeps nothing where there is no cache that can be trusted."""
    return Store(cache_folder("native"))


class Store:
    """Entries of bytes by key.  `folder` None: nothing is found and nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._secret: bytes | None = None

    def read(self, key: str) -> bytes | None:
        """The content of an entry, or None if there is none that this user wrote."""
        blob = _read_own(self.folder / key) if self.folder is not None else None
        if blob is None or len(blob) < len(MAGIC) + _DIGEST or not blob.startswith(MAGIC):
            return None
        secret = self._key()
        if secret is None:
            return None
        signature, payload = blob[len(MAGIC) : len(MAGIC) + _DIGEST], blob[len(MAGIC) + _DIGEST :]
        if not hmac.compare_digest(signature, _sign(secret, key, payload)):
            return None
        assert self.folder is not None
        with contextlib.suppress(OSError):
            os.utime(self.folder / key)  # used just now: the last to be removed
        return payload

    def write(self, key: str, payload: bytes) -> bool:
        """Keep an entry; in one step, so that no other process sees half of it.  False where that is not possible."""
        secret = self._key()
        if self.folder is None or secret is None:
            return False
        if not _write_atomically(self.folder, key, MAGIC + _sign(secret, key, payload) + payload):
            return False
        if key.startswith("0"):  # looking through the folder costs time: one key in sixteen pays for all
            self.prune()
        return True

    def prune(self, limit: int = LIMIT) -> None:
        """Remove the entries not used for longest until the rest fits."""
        if self.folder is None:
            return
        entries = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as items:
            for item in items:
                with contextlib.suppress(OSError):
                    if item.name != SECRET and item.is_file(follow_symlinks=False):
                        status = item.stat(follow_symlinks=False)
                        entries.append((status.st_mtime_ns, status.st_size, item.path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= limit:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
                total -= size

    def _key(self) -> bytes | None:
        if self._secret is None and self.folder is not None:
            self._secret = _secret_of(self.folder)
        return self._secret


def _sign(secret: bytes, key: str, payload: bytes) -> bytes:
    """The key is signed too: an entry cannot be passed off as another one."""
    return hmac.digest(secret, MAGIC + key.encode() + b"\n" + payload, "sha256")


def _secret_of(folder: Path) -> bytes | None:
    """The user's own key, made when it is missing; of two processes that make one at once the first wins."""
    path = folder / SECRET
    for _ in range(3):
        found = _identity(path)
        secret = _read_own(path, private=True)
        if secret is not None and len(secret) == _KEY_SIZE:
            return secret
        if found is not None:
            _remove_same(path, found)  # not ours, readable by others, or damaged: what it signed is not trusted
        _write_atomically(folder, SECRET, os.urandom(_KEY_SIZE), replace=False)
    return None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _remove_same(path: Path, found: tuple[int, int]) -> None:
    """Remove a file unless another process has put a new one in its place since it was looked at."""
    if _identity(path) == found:
        with contextlib.suppress(OSError):
            path.unlink()


def _read_own(path: Path, private: bool = False) -> bytes | None:
    """The content of a plain file that belongs to this user and that nobody else can write (or read: `private`)."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe under this name must not make us wait
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or not _is_ours(status, private):
                return None
            return file.read()
        except OSError:
            return None


def _is_ours(status: os.stat_result, private: bool) -> bool:
    if sys.platform == "win32":  # folders of a profile are private by their access lists; owners have no number
        return True
    others = stat.S_IWGRP | stat.S_IWOTH | (stat.S_IRGRP | stat.S_IROTH if private else 0)
    return status.st_uid == os.geteuid() and not status.st_mode & others


def _write_atomically(folder: Path, name: str, blob: bytes, replace: bool = True) -> bool:
    import tempfile

    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", dir=folder)  # readable by this user only
        with os.fdopen(handle, "wb") as file:
            file.write(blob)
        if replace or sys.platform == "win32":
            os.replace(temporary, folder / name)
        else:
            os.link(temporary, folder / name)  # fails if the name exists
            os.unlink(temporary)
        return True
    except OSError:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
