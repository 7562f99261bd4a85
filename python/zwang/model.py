"""Models: systems that were read and compiled."""

from __future__ import annotations

import os
from typing import Any, Mapping

from . import _core
from .run import Run
from .sim import Sim

# text or None, path, params, key, base, balance, packages, impact: the tuple that python/src/core.h describes
Source = tuple[str | None, str, dict[str, float], str | None, str | None, bool, dict[str, str], str | None]


class Model:
    """A system that was read and compiled. It never changes; any number of threads may use it.

    Made by `zwang.load` and `zwang.parse`.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._title = os.path.basename(source[1])
        self._core = _core.read(source)
        names = self._core.names
        self.coords: tuple[str, ...] = names("coord")
        self.speeds: tuple[str, ...] = names("speed")
        self.params: tuple[str, ...] = names("param")
        self.constraints: tuple[str, ...] = names("constraint")
        self.rows: tuple[str, ...] = names("row")
        self.events: tuple[str, ...] = names("event")
        self.checks: tuple[str, ...] = names("check")
        self.bodies: tuple[str, ...] = names("body")
        self.joints: tuple[str, ...] = names("joint")
        self.sensors: tuple[str, ...] = names("reading")
        self.activations: tuple[str, ...] = names("activation")
        self.actuators: tuple[str, ...] = names("actuator")
        self.keys: tuple[str, ...] = names("key")
        self.geoms: tuple[str, ...] = names("geom")

    def __repr__(self) -> str:
        parts = [f"{len(self.coords)} coordinates", f"{len(self.constraints)} constraints"]
        if self.bodies:
            parts.insert(0, f"{len(self.bodies) - 1} bodies")
        if self.actuators:
            parts.append(f"{len(self.actuators)} actuators")
        return f"<zwang.Model {self._title}: {', '.join(parts)}>"

    def __reduce__(self) -> Any:
        """Pickled as its source; a file is read again where the model is restored."""
        text, path, *rest = self._source
        return Model, ((text, path if text is not None else os.path.abspath(path), *rest),)

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    @property
    def notes(self) -> tuple[tuple[str, str, int, int], ...]:
        """Statements of the file that have no effect here: (text, file, line, count)."""
        return self._core.notes()

    def with_params(self, **params: float) -> "Model":
        """The same model with other values of its parameters, read and compiled again."""
        text, path, given, key, base, balance, packages, impact = self._source
        return Model((text, path, {**given, **params}, key, base, balance, packages, impact))

    def sim(self, **options: Any) -> Sim:
        """A simulation to step and control: `sim(step=0.002, method="impulse", contact="coulomb", tolerance=..., accuracy=...)`."""
        return Sim(self, **options)

    def run(
        self,
        time: float | None = None,
        *,
        every: float | None = None,
        step: float | None = None,
        method: str | None = None,
        contact: str | None = None,
        tolerance: float | None = None,
        accuracy: float | None = None,
        digits: bool = False,
        record: bool = True,
        **params: float,
    ) -> Run:
        """The motion from the initial state to `time`, sampled at intervals `every` and at events.

        Options that are not given are taken from the file. `digits=True` also estimates how many digits of the final state are reliable.
        `record=False` saves memory, but the run cannot be written to files or shown as a report. Other names are parameters of the
        file: `model.run(10, m=3)`.
        """
        model = self.with_params(**params) if params else self
        return Sim(model).run(time, every=every, step=step, method=method, contact=contact, tolerance=tolerance,
                              accuracy=accuracy, digits=digits, record=record)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a robot as an MJCF file that MuJoCo reads with the same numbers."""
        self._core.write(path)


def load(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    base: str | None = None,
    balance: bool = False,
    packages: Mapping[str, str] | None = None,
    impact: str | None = None,
    **params: float,
) -> Model:
    """Read a .zw, MJCF (.xml) or URDF file.

    key: the keyframe to start from. base: "fixed" or "free", for URDF. balance: repair moments of inertia that no body can have.
    packages: {name: folder} for package://name/ paths. impact: "sequential" or "simultaneous". Other names are parameters of the file.
    """
    return Model((None, os.fspath(path), params, key, base, balance, dict(packages or {}), impact))


def parse(text: str, *, name: str = "text.zw", key: str | None = None, impact: str | None = None, **params: float) -> Model:
    """Read a model from a string in the language of .zw files; messages use `name` in place of a file name."""
    if not isinstance(text, str):
        raise TypeError("parse needs the text of a model")
    return Model((text, name, params, key, None, False, {}, impact))
