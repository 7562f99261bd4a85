"""zwang sweep: what is done survives, whatever ends the program: SCRIPT ZWANG CONFIG"""

import os
import random
import signal
import subprocess
import sys
import time
import unittest

from case import FILE, INTERRUPTED, MODEL, OK, USAGE, ZWANG, Case, example

PENDULUM = example("pendulum")
WORDS = ["--over", "angle = 0.1..3 : 12", "--over", "l=0.5,2", "--keep", "max(x), period(x), x at end", "-t", "20"]


class Sweep(Case):
    def start(self, *words):
        return subprocess.Popen([ZWANG, "sweep", PENDULUM, *WORDS, *words], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def whole(self):
        self.expect(OK, "sweep", PENDULUM, *WORDS, "-o", self.path("whole.csv"))
        return self.read("whole.csv")

    def runs_done(self, name):
        try:
            return max(0, self.read(name + ".journal").count("\n") - 1)
        except FileNotFoundError:
            return 0

    def test_killed(self):
        """kill -9 at ten random moments, by one and by two threads: the table is the same, byte for byte."""
        whole = self.whole()
        dice = random.Random(18)
        begun = time.monotonic()
        self.expect(OK, "sweep", PENDULUM, *WORDS, "-o", self.path("timed.csv"))
        took = time.monotonic() - begun
        kills = 0
        for attempt in range(200):
            program = self.start("-o", self.path("t.csv"), "--threads", str(1 + attempt % 2))
            try:
                program.communicate(timeout=took * dice.uniform(0, 0.25))
            except subprocess.TimeoutExpired:
                program.kill()
                program.communicate()
                kills += 1
            if os.path.exists(self.path("t.csv")):
                self.assertEqual(self.read("t.csv"), whole)
                self.assertFalse(os.path.exists(self.path("t.csv.journal")))
                os.remove(self.path("t.csv"))
                if kills >= 10:
                    break
        self.assertGreaterEqual(kills, 10)

    def test_interrupted(self):
        """Ctrl-C: reported, no table under its name, and what is done is not done again."""
        whole = self.whole()
        program = self.start("-o", self.path("t.csv"))
        while self.runs_done("t.csv") < 3 and program.poll() is None:
            time.sleep(0.002)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate()
        if program.returncode != OK:  # a quick machine may be through
            self.assertEqual(program.returncode, INTERRUPTED, said)
            self.assertIn("runs are done; the same command continues", said)
            self.assertFalse(os.path.exists(self.path("t.csv")))
            done = self.runs_done("t.csv")
            self.assertGreaterEqual(done, 3)
            out, _ = self.expect(OK, "sweep", PENDULUM, *WORDS, "-o", self.path("t.csv"))
            self.assertIn(f"{done} were done before", out)
        self.assertEqual(self.read("t.csv"), whole)

    def test_damaged_journal(self):
        """Lines that are cut short or changed count as not done."""
        whole = self.whole()
        program = self.start("-o", self.path("t.csv"))
        while self.runs_done("t.csv") < 5 and program.poll() is None:
            time.sleep(0.002)
        program.kill()
        program.communicate()
        if not os.path.exists(self.path("t.csv")):
            lines = self.read("t.csv.journal").split("\n")
            lines[2] = lines[2].replace("3", "4", 1) if "3" in lines[2] else lines[2][1:]
            self.write("t.csv.journal", "\n".join(lines)[:-20])
            self.expect(OK, "sweep", PENDULUM, *WORDS, "-o", self.path("t.csv"))
        self.assertEqual(self.read("t.csv"), whole)

    def test_nothing_after(self):
        out, _ = self.expect(OK, "sweep", PENDULUM, *WORDS, "--after", "100")
        self.assertIn("in no run after t = 100", out)

    def test_other_journal(self):
        self.write("t.csv.journal", "something else\n")
        _, err = self.expect(USAGE, "sweep", PENDULUM, *WORDS, "-o", self.path("t.csv"))
        self.assertIn("is the journal of another sweep", err)
        self.assertEqual(self.read("t.csv.journal"), "something else\n")

    def test_two_at_once(self):
        program = self.start("-o", self.path("t.csv"))
        while self.runs_done("t.csv") < 1 and program.poll() is None:
            time.sleep(0.002)
        if program.poll() is None:
            program.send_signal(signal.SIGSTOP)
            if not os.path.exists(self.path("t.csv")):
                _, err = self.expect(FILE, "sweep", PENDULUM, *WORDS, "-o", self.path("t.csv"))
                self.assertIn("another sweep is using", err)
            program.send_signal(signal.SIGCONT)
        program.communicate()

    def test_words(self):
        """A pipe gets numbers and no bar; what is wrong is said."""
        out, err = self.expect(OK, "sweep", PENDULUM, "--over", "l=1,2", "--keep", "x at end", "-q", "-o", "-")
        self.assertEqual(len(out.splitlines()), 3)
        self.assertEqual(err, "")
        for words, code, said in [
                (["--over", "lx=1,2", "--keep", "x at end"], MODEL, "no parameter 'lx' to set; did you mean 'l'?"),
                (["--over", "l=1..2:0", "--keep", "x at end"], USAGE, "has no values"),
                (["--over", "l=1..2", "--keep", "x at end"], USAGE, "is not a range of values"),
                (["--over", "l=1..2:10000", "--over", "m=1..2:10000", "--keep", "x at end"], USAGE, "1e+08 runs"),
                (["--over", "l=1,2", "--keep", "max(xx)"], USAGE, "\"xx\": 'xx' is not known"),
                (["--over", "l=1,2", "--keep", "count(hit)"], USAGE, "there is no event 'hit'"),
                (["--over", "l=1,2"], USAGE, "nothing to keep"),
                (["--keep", "x at end"], USAGE, "sweep needs parameters"),
                (["--over", "l=random 1..2", "--keep", "x at end"], USAGE, "the number of samples of l is missing"),
                (["--over", "l=1,2", "--set", "l=1", "--keep", "x at end"], USAGE, "l is both set and varied"),
                (["--over", "l=1,2", "--keep", "x at end", "--threads", "0"], USAGE, "--threads takes a whole number")]:
            with self.subTest(words=words):
                _, err = self.expect(code, "sweep", PENDULUM, *words)
                self.assertIn(said, err)

    def test_failing_run(self):
        """One that fails has its reason in its row, and the others are there."""
        out, _ = self.expect(1, "sweep", PENDULUM, "--over", "l=1,0,2", "--keep", "x at end", "-o", self.path("t.csv"))
        rows = [line for line in self.read("t.csv").splitlines() if not line.startswith("#")]
        self.assertEqual(len(rows), 4)
        self.assertTrue(rows[1].endswith(",ok") and rows[3].endswith(",ok"))
        self.assertIn("singular position", rows[2])
        self.assertIn("nan", rows[2])
        self.assertIn("1 failed", out)

    def test_pictures(self):
        self.expect(OK, "sweep", PENDULUM, "--over", "l = 1..2 : 10", "--over", "angle = 0.1..1 : 9", "--keep",
                    "max(x), points(x, every 0.5, 4)", "-t", "2", "--plot", self.path("t.svg"), "--report",
                    self.path("t.html"))
        picture = self.read("t.svg")
        self.assertIn("dark", picture)
        self.assertEqual(picture.count("h0"), 90 * 4)
        self.assertIn('"kind":"dots"', self.read("t.html"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
