"""Objects of the package come and go without a trace: by what Python allocates (tracemalloc) and by the size of the process.

    test_memory.py [TURNS]      each turn makes and drops some objects of each kind, about twenty
"""

import gc
import os
import sys
import tracemalloc

import numpy as np

import zwang
from zwang import gauss

TURNS = int(sys.argv[1]) if len(sys.argv) > 1 else 600
TEXT = "param k = 4\ncoord x = 1\nmass 1 at (x)\nforce x: -k * x\nconstraint wall: x >= -2\nrun time 0.02, every 0.01\n"
REACH = "coord x = 0\nmass 1 at (x)\nforce x: -1\nreach x = 3 at 2\n"
RUN = zwang.parse(TEXT).run(0.4, every=0.02)


def fails(attempt):
    try:
        attempt()
    except (zwang.Error, ValueError, TypeError, KeyError):
        return
    raise AssertionError("no exception")


def models():
    model = zwang.parse(TEXT, k=3)
    _ = model.coords, model.notes, repr(model), model.with_params(k=2)
    fails(lambda: zwang.parse("coord x = y"))
    fails(lambda: zwang.parse(TEXT, k="heavy"))


def sims():
    sim = zwang.parse(TEXT).sim(step=0.01, method="rk4")
    sim.step(2)
    sim.forward()
    _ = sim.q, sim.v, sim.a, sim.constraints, sim.contacts, sim.mass_matrix(), sim.save(), sim.copy(), sim.linearise(), sim.modes()
    _ = sim.inverse(sim.a, drive="x"), sim.sensitivity("k", [sim.time + 0.01])
    fails(lambda: sim.restore(b"no"))
    fails(lambda: sim.inverse([1, 2, 3]))
    view = sim.q
    sim.me = sim  # a cycle, for the collector
    del sim
    _ = view.sum()


def runs():
    run = zwang.parse(TEXT).run(0.02)
    _ = run["x"].sum(), run.summary, run.verdict, run.events
    zwang.parse(REACH).sim().reach()


def batches():
    model = zwang.parse(TEXT)
    batch = zwang.Batch(model, 3, vary={"k": [1, 2, 2]}, step=0.01, method="rk4")
    batch.step(2, sense=True)
    batch.restore(batch.save())
    batch.reset(batch.failed)
    fails(lambda: zwang.Batch([model, 3]))
    q = batch.q
    del batch
    _ = q.sum()


def studies():
    model = zwang.parse(TEXT)
    trial = zwang.certify(model, RUN)
    _ = trial.q.sum(), zwang.inverse(model, RUN, drive="x")["t"].sum()
    _ = zwang.fit(model, RUN, {"k": (1, 9)})["k"].value, zwang.sweep(model, {"k": [1, 2]}, "max(x)")["k"].sum()
    fails(lambda: zwang.certify(model, (RUN.t,)))
    fails(lambda: zwang.fit(model, RUN, "z"))
    fails(lambda: zwang.sweep(model, {"z": [1]}, "max(x)"))


def kernel():
    _ = gauss.solve(M=np.diag([2.0, 2.0]), free=[0, -9.81], A=[[0, 1.0]], b=[0]).multipliers.sum()
    fails(lambda: gauss.solve(M=[1.0], free=[1, 2]))
    fails(lambda: gauss.solve(M=[1.0, 1.0], free=[1, 1], A=[[1, 0], [2, 0]], b=[0, 1]))


def size():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def check(kind, turns):
    """What leaks grows in every part of the turns; a heap that finds its size grows in some."""
    for _ in range(max(turns // 10, 30)):
        kind()
    gc.collect()
    tracemalloc.start()
    python, process = [], []
    for _ in range(PARTS):
        before = tracemalloc.get_traced_memory()[0], size()
        for _ in range(turns // PARTS):
            kind()
        gc.collect()
        python.append(tracemalloc.get_traced_memory()[0] - before[0])
        process.append(size() - before[1])
    tracemalloc.stop()
    print(f"{kind.__name__:8} {turns} turns: {min(python)} bytes of Python's, {min(process)} of the process more in the best of {PARTS} parts, "
          f"{sum(python)} and {sum(process)} in all")
    return min(python) < 2000 and (SANITIZED or min(process) < 40000)


PARTS = 4
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")  # which keeps what was freed for a while

if __name__ == "__main__":
    sys.exit(not all([check(kind, TURNS) for kind in (models, sims, runs, batches, studies, kernel)]))
