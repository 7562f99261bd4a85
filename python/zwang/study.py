"""Recordings and sets of motions: certify, inverse, fit, optimise, sweep."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from .near import Table, floats, no_such
from .run import Run

if TYPE_CHECKING:
    from .model import Model

Array = npt.NDArray[np.float64]
Recording = Any  # the path of a CSV or HDF5 file, a Run, or (t, q) or (t, q, v)


def recorded(model: "Model", recording: Recording) -> Any:
    """The recording in the form that the extension expects: a path, or (t, q, v or None) as arrays of floats."""
    if isinstance(recording, (str, os.PathLike)):
        return recording
    if isinstance(recording, Run):
        recording = (recording.t, recording.q, recording.v)
    parts = tuple(recording)
    if len(parts) not in (2, 3):
        raise TypeError("a recording is the path of a file, a Run, or (t, q) or (t, q, v)")
    t, *rest = (floats(part, "a recording") for part in parts)
    for name, part, count in zip("qv", rest, (len(model.coords), len(model.speeds))):
        if part.size != t.size * count or (part.ndim > 1 and part.shape != (t.size, count)):
            raise ValueError(f"{name} has shape {part.shape}; expected ({t.size}, {count}), a row for each time")
    return t, rest[0], rest[1] if len(rest) > 1 else None


def speeds_of(model: "Model", drive: str | Sequence[str]) -> list[float]:
    """Indices of the speeds with these names; "all": of all speeds."""
    if drive == "all":
        return [float(i) for i in range(len(model.speeds))]
    names = [drive] if isinstance(drive, str) else drive
    names = [name + "'" if name not in model.speeds and name + "'" in model.speeds else name for name in names]
    return [float(no_such(model.speeds, name, "speed")) for name in names]


class Trial(Table):
    """The result of `certify`.

    `verdict` is "motion", "not a motion", "off" (it leaves the constraints) or "coarse" (too coarse or noisy to decide). `force`
    [samples, n] is the force that the recording needs beyond those of the system, `force_size` its size, `force_error` the error of
    that; `t`, `q`, `v`, `a`, `multipliers`, `power` are those of the fitted motion. `worst_time`, `worst_coord`, `worst_force`: where
    that force is largest compared with its error.
    """

    verdict: str
    t: Array
    q: Array
    v: Array
    a: Array
    force: Array
    force_size: Array
    force_error: Array
    multipliers: Array
    power: Array
    defect: float
    defect_error: float
    worst_time: float
    worst_coord: str | None
    worst_force: float

    def __bool__(self) -> bool:
        """True: it is a motion of the system."""
        return self.verdict == "motion"

    def __repr__(self) -> str:
        return f"<zwang.Trial: {self.verdict}, defect {self.defect:.2g}, the fit's own error {self.defect_error:.2g}>"


def certify(model: "Model", recording: Recording, *, noise: float = 0.0, metric: npt.ArrayLike | None = None,
            columns: Mapping[str, str] | None = None) -> Trial:
    """Is this recording a motion of the model? Raises zwang.Error if the recording cannot be examined.

    recording: the path of a CSV or HDF5 file, a `Run`, or (t, q) or (t, q, v). noise: of the recorded numbers, relative; 0: found in
    the recording. metric: a positive matrix in place of the mass matrix. columns: {name of the model: column of the file}.

        >>> import zwang
        >>> model = zwang.parse("coord x = 1\\nmass 1 at (x)\\nforce x: -x")
        >>> run = model.run(6, every=0.02)
        >>> zwang.certify(model, run).verdict
        'motion'
        >>> trial = zwang.certify(model, (run.t, run.q * (1 + 0.01 * run.t[:, None])))
        >>> trial.verdict, trial.worst_coord
        ('not a motion', 'x')
    """
    given = None if metric is None else floats(metric, "metric").reshape(-1)
    return Trial(_core.certify(model._core, recorded(model, recording), _dict(columns), float(noise), given))


class Forces(Table):
    """Forces along a recording, as `inverse` finds them: `forces["force(motor)"]`, `forces.columns` has all names.

    Columns: "t", "force(NAME)" and "control(NAME)" of motors, "drive(NAME)", "lambda(NAME)" of constraints, "residual(NAME)" of
    speeds; "contact", "residual", "error".
    """

    columns: dict[str, Array]
    residual: float
    error: float

    def __init__(self, raw: dict[str, Any]) -> None:
        super().__init__(raw)
        self.columns = {name: np.asarray(column) for name, column in raw["columns"].items()}

    def __getitem__(self, name: str) -> Array:
        names = list(self.columns)
        return self.columns[names[no_such(names, name, "column")]]


def inverse(model: "Model", recording: Recording, *, drive: str | Sequence[str] = (), noise: float = 0.0,
            columns: Mapping[str, str] | None = None) -> Forces:
    """Which forces of the motors produce this recording? drive: speeds on which further forces may act, or "all".

        >>> import numpy as np, zwang
        >>> model = zwang.parse("coord x = 0\\nmass 2 at (x)")
        >>> t = np.linspace(0, 1, 101)
        >>> forces = zwang.inverse(model, (t, 1.5 * t**2), drive="x")
        >>> forces["drive(x)"][50].round(6)
        6.0
    """
    return Forces(_core.inverse(model._core, recorded(model, recording), _dict(columns), speeds_of(model, drive), float(noise)))


# ---- Fit


class Estimate(NamedTuple):
    name: str
    value: float
    error: float  # one standard deviation; inf: the recordings do not determine it
    low: float  # 95 % interval
    high: float
    at_bound: int  # -1: at its lower bound, 1: at its upper one


class Fit(Table):
    """Values that best explain recordings: `fit["m"].value`, `.error`, `.low`, `.high`; `fit.model` is the model with these values.

    `correlation` [unknowns, unknowns]; `undetermined`: changes of the unknowns, by name, that change nothing in the recordings;
    `noise`: of coordinates and speeds, by name; `cost`: sum of squares of residuals over their noise. `unexplained`: how many of
    them have residuals that are no noise, as the model misses something or this is one of several minima: errors do not hold.
    """

    estimates: tuple[Estimate, ...]
    correlation: Array
    undetermined: tuple[dict[str, float], ...]
    noise: dict[str, float]
    cost: float
    iterations: int
    runs: int
    kinks: int
    unexplained: int

    def __init__(self, model: "Model", raw: dict[str, Any]) -> None:
        super().__init__(raw)
        self.estimates = tuple(Estimate(*row) for row in raw["estimates"])
        names = [estimate.name for estimate in self.estimates]
        self.undetermined = tuple(
            {name: float(x) for name, x in zip(names, np.asarray(row)) if x != 0} for row in raw["nulls"])
        channels = [*model.coords, *(name + "'" for name in model.coords)]
        self.noise = {name: float(x) for name, x in zip(channels, np.asarray(raw["noise"])) if x > 0}
        self._model = model

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[no_such([estimate.name for estimate in self.estimates], name, "unknown")]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    @property
    def model(self) -> "Model":
        """The model with the fitted parameters, but not the fitted initial values."""
        params = {e.name: e.value for e in self.estimates if not e.name.endswith("(0)")}
        return self._model.with_params(**params)

    def __repr__(self) -> str:
        return "<zwang.Fit: " + ", ".join(f"{e.name} = {e.value:.6g} +- {e.error:.2g}" for e in self.estimates) + ">"


def unknowns_of(model: "Model", vary: Any) -> tuple[tuple[int, int, float, float], ...]:
    """("m", "x(0)", "x'(0)") or {"m": (low, high)} as (kind, index, low, high)."""
    bounds: Mapping[str, Any] = vary if isinstance(vary, Mapping) else dict.fromkeys([vary] if isinstance(vary, str) else vary)
    found = []
    for name, limits in bounds.items():
        low, high = (-math.inf, math.inf) if limits is None else (float(limits[0]), float(limits[1]))
        if not low < high:
            raise ValueError(f"{name}: the lower bound {low:g} is not below the upper one {high:g}")
        start = re.fullmatch(r"(.*?)('?)\(0\)", name)
        if start:
            found.append((1 if start[2] else 0, no_such(model.coords, start[1], "coordinate"), low, high))
        else:
            found.append((2, no_such(model.params, name, "parameter"), low, high))
    return tuple(found)


def fit(model: "Model", recordings: Recording | Sequence[Recording], vary: Sequence[str] | Mapping[str, Any] | str, *,
        sigma: Mapping[str, float] | None = None, method: str | None = None, step: float = 0.0, tolerance: float = 0.0,
        iterations: int = 0, columns: Mapping[str, str] | None = None) -> Fit:
    """Parameters and initial values that best explain recordings, by least squares with exact derivatives.

    vary: names of parameters, initial values `x(0)` and initial speeds `x'(0)`; as a dict, with bounds: {"mu": (0, 1), "m": None}.
    sigma: the noise of coordinates and speeds where it is known: {"x": 0.01, "x'": 0.1}.
    recordings: one, or a list of several with the same initial state; as for `certify`, but a file need not have all coordinates.

        >>> import zwang
        >>> model = zwang.parse("param k = 2\\ncoord x = 1\\nmass 1 at (x)\\nforce x: -k * x")
        >>> recording = model.run(5, every=0.05, k=2.5)
        >>> round(zwang.fit(model, recording, "k")["k"].value, 6)
        2.5
    """
    several = isinstance(recordings, list) and all(isinstance(x, (str, os.PathLike, Run, tuple)) for x in recordings)
    given = tuple(recorded(model, recording) for recording in (recordings if several else [recordings]))
    n = len(model.coords)
    noise = np.zeros(2 * n)
    for name, value in (sigma or {}).items():
        speed = name.endswith("'")
        noise[no_such(model.coords, name[:-1] if speed else name, "coordinate") + (n if speed else 0)] = float(value)
    return Fit(model, _core.fit(model._core, given, _dict(columns), unknowns_of(model, vary), noise, step, tolerance, method,
                                iterations))


# ---- Optimise


class Optimum(NamedTuple):
    """The result of `optimise`: `values` by name, `cost` and the cost `before`; `slope`: the largest remaining slope of the cost;
    `at_bound`: names of the values at a bound."""

    values: dict[str, float]
    cost: float
    before: float
    slope: float
    motions: int
    converged: bool
    at_bound: tuple[str, ...]
    kinks: int


def optimise(model: "Model", *, time: float = 0.0, method: str | None = None, step: float = 0.0, tolerance: float = 0.0,
             motions: int = 0) -> Optimum:
    """Parameters and initial values of the model's `vary` lines that minimise its `cost` lines, with exact derivatives (NLopt).

        >>> import zwang
        >>> throw = zwang.parse("coord x = 0, y = 0\\nspeed x' = 1, y' = 1\\nmass 1 at (x, y)\\ngravity (0, -10)\\n"
        ...                     "vary x'(0), y'(0)\\ncost (x - 3)^2 + y^2")
        >>> best = zwang.optimise(throw, time=1)
        >>> round(best.values["x'(0)"], 6), round(best.values["y'(0)"], 6)
        (3.0, 5.0)
    """
    rows, before, cost, slope, count, converged, kinks = _core.optimise(model._core, time, step, tolerance, method, motions)
    return Optimum({row[0]: row[2] for row in rows}, cost, before, slope, count, bool(converged),
                   tuple(row[0] for row in rows if row[5]), kinks)


# ---- Sweep


class Sweep(Table):
    """The table of a sweep: `sweep["max(x)"]` is a column, `names` are their names, `values` [runs, columns] all numbers.

    `status[i]` is "ok", or the reason why run i failed; its numbers are then NaN.
    """

    names: tuple[str, ...]
    status: tuple[str, ...]
    values: Array

    def __getitem__(self, name: str) -> Array:
        return self.values[:, no_such(self.names, name, "column")]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        return np.array([text != "ok" for text in self.status], dtype=bool)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each run."""
        import pandas

        return pandas.DataFrame(self.values, columns=list(self.names)).assign(status=self.status)

    def __repr__(self) -> str:
        return f"<zwang.Sweep: {len(self)} runs, {int(self.failed.sum())} failed; {', '.join(self.names)}>"


