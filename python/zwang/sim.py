"""Motions that are stepped and controlled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from .near import (Gradient, Inverse, Linear, Modes, Reach, Rest, Sensitivity, StepLinear, floats, inverse_of, linear_of,
                   modes_of, no_such, sensitivity_of)
from .run import Run

if TYPE_CHECKING:
    from .model import Model

Array = npt.NDArray[np.float64]

# The layout of packed_contact in python/src/sim_look.c.
_CONTACT = np.dtype(
    [("geom", np.int32, 2), ("body", np.int32, 2), ("state", np.int32), ("rows", np.int32), ("pos", float, 3),
     ("frame", float, (3, 3)), ("gap", float), ("force", float, 6), ("slip", float, 6)],
    align=True,
)
_KINDS = ("holonomic", "nonholonomic", "one-sided")
_MODES = ("open", "closed", "sliding", "stuck")


class Frame(NamedTuple):
    """Position, orientation and motion of a frame, along the axes of the world."""

    pos: Array
    quat: Array
    matrix: Array
    velocity: Array
    spin: Array
    acceleration: Array
    spin_rate: Array


class Momentum(NamedTuple):
    mass: float
    com: Array
    velocity: Array
    momentum: Array
    spin: Array


class Wrench(NamedTuple):
    """Force, and moment about the point `at`."""

    at: Array
    force: Array
    moment: Array


class Constraint(NamedTuple):
    name: str
    kind: str  # "holonomic", "nonholonomic", "one-sided"
    mode: str  # "open", "closed", "sliding", "stuck"
    position: float
    velocity: float
    force: float
    friction: float


class Sim(_core.Sim):
    """A simulation: a state of a model that can be stepped and controlled.

    `q`, `v`, `time`, `params`, `activation` and `mocap` are read-only views that follow the state; assign to them to change it:
    `sim.q = [...]` moves to the nearest state that the constraints admit. `ctrl` holds the controls of the actuators; values written
    there take effect from the next step on. A Sim can be used by one thread at a time.
    """

    model: "Model"
    ctrl: Array

    def __new__(cls, model: "Model", **options: Any) -> "Sim":
        core = getattr(model, "_core", None)
        if core is None:
            raise TypeError("a Sim needs a Model")
        try:
            made: Sim = super().__new__(cls, core)
        except _core.Error as error:
            if model.keys and model._source[3] is None:
                error.add_note(f"The file has keyframes to start from: zwang.load(path, key={model.keys[0]!r})")
            raise
        return made

    def __init__(self, model: "Model", **options: Any) -> None:
        self.model = model
        self._views: dict[str, Array] = {}
        self._asked = {name: value for name, value in options.items() if value is not None}
        self.options: dict[str, Any] = self._options(**self._asked)
        object.__setattr__(self, "ctrl", np.asarray(self._control()))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "ctrl":
            self.ctrl[:] = value
        else:
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<zwang.Sim of {self.model._title} at t = {self.time:g}>"

    def _view(self, name: str) -> Array:
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = np.asarray(self._field(name))
        return view

    # ---- The state

    @property
    def time(self) -> float:
        return float(self._view("time")[0])

    @time.setter
    def time(self, value: float) -> None:
        self._set("time", 0, [float(value)])

    @property
    def q(self) -> Array:
        """Coordinates, in the order of model.coords."""
        return self._view("q")

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        self._assign("q", value)

    @property
    def v(self) -> Array:
        """Speeds, in the order of model.speeds."""
        return self._view("v")

    @v.setter
    def v(self, value: npt.ArrayLike) -> None:
        self._assign("v", value)

    @property
    def params(self) -> Array:
        """Parameters, in the order of model.params; controls of actuators are among them."""
        return self._view("params")

    @params.setter
    def params(self, value: npt.ArrayLike) -> None:
        self._assign("params", value)

    @property
    def activation(self) -> Array:
        return self._view("activation")

    @activation.setter
    def activation(self, value: npt.ArrayLike) -> None:
        self._assign("activation", value)

    @property
    def mocap(self) -> Array:
        """Poses of mocap bodies: point and quaternion of each."""
        return self._view("mocap")

    @mocap.setter
    def mocap(self, value: npt.ArrayLike) -> None:
        self._assign("mocap", value)

    def _assign(self, name: str, value: npt.ArrayLike) -> None:
        numbers = floats(value, name).reshape(-1)
        there = self._view(name)
        if numbers.size != there.size:
            raise ValueError(f"{name}: expected {there.size} numbers, not {numbers.size}")
        self._set(name, 0, numbers)

    def set_params(self, **values: float) -> None:
        """Change parameters from now on: `sim.set_params(g=1.62)`."""
        for name, value in values.items():
            self._set("params", no_such(self.model.params, name, "parameter"), [float(value)])

    def copy(self) -> "Sim":
        """Another Sim in the same state."""
        twin = type(self)(self.model, **self._asked)
        twin.restore(self.save())
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Sim":
        return self.copy()

    def __reduce__(self) -> Any:
        return _revive, (self.model, self._asked, self.save())

    # ---- The principle at an instant (after forward, look, or a run)

    @property
    def a(self) -> Array:
        """Accelerations, after `forward` or `look`."""
        return np.asarray(self._field("a"))

    @property
    def a_free(self) -> Array:
        """Accelerations without constraints, after `forward`."""
        return np.asarray(self._field("a_free"))

    @property
    def multipliers(self) -> Array:
        """Multipliers of the rows of constraints, after `forward`, in the order of model.rows."""
        return np.asarray(self._field("multipliers"))

    @property
    def energy(self) -> float:
        """Total energy, after `forward` or `look`."""
        return float(np.asarray(self._field("energy"))[0])

    @property
    def certificate(self) -> float:
        """The relative error of the last solution of `forward`, computed from the equations and the solution alone."""
        return self._certificate()["certificate"]

    @property
    def sensors(self) -> Array:
        """Readings in the order of model.sensors, after `forward` or `look`."""
        return np.asarray(self._field("sensors"))

    def sensor(self, name: str) -> Array:
        """The numbers of one sensor, after `forward` or `look`."""
        at = [i for i, title in enumerate(self.model.sensors) if title == name or title.startswith(name + ".")]
        if not at:
            no_such(self.model.sensors, name, "sensor")
        return self.sensors[at]

    @property
    def contacts(self) -> npt.NDArray[Any]:
        """Points of contact as a structured array: geom, body, pos, frame, gap, force, slip, state, rows.

        The rows of `frame` are the normal, from the first geom to the second, and two tangents; `force` is the force of the first on the
        second, along these. state: 0 open, 1 sticks, 2 slides, 3 jammed, 4 about to hit.
        """
        return np.frombuffer(self._contacts(), dtype=_CONTACT)

    @property
    def constraints(self) -> list[Constraint]:
        """All constraints, after `forward`."""
        what, much = (np.asarray(part) for part in self._constraints())
        return [
            Constraint(name, _KINDS[what[i, 0]], _MODES[what[i, 1]], *(float(x) for x in much[i]))
            for i, name in enumerate(self.model.constraints)
        ]

    def constraint_force(self, name: str) -> Array:
        """The force of a constraint on the speeds, after `forward`."""
        return np.asarray(self._constraint_force(no_such(self.model.constraints, name, "constraint")))

    def wrench(self, name: str, kind: str = "joint") -> Wrench:
        """The load of a joint, after `forward` or `look`: force and moment of the parent on the body, along the axes of the world.

        kind="body": the load of all joints of a body; kind="constraint": the load of a constraint between two bodies on the second.
        """
        names = {"joint": self.model.joints, "body": self.model.bodies, "constraint": self.model.constraints}
        if kind not in names:
            raise ValueError(f"kind must be 'joint', 'body' or 'constraint', not {kind!r}")
        row = np.asarray(self._wrenches(kind))[no_such(names[kind], name, kind)]
        return Wrench(row[1:4], row[4:7], row[7:10])

    # ---- Queries about the mechanism

    def frame(self, name: str, a: npt.ArrayLike | None = None) -> Frame:
        """The frame of a site, body, geom or point by name ("hand", "site hand", "com hand").

        a: accelerations of the speeds, from which that of the frame is computed.
        """
        given = None if a is None else floats(a, "a")
        memory, dimension = self._frame(name, given)
        x = np.asarray(memory)
        d = slice(0, dimension)
        return Frame(x[0:3][d], x[3:7], x[7:16].reshape(3, 3), x[16:19][d], x[19:22], x[22:25][d], x[25:28])

    def jacobian(self, name: str, rotation: bool = False) -> Array:
        """J with velocity = J v, of the origin of a frame; with rotation=True: angular velocity = J v."""
        return np.asarray(self._jacobian(name, rotation))

    def mass_matrix(self) -> Array:
        return np.asarray(self._mass())

    def force(self, part: str = "all") -> Array:
        """Forces on the speeds: "all", "speeds" (centrifugal, Coriolis), "potential", "applied"; of robots also "gravity", "spring",
        "motor", "passive"."""
        return np.asarray(self._force(part))

    def momentum(self, body: str | None = None) -> Momentum:
        """Momentum of a body with all bodies below it in the tree; without a name, of the whole system."""
        x = np.asarray(self._momentum(0 if body is None else no_such(self.model.bodies, body, "body")))
        return Momentum(float(x[0]), x[1:4], x[4:7], x[7:10], x[10:13])

    def constraint_rows(self) -> tuple[Array, Array, Array, Array]:
        """A and b of the constraints A a = b, and their violations by positions and by speeds."""
        A, b, phi, psi = (np.asarray(part) for part in self._rows())
        return A, b, phi, psi

    # ---- Analysis around this state

    def inverse(self, a: npt.ArrayLike, drive: str | Sequence[str] = ()) -> Inverse:
        """Which forces of the motors, constraints and contacts give these accelerations?

        drive: speeds on which any force may act besides, or "all".
        """
        from .study import speeds_of

        return inverse_of(self._inverse(floats(a, "a"), speeds_of(self.model, drive)))

    def linearise(self) -> Linear:
        """Exact derivatives of the accelerations and multipliers at this state."""
        return linear_of(self._slopes())

    def rest(self, tolerance: float = 0.0, iterations: int = 0) -> Rest:
        """Move to a nearby equilibrium. Raises zwang.Error where none is found."""
        return Rest(**self._rest(tolerance, iterations))

    def modes(self, period: float = 0.0) -> Modes:
        """Small motions about this equilibrium or steady motion; with a period, about a periodic one. Elsewhere there is a warning."""
        return modes_of(self._modes(float(period)))

    def reach(self, time: float = 0.0, tolerance: float = 0.0) -> Reach:
        """Set the speeds (and multipliers) that lead to the goal of the model's `reach` line. Raises zwang.Error where none does.

            >>> import zwang
            >>> sim = zwang.parse("coord x = 0\\nmass 1 at (x)\\nforce x: -1\\nreach x = 3 at 2").sim()
            >>> _ = sim.reach()
            >>> sim.v.round(6).tolist()
            [2.5]
        """
        raw = self._reach(float(time), tolerance)
        return Reach(**{**raw, "least": bool(raw["least"])})

    def sensitivity(self, by: Sequence[str] | str, times: npt.ArrayLike, *, method: str | None = None, step: float = 0.0,
                    tolerance: float = 0.0) -> Sensitivity:
        """Move on through these times, with exact derivatives of the motion by parameters "m", initial values "x(0)" and speeds "x'(0)"."""
        from .study import unknowns_of

        moments = np.atleast_1d(floats(times, "times"))
        if moments.size and (moments[0] < self.time or (np.diff(moments) <= 0).any()):
            raise ValueError("times must increase and not be before the time of the state")
        return sensitivity_of(moments, self._sensitivity(unknowns_of(self.model, by), moments, step, tolerance, method))

    def step_derivatives(self) -> StepLinear:
        """Exact derivatives of the next step of a robot (methods impulse and soft), contacts included: the A and B of a discrete controller.

            >>> import zwang
            >>> sim = zwang.load("examples/bodies/cart_pole.xml").sim(method="impulse", step=0.01)
            >>> sim.step_derivatives().A.shape
            (4, 4)
        """
        by, kinks = self._step_slopes()
        table, n = np.asarray(by), len(self.model.speeds)
        return StepLinear(table[:, :2 * n], table[:, 2 * n:], kinks)

    def gradient(self, cost: Callable[[int, Array, Array], tuple[float, npt.ArrayLike, npt.ArrayLike]], steps: int, *,
                 controls: npt.ArrayLike | None = None) -> Gradient:
        """The cost of the next `steps` steps of a robot (methods impulse and soft) and its exact derivatives; the state is unchanged.

        cost(step, q, v) returns (value, by_q, by_v) for the state after that many steps, derivatives of q being along the speeds; it
        is called for each state, the last one first. controls [steps, actuators]: values for each step; by default those of `ctrl`.

            >>> import numpy as np, zwang
            >>> sim = zwang.load("examples/bodies/cart_pole.xml").sim(method="impulse", step=0.01)
            >>> def cost(step, q, v):
            ...     last = float(step == 50)
            ...     return last * q[0]**2, [2 * last * q[0], 0], [0, 0]
            >>> gradient = sim.gradient(cost, 50, controls=np.ones((50, 1)))
            >>> gradient.by_controls.shape, bool(gradient.cost > 0)
            ((50, 1), True)
        """
        model = self.model
        first = len(model.params) - len(model.actuators)
        which = range(first, first + len(model.actuators)) if controls is not None else range(0)
        given = floats([] if controls is None else controls, "controls").reshape(-1)
        raw = self._gradient(lambda step, q, v: cost(step, np.asarray(q), np.asarray(v)), steps, [float(i) for i in which], given)
        by_controls = np.asarray(raw[4]).reshape(steps, -1) if controls is not None else np.zeros((steps, 0))
        return Gradient(raw[0], np.asarray(raw[1]), np.asarray(raw[2]), np.asarray(raw[3]), by_controls, raw[5])

    # ---- Moving on

    def run(self, time: float | None = None, *, every: float | None = None, digits: bool = False, record: bool = True,
            **options: Any) -> Run:
        """Run to `time`, where the Sim is left. The options are those of Model.run."""
        given = {"time": time, "every": every, **options}
        given = {name: value for name, value in given.items() if value is not None}
        try:
            return Run(self.model, self._run(**{**self._asked, **given}, record=record, digits=digits))
        except (_core.Error, KeyboardInterrupt) as error:
            part = getattr(error, "run", None)
            if isinstance(part, _core.Run):
                error.run = Run(self.model, part)  # type: ignore[union-attr]
            raise


def _revive(model: "Model", asked: dict[str, Any], saved: bytes) -> Sim:
    """A Sim restored from its pickle; see `Sim.__reduce__`."""
    sim = Sim(model, **asked)
    sim.restore(saved)
    return sim
