"""`bglang export modelica`: text that two other tools read, and that one of them runs with the same result."""

from pathlib import Path

import numpy as np
import pymoca.parser
import pytest
import rumoca
from interop.export_models import MODELS

import bglang
from bglang.cli import main
from bglang.interop.modelica import export_modelica, quoted

EXAMPLES = Path(__file__).parents[2] / "examples"
RUN = [n for n in MODELS if n not in ("events", "input")]
"""rumoca 0.10 mixes no samples with other conditions in one `when`, and needs values for inputs."""
BALL = """
model Ball
  parameter Real c = 0.8; parameter Boolean on = true;
  J1 v; I m(I = 1); Se g(e = if on then -9.81 else 0); Real h(start = 1); discrete Real hits(start = 0);
bonds g -> v -> m;
equation
  der(h) = v.f;
  when h < 0 then reinit(m.p, -c*m.p); hits = pre(hits) + 1; end when;
annotation(experiment(StopTime = 1.6, Tolerance = 1e-9));
end Ball;"""


def run(text: str, stop: float) -> rumoca.Result:
    model = rumoca.Session().loads(text, model=text.split()[1])
    config = rumoca.SimConfig(rtol=1e-9, atol=1e-11, max_wall_seconds=60)
    return model.simulate(t=(0.0, stop), dt=stop / 200, config=config)


def worst(model: bglang.Model, made: rumoca.Result) -> float:
    """The largest relative difference of a state.  The other tool has rows of its own: ours are dense."""
    exact = model.simulate(points=20001)
    found = 0.0
    for u in model.compile().unknowns:
        if u.kind == "state":
            here = np.interp(np.asarray(made.time), exact.time, np.asarray(exact[u.name]))
            size = max(np.max(np.abs(here)), 1e-9)
            found = max(found, float(np.max(np.abs(here - np.asarray(made[quoted(u.name)]))) / size))
    return found


@pytest.mark.parametrize("name", list(MODELS))
def test_another_parser_reads_it(name: str) -> None:
    text = export_modelica(bglang.loads(MODELS[name]), energy=True)
    assert pymoca.parser.parse(text) is not None


@pytest.mark.parametrize("name", RUN)
def test_another_tool_runs_it(name: str) -> None:
    model = bglang.loads(MODELS[name])
    limit = 2e-3 if name == "pulse" else 1e-4  # rows of a pulse of 1.3 ms lie between ours
    assert worst(model, run(export_modelica(model), model.compile().experiment.stop)) < limit


@pytest.mark.parametrize("name", ["drivetrain", "thermal_house", "reduction/robot_arm", "lagrange/pendulum"])
def test_examples_run_there(name: str) -> None:
    """A clutch that sticks, a switch with memory, dependent storages."""
    model = bglang.load(EXAMPLES / f"{name}.bg")
    assert worst(model, run(export_modelica(model), model.compile().experiment.stop)) < 2e-4


def test_a_ball_bounces_there() -> None:
    model = bglang.loads(BALL)
    made = run(export_modelica(model), 1.6)
    exact = model.simulate(points=20001)
    here = np.interp(np.asarray(made.time), exact.time, np.asarray(exact["h"]))
    assert np.allclose(np.asarray(made["h"]), here, atol=5e-4)  # a kink between two of our rows
    assert np.asarray(made["hits"])[-1] == exact["hits"][-1] == 2


def test_what_is_written() -> None:
    text = export_modelica(bglang.loads(MODELS["friction"]))
    assert 'parameter Real m(unit = "kg") = 2 "mass";' in text
    assert "Real 'spring.q'(start = 3, fixed = true);" in text
    assert "der('spring.q') = 'mass.p'/'mass.I';" in text
    assert ".power" not in text and "energy" not in text
    full = export_modelica(bglang.loads(MODELS["friction"]), energy=True)
    assert "'mass.power'" in full and "Real 'spring.energy'(unit = \"J\")" in full
    events = export_modelica(bglang.loads(MODELS["events"]))
    assert "<> pre('helper 1') then" in events and "Boolean 'helper 1' = " in events and "last = pre(last);" in events
    assert 'input Real u(start = 1.0, unit = "V");' in export_modelica(bglang.loads(MODELS["input"]))


def test_a_steady_start_is_written_as_it_was_found() -> None:
    text = export_modelica(
        bglang.loads("""
        model Hung J1 v; I m(I = 2); C s(C = 0.5); R d(R = 1); Se g(e = 3);
        bonds g -> v -> m, s, d; annotation(experiment(initial = "steady")); end Hung;""")
    )
    assert "Real 's.q'(start = 1.5, fixed = true);" in text and "Real 'm.p'(start = 0.0, fixed = true);" in text


def test_names() -> None:
    assert quoted("a_1") == "a_1" and quoted("a.b[3]") == "'a.b[3]'"
    assert quoted("der") == "'der'" and quoted("it's") == "'it\\'s'" and quoted("größe") == "'größe'"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "friction.bg"
    file.write_text(MODELS["friction"])
    assert main(["export", "modelica", str(file)]) == 0
    printed = capsys.readouterr().out
    assert main(["export", "modelica", str(file), "-o", str(tmp_path / "F.mo")]) == 0
    assert (tmp_path / "F.mo").read_text() == printed
