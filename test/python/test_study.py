"""Recordings, families of motions and what is near a state, from Python: against the program bit for bit, and closed forms.

    test_study.py ZWANG EXAMPLES
"""

import csv
import gc
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import standin
import zwang

PROGRAM, EXAMPLES = sys.argv[1:3]
SPRING = "param k = 4, m = 1\ncoord x = 1\nmass m at (x)\nforce x: -k * x\n"


def example(name):
    return os.path.join(EXAMPLES, name)


def program(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


class Certify(unittest.TestCase):
    def test_as_the_program(self):
        file, recording = example("double_pendulum.zw"), example("tampered_swing.csv")
        theirs = json.loads(program("certify", file, recording, "--json", code=5))
        trial = zwang.certify(zwang.load(file), recording)
        self.assertEqual(trial.verdict, theirs["verdict"])
        self.assertFalse(trial)
        for ours, name in ((trial.defect, "defect"), (trial.mean, "mean"), (trial.mean_least, "mean_least")):
            self.assertEqual(ours, theirs[name])
        self.assertEqual((trial.worst_time, trial.worst_force), (theirs["worst"]["time"], theirs["worst"]["force"]))
        self.assertEqual(trial.worst_coord, theirs["worst"]["coordinate"])
        self.assertEqual(trial.force.shape, (len(trial.t), 4))
        self.assertAlmostEqual(trial.t[int(np.nanargmax(trial.force_size / trial.force_error))], trial.worst_time, places=6)
        with tempfile.TemporaryDirectory() as folder:
            trial.write(os.path.join(folder, "trial.csv"))
            self.assertGreater(os.path.getsize(os.path.join(folder, "trial.csv")), 1000)

    def test_force_that_nobody_has_written(self):
        """A recording of a driven oscillator, tried without its drive, shows that drive."""
        driven = zwang.parse(SPRING + "force x: 0.3 * sin(t)")
        run = driven.run(8, every=0.02)
        self.assertTrue(zwang.certify(driven, run))
        trial = zwang.certify(zwang.parse(SPRING), run)
        inner = slice(20, -20)
        np.testing.assert_allclose(trial.force[inner, 0], 0.3 * np.sin(trial.t[inner]), atol=1e-6)

    def test_arrays_outlive(self):
        trial = zwang.certify(zwang.parse(SPRING), zwang.parse(SPRING).run(3, every=0.02))
        q = trial.q
        before = q.copy()
        del trial
        gc.collect()
        np.testing.assert_array_equal(q, before)

    def test_inverse(self):
        """M a - F of a swing that is prescribed: in closed form."""
        model = zwang.parse("param g = 9.81\ncoord a = 0\nmass 2 at (sin(a), -cos(a))\ngravity (0, -g)")
        t = np.linspace(0, 2, 201)
        forces = zwang.inverse(model, (t, 0.5 * np.sin(3 * t)), drive="all")
        wanted = -2 * 0.5 * 9 * np.sin(3 * t) + 2 * 9.81 * np.sin(0.5 * np.sin(3 * t))
        np.testing.assert_allclose(forces["drive(a)"][10:-10], wanted[10:-10], atol=1e-6)
        with self.assertRaisesRegex(KeyError, "did you mean drive"):
            forces["drive(b)"]


class Fits(unittest.TestCase):
    def test_as_the_program(self):
        file, recording = example("rubbing_pendulum.zw"), example("rubbing_pendulum.csv")
        theirs = json.loads(program("fit", file, recording, "--vary", "l, c = 0..1, mu = 0..1, a(0)", "--json"))
        fit = zwang.fit(zwang.load(file), recording, {"l": None, "c": (0, 1), "mu": (0, 1), "a(0)": None})
        for estimate in fit:
            for name in ("value", "error", "low", "high"):
                self.assertEqual(getattr(estimate, name), theirs["unknowns"][estimate.name][name])
        self.assertEqual(fit.noise, theirs["noise"])
        self.assertEqual(fit.correlation[1].tolist(), theirs["unknowns"]["c"]["correlation"])
        self.assertEqual((fit.cost, fit.runs), (theirs["cost"], theirs["runs"]))

    def test_several_recordings_and_what_they_leave_open(self):
        model = zwang.parse(SPRING)
        runs = [model.run(4, every=0.1, k=5, m=2), model.run(2, every=0.03, k=5, m=2)]
        fit = zwang.fit(model, runs, ("k", "m"))
        self.assertAlmostEqual(fit["k"].value / fit["m"].value, 2.5, places=8)  # only the ratio acts
        self.assertEqual(len(fit.undetermined), 1)
        self.assertEqual(set(fit.undetermined[0]), {"k", "m"})
        self.assertTrue(math.isinf(fit["k"].error))
        again = zwang.fit(model, runs, "k", sigma={"x": 1e-3, "x'": 1e-3})
        self.assertAlmostEqual(again.model.run(1)["x"][-1], math.cos(math.sqrt(2.5)), places=6)


class Sweeps(unittest.TestCase):
    def test_as_the_program(self):
        file = example("turning_hoop.zw")
        model = zwang.load(file)
        name = model.params[0]
        keep = f"max({model.coords[0]}), {model.coords[0]} at end"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.csv")
            program("sweep", file, "--over", f"{name} = 0.5, 1, 2", "--keep", keep, "--time", "1", "-o", path)
            with open(path, encoding="utf-8") as handle:
                rows = list(csv.reader(line for line in handle if not line.startswith("#")))
        for threads in (1, 2):
            table = zwang.sweep(model, {name: [0.5, 1, 2]}, keep, time=1, threads=threads)
            for title in rows[0]:
                if title in table.names:
                    theirs = [float(row[rows[0].index(title)]) for row in rows[1:]]
                    self.assertEqual(table[title].tolist(), theirs, title)

    def test_text_progress_files_and_failures(self):
        seen = []
        table = zwang.sweep(zwang.parse(SPRING), ["k = 1..9 : 3", "m = 1, 4"], "max(x')", time=10, progress=lambda *x: seen.append(x))
        np.testing.assert_allclose(table["max(x')"], np.sqrt(table["k"] / table["m"]), atol=1e-8)
        self.assertEqual((len(table), table.failed.any(), seen[-1]), (6, False, (6, 6)))
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("csv", "svg"):
                table.write(os.path.join(folder, "t." + ending))
        broken = zwang.sweep(zwang.parse("param c = 1\n" + SPRING + "force x: 1/c\n"), {"c": [0, 1]}, "max(x)", time=1)
        self.assertEqual(broken.failed.tolist(), [True, False])
        self.assertTrue(math.isnan(broken["max(x)"][0]))

    def test_what_the_caller_raises_ends_it(self):
        def stop(done, runs):
            raise LookupError("enough")

        with self.assertRaises(LookupError):
            zwang.sweep(zwang.parse(SPRING), "k = 1..9 : 30", "max(x)", time=1, progress=stop)


class Near(unittest.TestCase):
    def test_inverse_of_forward(self):
        sim = zwang.load(example("bodies/arm.xml")).sim()
        sim.ctrl[:] = np.linspace(0.1, 0.3, len(sim.ctrl))
        sim.v = np.linspace(-0.2, 0.2, len(sim.v))
        sim.forward()
        found = sim.inverse(sim.a)
        self.assertLess(found.size, 1e-9)
        pushed = sim.inverse(sim.a + 1, drive="all")
        self.assertLess(np.abs(pushed.residual).max(), 1e-8)

    def test_wrench(self):
        """A resting arm: its hinge carries weight and moment; at a foreign speed the centripetal force too."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write('<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 0 1"/>'
                           '<geom type="sphere" size=".01" mass="2" pos=".5 0 0"/></body></worldbody></mujoco>')
            sim = zwang.load(path).sim()
        sim.v = [3]
        sim.forward()
        wrench = sim.wrench("hinge")
        np.testing.assert_allclose(wrench.force, [-2 * 0.5 * 9, 0, 2 * 9.81], atol=1e-10)
        np.testing.assert_allclose(wrench.moment, [0, -2 * 9.81 * 0.5, 0], atol=1e-10)
        self.assertRaises(KeyError, sim.wrench, "knee")
        self.assertRaises(ValueError, sim.wrench, "hinge", "thing")

    def test_linearise(self):
        sim = zwang.parse("param g = 9.81, c = 0.3\ncoord a = 0.4\nmass 1 at (sin(a), -cos(a))\ngravity (0, -g)\nforce a: -c*a'").sim()
        linear = sim.linearise()
        np.testing.assert_allclose(linear.a_q, [[-9.81 * math.cos(0.4)]], atol=1e-12)
        np.testing.assert_allclose(linear.a_v, [[-0.3]], atol=1e-12)
        np.testing.assert_allclose(linear.a_p[0], [-math.sin(0.4), 0], atol=1e-12)
        self.assertEqual((linear.multipliers_q.shape, linear.kinks), ((0, 1), 0))

    def test_rest_and_modes(self):
        sim = zwang.parse("param g = 9.81\ncoord x = 0.6, y = -0.8\nmass 2 at (x, y)\ngravity (0, -g)\nconstraint rod: |(x, y)| = 1").sim()
        sim.rest()
        np.testing.assert_allclose(sim.q, [0, -1], atol=1e-9)
        modes = sim.modes()
        self.assertEqual(modes.stability, "neutral")
        np.testing.assert_allclose(modes.frequency, [math.sqrt(9.81)], atol=1e-9)
        self.assertEqual(modes.shapes.shape, (1, 2))

    def test_reach(self):
        sim = zwang.load(example("heisenberg_reach.zw")).sim()
        way = sim.reach()
        self.assertLess(way.miss, 1e-9)
        run = sim.run(2)
        np.testing.assert_allclose(run.q[-1], [1, 0.3, 0.5], atol=1e-9)
        with self.assertRaisesRegex(ValueError, "reach"):
            zwang.parse(SPRING).sim().reach()

    def test_sensitivity(self):
        """x = cos(w t), w = sqrt(k/m): by k and by the start."""
        t = np.linspace(0.5, 4, 8)
        s = zwang.parse(SPRING).sim().sensitivity(("k", "x(0)"), t)
        np.testing.assert_allclose(s.q[:, 0], np.cos(2 * t), atol=1e-8)
        np.testing.assert_allclose(s.q_by[:, 0, 0], -t * np.sin(2 * t) / 4, atol=1e-7)
        np.testing.assert_allclose(s.q_by[:, 0, 1], np.cos(2 * t), atol=1e-7)
        np.testing.assert_allclose(s.v_by[:, 0, 1], -2 * np.sin(2 * t), atol=1e-7)


class Batches(unittest.TestCase):
    def test_varied_worlds_are_models_of_their_own(self):
        model = zwang.load(example("bodies/arm.xml"))
        body = model.bodies[1]
        masses = [1.0, 2.0, 2.0, 3.0]
        batch = zwang.Batch(model, 4, 2, vary={f"{body}.mass": masses})
        batch.ctrl[:] = 0.1
        self.assertTrue(batch.step(40))
        for i, mass in enumerate(masses):
            sim = model.with_params(**{f"{body}.mass": mass}).sim()
            sim.ctrl[:] = 0.1
            sim.step(40)
            self.assertEqual(sim.q.tobytes(), batch.q[i].tobytes())
        self.assertNotEqual(batch.q[0].tobytes(), batch.q[1].tobytes())
        self.assertEqual(batch.q[1].tobytes(), batch.q[2].tobytes())

    def test_memory_is_shared(self):
        batch = zwang.Batch(zwang.parse(SPRING), 5)
        shared = np.from_dlpack(batch.q)
        batch.q[3] = 0.25
        self.assertEqual(shared[3, 0], 0.25)
        del batch
        gc.collect()
        self.assertEqual(shared[3, 0], 0.25)

    def test_one_thread_at_a_time(self):
        batch = zwang.Batch(zwang.parse(SPRING), 200, step=1e-3, method="euler")
        other = threading.Thread(target=lambda: batch.step(3000))
        other.start()
        refused = 0
        while other.is_alive() and not refused:
            try:
                batch.step()
            except RuntimeError:
                refused += 1
        other.join()
        self.assertEqual(refused, 1)

    def test_save_and_resume(self):
        batch = zwang.Batch(zwang.parse(SPRING), 3, vary={"k": [1, 2, 3]}, step=0.01, method="rk4")
        batch.step(10)
        saved = batch.save()
        batch.step(10)
        end = batch.q.copy()
        batch.restore(saved)
        batch.step(10)
        self.assertEqual(end.tobytes(), batch.q.tobytes())
        self.assertRaises(zwang.Error, batch.restore, b"rubbish")

    def test_wrong(self):
        model = zwang.parse(SPRING)
        tries = [lambda: zwang.Batch(model), lambda: zwang.Batch([model, 3]), lambda: zwang.Batch([model], 2),
                 lambda: zwang.Batch([model, zwang.parse("coord x, y\nmass 1 at (x, y)")]),
                 lambda: zwang.Batch(model, 3, vary={"k": [1, 2]}), lambda: zwang.Batch(model, 3, vary={"kk": [1, 2, 3]}),
                 lambda: zwang.Batch(model, -1), lambda: zwang.Batch(model, 3, 0)]
        for i, attempt in enumerate(tries):
            with self.subTest(i):
                self.assertRaises((ValueError, TypeError, zwang.Error), attempt)


class Environment(unittest.TestCase):
    """By Gymnasium itself where it is installed, else by the stand-in (standin.py)."""

    def setUp(self):
        if standin.install():
            self.addCleanup(standin.remove)

    def make(self, **more):
        def start(batch, mask, rng):
            batch.q[mask] = rng.uniform(-0.1, 0.1, (int(mask.sum()), batch.q.shape[1]))

        model = zwang.load(example("bodies/cart_pole.xml"))
        return zwang.env.make(model, 8, reward=lambda b: 1 - b.q[:, -1] ** 2, done=lambda b: np.abs(b.q[:, -1]) > 0.5, start=start,
                              substeps=8, horizon=40, threads=2, **more)

    def test_the_stand_in_is_like_gymnasium(self):
        import gymnasium

        if sys.modules["gymnasium"].vector.VectorEnv is standin.VectorEnv:
            self.skipTest("Gymnasium is not installed")
        self.assertEqual(standin.differences(gymnasium), [])

    def test_spaces(self):
        from gymnasium.vector import AutoresetMode, VectorEnv
        from gymnasium.vector.utils import batch_space

        env = self.make()
        self.assertIsInstance(env, VectorEnv)
        self.assertIs(env.unwrapped, env)
        self.assertEqual((env.num_envs, env.single_action_space.shape, env.single_observation_space.shape), (8, (1,), (4,)))
        self.assertEqual(env.action_space, batch_space(env.single_action_space, 8))
        self.assertEqual(env.observation_space, batch_space(env.single_observation_space, 8))
        self.assertEqual(env.metadata["autoreset_mode"], AutoresetMode.NEXT_STEP)
        self.assertFalse(env.closed)
        env.close()
        self.assertTrue(env.closed)

    def test_seeds(self):
        env = self.make()
        first, info = env.reset(seed=3)
        again, _ = env.reset(seed=3)
        other, _ = env.reset()
        self.assertEqual(info, {})
        self.assertEqual(first.tobytes(), again.tobytes())
        self.assertNotEqual(first.tobytes(), other.tobytes())
        self.assertTrue(env.observation_space.contains(first))
        self.assertEqual(env.np_random_seed, 3)

    def steps(self, env, count=100):
        env.reset(seed=3)
        env.action_space.seed(5)
        for _ in range(count):
            yield env.step(0.1 * env.action_space.sample() + np.linspace(-0.5, 6, 8)[:, None])  # some fall soon, some never

    def check(self, env, seen, reward, terminated, truncated):
        self.assertTrue(env.observation_space.contains(seen))
        self.assertEqual((reward.shape, reward.dtype), ((8,), np.float64))
        for flags in (terminated, truncated):
            self.assertEqual((flags.shape, flags.dtype), ((8,), np.bool_))
        self.assertFalse((terminated & truncated).any())
        self.assertTrue(np.isfinite(seen).all() and np.isfinite(reward).all())

    def test_next_step(self):
        env, before, ends, length = self.make(), np.zeros(8, bool), [0, 0], np.zeros(8, int)
        for seen, reward, terminated, truncated, info in self.steps(env, 200):
            self.check(env, seen, reward, terminated, truncated)
            over = terminated | truncated
            length = np.where(before, 0, length + 1)
            self.assertFalse((over & before).any())  # a call that begins a world ends none
            self.assertTrue((np.abs(seen[before][:, :2]) <= 0.1).all() and (seen[before][:, 2:] == 0).all() and (reward[before] == 0).all())
            self.assertTrue((np.abs(seen[terminated][:, 1]) > 0.5).all())
            self.assertTrue((length[truncated] == 40).all() and (length <= 40).all())
            np.testing.assert_array_equal(reward[~before], 1 - seen[~before][:, 1] ** 2)
            ends, before = [ends[0] + int(terminated.sum()), ends[1] + int(truncated.sum())], over
        self.assertGreater(min(ends), 3)

    def test_same_step(self):
        env, episodes = self.make(autoreset="SameStep"), 0
        for seen, reward, terminated, truncated, info in self.steps(env):
            self.check(env, seen, reward, terminated, truncated)
            over = terminated | truncated
            self.assertTrue((np.abs(seen[over][:, :2]) <= 0.1).all())  # a new start
            self.assertEqual("final_obs" in info, bool(over.any()))
            if over.any():
                np.testing.assert_array_equal(info["_final_obs"], over)
                self.assertEqual([last is None for last in info["final_obs"]], (~over).tolist())
                self.assertTrue(all(abs(last[1]) > 0.5 for last in info["final_obs"][terminated]))
                self.assertFalse(info["final_info"]["failed"].any())
            episodes += int(over.sum())
        self.assertGreater(episodes, 8)

    def test_disabled(self):
        import gymnasium

        env = self.make(autoreset="Disabled")
        over = np.zeros(8, bool)
        for seen, _, terminated, truncated, _ in self.steps(env, 60):
            over = terminated | truncated
            if over.any():
                break
        self.assertTrue(over.any() and not over.all())
        with self.assertRaises(gymnasium.error.ResetNeeded):
            env.step(np.zeros((8, 1)))
        now, _ = env.reset(options={"reset_mask": over})
        np.testing.assert_array_equal(now[~over], seen[~over])
        self.assertTrue((np.abs(now[over][:, :2]) <= 0.1).all())
        env.step(np.zeros((8, 1)))
        for wrong in ([True] * 8, np.ones(8), np.ones(3, bool), np.zeros(8, bool)):
            with self.assertRaises((TypeError, ValueError)):
                env.reset(options={"reset_mask": wrong})

    def test_a_world_that_fails(self):
        model = zwang.parse("param u = 0\ncoord x = 1\nmass 1 at (x)\nforce x: 1 / (x - 1.5)^2 * 10")
        env = zwang.env.make(model, 2, reward=lambda b: np.ones(2), substeps=1, step=0.05)
        failed = 0
        for _ in range(40):
            seen, reward, terminated, truncated, info = env.step(np.zeros((2, 0)))
            self.assertTrue((reward[info["failed"]] == 0).all() and terminated[info["failed"]].all())
            failed += int(info["failed"].sum())
        self.assertGreater(failed, 2)

    def test_wrong(self):
        env = self.make()
        for action in (np.zeros((3, 1)), np.zeros(8), [["left"]] * 8):
            self.assertRaises(ValueError, env.step, action)
        self.assertRaisesRegex(ValueError, "NextStep", self.make, autoreset="Never")
        model = zwang.load(example("bodies/cart_pole.xml"))
        self.assertRaisesRegex(ValueError, "observe", zwang.env.make, model, 4, reward=lambda b: 0, observe=lambda b: b.q[:, 0])
        env = zwang.env.make(model, 4, reward=lambda b: 1.0)
        self.assertRaisesRegex(ValueError, "reward", env.step, np.zeros((4, 1)))

    def test_without_gymnasium(self):
        kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "gymnasium"}
        self.addCleanup(sys.modules.update, kept)
        self.addCleanup(sys.modules.pop, "gymnasium", None)
        sys.modules["gymnasium"] = None  # as if it were not there
        with self.assertRaisesRegex(ImportError, "gymnasium"):
            zwang.env.make(zwang.parse(SPRING), 2, reward=lambda b: b.q[:, 0])


class Interrupts(unittest.TestCase):
    """Ctrl-C ends long work soon, and what was interrupted can be used again."""

    def ends(self, work):
        def stop(number, frame):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, stop)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with self.assertRaises(KeyboardInterrupt):
            work()
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertLess(time.monotonic() - start, 20)

    def test_all(self):
        model = zwang.parse(SPRING)
        sim, batch = model.sim(step=1e-3, method="euler"), zwang.Batch(model, 50, 2, step=1e-3, method="euler")
        long, late = model.sim(step=1e9), zwang.Batch(model, 2, 2, step=1e-3, method="rk4")
        late.time[0] = 1e9
        varied = zwang.Batch(model, 3, 2, vary={"k": [1, 2, 3]})
        for work in (lambda: sim.step(10**9), lambda: batch.step(10**9), lambda: long.step(), lambda: late.run(1e9),
                     lambda: zwang.Batch(model, 50, 2).run(1e9), lambda: varied.run(1e9), lambda: sim.run(1e7, every=1e6, method="rk4", step=1e-3),
                     lambda: zwang.sweep(model, "k = 1..9 : 64", "max(x)", time=1e6, every=1e5, method="rk4", step=1e-3, threads=2)):
            self.ends(work)
        sim.step(3)
        self.assertTrue(batch.step(3))
        self.assertFalse(varied.failed.any())
        self.assertTrue(varied.run(float(varied.time.max()) + 1))
        self.assertEqual(set(varied.time), {varied.time.max()})


class Calls(unittest.TestCase):
    def test_as_text(self):
        built = zwang.System().param(k=4, m=1).coord(x=1).mass("m", "x").force("x", "-k * x").model().run(2)
        self.assertEqual(built.q.tobytes(), zwang.parse(SPRING).run(2).q.tobytes())
        with self.assertRaisesRegex(zwang.Error, "system.zw:2:12: 'y' is not known"):
            zwang.System().coord(x=1).mass(1, "y").model()
        self.assertRaises(ValueError, zwang.System().line, "coord x = 1\nmass 1 at (x)")

    def test_robots_by_calls(self):
        """A robot by calls has the bits of the same robot in a file; what a call gets wrong has a place in the text."""
        text = """<mujoco><compiler angle="radian"/><option timestep="0.005" gravity="0 0 -9.81"/><default><geom friction="0.4"/></default><asset>
            <mesh name="tetra" vertex="0 0 0 0.2 0 0 0 0.2 0 0 0 0.2"/></asset><worldbody><geom name="floor" type="plane" size="2 2 0.1"/>
            <body name="upper" pos="0 0 1"><joint name="shoulder" type="hinge" axis="0 1 0" damping="0.05"/>
              <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="1"/>
              <body name="lower" pos="0 0 -0.4"><joint name="elbow" type="hinge" axis="0 1 0" range="-2 2"/>
                <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="0.5"/><site name="hand" pos="0 0 -0.4"/></body></body>
            <body name="stone" pos="0.3 0 0.4"><freejoint name="loose"/><geom type="mesh" mesh="tetra"/></body>
            <body name="crank" pos="0 1 1"><inertial mass="2" pos="0 0 0" diaginertia="0.1 0.1 0.1"/><joint name="turn" type="hinge" axis="1 0 0"/></body>
            </worldbody><contact><exclude body1="upper" body2="stone"/></contact>
            <equality><joint name="geared" joint1="turn" joint2="elbow" polycoef="0 2 0 0 0"/></equality>
            <tendon><fixed name="both" stiffness="3"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-1"/></fixed></tendon>
            <actuator><position name="servo" joint="elbow" kp="40" kv="4"/></actuator><sensor><framepos name="where" objtype="site" objname="hand"/></sensor>
            <keyframe><key name="bent" qpos="0.3 0.5 0.3 0 0.4 1 0 0 0 1"/></keyframe></mujoco>"""
        robot = zwang.Robot(timestep=0.005, gravity=(0, 0, -9.81))
        robot.default("geom", friction=0.4)
        tetra = robot.mesh("tetra", vertex=np.vstack([np.zeros(3), 0.2 * np.eye(3)]))
        robot.world.geom("plane", "floor", size=(2, 2, 0.1))
        upper = robot.world.body("upper", pos=(0, 0, 1))
        shoulder = upper.joint("shoulder", axis=(0, 1, 0), damping=0.05)
        upper.geom("capsule", fromto=(0, 0, 0, 0, 0, -0.4), size=0.03, mass=1)
        lower = upper.body("lower", pos=[0, 0, -0.4])
        elbow = lower.joint("elbow", axis=(0, 1, 0), range=(-2, 2))
        lower.geom("capsule", fromto=(0, 0, 0, 0, 0, -0.4), size=0.03, mass=0.5)
        hand = lower.site("hand", pos=(0, 0, -0.4))
        stone = robot.world.body("stone", pos=(0.3, 0, 0.4))
        stone.joint("loose", "free")
        stone.geom("mesh", mesh=tetra)
        turn = robot.world.body("crank", pos=(0, 1, 1)).inertial(2, diaginertia=(0.1, 0.1, 0.1)).joint("turn", axis=(1, 0, 0))
        robot.exclude(upper, stone)
        robot.equality("joint", "geared", joint1=turn, joint2=elbow, polycoef=(0, 2, 0, 0, 0))
        robot.tendon("fixed", "both", stiffness=3).joint(shoulder, 1).joint(elbow, -1)
        robot.actuator("position", "servo", joint=elbow, kp=40, kv=4)
        robot.sensor("framepos", "where", objtype="site", objname=hand)
        robot.key("bent", qpos=(0.3, 0.5, 0.3, 0, 0.4, 1, 0, 0, 0, 1))
        built, read = robot.model(key="bent"), zwang.parse(text, name="robot.xml", key="bent")
        self.assertEqual(built.bodies, read.bodies)
        self.assertEqual((built.run(0.5).q.tobytes(), built.run(0.5).sensors.tobytes()), (read.run(0.5).q.tobytes(), read.run(0.5).sensors.tobytes()))
        self.assertEqual(robot.model(**{"upper.mass": 3.0}).sim().momentum("upper").mass - robot.model().sim().momentum("upper").mass, 2)
        lower.geom("sphere", size=0.1, colour="red")
        with self.assertRaisesRegex(zwang.Error, "<geom> has no attribute 'colour'"):
            robot.model()
        with self.assertRaisesRegex(ValueError, "a joint that is referred to needs a name"):
            robot.actuator("motor", joint=lower.joint())
        self.assertEqual(zwang.Robot().world.name, "world")


class Mistakes(unittest.TestCase):
    def test_values(self):
        model = zwang.parse(SPRING)
        run = model.run(2, every=0.05)
        sim = model.sim()
        tries = [
            (zwang.Error, lambda: zwang.certify(model, "nothing.csv")),
            (TypeError, lambda: zwang.certify(model, 7)),
            (TypeError, lambda: zwang.certify(model, (run.t,))),
            (ValueError, lambda: zwang.certify(model, (run.t, run.q[:-1]))),
            (ValueError, lambda: zwang.certify(model, (run.t, run.q * math.nan))),
            (zwang.Error, lambda: zwang.certify(model, (run.t[::-1], run.q))),
            (ValueError, lambda: zwang.certify(model, run, metric=[[1, 2]])),
            (AttributeError, lambda: zwang.certify("model", run)),
            (KeyError, lambda: zwang.fit(model, run, "kk")),
            (KeyError, lambda: zwang.fit(model, run, "z(0)")),
            (ValueError, lambda: zwang.fit(model, run, {"k": (2, 1)})),
            (KeyError, lambda: zwang.fit(model, run, "k", sigma={"y": 1})),
            (TypeError, lambda: zwang.fit(model, [], "k")),
            (ValueError, lambda: zwang.fit(model, run, "k", method="magic")),
            (zwang.Error, lambda: zwang.sweep(model, {"kk": [1]}, "max(x)")),
            (zwang.Error, lambda: zwang.sweep(model, {"k": [1]}, "most(x)")),
            (TypeError, lambda: zwang.sweep(model, [], "max(x)")),
            (TypeError, lambda: zwang.sweep(model, [3], "max(x)")),
            (KeyError, lambda: zwang.sweep(model, {"k": [1]}, "max(x)", time=1)["min(x)"]),
            (ValueError, lambda: sim.inverse([1, 2])),
            (KeyError, lambda: sim.inverse([1], drive="y")),
            (ValueError, lambda: sim.sensitivity("k", [])),
            (ValueError, lambda: sim.sensitivity("k", [2, 1])),
            (KeyError, lambda: sim.sensitivity("kk", [1])),
            (TypeError, lambda: setattr(sim, "q", [1j])),
            (TypeError, lambda: setattr(sim, "q", ["one"])),
            (TypeError, lambda: sim.inverse([None])),
            (TypeError, lambda: zwang.gauss.solve(M=[1j], free=[1])),
            (TypeError, lambda: zwang.certify(model, (run.t, run.q + 1j))),
            (zwang.Error, lambda: sim.restore(zwang.parse("coord y = 1\nmass 1 at (y)").sim().save())),
            (zwang.Error, lambda: zwang.Batch(model, 2).restore(zwang.Batch(model, 3).save())),
        ]
        for i, (kind, attempt) in enumerate(tries):
            with self.subTest(i):
                self.assertRaises(kind, attempt)
        sim.reset()
        sim.run(1)  # and it still works


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
