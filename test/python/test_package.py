"""The Python package against the program (bit for bit), closed forms, and users' mistakes.

    test_package.py ZWANG EXAMPLES
"""

import copy
import gc
import math
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import zwang

PROGRAM, EXAMPLES = sys.argv[1:3]

PENDULUM = """
param g = 9.81, l = 1, m = 2
coord x = 0.6, y = -0.8
speed x' = 0.8
mass m at (x, y)
gravity (0, -g)
constraint rod: |(x, y)| = l
event bottom: x = 0
"""

ROBOT = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 0.1">
      <freejoint/>
      <geom name="block" type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
    <body name="arm" pos="1 0 1">
      <joint name="hinge" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/>
      <site name="tip" pos="0 0 -0.5"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" gear="2"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/><framepos name="where" objtype="site" objname="tip"/></sensor>
</mujoco>
"""


def robot():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "robot.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ROBOT)
        return zwang.load(path)


def program(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


class Equal(unittest.TestCase):
    """The same bits as the program."""

    def check_state(self, file, time, **options):
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "end.state")
            words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
            program("run", file, "--time", str(time), *words, "--save", saved)
            with open(saved, "rb") as handle:
                theirs = handle.read()
        sim = zwang.load(file).sim()
        sim.run(time, **options)
        self.assertEqual(sim.save(), theirs, file)

    def test_examples(self):
        for name, time in (("double_pendulum.zw", 3), ("bouncing_ball.zw", 2), ("bodies/quadruped.xml", 0.5),
                           ("contact/humanoid_falls.xml", 0.3)):
            with self.subTest(name):
                self.check_state(os.path.join(EXAMPLES, name), time)

    def test_soft(self):
        self.check_state(os.path.join(EXAMPLES, "contact/humanoid_falls.xml"), 0.3, contact="soft")

    def test_steps_are_those_of_a_run(self):
        model = zwang.load(os.path.join(EXAMPLES, "contact/humanoid_falls.xml"))
        one, two = model.sim(), model.sim()
        step = one.options["step"]
        one.step(50)
        two.run(50 * step, every=-1)
        self.assertEqual(one.q.tobytes(), two.q.tobytes())
        self.assertEqual(one.v.tobytes(), two.v.tobytes())

    def test_csv(self):
        file = os.path.join(EXAMPLES, "double_pendulum.zw")
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = os.path.join(folder, "a.csv"), os.path.join(folder, "b.csv")
            program("run", file, "--time", "2", "--output", theirs)
            zwang.load(file).run(2).to_csv(ours)
            with open(ours, encoding="utf-8") as a, open(theirs, encoding="utf-8") as b:
                rows = [[line for line in it if not line.startswith("#")] for it in (a, b)]
        self.assertEqual(rows[0], rows[1])


class Runs(unittest.TestCase):
    def test_closed_form(self):
        run = zwang.parse(PENDULUM).run(2, every=0.01)
        speed = np.hypot(run["x'"], run["y'"])
        fall = run["y"] - run["y"][0]
        np.testing.assert_allclose(speed**2 / 2 + 9.81 * fall, speed[0] ** 2 / 2, atol=1e-11)
        # the rod pulls with m (v^2/l + g cos): its multiplier is of a unit normal
        pull = -run["lambda(rod)"]
        np.testing.assert_allclose(pull, 2 * (speed**2 - 9.81 * run["y"]), atol=1e-9)
        self.assertLess(run.certificate.max(), 1e-12)
        self.assertEqual({event.name for event in run.events}, {"bottom"})
        for event in run.events:
            self.assertLess(abs(run["x"][event.sample]), 1e-10)
        self.assertEqual(run.summary["method"], "dop853")
        self.assertTrue(any(kind == "proved" for kind, *_ in run.verdict))

    def test_params(self):
        model = zwang.parse(PENDULUM)
        slow = model.run(1, g=1.62)
        again = zwang.parse(PENDULUM, g=1.62).run(1)
        self.assertEqual(slow.q.tobytes(), again.q.tobytes())
        self.assertNotEqual(slow.q.tobytes(), model.run(1).q.tobytes())

    def test_absurd_numbers_of_samples(self):
        model = zwang.parse(PENDULUM)
        with self.assertRaisesRegex(zwang.Error, "more than 1e12 samples"):
            model.run(1e300, every=1e-300)
        for record in (True, False):
            with self.assertRaisesRegex(MemoryError, "not enough memory"):
                model.run(1e6, every=1e-6, record=record)

    def test_arrays_share_memory_and_outlive(self):
        run = zwang.parse(PENDULUM).run(1)
        column = run["x"]
        before = column.copy()
        self.assertTrue(np.shares_memory(column, run.q))
        del run
        gc.collect()
        np.testing.assert_array_equal(column, before)

    def test_files(self):
        run = zwang.parse(PENDULUM).run(1)
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("csv", "html"):
                path = os.path.join(folder, "run." + ending)
                getattr(run, "to_" + ending)(path)
                self.assertGreater(os.path.getsize(path), 1000)
            with self.assertRaises(ValueError):
                run.to_csv(os.path.join(folder, "run.txt"))
        self.assertIn("<iframe", run._repr_html_())
        with self.assertRaises(ValueError):
            zwang.parse(PENDULUM).run(1, record=False).to_csv("x.csv")

    def test_digits(self):
        run = zwang.parse(PENDULUM).run(1, digits=True)
        self.assertTrue(any(name == "digits" for _, name, *_ in run.verdict))

    def test_failure_keeps_what_there_is(self):
        model = zwang.parse("coord x = 1\nmass 1 at (x)\nforce x: 1 / (x - 1.5)^2 * 10")
        with self.assertRaises(zwang.Error) as caught:
            model.run(10)
        self.assertGreater(len(caught.exception.run), 0)


class Control(unittest.TestCase):
    def test_views_follow(self):
        sim = robot().sim()
        q, v = sim.q, sim.v
        self.assertFalse(q.flags.writeable)
        sim.ctrl[0] = 0.5
        sim.step(10)
        self.assertIs(sim.q, q)
        self.assertNotEqual(v[-1], 0)
        self.assertAlmostEqual(sim.time, 0.02)
        sim.reset()
        self.assertEqual(v[-1], 0)
        self.assertEqual(sim.ctrl[0], 0)

    def test_motor(self):
        """At rest, hanging: J a = gear * control."""
        sim = robot().sim()
        sim.ctrl = [0.3]
        sim.forward()
        J = sim.mass_matrix()[-1, -1]
        self.assertAlmostEqual(sim.a[-1] * J, 0.6, places=12)

    def test_resting_box(self):
        sim = robot().sim()
        sim.step(20)
        contacts = sim.contacts
        self.assertAlmostEqual(float(contacts["force"][:, 0].sum()), 9.81, places=8)
        self.assertEqual({sim.model.geoms[i] for i in contacts["geom"].reshape(-1)}, {"floor", "block"})
        np.testing.assert_allclose(contacts["frame"][:, 0, 2], 1, atol=1e-12)
        self.assertLess(np.abs(contacts["pos"][:, 2]).max(), 1e-9)

    def test_questions(self):
        sim = robot().sim()
        sim.q = [*sim.q[:-1], 0.7]
        sim.v = [0] * 6 + [2.0]
        tip = sim.frame("tip")
        np.testing.assert_allclose(tip.pos, [1 - 0.5 * math.sin(0.7), 0, 1 - 0.5 * math.cos(0.7)], atol=1e-14)
        np.testing.assert_allclose(sim.jacobian("tip") @ sim.v, tip.velocity, atol=1e-14)
        np.testing.assert_allclose(sim.jacobian("tip", rotation=True) @ sim.v, tip.spin, atol=1e-14)
        sim.forward()
        np.testing.assert_allclose(sim.sensor("where"), tip.pos, atol=1e-14)
        self.assertAlmostEqual(sim.sensor("angle")[0], 0.7)
        self.assertAlmostEqual(sim.momentum().mass, 2)
        free = np.linalg.solve(sim.mass_matrix(), sim.force())
        np.testing.assert_allclose(free, sim.a_free, atol=1e-10)

    def test_constraints(self):
        sim = zwang.parse(PENDULUM).sim()
        sim.forward()
        (rod,) = sim.constraints
        self.assertEqual((rod.name, rod.kind, rod.mode), ("rod", "holonomic", "closed"))
        pull = sim.constraint_force("rod")
        A, b, phi, psi = sim.constraint_rows()
        np.testing.assert_allclose(A.T @ sim.multipliers, pull, atol=1e-12)
        np.testing.assert_allclose(A @ sim.a, b, atol=1e-12)
        self.assertLess(max(abs(phi).max(), abs(psi).max()), 1e-14)
        self.assertLess(sim.certificate, 1e-13)

    def test_save_restore_copy(self):
        sim = robot().sim()
        sim.ctrl[0] = 1
        sim.step(5)
        saved, twin = sim.save(), sim.copy()
        sim.step(20)
        twin.step(20)
        self.assertEqual(sim.hash(), twin.hash())
        end = sim.save()
        sim.restore(saved)
        sim.step(20)
        self.assertEqual(sim.save(), end)

    def test_pickle(self):
        sim = zwang.parse(PENDULUM, g=9.8).sim(step=0.01)
        sim.step(5)
        for twin in (pickle.loads(pickle.dumps(sim)), copy.copy(sim), copy.deepcopy(sim)):
            self.assertEqual(sim.save(), twin.save())
            twin.step(5)
        sim.step(5)
        self.assertEqual(sim.hash(), twin.hash())
        path = os.path.join(EXAMPLES, "pendulum.zw")
        self.assertEqual(pickle.loads(pickle.dumps(zwang.load(path))).run(1).q.tobytes(), zwang.load(path).run(1).q.tobytes())
        with self.assertRaisesRegex(TypeError, "run.write"):
            pickle.dumps(zwang.load(path).run(1))


class Derivatives(unittest.TestCase):
    """Of steps of a robot, against differences."""

    def setUp(self):
        self.model = zwang.load(os.path.join(EXAMPLES, "bodies/cart_pole.xml"))
        self.sim = self.model.sim(method="impulse", step=0.01)
        self.sim.q = [0, 0.3]

    def test_step(self):
        def step(x, u):
            sim = self.model.sim(method="impulse", step=0.01)
            sim.q, sim.v = x[:2], x[2:]
            sim.ctrl[:] = u
            sim.step()
            return np.concatenate([sim.q, sim.v])

        x, h = np.array([0, 0.3, 0, 0]), 1e-5
        found = self.sim.step_derivatives()
        A = np.array([(step(x + h * e, 0) - step(x - h * e, 0)) / (2 * h) for e in np.eye(4)]).T
        np.testing.assert_allclose(found.A, A, atol=1e-9)
        np.testing.assert_allclose(found.B[:, -1], (step(x, h) - step(x, -h)) / (2 * h), atol=1e-9)

    def test_gradient(self):
        controls = np.sin(np.arange(50.0))[:, None]

        def cost(step, q, v):
            last = float(step == 50)
            return last * q[0] ** 2, [2 * last * q[0], 0], [0, 0]

        def run(controls):
            sim = self.sim.copy()
            for control in controls:
                sim.ctrl[:] = control
                sim.step()
            return float(sim.q[0] ** 2)

        found = self.sim.gradient(cost, 50, controls=controls)
        self.assertEqual(found.cost, run(controls))
        for k in (0, 7, 49):
            change = np.zeros((50, 1))
            change[k] = 1e-3
            self.assertAlmostEqual(found.by_controls[k, 0], (run(controls + change) - run(controls - change)) / 2e-3, places=10)
        with self.assertRaises(ZeroDivisionError):
            self.sim.gradient(lambda *_: 1 / 0, 5)
        with self.assertRaises(TypeError):
            self.sim.gradient(lambda *_: 1.0, 5)
        with self.assertRaises(ValueError):
            self.sim.gradient(cost, 50, controls=np.zeros((3, 1)))


class Batches(unittest.TestCase):
    def test_worlds_are_sims(self):
        model = robot()
        for threads in (1, 3):
            batch = zwang.Batch(model, 10, threads)
            batch.ctrl[:, 0] = np.linspace(-1, 1, 10)
            batch.v[:, -1] = np.arange(10) / 10
            self.assertTrue(batch.step(30, sense=True))
            for i in range(10):
                sim = model.sim()
                sim.ctrl[0] = batch.ctrl[i, 0]
                sim.v = [0] * 6 + [i / 10]
                sim.step(30)
                self.assertEqual(sim.q.tobytes(), batch.q[i].tobytes())
                sim.look()
                self.assertEqual(sim.sensors.tobytes(), batch.sensors[i].tobytes())

    def test_runs(self):
        batch = zwang.Batch(zwang.parse(PENDULUM), 5, 2)
        batch.params[:, 0] = [1, 2, 3, 4, 5]
        self.assertTrue(batch.run(1))
        np.testing.assert_array_equal(batch.time, 1)
        sim = zwang.parse(PENDULUM).sim()
        sim.set_params(g=3)
        sim.run(1)
        self.assertEqual(sim.q.tobytes(), batch.q[2].tobytes())

    def test_devices(self):
        """The device "emulated" has the processor's memory: what is handed out by DLPack can be looked at here."""
        here = zwang.Batch(robot(), 5, contact="soft")
        there = zwang.Batch(robot(), 5, contact="soft", device="emulated", contact_capacity=32)
        self.assertIsNone(here.device)
        self.assertIsInstance(there.device, str)
        for batch in (here, there):
            batch.ctrl[:, 0] = np.linspace(-1, 1, 5)
            self.assertTrue(batch.step(3))
        self.assertEqual(here.q.tobytes(), there.q.tobytes())
        before, shared = there.q.copy(), np.from_dlpack(there.on_device("q"))
        self.assertEqual(shared.shape, there.q.shape)
        for batch in (here, there):
            self.assertTrue(batch.step(4, stay=batch is there))
        self.assertEqual(there.q.tobytes(), before.tobytes())
        self.assertEqual(shared.tobytes(), here.q.tobytes())
        there.pull()
        self.assertEqual(there.q.tobytes(), here.q.tobytes())
        single = zwang.Batch(robot(), 5, contact="soft", device="emulated", precision="float")
        single.ctrl[:, 0] = np.linspace(-1, 1, 5)
        self.assertTrue(single.step(7))
        self.assertTrue(np.allclose(single.v, here.v, 1e-4, 1e-4 * abs(here.v).max()))
        self.assertFalse((single.v == here.v).all())
        there.params[:] = here.params[:] = 0.25
        there.push("params")
        np.testing.assert_array_equal(np.from_dlpack(there.on_device("params")), 0.25)
        for batch in (here, there):
            self.assertTrue(batch.step(4, stay=batch is there))
        self.assertEqual(shared.tobytes(), here.q.tobytes())
        for batch in (here, there):
            self.assertTrue(batch.step(2, sense=True))
        self.assertGreater(there.sensors.shape[1], 0)
        self.assertTrue((there.a != 0).any())
        self.assertEqual(here.sensors.tobytes(), there.sensors.tobytes())
        self.assertEqual(here.a.tobytes(), there.a.tobytes())
        self.assertEqual(np.from_dlpack(there.on_device("sensors")).tobytes(), here.sensors.tobytes())
        array = there.on_device("v")
        self.assertEqual(array.__dlpack_device__(), (1, 0))
        self.assertFalse(hasattr(array, "__cuda_array_interface__"))
        references = sys.getrefcount(array)
        array.__dlpack__()  # which no library takes
        self.assertEqual(sys.getrefcount(array), references)
        last = there.q.copy() if there.pull() is None else None
        del there, array, batch
        gc.collect()
        self.assertEqual(shared.tobytes(), last.tobytes())
        for wrong in (lambda: here.on_device("q"), lambda: zwang.Batch(robot(), 2, device="nowhere"),
                      lambda: zwang.Batch(robot(), 2, device="emulated").on_device("force"),
                      lambda: zwang.Batch(robot(), 2, device="emulated", tolerance=1, memoryless=True).step(sense=True),
                      lambda: zwang.Batch(robot(), 2, device="emulated").push("sensors"),
                      lambda: zwang.Batch(robot(), 2, precision="float"),
                      lambda: zwang.Batch(robot(), 2, device="emulated", precision="half"),
                      lambda: zwang.Batch(robot(), 2, device="emulated").push("force")):
            self.assertRaises((ValueError, zwang.Error), wrong)

    def test_failures(self):
        batch = zwang.Batch(robot(), 4, 2)
        batch.v[2, 0] = math.nan
        self.assertFalse(batch.step())
        self.assertEqual(batch.failed.tolist(), [False, False, True, False])
        self.assertIn("cannot be set to nan", batch.why(2))
        self.assertIsNone(batch.why(0))
        batch.reset(batch.failed)
        self.assertTrue(batch.step())
        self.assertFalse(batch.failed.any())
        for wrong in (lambda: zwang.Batch(robot(), 0), lambda: batch.why(9), lambda: batch.reset([1, 0]), lambda: batch.step(-1),
                      lambda: zwang.Batch(3, 3)):
            self.assertRaises((ValueError, IndexError, TypeError, zwang.Error), wrong)


