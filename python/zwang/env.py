"""A Gymnasium vector environment of a Batch.

Gymnasium is imported when an environment is made; everything else of the package works without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping

import numpy as np
import numpy.typing as npt

from .batch import Batch

if TYPE_CHECKING:
    from .model import Model

Array = npt.NDArray[np.float64]
Look = Callable[[Batch], npt.ArrayLike]


def _state(batch: Batch) -> Array:
    return np.concatenate([batch.q, batch.v], axis=1)


def ranges(model: "Model") -> tuple[Array, Array]:
    """Lower and upper limits of the controls; infinite where the file has none."""
    limits = np.asarray(model._core.control_ranges(), dtype=float).reshape(-1, 2)
    return limits[:, 0], limits[:, 1]


def make(model: "Model", worlds: int, *, reward: Look, observe: Look = _state, done: Look | None = None,
         start: Callable[[Batch, npt.NDArray[np.bool_], np.random.Generator], None] | None = None, substeps: int = 1, horizon: int = 1000,
         threads: int = 1, sense: bool = False, vary: Mapping[str, npt.ArrayLike] | None = None, **options: Any) -> Any:
    """A gymnasium.vector.VectorEnv: actions are the controls, clipped to their ranges.

    reward(batch) [worlds], observe(batch) [worlds, numbers] and done(batch) [worlds] look at the batch after `substeps` steps.
    start(batch, mask, rng) writes the starts of the worlds of the mask. Worlds that end (done, failed, or after `horizon` steps) begin
    anew in the same call; info["final_obs"] has their last observations. `env.batch` is the Batch.

        env = zwang.env.make(model, 4096, reward=lambda batch: -np.abs(batch.q[:, 0]), threads=8)
        observation, info = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    """
    try:
        import gymnasium
    except ImportError:
        raise ImportError("zwang.env.make needs Gymnasium (pip install gymnasium)") from None

    batch = Batch(model, worlds, threads, vary=vary, **options)
    low, high = ranges(batch.model)
    if sense:
        batch.step(0, sense=True)
    width = np.asarray(observe(batch)).shape[1]

    def space(lower: Array, upper: Array) -> Any:
        return gymnasium.spaces.Box(lower, upper, dtype=np.float64)

    class Env(gymnasium.vector.VectorEnv):  # type: ignore[misc]
        metadata = {"autoreset_mode": getattr(getattr(gymnasium.vector, "AutoresetMode", None), "SAME_STEP", None)}

        def __init__(self) -> None:
            self.batch = batch
            self.num_envs = worlds
            self.single_action_space = space(low, high)
            self.single_observation_space = space(np.full(width, -np.inf), np.full(width, np.inf))
            self.action_space = space(np.tile(low, (worlds, 1)), np.tile(high, (worlds, 1)))
            self.observation_space = space(np.full((worlds, width), -np.inf), np.full((worlds, width), np.inf))
            self.closed = False
            self._steps = np.zeros(worlds, dtype=np.int64)
            self._rng = np.random.default_rng()

        def _begin(self, mask: npt.NDArray[np.bool_]) -> None:
            batch.reset(mask)
            self._steps[mask] = 0
            if start is not None:
                start(batch, mask, self._rng)
            if sense or start is not None:
                batch.step(0, sense=sense)

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
            if seed is not None:
                self._rng = np.random.default_rng(seed)
            self._begin(np.ones(worlds, dtype=bool))
            return np.array(observe(batch), dtype=float), {}

        def step(self, actions: npt.ArrayLike) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
            given = np.asarray(actions, dtype=float)
            if given.shape != batch.ctrl.shape:
                raise ValueError(f"actions have the shape {given.shape}, not {batch.ctrl.shape}")
            np.clip(given, low, high, out=batch.ctrl)
            batch.step(substeps, sense=sense)
            self._steps += 1
            failed = batch.failed
            ended = failed | batch.stopped | (np.zeros(worlds, bool) if done is None else np.asarray(done(batch), dtype=bool))
            late = (self._steps >= horizon) & ~ended
            rewards = np.where(failed, 0.0, np.asarray(reward(batch), dtype=float))
            seen = np.array(observe(batch), dtype=float)
            over = ended | late
            info: dict[str, Any] = {"failed": failed}
            if over.any():
                info["final_obs"] = seen
                info["_final_obs"] = over
                self._begin(over)
                seen = np.where(over[:, None], np.asarray(observe(batch), dtype=float), seen)
            return seen, rewards, ended, late, info

        def close(self, **kwargs: Any) -> None:
            self.closed = True

    return Env()