def _over(over: str | Sequence[str] | Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(over, str):
        return (over,)
    if not isinstance(over, Mapping):
        return tuple(over)
    lines = []
    for name, values in over.items():
        if not isinstance(values, str):
            values = ", ".join(repr(float(x)) for x in np.ravel(values))
        lines.append(f"{name} = {values}")
    return tuple(lines)


def sweep(model: "Model", over: str | Sequence[str] | Mapping[str, Any], keep: str | Sequence[str] | None = None, *,
          time: float = 0.0, every: float = 0.0, step: float = 0.0, tolerance: float = 0.0, accuracy: float = 0.0,
          method: str | None = None, contact: str | None = None, after: float | str | None = None, samples: int = 0, seed: int = 1,
          threads: int = 1, journal: str | os.PathLike[str] | None = None,
          progress: Callable[[int, int], object] | None = None) -> Sweep:
    """Run the model for all combinations of values, and collect quantities of each run in one table.

    over: {"omega": [1, 2, 3], "mu": "0.1..0.5 : 5"}, or lines in the syntax of `zwang sweep --over`. keep: "max(x), x at end". journal: a
    file of the finished runs, from which an interrupted sweep resumes. progress(done, runs) is called from time to time.

        >>> import zwang
        >>> model = zwang.parse("param k = 1\\ncoord x = 1\\nmass 1 at (x)\\nforce x: -k * x")
        >>> table = zwang.sweep(model, {"k": [1, 4, 9]}, "max(x')", time=10)
        >>> table["max(x')"].round(4).tolist()
        [1.0, 2.0, 3.0]
    """
    wanted = keep if keep is None or isinstance(keep, str) else ", ".join(keep)
    options = (float(time), every, step, tolerance, accuracy, method, contact)
    return Sweep(_core.sweep(model._source, _over(over), wanted, None if after is None else str(after), samples, seed, options,
                             threads, journal, progress))


def _dict(columns: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if columns is None else dict(columns)
