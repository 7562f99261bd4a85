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


def _mask(options: dict[str, Any] | None, worlds: int) -> npt.NDArray[np.bool_]:
    """Mask of the worlds to reset: options["reset_mask"], or all."""
    if not options or "reset_mask" not in options:
        return np.ones(worlds, dtype=bool)
    mask = options["reset_mask"]
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError("options['reset_mask'] must be a NumPy array of bool")
    if mask.shape != (worlds,) or not mask.any():
        raise ValueError(f"options['reset_mask'] must have shape ({worlds},) and select at least one world")
    return mask


def make(model: "Model", worlds: int, *, reward: Look, observe: Look = _state, done: Look | None = None,
         start: Callable[[Batch, npt.NDArray[np.bool_], np.random.Generator], None] | None = None, substeps: int = 1, horizon: int = 1000,
         autoreset: str = "NextStep", threads: int = 1, sense: bool = False, vary: Mapping[str, npt.ArrayLike] | None = None,
         **options: Any) -> Any:
    """A gymnasium.vector.VectorEnv: actions are the controls, clipped to their ranges. Gymnasium 1.1 or later.

    reward(batch) [worlds], observe(batch) [worlds, numbers] and done(batch) [worlds] are called after every `substeps` steps.
    start(batch, mask, rng) writes the initial states of the worlds of the mask. A world is terminated if done returns true for it, if it
    failed, or if a `stop` line of the file ended it; after `horizon` steps it is truncated. autoreset is one of Gymnasium's modes:

    "NextStep"  worlds that have ended are reset in the next call, which ignores their actions and returns no reward;
    "SameStep"  they are reset in the same call: info["final_obs"] and info["final_info"] hold their last observations and infos;
    "Disabled"  the caller resets them: env.reset(options={"reset_mask": terminated | truncated}).

    info["failed"] is the mask of worlds whose step failed; `env.batch` is the Batch.

        env = zwang.env.make(model, 4096, reward=lambda batch: -np.abs(batch.q[:, 0]), threads=8)
        observation, info = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    """
    try:
        import gymnasium
        from gymnasium.vector import AutoresetMode, VectorEnv
        from gymnasium.vector.utils import batch_space
    except ImportError:
        raise ImportError("zwang.env.make needs Gymnasium 1.1 or later (pip install gymnasium)") from None

    modes = {mode.value: mode for mode in AutoresetMode}
    if autoreset not in modes:
        raise ValueError(f"autoreset must be one of {', '.join(modes)}, not {autoreset!r}")
    batch = Batch(model, worlds, threads, vary=vary, **options)
    low, high = ranges(batch.model)
    if sense:
        batch.step(0, sense=True)
    shape = np.asarray(observe(batch)).shape
    if len(shape) != 2 or shape[0] != worlds:
        raise ValueError(f"observe(batch) has shape {shape}; expected ({worlds}, numbers)")

    def of_worlds(what: str, values: npt.ArrayLike, kind: type) -> Any:
        array: npt.NDArray[Any] = np.asarray(values, dtype=kind)
        if array.shape != (worlds,):
            raise ValueError(f"{what}(batch) has shape {array.shape}; expected ({worlds},)")
        return array

    class Env(VectorEnv):  # type: ignore[misc]
        metadata = {"autoreset_mode": modes[autoreset]}

        def __init__(self) -> None:
            self.batch = batch
            self.num_envs = worlds
            self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
            self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (shape[1],), dtype=np.float64)
            self.action_space = batch_space(self.single_action_space, worlds)
            self.observation_space = batch_space(self.single_observation_space, worlds)
            self._steps = np.zeros(worlds, dtype=np.int64)
            self._over = np.zeros(worlds, dtype=bool)  # ended, and not reset since

        def _begin(self, mask: npt.NDArray[np.bool_]) -> None:
            batch.reset(mask)
            self._steps[mask] = 0
            self._over[mask] = False
            if start is not None:
                start(batch, mask, self.np_random)
            if sense or start is not None:
                batch.step(0, sense=sense)

        def _see(self) -> Array:
            return np.array(observe(batch), dtype=float)

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
            mask = _mask(options, worlds)
            super().reset(seed=seed)
            self._begin(mask)
            return self._see(), {}

        def step(self, actions: npt.ArrayLike) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
            given = np.asarray(actions, dtype=float)
            if given.shape != batch.ctrl.shape:
                raise ValueError(f"actions have shape {given.shape}, not {batch.ctrl.shape}")
            if autoreset == "Disabled" and self._over.any():
                raise gymnasium.error.ResetNeeded(
                    f"{int(self._over.sum())} worlds have ended: env.reset(options={{'reset_mask': terminated | truncated}}) resets them")
            anew = self._over.copy()  # "NextStep": the motion of these worlds in this step is discarded
            np.clip(given, low, high, out=batch.ctrl)
            batch.step(substeps, sense=sense)
            failed = batch.failed & ~anew
            ended = failed | (batch.stopped & ~anew)
            if anew.any():
                self._begin(anew)
            self._steps[~anew] += 1
            if done is not None:
                ended |= of_worlds("done", done(batch), bool) & ~anew
            late = (self._steps >= horizon) & ~ended & ~anew
            rewards = np.where(failed | anew, 0.0, of_worlds("reward", reward(batch), float))
            self._over = ended | late
            info: dict[str, Any] = {"failed": failed, "_failed": np.ones(worlds, dtype=bool)}
            seen = self._see()
            if autoreset == "SameStep" and self._over.any():
                seen = self._begin_at_once(seen, info)
            return seen, rewards, ended, late, info

        def _begin_at_once(self, seen: Array, info: dict[str, Any]) -> Array:
            over = self._over.copy()
            last = np.full(worlds, None, dtype=object)
            for i in np.flatnonzero(over):
                last[i] = seen[i]
            info.update(final_obs=last, _final_obs=over, _final_info=over.copy(),
                        final_info={"failed": info["failed"] & over, "_failed": over.copy()})
            self._begin(over)
            return np.where(over[:, None], self._see(), seen)

    return Env()
