"""Draws the pictures of the examples: graphs and runs.

Run it as `python examples/make_pictures.py`, with names for some of them only."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bglang.cli import main

FOLDER = Path(__file__).parent
GRAPHS = {
    "actuator": "actuator/stroke.bg",
    "coulomb": "nonlinear/coulomb.bg",
    "rising_rate": "nonlinear/rising_rate.bg",
    "sprung_pendulum": "nonlinear/sprung_pendulum.bg",
    "lever": "reduction/lever.bg",
    "roller_coaster": "reduction/roller_coaster.bg",
    "robot_arm": "reduction/robot_arm.bg",
    "crank_slider": "lagrange/crank_slider.bg",
    "beam": "beam/beam.bg",
}
"""Picture and model; the graph is `NAME.svg`."""
RUNS = {
    "actuator": "actuator.load.stops.q,actuator.magnet.i.f,actuator.drive.u.e,actuator.load.pull",
    "coulomb": "mass.p,spring.q",
    "sprung_pendulum": "spring.q,turning.q",
    "roller_coaster": "height,speed,ahead,load",
    "beam": "beam.dof[5].q,spring.q",
}
"""What is plotted of the same model, in `NAME_run.svg`."""


def draw(name: str) -> None:
    """The graph of an example, and its run if one is wanted."""
    model = str(FOLDER / GRAPHS[name])
    assert main(["draw", model, "-o", str(FOLDER / "pictures" / f"{name}.svg")]) == 0
    if name in RUNS:
        picture = str(FOLDER / "pictures" / f"{name}_run.svg")
        with TemporaryDirectory() as folder:
            out = ["-o", str(Path(folder, "run.csv")), "--points", "301", "--quiet"]
            assert main(["run", model, *out, "--plot", RUNS[name], "--plot-to", picture]) == 0


if __name__ == "__main__":
    (FOLDER / "pictures").mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or GRAPHS:
        draw(chosen)
