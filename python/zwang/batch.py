"""Many worlds of one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core

if TYPE_CHECKING:
    from .model import Model

Array = npt.NDArray[np.float64]


class Batch(_core.Batch):
    """Worlds that move together, each with the bits of its motion alone, whatever the number of threads.

    `time` [worlds], `q`, `v`, `params`, `activation` [worlds, numbers] and `ctrl` share memory with the library: what is written acts
    when the worlds move next, and what is written of q and v is brought onto the constraints. After `step(..., sense=True)` there are
    `sensors` and `a`. A world that fails stands still until it is reset or written into; `failed` is their mask, `why(i)` the reason.
    """

    def __new__(cls, model: "Model", worlds: int, threads: int = 1, **options: Any) -> "Batch":
        core = getattr(model, "_core", None)
        if core is None:
            raise TypeError("a Batch is made of a Model")
        made: Batch = super().__new__(cls, core, worlds, threads)
        return made

    def __init__(self, model: "Model", worlds: int, threads: int = 1, *, step: float = 0.0, method: str | None = None,
                 contact: str | None = None, tolerance: float = 0.0, accuracy: float = 0.0) -> None:
        self.model = model
        self.worlds = worlds
        sim = model.sim(step=step or None, method=method, contact=contact, tolerance=tolerance or None, accuracy=accuracy or None)
        self._asked = (sim.options["step"], tolerance, accuracy, method, contact)
        self.time: Array = np.asarray(self._field("time", 1))[:, 0]
        self.q: Array = np.asarray(self._field("q", len(model.coords)))
        self.v: Array = np.asarray(self._field("v", len(model.speeds)))
        self.params: Array = np.asarray(self._field("params", len(model.params)))
        self.activation: Array = np.asarray(self._field("activation", len(model.activations)))
        self.sensors: Array = np.asarray(self._field("sensors", len(model.sensors)))
        self.a: Array = np.asarray(self._field("a", len(model.speeds)))
        first = len(model.params) - len(model.actuators)
        self.ctrl: Array = self.params[:, first:]

    def __repr__(self) -> str:
        return f"<zwang.Batch of {self.worlds} worlds of {self.model._title}>"

    def step(self, steps: int = 1, *, sense: bool = False) -> bool:
        """Steps of all worlds; True: none failed in them. sense=True also fills `sensors` and `a`."""
        if steps < 0:
            raise ValueError("the number of steps is negative")
        return self._move(steps, sense, 0.0, *self._asked)

    def run(self, time: float) -> bool:
        """Every world by its own steps to this time; True: none failed."""
        _, tolerance, accuracy, method, contact = self._asked
        return self._move(-1, False, float(time), 0.0, tolerance, accuracy, method, contact)

    def reset(self, mask: npt.ArrayLike | None = None) -> None:
        """The worlds of the mask (all of them, without one) begin anew."""
        self._reset(None if mask is None else np.asarray(mask, dtype=bool).astype(np.uint8).tobytes())

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        return np.asarray(np.asarray(self._results())[:, 0] != 0)

    @property
    def certificate(self) -> Array:
        """The worst certificate of each world in the last call."""
        return np.asarray(self._results())[:, 3]
