"""Every public call with arguments of wrong shapes, dtypes, values and owners: an exception or an answer, never a crash, and the object
still works afterwards.

    test_abuse.py [SEED [ROUNDS]]
"""

import gc
import inspect
import math
import os
import random
import sys
import tempfile
import threading

import numpy as np

import zwang
from zwang import gauss

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 25
TEXT = "param k = 4, m = 1\ncoord x = 1, y = 0\nmass m at (x, y)\nforce x: -k * x\nconstraint wall: x >= -2\nconstraint line: y = 0\nevent mid: x = 0\nrun time 0.05, every 0.01\n"
ROBOT = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="0 0 1"/>
<body name="box" pos="0 0 .1"><freejoint/><geom name="block" type="box" size=".1 .1 .1" mass="1"/></body>
<body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass="1"/>
<site name="tip" pos="0 0 -.5"/></body></worldbody><actuator><motor name="motor" joint="hinge"/></actuator>
<sensor><jointpos name="angle" joint="hinge"/></sensor></mujoco>"""


def model_of_robot():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "robot.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ROBOT)
        return zwang.load(path)


class Hostile:
    """Looks like an array until it is used."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array here")

    def __index__(self):
        raise RuntimeError("no number here")

    def __float__(self):
        raise RuntimeError("no number here")

    def __fspath__(self):
        raise RuntimeError("no path here")


def built_robot(pick):
    """A robot by calls, some of whose attributes are anything."""
    robot = zwang.Robot(timestep=pick())
    body = robot.world.body(pick(), pos=pick())
    joint = body.joint("j", pick(), axis=pick())
    body.geom(pick(), size=pick(), mass=pick())
    robot.actuator(pick(), "m", joint=joint, kp=pick())
    robot.tendon("fixed").joint(pick(), pick())
    robot.mesh("mesh", vertex=pick())
    return robot.model(key=pick())


def values(rng):
    n = rng.choice([0, 1, 2, 3, 7, 8, 100])
    made = [
        None, True, 0, 1, -1, 3, 2**31, 2**63, -(2**70), 0.0, 0.02, -0.5, math.nan, math.inf, -math.inf, 1e308, 1e-308, 1j, "", "x", "x'",
        "x(0)", "k", "hinge", "tip", "all", "rk4", "soft", "no such", "\0", "\ud800", "line\nbreak", "a" * 10000, b"", b"bytes", bytearray(8), [], (),
        {}, {"k": 1}, {"k": (1, 9)}, {"x": "y"}, {1: 2}, [1, "a"], [[1], [1, 2]], object(), Hostile(), lambda *_: None, len, int,
        np.zeros(n), np.ones(n, dtype=np.float32), np.arange(n), np.full(n, math.nan), np.zeros((n, 2)), np.zeros((2, n)).T, np.zeros((1, 2, 3)),
        np.array(1.0), np.array(["a"] * n), np.zeros(n, dtype=complex), np.zeros(n, dtype=object), np.zeros(n, dtype=bool), np.zeros(n)[::-1],
        np.zeros(2 * n)[::2], np.zeros(n, dtype=">f8"), np.ma.masked_array(np.zeros(n)), memoryview(bytes(8 * n)), np.zeros(n, dtype=[("a", float)]),
        (np.arange(3.0), np.zeros((3, 2))), (np.arange(3.0), np.zeros((3, 2)), np.zeros((3, 2))), threading.Lock(), zwang, Exception("e"),
    ]
    return made


def methods(thing):
    for name, member in inspect.getmembers(type(thing)):
        if name.startswith("_") and name not in ("_set", "_field", "_frame", "_jacobian", "_run", "_options", "_inverse", "_gradient", "_sensitivity",
                                                 "_reach", "_rest", "_modes", "_wrenches", "_constraint_force", "_momentum", "_force", "_move",
                                                 "_reset", "_restore", "__getitem__", "__init__", "__setattr__"):
            continue
        if isinstance(member, property):
            yield name, "property"
        elif callable(member):
            yield name, "method"


REFUSED = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, RuntimeError, MemoryError, BufferError, ImportError,
           UnicodeError, zwang.Error, OSError, np.exceptions.AxisError if hasattr(np, "exceptions") else ValueError)


