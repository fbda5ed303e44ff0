"""Whole programs as native code: right values, right derivatives, classes that do not grow with the model."""

from pathlib import Path

import numpy as np
import pytest
from kernel_cases import ladder, ladder_by_hand, system
from scipy.sparse import csc_matrix

from bglang.equations.system import System
from bglang.expr.evaluate import Floats, Values, evaluate
from bglang.kernels.interpret import Points
from bglang.kernels.load import Emitter, Kernels, load
from bglang.kernels.lower import lower
from bglang.kernels.parameters import parameter_vector
from bglang.store import Store

NO_MODES = np.zeros(0)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


def numbers(count: int, seed: int = 3) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.random(count), random.random(count)


def matrices(kernels: Kernels, data: Floats, which: str = "jacobian") -> tuple[Floats, Floats]:
    """dF/dy and dF/d(dy/dt) as dense matrices."""
    pattern = kernels.program.patterns[which]
    parts = [
        csc_matrix((data[at : at + pattern.nnz], pattern.indices, pattern.indptr), (pattern.rows, pattern.columns))
        for at in (0, pattern.nnz)
    ]
    return parts[0].toarray(), parts[1].toarray()


@pytest.mark.parametrize("emitter", ["llvm", "numba"])
def test_a_ladder_agrees_with_the_physics_written_by_hand(emitter: Emitter, store: Store) -> None:
    program = lower(ladder(7))
    kernels, p = load(program, emitter, store), parameter_vector(program)
    y, d = numbers(14)
    residual = kernels.residual(0.7, y, d, p, NO_MODES)
    by_hand = ladder_by_hand(0.7, y, d, p[: program.parameters])
    assert residual == pytest.approx(by_hand, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("emitter", ["llvm", "numba"])
def test_jacobian_is_the_derivative_of_the_residual(emitter: Emitter, store: Store) -> None:
    program = lower(ladder(4))
    kernels, p = load(program, emitter, store), parameter_vector(program)
    y, d = numbers(8)
    fy, fd = matrices(kernels, kernels.jacobian(0.7, y, d, p, NO_MODES))
    for j in range(8):
        step = np.zeros(8)
        step[j] = 1e-6
        for matrix, low, high in ((fy, (y - step, d), (y + step, d)), (fd, (y, d - step), (y, d + step))):
            difference = kernels.residual(0.7, *high, p, NO_MODES) - kernels.residual(0.7, *low, p, NO_MODES)
            assert matrix[:, j] == pytest.approx(difference / 2e-6, rel=1e-8, abs=1e-8)
    rate = kernels("residual_t", 0.7, y, d, p, NO_MODES)
    difference = kernels.residual(0.7 + 1e-6, y, d, p, NO_MODES) - kernels.residual(0.7 - 1e-6, y, d, p, NO_MODES)
    assert rate == pytest.approx(difference / 2e-6, rel=1e-8, abs=1e-8)


def test_the_number_of_codes_does_not_grow_with_the_model(store: Store) -> None:
    small, large = lower(ladder(5)), lower(ladder(200))
    assert set(large.codes) == set(small.codes)
    assert load(small, "llvm", store).compiled >= 0
    assert load(large, "llvm", store).compiled == 0, "the laws are known: nothing is left to compile"


def test_the_diagonal_is_part_of_the_pattern_and_columns_are_sorted(store: Store) -> None:
    program = lower(system([("y", 1), ("y", 0), ("d", 0)]))
    pattern = program.patterns["jacobian"]
    entries = [
        (int(row), column)
        for column in range(3)
        for row in pattern.indices[pattern.indptr[column] : pattern.indptr[column + 1]]
    ]
    assert entries == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 2)]
    kernels = load(program, "llvm", store)
    fy, fd = matrices(kernels, kernels.jacobian(0.0, np.ones(3), np.ones(3), parameter_vector(program), NO_MODES))
    assert fy.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert fd.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]


def test_outputs_in_many_points_and_in_any_selection(store: Store) -> None:
    case = ladder(3)
    program = lower(case)
    kernels, p = load(program, "llvm", store), parameter_vector(program)
    random = np.random.default_rng(5)
    points = Points(random.random(4), random.random((4, 6)), random.random((4, 6)), p, np.zeros((4, 0)))
    everything = kernels.many("outputs", points)
    expected = [
        [evaluate(output.value, Values(t=t, y=y, p=p)) for output in case.outputs]
        for t, y in zip(points.t, points.y, strict=True)
    ]
    assert everything == pytest.approx(np.array(expected), rel=1e-14)
    for chosen in ([4, 1], [2, 2, 0], [], [5]):
        assert np.array_equal(kernels.many("outputs", points, chosen), everything[:, chosen])
    compiled = kernels.native("outputs")(points.t[2], points.y[2], points.d[2], p, NO_MODES)
    assert compiled == pytest.approx(everything[2], rel=1e-15)