class Kernel(unittest.TestCase):
    def test_block_on_the_floor(self):
        from zwang import gauss

        for push, slides in ((3.0, False), (8.0, True)):
            answer = gauss.solve(M=np.full(3, 2.0), force=[push, 0, -2 * 9.81], A=np.eye(3)[[2, 0, 1]], b=[0, 0, 0],
                                 cones=[gauss.contact(0.3, name="floor")])
            most = 0.3 * 2 * 9.81
            self.assertAlmostEqual(answer.multipliers[0], 2 * 9.81, places=9)
            self.assertAlmostEqual(answer.a[0], (push - most) / 2 if slides else 0, places=9)
            self.assertLess(answer.certificate, 1e-8)

    def test_redundant_and_conflicting(self):
        from zwang import gauss

        twice = [gauss.equality(name="one"), gauss.equality(name="two")]
        answer = gauss.solve(M=[1.0, 1.0], free=[1, 1], A=[[1, 0], [2, 0]], b=[0, 0], cones=twice)
        self.assertEqual(answer.redundant, ("two",))
        with self.assertRaises(zwang.Error) as caught:
            gauss.solve(M=[1.0, 1.0], free=[1, 1], A=[[1, 0], [2, 0]], b=[0, 1], cones=twice)
        self.assertIn("one", str(caught.exception))

    def test_sparse(self):
        try:
            import scipy.sparse as sparse
        except ImportError:
            self.skipTest("no SciPy")
        from zwang import gauss

        rng = np.random.default_rng(1)
        n = 40
        root = sparse.random(n, n, 0.1, random_state=rng) + 3 * sparse.identity(n)
        M = (root @ root.T).toarray()
        M = (M + M.T) / 2
        A = sparse.random(10, n, 0.3, random_state=rng).tocsr()
        b, free = rng.normal(size=10), rng.normal(size=n)
        one = gauss.solve(M, A=A.toarray(), b=b, free=free)
        two = gauss.solve(sparse.csc_matrix(M), M @ free, A, b)
        three = gauss.solve(M, M @ free, A.toarray(), b)
        np.testing.assert_allclose(one.a, two.a, atol=1e-9)
        np.testing.assert_allclose(one.a, three.a, atol=1e-9)
        np.testing.assert_allclose(A @ two.a, b, atol=1e-9)
        for wrong in (sparse.csc_matrix(np.tril(M)), sparse.identity(n + 1)):
            with self.assertRaises(ValueError):
                gauss.solve(wrong, M @ free, A, b)


