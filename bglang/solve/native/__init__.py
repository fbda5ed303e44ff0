"""The compiled integrators: numba source, the LLVM IR made from it, and how that IR becomes code on this machine.

`layout.py` says how a model and an integration look in memory; both sides use it and it imports nothing heavy.
`load.py` gives addresses of compiled functions.  The other modules are the source of the compiled code; only `build.py`
(and a fallback in `load.py`) imports them, because they import numba.
"""
