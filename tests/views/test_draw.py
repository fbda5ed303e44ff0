"""Drawings: what is in them, where it stands, and that they can be saved."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from build import Build

import bglang
from bglang.causality.assign import assign_causality
from bglang.diagnostics import UsageError
from bglang.expr import var
from bglang.graph.ir import BondGraph
from bglang.views.draw import Drawing, draw
from bglang.views.draw_layout import Layout, place
from bglang.views.draw_scene import Scene, build_scene


def motor() -> Build:
    """A controlled motor in a frame, with a block, a dependent inertia and a named bond."""
    g = Build("Motor & <load>")
    g.frames += [("motor", "Drives.DCMotor"), ("motor.gear", "Drives.Gear"), ("ctrl", "PI")]
    g.variable("ctrl.y")
    g.equation(var("ctrl.y"), ("*", 2.0, var("motor.w.f")))
    g.se("supply", var("ctrl.y"))
    g.j1("motor.i", "motor.w", "motor.gear.w")
    g.r("motor.r")
    g.gy("motor.emf", 2.0)
    g.i("motor.rotor")
    g.tf("motor.gear.t", 3.0)
    g.i("motor.gear.wheel")
    g.bond("supply", "motor.i", name="feed")
    g.chain("motor.i", "motor.emf", "motor.w", "motor.gear.t", "motor.gear.w", "motor.gear.wheel")
    g.bond("motor.i", "motor.r")
    g.bond("motor.w", "motor.rotor")
    return g


def chain(sections: int) -> BondGraph:
    g = Build("Chain")
    for k in range(sections):
        g.j1(f"v{k}")
        g.i(f"m{k}")
        g.bond(f"v{k}", f"m{k}")
        if k:
            g.j0(f"f{k}")
            g.c(f"c{k}")
            g.chain(f"v{k - 1}", f"f{k}", f"v{k}")
            g.bond(f"f{k}", f"c{k}")
    return g.graph()


def star(arms: int) -> BondGraph:
    g = Build("Star")
    g.j0("centre")
    for k in range(arms):
        g.r(f"r{k}")
        g.bond("centre", f"r{k}")
    return g.graph()


def drawing_of(graph: BondGraph, depth: int | None = None) -> Drawing:
    return draw(graph, assign_causality(graph), depth)


def scene_of(graph: BondGraph, depth: int | None = None) -> Scene:
    return build_scene(graph, assign_causality(graph), depth)


def overlaps(layout: Layout) -> int:
    boxes = layout.nodes
    return sum(
        abs(a.x - b.x) < a.width + b.width and abs(a.y - b.y) < a.height + b.height
        for k, a in enumerate(boxes)
        for b in boxes[:k]
    )


def test_the_svg_is_well_formed_and_names_everything() -> None:
    svg = drawing_of(motor().graph()).svg()
    root = ElementTree.fromstring(svg)
    texts = [x.text for x in root.iter("{http://www.w3.org/2000/svg}text")]
    for wanted in ("supply", "MSe", "GY", "emf", "1", "rotor", "motor : DCMotor", "gear : Gear", "feed", "PI", "ctrl"):
        assert wanted in texts, wanted
    assert root.find("{http://www.w3.org/2000/svg}title").text == "Motor & <load>"  # type: ignore[union-attr]
    assert "dependent storage (derivative causality)" in texts
    assert drawing_of(motor().graph())._repr_svg_() == svg  # the same every time


def test_every_bond_has_a_half_arrow_and_a_stroke() -> None:
    graph = chain(4)
    shapes = drawing_of(graph).picture.shapes
    strokes = [s for s in shapes if getattr(s, "width", 0) == 2.2]
    lines = [s for s in shapes if getattr(s, "width", 0) == 1.5]
    assert len(strokes) == len(graph.bonds) + 1  # and one in the legend
    assert len(lines) == 2 * len(graph.bonds) + 3


def test_strokes_stand_at_the_end_that_gets_the_effort() -> None:
    scene = scene_of(motor().graph())
    by_name = {(scene.nodes[x.tail].name, scene.nodes[x.head].name): x.stroke for x in scene.lines}
    assert by_name["supply", "i"] == "head"
    assert by_name["w", "rotor"] == "head"
    assert by_name["w", "wheel"] == "tail"


def test_dependent_storages_and_loops_are_marked() -> None:
    scene = scene_of(motor().graph())
    assert [n.name for n in scene.nodes if n.mark == "dependent"] == ["wheel"]
    g = Build()
    g.se("E")
    g.j1("i")
    g.r("r")
    g.j0("u")
    g.r("s")
    g.chain("E", "i", "u", "s")
    g.bond("i", "r")
    assert scene_of(g.graph()).marks == ["loop"]
    h = Build()
    h.se("a")
    h.se("b")
    h.j0("u")
    h.bond("a", "u")
    h.bond("b", "u")
    assert scene_of(h.graph()).marks == ["conflict"]


def test_modulation_goes_from_what_is_read_through_blocks() -> None:
    scene = scene_of(motor().graph())
    arrows = {(scene.nodes[x.source].name, scene.nodes[x.target].name) for x in scene.signals}
    assert arrows == {("w", "ctrl"), ("ctrl", "supply")}


@pytest.mark.parametrize(("depth", "nodes", "frames"), [(None, 10, 2), (1, 8, 1), (0, 3, 0)])
def test_depth_closes_subsystems(depth: int | None, nodes: int, frames: int) -> None:
    scene = scene_of(motor().graph(), depth)
    assert (len(scene.nodes), len(scene.frames)) == (nodes, frames)
    drawing_of(motor().graph(), depth)


@pytest.mark.parametrize("graph", [chain(3), chain(20), chain(75), star(5), star(30)], ids=str)
def test_nothing_overlaps(graph: BondGraph) -> None:
    layout = place(scene_of(graph))
    assert overlaps(layout) == 0
    assert layout.width < 4000
    assert layout.height < 4000


COUPLED = """
macro Coupling(node a, node b, Real k)
  J0 force; J1 dv; C spring(C = 1/k); R damper(R = 1);
