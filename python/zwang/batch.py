"""Many worlds of one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _core

if TYPE_CHECKING:
    from .model import Model

Array = npt.NDArray[np.float64]


def _column(name: str, values: npt.ArrayLike, worlds: int) -> Array:
    """One number for each world."""
    array = np.asarray(values, dtype=float)
    if array.shape not in ((), (1,), (worlds,)):
        raise ValueError(f"vary: {name!r} has shape {array.shape}; expected a number, or one for each of {worlds} worlds")
    return np.broadcast_to(array, (worlds,))


def _cores(model: Any, worlds: int | None, vary: Mapping[str, npt.ArrayLike] | None) -> tuple["Model", Any, int]:
    """The first model, the model or models that the extension creates the worlds from, and the number of worlds."""
    if isinstance(model, Sequence) and model and all(hasattr(one, "_core") for one in model):
        if worlds not in (None, len(model)) or vary:
            raise ValueError("a Batch of a list of models has one world for each model")
        return model[0], tuple(one._core for one in model), len(model)
    if not hasattr(model, "_core"):
        raise TypeError("a Batch needs a Model or a list of models")
    if worlds is None:
        raise TypeError("the number of worlds is missing: Batch(model, worlds)")
    if worlds < 1:
        raise ValueError(f"a Batch needs at least one world, not {worlds}")
    if not vary:
        return model, model._core, worlds
    columns = {name: _column(name, values, worlds) for name, values in vary.items()}
    made: dict[tuple[float, ...], Any] = {}
    cores = []
    for row in zip(*(column.tolist() for column in columns.values())):
        if row not in made:
            made[row] = model.with_params(**dict(zip(columns, row)))
        cores.append(made[row]._core)
    return made[tuple(float(column[0]) for column in columns.values())], tuple(cores), worlds


class Batch(_core.Batch):
    """Worlds that are stepped together. Each gives bitwise the same motion as it would alone, for any number of threads.

    `time` [worlds], `q`, `v`, `params`, `activation` [worlds, numbers] and `ctrl` share memory with the library: values written there
    take effect when the worlds next move, after q and v have been projected onto the constraints. `mocap` [worlds, 7 bodies] is the end of
    `q`: what is welded to bodies that it moves follows in the next steps. `step(..., sense=True)` fills
    `sensors` and `a`. A world that fails stands still until it is reset or written to; `failed` is the mask of such worlds, `why(i)` the
    reason. Other libraries share the same memory through DLPack: `torch.from_dlpack(batch.q)`.

    memoryless: steps of robots by one linearisation (tolerance=1) depend on q, v and params alone; robots with more than 24 speeds are
    then also stepped eight at a time.

    device: "cuda" or "cuda:1": the worlds are kept on a GPU and stepped there by the soft law (contact="soft"), with bitwise the same
    results as on the processor; "emulated" runs the same code on the processor. The arrays above are then copies, updated by every
    `step`. With `stay=True` a step neither reads nor writes them: `on_device("q")` is the field in the memory of the GPU
    (`torch.from_dlpack(batch.on_device("q"))`, or through the CUDA array interface); `pull` and `push` copy. contact_capacity: the number
    of contact points that a world has room for on the device. `sensors`, `a`, `run` and `save` are not available there.
    precision="float": steps are computed in single precision, for speed; the arrays remain double. `certificate` is evaluated in double.

    vary: numbers of the file that differ from world to world, {"thigh.mass": values}; or pass a list of models.

        >>> import numpy as np, zwang
        >>> model = zwang.parse("param g = 9.81\\ncoord y = 0\\nmass 1 at (y)\\nforce y: -g")
        >>> batch = zwang.Batch(model, 3, vary={"g": [1, 2, 3]})
        >>> batch.run(2.0)
        True
        >>> batch.q[:, 0].round(9).tolist()
        [-2.0, -4.0, -6.0]
        >>> np.shares_memory(np.from_dlpack(batch.q), batch.q)
        True
    """

    model: "Model"
    worlds: int
    device: str | None
    """The name of the GPU; None: the worlds are on the processor."""
    _device: str | None

    def __new__(cls, model: "Model | Sequence[Model]", worlds: int | None = None, threads: int = 1, *,
                vary: Mapping[str, npt.ArrayLike] | None = None, device: str | None = None, contact_capacity: int = 0,
                precision: str = "double", **options: Any) -> "Batch":
        first, cores, count = _cores(model, worlds, vary)
        made: Batch = super().__new__(cls, cores, count, threads, device, contact_capacity, precision)
        made.model = first
        made.worlds = count
        made.device = made._device_name()
        made._device = device
        return made

    def __init__(self, model: "Model | Sequence[Model]", worlds: int | None = None, threads: int = 1, *,
                 vary: Mapping[str, npt.ArrayLike] | None = None, device: str | None = None, contact_capacity: int = 0,
                 precision: str = "double", step: float = 0.0, method: str | None = None, contact: str | None = None, tolerance: float = 0.0,
                 accuracy: float = 0.0, memoryless: bool = False) -> None:
        own = self.model
        sim = own.sim(step=step or None, method=method, contact=contact, tolerance=tolerance or None, accuracy=accuracy or None,
                      memoryless=memoryless or None)
        self._asked = (sim.options["step"], tolerance, accuracy, method, contact, memoryless)
        self._step = step
        self._counts = {"time": 1, "q": len(own.coords), "v": len(own.speeds), "params": len(own.params),
                        "activation": len(own.activations), "sensors": len(own.sensors), "a": len(own.speeds)}
        self.time: Array = self._array("time")[:, 0]
        self.q: Array = self._array("q")
        self.v: Array = self._array("v")
        self.mocap: Array = self.q[:, self.q.shape[1] - len(sim.mocap):]
        self.params: Array = self._array("params")
        self.activation: Array = self._array("activation")
        self.sensors: Array = self._array("sensors")
        self.a: Array = self._array("a")
        first = len(own.params) - len(own.actuators)
        self.ctrl: Array = self.params[:, first:]

    def _array(self, name: str) -> Array:
        return np.asarray(self._field(name, self._counts[name]))

    def __repr__(self) -> str:
        return f"<zwang.Batch of {self.worlds} worlds of {self.model._title}>"

    def __len__(self) -> int:
        return self.worlds

    def step(self, steps: int = 1, *, sense: bool = False, stay: bool = False) -> bool:
        """Step all worlds; True: none failed. sense=True also fills `sensors` and `a`.

        stay=True: the arrays here are neither copied to the device before the steps nor updated after them.
        """
        if steps < 0:
            raise ValueError("the number of steps must not be negative")
        return self._move(steps, (1 if sense else 0) + (2 if stay else 0), 0.0, *self._asked)

    def on_device(self, name: str) -> _core.DeviceArray:
        """A field, [worlds, numbers], in the memory of the device: "time", "q", "v", "params", "activation", "sensors" or "a"."""
        if self._device is None:
            raise ValueError("this batch is on the processor: use its arrays, such as batch.q")
        if name not in self._counts:
            raise ValueError(f"there is no field {name!r}: expected one of {', '.join(self._counts)}")
        return self._on_device(name, self._counts[name], self._device)

    def pull(self) -> None:
        """Copy all fields from the device, after steps with stay=True."""
        self._copy()

    def push(self, name: str) -> None:
        """Copy this field of all worlds to the device, unchanged."""
        self._copy(name)

    def run(self, time: float) -> bool:
        """Run every world to this time with its own steps; True: none failed. After Ctrl-C, call it again to resume."""
        return self._move(-1, 0, float(time), self._step, *self._asked[1:])

    def reset(self, mask: npt.ArrayLike | None = None) -> None:
        """Reset the worlds of the mask (without one, all worlds) to their initial state."""
        self._reset(None if mask is None else np.asarray(mask, dtype=bool).astype(np.uint8).tobytes())

    def save(self) -> bytes:
        """All states as bytes, for `restore` of a batch of the same models."""
        return self._save()

    def restore(self, state: bytes) -> None:
        self._restore(state)

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        return np.asarray(np.asarray(self._results())[:, 0] != 0)

    @property
    def stopped(self) -> npt.NDArray[np.bool_]:
        """Mask of the worlds that a `stop` line of the file has ended."""
        return np.asarray(np.asarray(self._results())[:, 2] >= 0)

    @property
    def certificate(self) -> Array:
        """The worst certificate of each world in the last call."""
        return np.asarray(self._results())[:, 3]
