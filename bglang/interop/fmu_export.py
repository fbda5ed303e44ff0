"""`bglang export fmu`: an archive with the description, the sources and, where a compiler is found, the binary."""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bglang.interop.c_export import c_files, runtime_text
from bglang.interop.exported import prepare
from bglang.interop.fmu_description import description, identifier
from bglang.records import dataclass

if TYPE_CHECKING:
    from bglang.api import Model

COMPILERS = ("cc", "gcc", "clang")


@dataclass(frozen=True, slots=True)
class Written:
    """What an export made: `platform` is "" without a binary, and `reason` says why there is none."""

    platform: str
    reason: str
    variables: int


def host() -> tuple[str, str]:
    """The folder of this platform's binaries in an FMU, and the ending of a shared library."""
    system = platform.system()
    bits = "64" if platform.architecture()[0] == "64bit" else "32"
    names = {"Linux": ("linux", ".so"), "Darwin": ("darwin", ".dylib"), "Windows": ("win", ".dll")}
    name, ending = names.get(system, (system.lower(), ".so"))
    return name + bits, ending


def export_fmu(model: "Model", path: Path, binary: bool = True) -> Written:
    """Write the archive."""
    ready = prepare(model)
    sources = c_files(ready) | {"fmu2.c": runtime_text("fmu2.c")}
    digest = hashlib.sha256("".join(sources.values()).encode()).hexdigest()
    guid = f"{{{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}}}"
    sources["model.h"] = sources["model.h"].replace(
        '#include "interface.h"', f'#define MODEL_GUID "{guid}"\n\n#include "interface.h"'
    )
    codes = sorted(name for name in sources if name.endswith(".c"))
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    text = description(ready, guid, codes, now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    folder, ending = host()
    compiled, reason = _compile(sources, codes, ending) if binary else (None, "it was not asked for")
    temporary = path.with_name(path.name + ".part")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("modelDescription.xml", text)
            for name, content in sources.items():
                archive.writestr(f"sources/{name}", content)
            if compiled is not None:
                archive.writestr(f"binaries/{folder}/{identifier(ready.system.name)}{ending}", compiled)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return Written(folder if compiled is not None else "", reason, text.count("<ScalarVariable "))


def _compile(sources: dict[str, str], codes: list[str], ending: str) -> tuple[bytes | None, str]:
    """The shared library, or why there is none."""
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        return None, f"no C compiler was found (looked for {', '.join(COMPILERS)})"
    with tempfile.TemporaryDirectory(prefix="bglang-fmu-") as made:
        folder = Path(made)
        for name, content in sources.items():
            (folder / name).write_text(content, encoding="utf-8")
        call = [compiler, "-std=c99", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", f"model{ending}",
                *codes, "-lm"]  # fmt: skip
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            return None, f"the compiler failed: {lines[0] if lines else done.returncode}"
        return (folder / f"model{ending}").read_bytes(), ""