bonds
  a -> force -> b;
  force -> dv -> spring, damper;
end Coupling;
model Chain
  J1 v[4]; I m[4](each I = 1);
bonds
  for i in 1:4 loop v[i] -> m[i]; end for;
  for i in 1:3 loop Coupling s[i](v[i], v[i+1], k = 100); end for;
end Chain;
"""


def test_no_bond_runs_through_a_node() -> None:
    """What hangs on a macro's junction hangs beside the way to the next one."""
    scene = scene_of(bglang.loads(COUPLED).graph)
    boxes = place(scene).nodes
    for line in scene.lines:
        a, b = boxes[line.tail], boxes[line.head]
        for k, box in enumerate(boxes):
            if k in (line.tail, line.head):
                continue
            for part in np.linspace(0.0, 1.0, 101):
                x, y = a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)
                assert abs(x - box.x) > box.width or abs(y - box.y) > box.height, scene.nodes[k].name


def test_frames_hold_what_belongs_to_them() -> None:
    scene = scene_of(motor().graph())
    layout = place(scene)
    for node, box in zip(scene.nodes, layout.nodes, strict=True):
        for name, frame in layout.frames.items():
            inside = abs(box.x - frame.x) <= frame.width and abs(box.y - frame.y) <= frame.height
            assert inside == (node.frame == name or node.frame.startswith(name + ".")), (node.name, name)


def test_long_chains_are_folded_into_rows() -> None:
    layout = place(scene_of(chain(75)))
    assert 0.6 < layout.width / layout.height < 3.0


def test_a_large_model_is_still_drawn() -> None:
    assert drawing_of(chain(1000)).svg().count("<text") > 4000


@pytest.mark.parametrize(("ending", "begin"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_drawings_are_saved_by_the_ending_of_their_name(tmp_path: Path, ending: str, begin: bytes) -> None:
    target = tmp_path / f"graph.{ending}"
    drawing_of(motor().graph()).save(target)
    assert target.read_bytes().startswith(begin)


def test_an_unknown_ending_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape("`graph.bmp`")):
        drawing_of(chain(2)).save(tmp_path / "graph.bmp")


def test_artificial_sources_are_shown() -> None:
    graph = chain(2)
    scene = build_scene(graph, assign_causality(graph, procedure="lcap"))
    assert [n.symbol for n in scene.nodes if n.mark == "artificial"] == ["ASf", "ASf"]


def test_an_empty_model_is_an_empty_picture() -> None:
    assert drawing_of(Build("Empty").graph()).svg().startswith("<svg")
