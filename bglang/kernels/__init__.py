"""From equations to functions that run: `System -> Program -> Kernels`.

    roll        equations of one shape become one class with index columns
    tape        a shape as a straight-line program in a canonical text
    lower       rolled blocks and their exact derivatives become the kernels of a `Program` (plain data)
    emit, fixed, emit_numba      a tape as LLVM's intermediate language, or as a function for numba
    native, numba_build          text to object code, object code to addresses
    store       object code on disk by content, authenticated, bounded, indifferent to every fault of files
    load        `load(program) -> Kernels`: known laws come from the store, others are compiled
    interpret   the same kernels in numpy, over many points at once
    parameters, tables           numbers for the vector p, without compiling
    rebuild, lazy, codec, serial, check, recall, facts      compiled models on disk

Compiling by law rather than by model: nine functions of a nonlinear ladder cost 32 ms of code generation one by one and
27 ms in one module, but the next model made of the same laws costs nothing.  Passes over the intermediate language cost
as much again and gain nothing on rolled loops; code generation without optimisation costs a quarter and runs 1.5 times
slower.
"""
