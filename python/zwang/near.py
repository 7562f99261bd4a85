"""Results of the analysis around a state: inverse dynamics, derivatives, equilibrium, small motions, motions to a goal."""

from __future__ import annotations

import os
import warnings
from typing import Any, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from . import _core

Array = npt.NDArray[np.float64]


def no_such(names: Sequence[str], name: str, what: str) -> int:
    """The index of a name; if it is missing, raises KeyError, which suggests the closest match."""
    try:
        return list(names).index(name)
    except ValueError:
        import difflib

        near = difflib.get_close_matches(str(name), list(names), 1)
        hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(names[:12])}" if 0 < len(names) <= 12 else ""
        raise KeyError(f"there is no {what} {name}{hint}") from None


def floats(value: npt.ArrayLike, what: str) -> Array:
    """A contiguous array of floats; raises TypeError for values that floats cannot hold (complex numbers, text)."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what}: expected real numbers, not {array.dtype}")
    return np.ascontiguousarray(array, dtype=float)


def brief(answer: Any) -> str:
    """A short text for a named tuple, in which large arrays show only their shape."""
    shown = (f"{name}=<{' x '.join(map(str, value.shape))}>" if isinstance(value, np.ndarray) and value.size > 9 else f"{name}={value!r}"
             for name, value in zip(answer._fields, answer))
    return f"{type(answer).__name__}({', '.join(shown)})"


class Table:
    """A result of the library: numbers and NumPy arrays as attributes; `write` saves it to a file."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self._table = raw["table"]
        for name, value in raw.items():
            if name not in ("table", "columns"):
                setattr(self, name, np.asarray(value) if isinstance(value, _core.Memory) else value)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a file; the extension selects the format: .csv, .h5, .svg (plots) or .html (a page)."""
        self._table.write(path)


class Inverse(NamedTuple):
    """Forces that produce an acceleration. `residual` [n] is the part that no admissible force can produce, `size` its norm in Gauss's measure."""

    motor: Array
    control: Array
    drive: Array
    multipliers: Array
    constraint: Array
    contact: Array
    residual: Array
    missing: Array
    size: float
    choices: int
    certificate: float

    def __repr__(self) -> str:
        return brief(self)


class Linear(NamedTuple):
    """Derivatives of the accelerations a: da = a_q dq + a_v dv + a_t dt + a_p dp, dq being along the speeds.

    `multipliers_*` are the derivatives of the multipliers. kinks: the number of contacts or friction forces that are about to switch;
    the derivatives are then those of the side that is active.
    """

    a: Array
    a_q: Array
    a_v: Array
    a_t: Array
    a_p: Array
    multipliers_q: Array
    multipliers_v: Array
    multipliers_t: Array
    multipliers_p: Array
    kinks: int

    def __repr__(self) -> str:
        return brief(self)


class Rest(NamedTuple):
    iterations: int
    acceleration: float  # the largest that remains
    moved: float


class Modes(NamedTuple):
    """Small motions: exp(s t) with s = growth + i frequency; shapes [modes, n] are complex, along the speeds."""

    stability: str  # "stable", "neutral", "unstable"
    growth: Array
    frequency: Array
    damping: Array
    multipliers: npt.NDArray[np.complex128]  # over a period
    shapes: npt.NDArray[np.complex128]
    unsteady: float
    """How far the state is from an equilibrium or a steady motion (with a period: from returning to its start): round-off where these modes hold."""
    frozen: bool
    """Forces or constraints depend on time, and were taken as they are at the time of the state."""

    def __repr__(self) -> str:
        return brief(self)


class Reach(NamedTuple):
    unknowns: int
    conditions: int
    least: bool
    iterations: int
    runs: int
    miss: float
    action: float
    length: float


class Sensitivity(NamedTuple):
    """Derivatives of a motion at times: q_by, v_by [times, n, unknowns]; q, v [times, n] the motion itself."""

    t: Array
    q: Array
    v: Array
    q_by: Array
    v_by: Array
    kinks: int

    def __repr__(self) -> str:
        return brief(self)


class StepLinear(NamedTuple):
    """Derivatives of one step: of the coordinates and speeds at its end by those at its start and by the parameters.

    d(q, v) at the end = A d(q, v) at the start + B d(params), coordinates being along the speeds: A [2n, 2n], B [2n, params]. Controls
    are the last parameters. kinks: the number of contacts, limits or friction forces that are about to switch; the derivatives are then
    one-sided.
    """

    A: Array
    B: Array
    kinks: int

    def __repr__(self) -> str:
        return brief(self)


class Gradient(NamedTuple):
    """The cost of a motion and its derivatives: by the initial coordinates (along the speeds) and speeds, by parameters, and by the
    controls of each step [steps, controls]."""

    cost: float
    by_q: Array
    by_v: Array
    by_params: Array
    by_controls: Array
    kinks: int

    def __repr__(self) -> str:
        return brief(self)


def inverse_of(raw: dict[str, Any]) -> Inverse:
    x = {name: np.asarray(value) if isinstance(value, _core.Memory) else value for name, value in raw.items()}
    return Inverse(x["motor"], x["control"], x["drive"], x["multipliers"], x["constraint"], x["touch"], x["residual"], x["missing"],
                   x["size"], x["choices"], x["certificate"])


def linear_of(raw: dict[str, Any]) -> Linear:
    n = raw["n"]

    def parts(columns: Array) -> tuple[Array, Array, Array, Array]:
        by = columns.reshape(2 * n + 1 + raw["params"], -1).T
        return by[:, :n], by[:, n:2 * n], by[:, 2 * n], by[:, 2 * n + 1:]

    return Linear(np.asarray(raw["a"]), *parts(np.asarray(raw["a_by"])), *parts(np.asarray(raw["multipliers_by"])), raw["kinks"])


def modes_of(raw: dict[str, Any]) -> Modes:
    table, shapes = np.asarray(raw["modes"]), np.asarray(raw["shapes"])
    if raw["unsteady"] > 1e-8:
        warnings.warn(f"the state is not in equilibrium, nor the motion steady or periodic (unsteady = {raw['unsteady']:.2g}): these modes "
                      "are those of the equations linearised at this instant", RuntimeWarning, stacklevel=3)
    return Modes(raw["stability"], table[:, 0], table[:, 1], table[:, 2], table[:, 3] + 1j * table[:, 4],
                 shapes[:, 0::2] + 1j * shapes[:, 1::2], raw["unsteady"], raw["frozen"])


def sensitivity_of(times: Array, raw: tuple[Any, Any, int, int]) -> Sensitivity:
    path, by = np.asarray(raw[0])[:raw[2]], np.asarray(raw[1])[:raw[2]].transpose(0, 2, 1)
    n = path.shape[1] // 2
    return Sensitivity(times[:raw[2]], path[:, :n], path[:, n:], by[:, :n], by[:, n:], raw[3])