def attack(thing, rng):
    """One call of each method; how many were refused and how many answered."""
    refused = answered = 0
    for name, kind in methods(thing):
        given = values(rng)
        count = rng.choice([0, 1, 1, 1, 2, 2, 3])
        arguments = [rng.choice(given) for _ in range(count)]
        if name in ("step", "run", "_move", "_run", "gradient", "_gradient", "sensitivity", "_sensitivity"):  # what could take long for good reason
            arguments = [x for x in arguments if not (isinstance(x, (int, float)) and not isinstance(x, bool) and 10 < x < math.inf)]
            arguments = [x for x in arguments if not isinstance(x, np.ndarray) or x.size < 50]
        try:
            if kind == "property":
                if rng.random() < 0.5:
                    getattr(thing, name)
                else:
                    setattr(thing, name, rng.choice(given))
            else:
                getattr(thing, name)(*arguments)
            answered += 1
        except REFUSED:
            refused += 1
    return refused, answered


def functions(rng, model, run):
    given = values(rng)
    pick = lambda: rng.choice(given)  # noqa: E731
    calls = [
        lambda: zwang.parse(pick()), lambda: zwang.load(pick()), lambda: zwang.parse(TEXT, **{rng.choice(["k", "m", "zz"]): pick()}),
        lambda: zwang.Sim(pick()), lambda: zwang.Batch(pick(), rng.choice([0, 1, 2, -1])), lambda: zwang.Batch(model, rng.choice([0, 2, None, 1.5, "a"]), pick()),
        lambda: zwang.Batch(model, 2, vary=pick()), lambda: zwang.certify(pick(), run), lambda: zwang.certify(model, pick()),
        lambda: zwang.fit(model, pick(), pick()), lambda: zwang.fit(model, run, pick()), lambda: zwang.inverse(model, pick(), drive=pick()),
        lambda: zwang.sweep(model, pick(), pick(), time=0.01), lambda: zwang.optimise(pick()), lambda: zwang.optimise(model),
        lambda: gauss.solve(pick(), pick(), pick(), free=pick()), lambda: gauss.solve(M=[1.0, 1.0], free=[1, 1], A=pick(), b=pick()),
        lambda: gauss.solve(M=[1.0, 1.0], free=[1, 1], A=[[1, 0]], b=[0], cones=pick()), lambda: gauss.contact(pick()), lambda: gauss.box(pick(), pick()),
        lambda: built_robot(pick), lambda: zwang.System().param(a=pick()).coord(x=pick()).mass(pick(), pick()).model(), lambda: model.sim(step=pick(), method=pick()),
    ]
    refused = answered = 0
    for call in calls:
        try:
            call()
            answered += 1
        except REFUSED:
            refused += 1
    return refused, answered


def freed(model):
    """Views outlive their owners; objects whose __init__ was never called are refused."""
    sim, batch, run = model.sim(step=0.01), zwang.Batch(model, 3, step=0.01), model.run(0.05)
    views = [sim.q, sim.v, sim.ctrl, sim.params, batch.q, batch.v, run.q, run["x"] if "x" in run.keys() else run.t]
    del sim, batch, run
    gc.collect()
    for view in views:
        view.sum()
    for kind in (zwang.Sim, zwang.Batch, zwang.Model):
        try:
            bare = kind.__new__(kind)
            attack(bare, random.Random(1))
        except REFUSED:
            pass


def main():
    rng = random.Random(SEED)
    models = [zwang.parse(TEXT), model_of_robot()]
    refused = answered = 0
    os.chdir(tempfile.mkdtemp())  # what is written by accident lies there
    np.seterr(all="ignore")
    for _ in range(ROUNDS):
        for model in models:
            run = model.run(0.05)
            things = [model, model.sim(step=0.01), zwang.Batch(model, 2, step=0.01), run]
            for thing in things:
                a, b = attack(thing, rng)
                refused, answered = refused + a, answered + b
            a, b = functions(rng, model, run)
            refused, answered = refused + a, answered + b
    for model in models:
        freed(model)
        sim = model.sim(step=0.01)
        sim.step(3)
        assert np.isfinite(sim.q).all()
    print(f"{refused} calls refused, {answered} answered, none crashed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
