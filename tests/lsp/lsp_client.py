"""A small client that speaks to the real server over its standard input and output."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any


class Client:
    """Requests wait for their answer; notifications are collected."""

    def __init__(self, folder: Path, options: dict[str, Any] | None = None):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bglang", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._number = 0
        self.capabilities = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": "w"}],
                "capabilities": {},
                "initializationOptions": options,
            },
        )["capabilities"]
        self.tell("initialized", {})

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            length = 0
            while line.strip():
                name, _, value = line.decode().partition(":")
                if name.lower() == "content-length":
                    length = int(value)
                line = stream.readline()
            self._messages.put(json.loads(stream.read(length)))

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self.process.stdin
        assert stream is not None
        stream.write(f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        stream.flush()

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any, timeout: float = 60) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        kept = list[dict[str, Any]]()
        try:
            while True:
                message = self._messages.get(timeout=timeout)
                if message.get("id") == self._number and "method" not in message:
                    assert "error" not in message, message["error"]
                    return message.get("result")
                kept.append(message)
        finally:
            for message in kept:
                self._messages.put(message)

    def some(self, path: Path) -> list[dict[str, Any]]:
        """The next diagnostics of a file that are any; when another text changes, a file may be found good before."""
        while not (found := self.diagnostics(path)):
            pass
        return found

    def diagnostics(self, path: Path, timeout: float = 60) -> list[dict[str, Any]]:
        """The next diagnostics of a file."""
        while True:
            message = self._messages.get(timeout=timeout)
            params = message.get("params", {})
            if message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == path.as_uri():
                found: list[dict[str, Any]] = params["diagnostics"]
                return found

    def open(self, path: Path, text: str) -> list[dict[str, Any]]:
        document = {"uri": path.as_uri(), "languageId": "bglang", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics(path)

    def change(self, path: Path, text: str, version: int = 2) -> None:
        about = {"uri": path.as_uri(), "version": version}
        self.tell("textDocument/didChange", {"textDocument": about, "contentChanges": [{"text": text}]})

    def at(self, method: str, path: Path, text: str, mark: str, more: dict[str, Any] | None = None) -> Any:
        """Ask about the place of `mark` in a text; a `|` in the mark says where exactly."""
        place = text.index(mark.replace("|", "")) + max(mark.find("|"), 0)
        line = text.count("\n", 0, place)
        before = text[text.rfind("\n", 0, place) + 1 : place]
        position = {"line": line, "character": len(before.encode("utf-16-le")) // 2}
        params = {"textDocument": {"uri": path.as_uri()}, "position": position, **(more or {})}
        return self.ask(f"textDocument/{method}", params)

    def close(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        assert self.process.wait(timeout=30) == 0
