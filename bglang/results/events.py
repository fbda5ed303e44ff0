"""The event log as a file."""

import csv
import json
import os
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path

from bglang.results.record import Event
from bglang.results.result import Result


def write_events(result: Result, path: str | PathLike[str]) -> None:
    """One row an event, in order of time: csv, or json by extension.  Modes at the start come first."""
    entries = [*result.modes, *result.events]
    if Path(path).suffix.lower() == ".json":
        Path(path).write_text(json.dumps([asdict(e) for e in entries], ensure_ascii=False, indent=1) + "\n")
        return
    with open(os.fspath(path), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = [f.name for f in fields(Event)]
        writer.writerow(names)
        for entry in entries:
            writer.writerow([repr(entry.time), *(getattr(entry, n) for n in names[1:])])
