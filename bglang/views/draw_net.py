"""Places for a net of nodes: distances on paper are distances along bonds, as far as that can be (Kamada and Kawai)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bglang.diagnostics import UsageError

Points = npt.NDArray[np.float64]

BOND = 46.0
"""Free length of a bond."""
FLAT = 90
"""For nets up to this size a layout without crossings is tried as well."""


def net_places(core: list[int], inner: dict[int, list[int]], radius: dict[int, float]) -> Points:
    """Places for the members of a net, in the order of `core`."""
    networkx = _networkx()
    graph = networkx.Graph()
    graph.add_nodes_from(core)
    graph.add_edges_from((k, j, {"length": BOND + radius[k] + radius[j]}) for k in core for j in inner[k] if k < j)
    lengths = dict(networkx.all_pairs_dijkstra_path_length(graph, weight="length"))
    distance = np.array([[lengths[a][b] for b in core] for a in core])
    place = {k: n for n, k in enumerate(core)}
    edges = [(place[k], place[j]) for k, j in graph.edges]
    points = _rotate(_rescale(_best_start(networkx, graph, core, distance, edges), distance), edges)
    _separate(points, np.array([radius[k] for k in core]))
    return points


def _best_start(
    networkx: Any, graph: Any, core: list[int], distance: Points, edges: Sequence[tuple[int, int]]
) -> Points:
    """The layout with the fewest crossings of those that two beginnings lead to: by distances, without crossings."""
    starts = [_scaling(distance)]
    flat, drawing = networkx.check_planarity(graph)
    if flat and len(core) <= FLAT and len(edges) >= len(core):
        places = networkx.combinatorial_embedding_to_pos(drawing)
        starts.append(_rescale(np.array([places[k] for k in core], dtype=float), distance))
    if len(core) < 3:
        return starts[0]
    unit = float(distance.mean())  # lengths near one: the search for the minimum then takes fewer steps
    wanted = {a: {b: distance[m, n] / unit for n, b in enumerate(core)} for m, a in enumerate(core)}
    found: list[Points] = []
    for start in starts:
        places = networkx.kamada_kawai_layout(graph, dist=wanted, pos={k: start[n] / unit for n, k in enumerate(core)})
        found.append(np.array([places[k] for k in core]))
    return min(found, key=lambda points: _crossings(points, edges))


def _crossings(points: Points, edges: Sequence[tuple[int, int]]) -> int:
    """How many pairs of bonds cross."""
    a, b = (points[[e[side] for e in edges]] for side in (0, 1))

    def turn(p: Points, q: Points, r: Points) -> Points:
        return np.sign(
            (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
        )

    p, q, r, s = a[:, None], b[:, None], a[None, :], b[None, :]
    hit = (turn(p, q, r) * turn(p, q, s) < 0) & (turn(r, s, p) * turn(r, s, q) < 0)
    return int(hit.sum()) // 2


def _separate(points: Points, radius: Points, rounds: int = 60) -> None:
    """Members that several ways join end up too close to each other: circles around them are pushed apart."""
    need = radius[:, None] + radius[None, :] + 0.5 * BOND
    np.fill_diagonal(need, 0.0)
    for _ in range(rounds):
        gap = points[:, None] - points[None, :]
        length = np.maximum(np.linalg.norm(gap, axis=2), 1e-6)
        short = np.maximum(need - length, 0.0)
        if short.max() < 1.0:
            break
        points += 0.25 * (gap * (short / length)[:, :, None]).sum(axis=1)


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise UsageError("drawing needs the package networkx: pip install 'bglang[draw]'") from None
    return networkx


def _scaling(distance: Points) -> Points:
    """Classical scaling: places whose distances are near the wanted ones, to start from."""
    n = len(distance)
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ distance**2 @ centre)
    best = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 1e-6))
    # a fixed sign, and a little disorder so that nodes of equal distances do not coincide
    best *= np.where(best[np.argmax(np.abs(best), axis=0), range(best.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(best + 1e-3 * distance.max() * np.random.default_rng(7).standard_normal(best.shape))


def _rescale(points: Points, distance: Points) -> Points:
    """The layout in the unit of the wanted distances."""
    gaps = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    weight = np.divide(1.0, distance**2, out=np.zeros_like(distance), where=distance > 0)
    factor = (weight * distance * gaps).sum() / max((weight * gaps**2).sum(), 1e-12)
    return np.asarray((points - points.mean(axis=0)) * float(factor))


def _rotate(points: Points, edges: Sequence[tuple[int, int]]) -> Points:
    """Turns the layout so that it lies flat and as many bonds as possible run level or upright."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    base = math.atan2(axes[0, 1], axes[0, 0])
    steps = np.array([points[b] - points[a] for a, b in edges])
    angles, lengths = np.arctan2(steps[:, 1], steps[:, 0]), np.linalg.norm(steps, axis=1)
    turns = base + np.radians(np.linspace(-30, 30, 61))
    score = [float((lengths * np.cos(4 * (angles - t))).sum()) - 0.05 * abs(t - base) for t in turns]
    turn = float(turns[int(np.argmax(score))])
    c, s = math.cos(turn), math.sin(turn)
    turned = points @ np.array([[c, -s], [s, c]])
    if turned[0, 0] > turned[:, 0].mean():  # what is declared first stands on the left
        turned[:, 0] *= -1
    return np.asarray(turned)
