"""As much of Gymnasium 1.x as a vector environment touches, where it is not installed (Debian has no package of it).

The names, parameters and attributes are those of its documentation; `differences(real)` compares them with an installed Gymnasium, so that this
stand-in cannot silently differ.
"""

import enum
import inspect
import sys
import types

import numpy as np


class AutoresetMode(enum.Enum):
    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


class ResetNeeded(Exception):
    """gymnasium.error.ResetNeeded"""


class Box:
    """gymnasium.spaces.Box: numbers between limits."""

    def __init__(self, low, high, shape=None, dtype=np.float32, seed=None):
        shape = np.broadcast_shapes(np.shape(low), np.shape(high)) if shape is None else tuple(shape)
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.low = np.broadcast_to(np.asarray(low, dtype=dtype), shape).copy()
        self.high = np.broadcast_to(np.asarray(high, dtype=dtype), shape).copy()
        self.seed(seed)

    def seed(self, seed=None):
        self._rng = np.random.default_rng(seed)
        return seed

    def sample(self, mask=None, probability=None):
        wide = self._rng.normal(size=self.shape)
        within = self._rng.uniform(np.maximum(self.low, -1e9), np.minimum(self.high, 1e9))
        return np.where(np.isfinite(self.low) & np.isfinite(self.high), within, np.clip(wide, self.low, self.high)).astype(self.dtype)

    def contains(self, x):
        return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

    def __eq__(self, other):
        return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype
                and np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high))


def batch_space(space, n=1):
    """gymnasium.vector.utils.batch_space of a Box."""
    return Box(np.stack([space.low] * n), np.stack([space.high] * n), dtype=space.dtype)


class VectorEnv:
    """gymnasium.vector.VectorEnv: attributes, reset, step, close, and the random numbers of an environment."""

    metadata: dict = {}
    spec = None
    render_mode = None
    closed = False
    _generator = None
    _seed = None

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._generator, self._seed = np.random.default_rng(seed), seed

    def step(self, actions):
        raise NotImplementedError

    def render(self):
        raise NotImplementedError

    def close(self, **kwargs):
        if not self.closed:
            self.close_extras(**kwargs)
            self.closed = True

    def close_extras(self):
        pass

    @property
    def np_random(self):
        if self._generator is None:
            self._generator = np.random.default_rng()
        return self._generator

    @property
    def np_random_seed(self):
        return self._seed

    @property
    def unwrapped(self):
        return self


def modules():
    """The modules by name, for sys.modules."""
    utils = types.ModuleType("gymnasium.vector.utils")
    utils.batch_space = batch_space
    vector = types.ModuleType("gymnasium.vector")
    vector.VectorEnv, vector.AutoresetMode, vector.utils = VectorEnv, AutoresetMode, utils
    gymnasium = types.ModuleType("gymnasium")
    gymnasium.vector, gymnasium.spaces = vector, types.SimpleNamespace(Box=Box)
    gymnasium.error = types.SimpleNamespace(ResetNeeded=ResetNeeded)
    return {"gymnasium": gymnasium, "gymnasium.vector": vector, "gymnasium.vector.utils": utils}


def _parameters(function):
    return [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]


def differences(real):
    """What of the stand-in is not so in the module gymnasium itself; a list of words."""
    found = []
    pairs = [(VectorEnv, real.vector.VectorEnv), (Box, real.spaces.Box)]
    for ours, theirs in pairs:
        for name in vars(ours):
            if name.startswith("_") and name != "__init__":
                continue
            if not hasattr(theirs, name):
                found.append(f"{theirs.__name__} has no {name}")
            elif callable(getattr(ours, name)) and _parameters(getattr(ours, name)) != _parameters(getattr(theirs, name)):
                found.append(f"{theirs.__name__}.{name}{inspect.signature(getattr(theirs, name))}")
    if [(m.name, m.value) for m in AutoresetMode] != [(m.name, m.value) for m in real.vector.AutoresetMode]:
        found.append("AutoresetMode")
    single = real.spaces.Box(np.array([-1.0, -np.inf]), np.array([2.0, np.inf]), dtype=np.float64)
    many, ours = real.vector.utils.batch_space(single, 3), batch_space(Box(single.low, single.high, dtype=np.float64), 3)
    if not (np.array_equal(many.low, ours.low) and np.array_equal(many.high, ours.high) and many.dtype == ours.dtype):
        found.append("batch_space")
    if not issubclass(real.error.ResetNeeded, Exception):
        found.append("ResetNeeded")
    return found


def install():
    """Into sys.modules, where Gymnasium is missing; returns whether it was."""
    try:
        import gymnasium  # noqa: F401
        return False
    except ImportError:
        sys.modules.update(modules())
        return True


def remove():
    for name in modules():
        sys.modules.pop(name, None)
