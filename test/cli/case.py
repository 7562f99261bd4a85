"""What the tests of the command line share: SCRIPT ZWANG CONFIG"""

import csv
import glob
import io
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = sorted(glob.glob(os.path.join(ROOT, "examples", "**", "*.zw"), recursive=True))
# Small campaigns, as under sanitizers, ask everything of some.
SOME_EXAMPLES = EXAMPLES[::4] if os.environ.get("ZW_CAMPAIGN") == "small" else EXAMPLES
ZWANG = os.path.abspath(sys.argv[1])
CONFIG = sys.argv[2] if len(sys.argv) > 2 else "Release"

OK, FAILED, USAGE, MODEL, FILE, NO_MOTION, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


def example(name):
    return os.path.join(ROOT, "examples", name + ".zw")


def zwang(*words, **more):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([ZWANG] + [str(w) for w in words], capture_output=True, text=True,
                          errors="replace", timeout=120, **more)
    return done.returncode, done.stdout, done.stderr


def table(text):
    """Columns by name, as numbers."""
    rows = list(csv.reader(line for line in io.StringIO(text) if not line.startswith("#")))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0]) if name != "event"}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def expect(self, code, *words, **more):
        got, out, err = zwang(*words, **more)
        self.assertEqual(got, code, f"zwang {' '.join(map(str, words))}\n{out}{err}")
        return out, err
