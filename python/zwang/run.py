"""Whole motions as arrays."""

from __future__ import annotations

import html
import os
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core

if TYPE_CHECKING:
    from .model import Model

Array = npt.NDArray[np.float64]
_EVENT, _JUMP = 2, 3  # zw_sample_kind


class Event(NamedTuple):
    time: float
    name: str
    sample: int  # index into the arrays of the run


class Run:
    """A motion: arrays with a row for each sample.

    t, q, v, a, multipliers, energy (total), kinetic, potential, violation, certificate, sensors, params: arrays that share memory with
    the run. `run["x"]` is a column by its name: a coordinate, a speed (`x'` where the coordinate has the same name), a sensor, a
    multiplier (`lambda(rod)`), or one of the arrays above. `summary` describes the run, `verdict` how far it can be trusted.
    """

    def __init__(self, model: "Model", core: Any) -> None:
        self.model = model
        self._core = core
        column = core.column
        self.t: Array = np.asarray(column("t"))
        self.q: Array = np.asarray(column("q"))
        self.v: Array = np.asarray(column("v"))
        self.a: Array = np.asarray(column("a"))
        self.multipliers: Array = np.asarray(column("multipliers"))
        energies = np.asarray(column("energy"))
        self.energy: Array = energies[:, 0]
        self.kinetic: Array = energies[:, 1]
        self.potential: Array = energies[:, 2]
        self.violation: Array = np.asarray(column("violation"))
        self.certificate: Array = np.asarray(column("certificate"))
        self.sensors: Array = np.asarray(column("sensors"))
        self.params: Array = np.asarray(column("params"))
        self.summary: dict[str, Any] = core.summary()
        self.verdict: tuple[tuple[str, str, float, str], ...] = core.verdict()
        self._columns = self._name_columns()
        labels = np.asarray(column("labels"))
        names = model.events
        self.events: list[Event] = [
            Event(float(self.t[i]), names[labels[i, 1]], int(i))
            for i in np.flatnonzero(labels[:, 0] == _EVENT)
            if 0 <= labels[i, 1] < len(names)
        ]

    def _name_columns(self) -> dict[str, Array]:
        columns: dict[str, Array] = {"t": self.t, "energy": self.energy, "kinetic": self.kinetic,
                                     "potential": self.potential, "certificate": self.certificate}
        model = self.model
        for names, array in ((model.sensors, self.sensors), (model.coords, self.q)):
            for i, name in enumerate(names):
                columns[name] = array[:, i]
        for i, name in enumerate(model.speeds):
            columns[name + "'" if name in model.coords else name] = self.v[:, i]
        for i, name in enumerate(model.rows):
            columns[f"lambda({name})"] = self.multipliers[:, i]
        return columns

    def __repr__(self) -> str:
        s = self.summary
        return (f"<zwang.Run of {self.model._title}: {s['start']:g} to {s['end']:g} s by {s['method']}, {len(self)} samples, "
                f"certificate {s['certificate']:.1e}>")

    def __len__(self) -> int:
        return len(self.t)

    def __reduce__(self) -> Any:
        raise TypeError("a Run cannot be pickled; keep its arrays, to_pandas(), or a file (run.write('run.h5'))")

    def __getitem__(self, name: str) -> Array:
        try:
            return self._columns[name]
        except (KeyError, TypeError):
            import difflib

            near = difflib.get_close_matches(str(name), list(self._columns), 1)
            hint = f"did you mean {near[0]}?" if near else f"the columns are {', '.join(self._columns)}"
            raise KeyError(f"there is no column {name}; {hint}") from None

    def keys(self) -> list[str]:
        """Names of all columns."""
        return list(self._columns)

    # ---- Export

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a column for each name, indexed by time."""
        import pandas

        columns = {name: array for name, array in self._columns.items() if name != "t"}
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a file; the extension selects the format: .csv, .h5, .svg (plots) or .html (an animated report)."""
        self._core.write(path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        self._write_as(path, ".csv")

    def to_hdf5(self, path: str | os.PathLike[str]) -> None:
        self._write_as(path, ".h5")

    def to_html(self, path: str | os.PathLike[str]) -> None:
        self._write_as(path, ".html")

    def _write_as(self, path: str | os.PathLike[str], ending: str) -> None:
        if not os.fspath(path).endswith(ending):
            raise ValueError(f"the file name must end with {ending}")
        self.write(path)

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Plot columns over time with matplotlib; without names, the coordinates."""
        import matplotlib.pyplot as plt

        axes = ax if ax is not None else plt.subplots()[1]
        for name in names or self.model.coords:
            axes.plot(self.t, self[name], label=name)
        axes.set_xlabel("t")
        if len(names or self.model.coords) <= 12:
            axes.legend()
        return axes

    def _repr_html_(self) -> str:
        """The animated report, in Jupyter."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.html")
            try:
                self.write(path)
            except (ValueError, _core.Error):
                return f"<pre>{html.escape(repr(self))}</pre>"
            with open(path, encoding="utf-8") as file:
                page = file.read()
        return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:600px;border:0"></iframe>'
