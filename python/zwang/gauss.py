"""Gauss's principle for a problem given by matrices: accelerations, forces and their certificate.

    >>> import numpy as np
    >>> from zwang import gauss
    >>> answer = gauss.solve(M=np.diag([2.0, 2.0]), free=[0, -9.81], A=[[0, 1.0]], b=[0])
    >>> answer.a.tolist(), answer.multipliers.round(9).tolist()
    ([0.0, 0.0], [19.62])
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from .near import floats

Array = npt.NDArray[np.float64]
_EQUALITY, _INEQUALITY, _CONE, _BOX = range(4)


class Block(NamedTuple):
    """Rows of one constraint or contact; see equality, inequality, contact and box."""

    name: str
    kind: int
    rows: int
    friction: tuple[float, ...] = ()
    lower: float = -math.inf
    upper: float = math.inf


def equality(rows: int = 1, name: str = "") -> Block:
    """A a = b."""
    return Block(name, _EQUALITY, rows)


def inequality(rows: int = 1, name: str = "") -> Block:
    """A a >= b with multipliers >= 0 and complementarity (in each row, A a = b or the multiplier is 0)."""
    return Block(name, _INEQUALITY, rows)


def contact(*friction: float, name: str = "") -> Block:
    """A normal row and a row for each friction coefficient: slide, slide, spin, roll, roll. One coefficient applies to both slides."""
    mu = (friction[0], friction[0]) if len(friction) == 1 else friction
    return Block(name, _CONE, 1 + len(mu), tuple(float(x) for x in mu))


def box(lower: float, upper: float, rows: int = 1, name: str = "") -> Block:
    """Multipliers between limits, as of a motor or of dry friction."""
    return Block(name, _BOX, rows, (), float(lower), float(upper))


class Answer:
    """The acceleration a, multipliers, residual, the forces F_N, F_L, F_C, Z, rank, the names of redundant blocks, and the certificate."""

    a: Array
    multipliers: Array
    residual: Array
    F_N: Array
    F_L: Array
    F_C: Array
    Z: float
    rank: int
    certificate: float
    status: str
    redundant: tuple[str, ...]
    conflict: tuple[str, ...]
    undetermined: tuple[int, ...]

    def __init__(self, raw: dict[str, Any], blocks: Sequence[Block]) -> None:
        for name, value in raw.items():
            if isinstance(value, _core.Memory):
                value = np.asarray(value)
            elif name in ("redundant", "conflict"):
                value = tuple(blocks[i].name or f"block {i}" for i in value)
            setattr(self, name, value)

    def __repr__(self) -> str:
        return f"<zwang.gauss.Answer: {len(self.a)} unknowns, {len(self.multipliers)} rows, certificate {self.certificate:.1e}>"


def _matrix(matrix: Any, what: str) -> Any:
    """A SciPy sparse matrix as it is; anything else as a dense array."""
    if hasattr(matrix, "tocsr"):
        return matrix
    array = floats(matrix, what)
    if array.ndim > 2:
        raise ValueError(f"{what} has {array.ndim} dimensions")
    return array


def _compressed(matrix: Any) -> tuple[Array, Array, Array]:
    matrix.sum_duplicates()
    matrix.sort_indices()
    return (np.ascontiguousarray(matrix.indptr, np.intc), np.ascontiguousarray(matrix.indices, np.intc),
            np.ascontiguousarray(matrix.data, float))


def _metric(M: Any, n: int) -> Any:
    if M is None:
        return None
    M = _matrix(M, "M")
    if hasattr(M, "tocsr"):
        import scipy.sparse

        if M.shape != (n, n):
            raise ValueError(f"M has shape {M.shape}; expected a matrix ({n}, {n})")
        if abs(M - M.T).sum() != 0:
            raise ValueError("M is not symmetric")
        return _compressed(scipy.sparse.tril(M).tocsc())
    if M.shape not in ((n,), (n, n)):
        raise ValueError(f"M has shape {M.shape}; expected a diagonal ({n},) or a matrix ({n}, {n})")
    if M.ndim == 2 and not np.array_equal(M, M.T):
        raise ValueError("M is not symmetric")
    return M.reshape(-1)


def solve(
    M: Any = None,
    force: npt.ArrayLike | None = None,
    A: Any = None,
    b: npt.ArrayLike | None = None,
    *,
    free: npt.ArrayLike | None = None,
    cones: Sequence[Block] | None = None,
    compliance: npt.ArrayLike | None = None,
    guess: npt.ArrayLike | None = None,
    convex: bool = False,
    tolerance: float = 0.0,
    least_squares: bool = False,
) -> Answer:
    """Find, of all accelerations that satisfy the constraints, the one closest to the free acceleration in the metric M.

    M: None (identity), a diagonal, a dense or a SciPy sparse matrix. `force` is the applied force; `free`, the acceleration without
    constraints, can be given instead. A, with m rows, is dense or SciPy sparse. `cones` gives the kind of its rows, block by block
    (equality, inequality, contact, box); without it they are equalities A a = b. `convex=True`: maximal dissipation instead of Coulomb's law.
    Raises zwang.Error if there is no solution; `status` reports a solution that misses its tolerance.

    >>> solve([2.0, 2.0], [8, -19.62], [[0, 1]], [0], cones=[inequality(name="floor")]).a.round(9).tolist()
    [4.0, 0.0]
    """
    given = free if free is not None else force
    if given is not None:
        n = int(np.asarray(given).size)
    elif A is not None:
        n = int(_matrix(A, "A").shape[-1])
    else:
        raise ValueError("the number of unknowns is not known: give free or force")
    rows = np.zeros((0, n)) if A is None else _matrix(A, "A")
    if not hasattr(rows, "tocsr"):
        rows = np.atleast_2d(rows)
    if rows.shape[1] != n:
        raise ValueError(f"A has {rows.shape[1]} columns, for {n} unknowns")
    blocks = tuple(cones) if cones is not None else tuple(equality(name=f"row {i}") for i in range(rows.shape[0]))
    wanted = sum(block.rows for block in blocks)
    if wanted != rows.shape[0]:
        raise ValueError(f"the blocks have {wanted} rows, A has {rows.shape[0]}")

    def numbers(x: npt.ArrayLike | None) -> Array | None:
        return None if x is None else floats(x, "a vector").reshape(-1)

    A_given = _compressed(rows.tocsr()) if hasattr(rows, "tocsr") else rows.reshape(-1)
    raw = _core.gauss_solve(n, _metric(M, n), tuple(tuple(block) for block in blocks), A_given, numbers(free), numbers(force),
                            numbers(b), numbers(compliance), numbers(guess), convex, tolerance, least_squares)
    return Answer(raw, blocks)