def test_initial_rows_and_positions_have_their_own_jacobians(store: Store) -> None:
    case = system(
        [("-", ("d", 0), ("y", 1)), ("d", 1)],
        [2.0],
        initial=[("-", ("*", ("p", 0), ("y", 0)), 3.0), ("+", ("d", 1), ("y", 0))],
        positions={1: ("-", ("^", ("y", 1), 2.0), ("p", 0))},
    )
    program = lower(case)
    kernels, p = load(program, "llvm", store), parameter_vector(program)
    y, d = np.array([5.0, 3.0]), np.array([0.5, 0.25])
    assert kernels("initial", 0.0, y, d, p, NO_MODES).tolist() == [7.0, 5.25]
    fy, fd = matrices(kernels, kernels("initial_jacobian", 0.0, y, d, p, NO_MODES), "initial_jacobian")
    assert fy.tolist() == [[2.0, 0.0], [1.0, 0.0]] and fd.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert program.position_rows.tolist() == [1]
    assert kernels("position", 0.0, y, d, p, NO_MODES).tolist() == [7.0]
    fy, _ = matrices(kernels, kernels("position_jacobian", 0.0, y, d, p, NO_MODES), "position_jacobian")
    assert fy.tolist() == [[0.0, 6.0]]


def test_a_wide_sum_is_rolled_term_by_term(store: Store) -> None:
    width = 300
    terms = [("*", ("p", k), ("y", k)) if k % 2 else ("neg", ("y", k)) for k in range(width)]
    case = system([("+", *terms)] * 2, [float(k) for k in range(width)], unknowns=width)
    case = System(**{**{f: getattr(case, f) for f in case.__slots__}, "rows": case.rows + case.rows[:1] * (width - 2)})
    program = lower(case)
    assert len(program.kernels["residual"].codes) == 2
    kernels, p = load(program, "llvm", store), parameter_vector(program)
    y, d = numbers(width)
    expected = sum(k * y[k] if k % 2 else -y[k] for k in range(width))
    assert kernels.residual(0.0, y, d, p, NO_MODES) == pytest.approx(np.full(width, expected), rel=1e-12)
    fy, _ = matrices(kernels, kernels.jacobian(0.0, y, d, p, NO_MODES))
    assert fy[0].tolist() == [float(k) if k % 2 else -1.0 for k in range(width)]


def test_many_rare_shapes_are_taken_apart() -> None:
    kinds = ["sin", "cos", "exp", "tanh", "atan", "sinh"]
    rows = [
        ("+", (a, ("y", 0)), (b, ("y", 1)), (c, ("y", 2))) for a in kinds for b in kinds for c in kinds
    ]  # 216 different sums of 6 different terms
    program = lower(system(rows))
    assert len(program.kernels["residual"].codes) == 6


def test_numbers_that_differ_do_not_make_new_codes() -> None:
    rows = [("-", ("d", k), ("*", 0.1 * k + 3.0, ("y", k))) for k in range(50)]
    program = lower(system(rows))
    assert len(program.kernels["residual"].codes) == 1
    assert len(program.constants) == 50


def test_a_model_without_equations_loads(store: Store) -> None:
    kernels = load(lower(system([])), "llvm", store)
    assert kernels.residual(0.0, NO_MODES, NO_MODES, NO_MODES, NO_MODES).shape == (0,)
    assert kernels.pattern.nnz == 0


def test_too_few_numbers_are_a_mistake_and_no_crash(store: Store) -> None:
    program = lower(ladder(2))
    kernels, p = load(program, "llvm", store), parameter_vector(program)
    y, d = numbers(4)
    assert kernels.native("residual").reach == (4, 4, program.p_size - 1, 0)  # the last number belongs to the root
    for wrong in ((y[:3], d, p), (y, d[:3], p), (y, d, p[:-2])):
        with pytest.raises(AssertionError):
            kernels.residual(0.0, *wrong, NO_MODES)


def test_loading_without_any_store_works() -> None:
    program = lower(ladder(2))
    y, d = numbers(4)
    kernels = load(program, "llvm", Store(None))
    assert kernels.compiled > 0
    assert np.isfinite(kernels.residual(0.1, y, d, parameter_vector(program), NO_MODES)).all()


def test_warm_loading_imports_no_compiler(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from kernel_cases import ladder\n"
        "from bglang.kernels.load import load\n"
        "from bglang.kernels.lower import lower\n"
        "from bglang.store import Store\n"
        "print(load(lower(ladder(3)), 'llvm', Store(Path(sys.argv[2]))).compiled)\n"
        "print(*sorted({'numba', 'scipy', 'sympy', 'lark'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(tmp_path)]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    second = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    assert int(first[0]) > 0 and second[:2] == ["0", ""] and first[1] == ""
