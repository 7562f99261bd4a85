"""zwang sweep under mpirun, with more ranks than processors: SCRIPT ZWANG CONFIG MPIRUN"""

import os
import signal
import subprocess
import sys
import time
import unittest

MPIRUN = sys.argv.pop() if len(sys.argv) > 3 else "mpirun"

from case import OK, Case, example  # noqa: E402  (it reads what is left of the arguments)
from case import ZWANG  # noqa: E402

PENDULUM = example("pendulum")
WORDS = ["--over", "angle = 0.1..3 : 12", "--over", "l=0.5,2", "--keep", "max(x), period(x), x at end", "-t", "20"]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_base_warn_component_unused="0")


class Ranks(Case):
    def command(self, count, *words):
        return [MPIRUN, "-n", str(count), ZWANG, "sweep", *words]

    def mpirun(self, count, *words):
        return subprocess.run(self.command(count, *words), env=ENVIRONMENT, capture_output=True, text=True, timeout=300)

    def whole(self):
        self.expect(OK, "sweep", PENDULUM, *WORDS, "-o", self.path("whole.csv"))
        return self.read("whole.csv")

    def test_same_table(self):
        """Whatever ranks and threads: the same bytes, and one summary."""
        whole = self.whole()
        for ranks, threads in (1, 1), (2, 1), (4, 1), (3, 2):
            name = f"r{ranks}t{threads}.csv"
            done = self.mpirun(ranks, PENDULUM, *WORDS, "-o", self.path(name), "--threads", str(threads))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read(name), whole)
            self.assertEqual(done.stdout.count("24 runs"), 1, done.stdout)
            self.assertFalse(os.path.exists(self.path(name + ".journal")))

    def test_mistakes(self):
        """What is wrong is said once, and no rank waits for another."""
        for words in [PENDULUM, "--over", "nobody = 1..2 : 3", "--keep", "max(x)"], [self.path("not-there.zw"), *WORDS]:
            alone = subprocess.run([ZWANG, "sweep", *words], capture_output=True, text=True)
            done = self.mpirun(3, *words)
            said = alone.stderr.splitlines()[0]
            self.assertEqual(done.stderr.count(said), 1, done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def children(self, of):
        try:
            with open(f"/proc/{of}/task/{of}/children") as file:
                return [int(child) for child in file.read().split()]
        except OSError:
            return []

    def test_a_lost_rank(self):
        """kill -9 of a rank: the job ends, and the same command has the same table in the end."""
        whole = self.whole()
        lost = 0
        for attempt in range(20):
            job = subprocess.Popen(self.command(3, PENDULUM, *WORDS, "-o", self.path("t.csv")), env=ENVIRONMENT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while lost < 2 and job.poll() is None:
                ranks = self.children(job.pid)
                if len(ranks) == 3 and os.path.exists(self.path("t.csv.journal")):
                    time.sleep(0.05 * attempt)
                    os.kill(ranks[2 - lost], signal.SIGKILL)
                    lost += 1
                    break
                time.sleep(0.01)
            job.wait(timeout=300)
            if os.path.exists(self.path("t.csv")):
                self.assertEqual(self.read("t.csv"), whole)
                if lost >= 2:
                    return
                os.remove(self.path("t.csv"))
        self.skipTest("no rank could be killed in time")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
