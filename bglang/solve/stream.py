"""Writing a result file while the run goes on."""

import os

import numpy as np

from bglang.diagnostics import SimulationError, error
from bglang.equations.system import column, state_names
from bglang.results.names import select
from bglang.results.record import Column
from bglang.results.result import MANY_COLUMNS, Result
from bglang.results.write import Writer, finish, open_writer
from bglang.solve.model import Model
from bglang.solve.polish import reads_rates, true_rates
from bglang.solve.problem import Problem
from bglang.solve.recorder import Recorder
from bglang.source import NOWHERE


class Stream:
    """The file of a run; does nothing where none was asked for."""

    def __init__(self, problem: Problem, model: Model, recorder: Recorder):
        self._path, self._model, self._recorder = problem.options.output, model, recorder
        self._written = 0
        self._writer: Writer | None = None
        if self._path is None and not problem.options.vars:
            return
        outputs = model.system.outputs
        names = column(outputs, "name")
        if problem.options.vars:
            self._chosen = select(names, problem.options.vars)
        elif len(names) > MANY_COLUMNS:
            states = set(state_names(model.system))
            self._chosen = [i for i, name in enumerate(names) if name in states]
        else:
            self._chosen = list(range(len(names)))
        self._names = [names[i] for i in self._chosen]
        self._rated = reads_rates(model, self._chosen)
        if self._path is not None:
            columns = [Column(outputs[i].name, outputs[i].unit, outputs[i].description) for i in self._chosen]
            self._writer = open_writer(self._path, columns)

    def push(self) -> None:
        """Write the rows that are new."""
        rows = self._recorder.rows
        if self._writer is None:
            return
        step = max(1, 4_000_000 // max(1, len(self._chosen)))
        while self._written < rows.count:
            part = slice(self._written, min(rows.count, self._written + step))
            t, y, d, z = rows.t[part], rows.y[part], rows.d[part], rows.z[part]
            if self._rated:
                d = true_rates(self._model, t, y, d, z)
            values = self._model.outputs(t, y, d, z, self._chosen)
            try:
                self._writer.write(rows.t[part], np.asarray(values))
            except OSError as failure:
                raise self._cannot_write(failure) from None
            self._written = part.stop

    def finish(self, result: Result) -> None:
        """The last rows; formats that cannot grow are made now."""
        if self._writer is None or self._path is None:
            return
        try:
            self.push()
            finish(self._writer, self._path, result, self._names)
        except OSError as failure:
            problem = self._cannot_write(failure)
            raise SimulationError(problem.diagnostic, problem.time, result) from None
        except SimulationError as failure:
            raise SimulationError(failure.diagnostic, failure.time, result) from None

    def _cannot_write(self, failure: OSError) -> SimulationError:
        writer = self._writer
        assert writer is not None and self._path is not None
        path, self._writer = os.fspath(writer.path), None
        writer.close()
        target = failure.filename if isinstance(failure.filename, str) else path
        rows = self._recorder.rows
        reached = float(rows.t[writer.rows - 1]) if 0 < writer.rows <= rows.count else float("nan")
        return SimulationError(
            error(
                "results/write",
                f"cannot write `{target.removesuffix('.part')}`: {failure.strerror or failure}",
                NOWHERE,
                reason=f"`{path}` holds {writer.rows} complete rows, up to t = {reached:g}." if writer.rows else "",
                hint="Make room, or write to another disk; fewer variables (--vars) need less.",
            ),
            reached,
        )
