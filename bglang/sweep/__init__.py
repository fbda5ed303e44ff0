"""Ensembles: one model run for many values of its parameters and starts.

vary      `k=linspace(1,10,100)` to values, in the language's own constant expressions
points    values to points: a grid or pairs, each with a name that follows from its content
runner    points to rows: in one process, with one compiled model
workers   many runners: processes of this machine, or a Dask cluster
table     rows to files: written as they come, read again when a sweep goes on
sweep     all of it, and the result
"""

from bglang.sweep.sweep import Sweep, sweep

__all__ = ["Sweep", "sweep"]