class Mistakes(unittest.TestCase):
    """Exceptions with a reason, never a crash."""

    def test_text(self):
        with self.assertRaises(zwang.Error) as caught:
            zwang.parse("coord x = 1\nmass 1 at (x, yy)\n")
        error = caught.exception
        self.assertEqual((error.line, error.file), (2, "text.zw"))
        self.assertIn("yy", str(error))
        shown = str(error).splitlines()
        self.assertEqual(shown[1].strip(), "mass 1 at (x, yy)")
        self.assertEqual(shown[2].index("^"), shown[1].index("yy"))

    def test_files(self):
        for path in ("no_such.zw", "no_such.xml", "/", ""):
            with self.assertRaises(zwang.Error):
                zwang.load(path)

    def test_a_keyframe_is_proposed(self):
        path = os.path.join(EXAMPLES, "bodies/four_bar.xml")
        with self.assertRaises(zwang.Error) as caught:
            zwang.load(path).sim()
        self.assertIn("key='up'", "".join(caught.exception.__notes__))
        zwang.load(path, key="up").sim()

    def test_values(self):
        model = zwang.parse(PENDULUM)
        sim = model.sim(step=0.01)
        tries = [
            (ValueError, lambda: setattr(sim, "q", [1, 2, 3])),
            (ValueError, lambda: setattr(sim, "q", [1, math.nan])),
            (ValueError, lambda: sim.run(1, method="magic")),
            (ValueError, lambda: sim.run(1, contact="glue")),
            (zwang.Error, lambda: sim.run(math.nan)),
            (TypeError, lambda: sim.run("long")),
            (TypeError, lambda: sim.run(1, unknown=2)),
            (KeyError, lambda: sim.set_params(gg=1)),
            (KeyError, lambda: model.run(1)["xx"]),
            (KeyError, lambda: sim.constraint_force("rope")),
            (ValueError, lambda: sim.step(-1)),
            (TypeError, lambda: sim.step("one")),
            (ValueError, lambda: sim.force("magic")),
            (zwang.Error, lambda: sim.frame("nothing")),
            (ValueError, lambda: sim.frame("nothing", [1])),
            (zwang.Error, lambda: sim.restore(b"rubbish")),
            (TypeError, lambda: sim.restore(7)),
            (TypeError, lambda: zwang.Sim(7)),
            (TypeError, lambda: zwang.parse(PENDULUM, g="heavy")),
            (zwang.Error, lambda: zwang.parse(PENDULUM, gg=1)),
            (ValueError, lambda: zwang.gauss.solve(M=[1.0], free=[1, 2])),
            (ValueError, lambda: zwang.gauss.solve(M=[[1, 2], [0, 1]], free=[1, 2])),
            (ValueError, lambda: zwang.gauss.solve(M=[1.0, 1], free=[1, math.inf])),
            (ValueError, lambda: zwang.gauss.solve(A=[[1.0]], free=[1.0], cones=[])),
            (zwang.Error, lambda: zwang.gauss.solve(M=[-1.0], free=[1.0])),
            (ValueError, lambda: zwang.Batch(model, -3)),
            (ValueError, lambda: zwang.Batch(model, 3, vary={"g": [1, 2]})),
        ]
        for i, (kind, attempt) in enumerate(tries):
            with self.subTest(i):
                self.assertRaises(kind, attempt)
        sim.step(3)  # and it still works

    def test_nan_control_is_refused(self):
        sim = robot().sim()
        sim.ctrl[0] = math.nan
        with self.assertRaises(zwang.Error):
            sim.step()
        sim.ctrl[0] = 0
        sim.step()

    def test_near_names(self):
        with self.assertRaises(KeyError) as caught:
            zwang.parse(PENDULUM).sim().set_params(gg=1)
        self.assertIn("did you mean g?", str(caught.exception))

    def test_threads(self):
        """One Sim refuses a second thread; many Sims of one Model work side by side, with the same bits."""
        model = robot()
        busy = model.sim()
        refused = []

        def try_it():
            while not refused and not stop.is_set():
                try:
                    busy.step()
                except RuntimeError:
                    refused.append(1)

        stop = threading.Event()
        other = threading.Thread(target=try_it)
        other.start()
        for _ in range(2000):
            try:
                busy.step(5)
            except RuntimeError:
                refused.append(1)
            if refused:
                break
        stop.set()
        other.join()
        self.assertTrue(refused)

        hashes = []

        def go():
            sim = model.sim()
            sim.ctrl[0] = 0.2
            sim.step(200)
            hashes.append(sim.hash())

        threads = [threading.Thread(target=go) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(hashes), 4)
        self.assertEqual(len(set(hashes)), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
