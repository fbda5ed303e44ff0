"""Makes what the package ships of the compiled modules: `python -m bglang.solve.native.build`.

numba turns the sources into IR without optimising it; here it is stripped of everything that belongs to one machine,
optimised as far as that is possible for all machines, and written beside the sources, compressed, with a digest of the
sources it was made from.  From the IR follows object code for the common kind of machine; all others make their own.
"""

import hashlib
import lzma
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
INLINING = 25  # a low threshold: measured as fast, and a third less to generate code for when a user first runs a model
VECTORISED = ("bdf",)  # for large models; elsewhere the longer code costs more than it gains
FORMAT = "1"  # change it when the calling conventions of the exports change

SOURCES = {
    "linear": ("layout", "intrinsics", "dense_lu", "matching", "ordering", "sparse_lu"),
    "radau": (
        "layout",
        "intrinsics",
        "dense_lu",
        "iteration",
        "noise",
        "weights",
        "control",
        "roots",
        "driver",
        "radau",
    ),
    "bdf": ("layout", "intrinsics", "dense_lu", "iteration", "noise", "weights", "control", "roots", "driver", "bdf"),
    "ida": ("layout", "intrinsics", "dense_lu", "iteration", "noise", "weights", "control", "ida_calls"),
    "rk": (
        "layout",
        "intrinsics",
        "dense_lu",
        "iteration",
        "noise",
        "weights",
        "control",
        "explicit",
        "roots",
        "driver",
        "rk",
    ),
    "adams": (
        "layout",
        "intrinsics",
        "dense_lu",
        "iteration",
        "noise",
        "weights",
        "control",
        "explicit",
        "roots",
        "driver",
        "adams",
    ),
}
"""The modules, and the files whose text they are made from."""


def digest(name: str) -> str:
    """Of the sources of one module."""
    parts = [FORMAT, *((HERE / f"{file}.py").read_text() for file in SOURCES[name])]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _exports(name: str) -> dict[str, tuple[Any, Any]]:
    """The functions a module offers, with numba's signatures."""
    from numba import types

    from bglang.solve.native import intrinsics

    if name == "linear":
        from bglang.solve.native import sparse_lu

        real = types.int64(intrinsics.INT64, intrinsics.REAL)
        cplx = types.int64(intrinsics.INT64, intrinsics.COMPLEX)
        return {
            "factor": (sparse_lu.factor, real),
            "solve": (sparse_lu.solve, real),
            "factor_complex": (sparse_lu.factor_complex, cplx),
            "solve_complex": (sparse_lu.solve_complex, cplx),
        }
    if name == "ida":
        from bglang.solve.native import ida_calls

        number, pointer, real = types.float64, intrinsics.INT64, intrinsics.REAL
        return {
            "ida_residual": (ida_calls.ida_residual, types.int32(number, *[pointer] * 4)),
            "ida_jacobian": (ida_calls.ida_jacobian, types.int32(number, number, *[pointer] * 8)),
            "ida_setup": (ida_calls.ida_setup, types.int32(pointer, pointer)),
            "ida_solve": (ida_calls.ida_solve, types.int32(*[pointer] * 4, number)),
            "ida_roots": (ida_calls.ida_roots, types.int32(number, pointer, pointer, real, pointer)),
            "ida_weights": (ida_calls.ida_weights, types.int32(*[pointer] * 3)),
        }
    return {"advance": (_advance(name), types.int64(intrinsics.INT64))}


def _advance(name: str) -> Any:
    """The loop around one method."""
    from bglang.solve.native import driver

    if name == "radau":
        from bglang.solve.native import radau

        return driver.make_advance(radau.radau_begin, radau.radau_step, radau.radau_dense)
    if name == "bdf":
        from bglang.solve.native import bdf

        return driver.make_advance(bdf.bdf_begin, bdf.bdf_step, bdf.bdf_dense)
    if name == "adams":
        from bglang.solve.native import adams

        return driver.make_advance(adams.adams_begin, adams.adams_step, adams.adams_dense)
    assert name == "rk"
    from bglang.solve.native import rk

    return driver.make_advance(rk.rk_begin, rk.rk_step, rk.rk_dense)


def compile_sources(name: str) -> str:
    """The module as IR, as numba makes it, with a plain C function for each export."""
    parts = []
    for export, (function, signature) in _exports(name).items():
        function.compile(signature)
        compiled = function.overloads[signature.args]
        parts.append(_with_export(compiled.library.get_llvm_str(), compiled.fndesc.llvm_func_name, export, signature))
    return _merge(parts)


