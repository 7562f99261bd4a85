"""The package gives the bits of the C library: the same questions, asked by test/python/compare_bits.c and by Python.

    bits.py PROGRAM EXAMPLES

Steps, states, accelerations, multipliers, sensors, contacts, mass matrices, Jacobians, inverse dynamics, derivatives and batches of a
dozen systems; and the cost of a step and of a step of 4096 worlds from Python over that from C, interleaved.
"""

import os
import subprocess
import sys
import time

import numpy as np

import zwang

PROGRAM, EXAMPLES = sys.argv[1:3]
SYSTEMS = (
    ("double_pendulum.zw", "-", 0.01, 50),
    ("double_pendulum_redundant.zw", "rk4", 0.01, 50),
    ("bouncing_ball.zw", "-", 0.02, 60),
    ("rolling_disk.zw", "-", 0.01, 50),
    ("chain.zw", "variational", 0.01, 20),
    ("bodies/stewart.xml", "-", 0.002, 20),
    ("bodies/arm.xml", "-", 0.002, 50),
    ("bodies/cart_pole.xml", "impulse", 0.005, 50),
    ("bodies/quadruped.xml", "-", 0.002, 30),
    ("bodies/gripper.xml", "-", 0.002, 30),
    ("contact/humanoid_falls.xml", "-", 0.002, 60),
    ("contact/humanoid_falls.xml", "soft", 0.002, 60),
    ("contact/gripper_capsule.xml", "-", 0.002, 40),
)


def bits(numbers):
    return " ".join(f"{x:016x}" for x in np.ascontiguousarray(numbers, dtype=float).reshape(-1).view(np.uint64).tolist())


def attempt(lines, name, question):
    """Refused by both, or answered by both."""
    try:
        lines.append(f"{name} {bits(question())}".strip())
    except zwang.Error:
        pass


def answers(file, method, step, steps):
    model = zwang.load(file)
    sim = model.sim(method=None if method == "-" else method, step=step or None)
    sim.step(steps)
    lines = [f"hash {sim.hash():016x}", f"q {bits(sim.q)}", f"v {bits(sim.v)}"]
    lines += [f"contact {bits(force)}" for force in sim.contacts["force"]]
    sim.forward()
    for name in ("a", "multipliers", "sensors"):
        lines.append(f"{name} {bits(getattr(sim, name))}".strip())
    lines += [f"mass {bits(sim.mass_matrix())}", f"force {bits(sim.force())}"]
    if len(model.bodies) > 1:
        last = model.bodies[-1]
        lines += [f"pos {bits(sim.frame(last).pos)}", f"jacobian {bits(sim.jacobian(last))}"]
    a = sim.a.copy()
    try:
        forces = sim.inverse(a)
        lines += [f"motor {bits(forces.motor)}".strip(), f"residual {bits(forces.residual)}"]
    except zwang.Error:
        pass
    attempt(lines, "a_by", lambda: np.concatenate([(x := sim.linearise()).a_q, x.a_v, x.a_t[:, None], x.a_p], axis=1).T)
    attempt(lines, "step_by", lambda: np.concatenate([(x := sim.step_derivatives()).A, x.B], axis=1))
    batch = zwang.Batch(model, 5, 2, method=None if method == "-" else method, step=step)
    batch.v[:, -1] += 0.01 * np.arange(5)
    batch.step(steps)
    return lines + [f"batch_q {bits(batch.q)}", f"batch_v {bits(batch.v)}"]


def compare():
    wrong = 0
    for name, method, step, steps in SYSTEMS:
        file = os.path.join(EXAMPLES, name)
        done = subprocess.run([PROGRAM, file, method, repr(step), str(steps)], capture_output=True, text=True, check=True)
        theirs = [line.strip() for line in done.stdout.splitlines()]
        ours = answers(file, method, step, steps)
        names = [[line.split()[0] for line in lines] for lines in (ours, theirs)]
        differ = [line.split()[0] for line, other in zip(ours, theirs) if line != other]
        if differ or names[0] != names[1]:
            print(f"{name} {method}: {differ or names}")
            wrong += 1
        else:
            print(f"{name} {method}: {len(ours)} answers, {sum(len(line.split()) - 1 for line in ours)} numbers with the bits of C")
    return wrong


def program_time(*words):
    return float(subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout)


def least(action, tries):
    best = float("inf")
    for _ in range(tries):
        start = time.thread_time()
        action()
        best = min(best, time.thread_time() - start)
    return best


def loop(step, count):
    for _ in range(count):
        step()


def costs():
    """The least of interleaved tries of each side, in time of the thread."""
    n = 10000
    sim = zwang.parse("param k = 4\ncoord x = 1\nmass 1 at (x)\nforce x: -k * x\n").sim(method="euler", step=1e-3)
    file = os.path.join(EXAMPLES, "bodies/cart_pole.xml")
    batch = zwang.Batch(zwang.load(file), 4096, method="impulse", step=0.005)
    c = python = c_batch = python_batch = float("inf")
    for _ in range(4):
        c = min(c, program_time("cost", str(n)))
        python = min(python, least(lambda: loop(sim.step, n), 10) / n)
        c_batch = min(c_batch, program_time("batch", file, "impulse", "0.005"))
        batch.reset()
        python_batch = min(python_batch, least(batch.step, 8))
    one = zwang.Batch(batch.model, 1, method="impulse", step=0.005)
    call = least(lambda: loop(lambda: one.step(0), 1000), 10) / 1000
    print(f"a step in C {1e6 * c:.3f} us, from Python {1e6 * python:.3f} us: {1e6 * (python - c):.3f} us more")
    print(f"a step of 4096 worlds in C {1e3 * c_batch:.3f} ms, from Python {1e3 * python_batch:.3f} ms; "
          f"a call without worlds to move takes {1e6 * call:.2f} us, {100 * call / c_batch:.4f} %")
    return (python - c > 1e-6) + (call > 0.01 * c_batch)


wrong = compare()
if "--no-times" not in sys.argv:
    wrong += costs()
sys.exit(wrong > 0)