def _with_export(text: str, symbol: str, export: str, signature: Any) -> str:
    """numba's own convention returns a status and writes the value through a pointer; the export returns the value."""
    text = text.replace(f"define i32 @{symbol}(", f"define linkonce_odr i32 @{symbol}(")
    words = {"float64": "double", "int32": "i32", "int64": "i64"}
    arguments = ", ".join(f"{words.get(str(kind), 'ptr')} %a{k}" for k, kind in enumerate(signature.args))
    result = words[str(signature.return_type)]
    return f"""{text}
define {result} @{export}({arguments}) {{
  %value = alloca {result}
  %raised = alloca ptr
  %status = call i32 @{symbol}(ptr %value, ptr %raised, {arguments})
  %result = load {result}, ptr %value
  ret {result} %result
}}
"""


def _merge(parts: list[str]) -> str:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(parts[0])
    for part in parts[1:]:
        module.link_in(llvm.parse_assembly(part))
    module.verify()
    # Only now: functions that several exports use were one function as long as they had their outer linkage.
    text = str(module).replace("define linkonce_odr ", "define internal ")
    return text.replace(" = common ", " = internal ").replace(" = linkonce_odr ", " = internal ")


# What belongs to one machine, to one version of LLVM, or to nobody: whole lines, then parts of lines.
_LINES = r"^(target (triple|datalayout)|source_filename|;|attributes #|![0-9]+ = |!llvm\.|.*noalias\.scope\.decl\().*\n"
_PARTS = (
    r" #\d+",
    r" +; preds = .*",
    r"captures\(none\) ?|initializes\([^%]*\)\) |dead_on_\w+ |range\([^)]*\) ",
    r", !(tbaa|noalias|alias\.scope|prof|range|llvm\.[a-z.]+) ![0-9]+",
    r"(?<=getelementptr inbounds) nuw|(?<=getelementptr) nuw|(?<=getelementptr) nusw",
    r"(?<=trunc) nuw nsw|(?<=trunc) nuw|(?<=trunc) nsw|(?<=zext) nneg|(?<=uitofp) nneg",
    r"(?<=icmp) samesign|(?<=or) disjoint",
)


def portable(text: str) -> str:
    """Without what belongs to one machine or to the newest LLVM."""
    text = re.sub(_LINES, "", text, flags=re.M)
    for part in _PARTS:
        text = re.sub(part, "", text)
    return text


def optimise(text: str, vectorise: bool) -> str:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_default_triple().create_target_machine(cpu="", features="", opt=2)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.inlining_threshold = INLINING
    options.loop_vectorization = options.slp_vectorization = vectorise
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


def shorten_names(text: str) -> str:
    """numba's mangled names are long and hold counters; numbers make the text small and the same in every build."""
    numbers = {name: f"f{k}" for k, name in enumerate(dict.fromkeys(re.findall(r"_ZN\w+", text)))}
    return re.sub(r"_ZN\w+", lambda match: numbers[match.group()], text)


def make(name: str) -> str:
    return shorten_names(portable(optimise(compile_sources(name), name in VECTORISED)))


def refuse_foreign(name: str, text: str) -> None:
    """The code may need libm and nothing else."""
    declared = re.findall(r"^declare [^@]*@([\w.]+)", text, flags=re.M)
    libm = ("pow", "memset", "memcpy", "memmove")
    foreign = [symbol for symbol in declared if not symbol.startswith("llvm.") and symbol not in libm]
    assert not foreign, f"the compiled module `{name}` needs {', '.join(foreign)}"
    assert "pickledata" not in text, f"the compiled module `{name}` can raise an exception"


def write(name: str, say: Callable[[str], object] = print) -> None:
    text = make(name)
    refuse_foreign(name, text)
    path = HERE / f"{name}.ll.xz"
    path.write_bytes(lzma.compress(f"; {digest(name)}\n{text}".encode(), preset=9 | lzma.PRESET_EXTREME))
    say(f"{path.name}: {len(text) // 1024} kB of IR, {path.stat().st_size // 1024} kB compressed")
    write_object(name, say)


def write_object(name: str, say: Callable[[str], object] = print) -> None:
    """Code for the common kind of machine, so that a first run there need not wait; after a line that names the IR."""
    import platform

    from bglang.kernels.llvm import compile_text
    from bglang.kernels.machine import COMMON
    from bglang.solve.native.load import content, shipped

    if sys.platform != "linux" or platform.machine() != "x86_64":
        say(f"{name}.o is made on Linux with an x86-64 processor only")
        return
    path = HERE / f"{name}.o"
    path.write_bytes(f"{content(name)}\n".encode() + compile_text(shipped(name), COMMON))
    say(f"{path.name}: {path.stat().st_size // 1024} kB")


def main(names: list[str]) -> None:
    os.environ["NUMBA_OPT"] = "0"  # before numba is imported: it is our turn to optimise
    for name in names or SOURCES:
        write(name)


if __name__ == "__main__":
    main(sys.argv[1:])
