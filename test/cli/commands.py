"""The command line, as its users see it: commands.py ZWANG CONFIG

Every command on real examples, its exit codes and messages, and what is left on the disk."""

import csv
import glob
import io
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = sorted(glob.glob(os.path.join(ROOT, "examples", "**", "*.zw"), recursive=True))
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
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


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


class Usage(Case):
    def test_help(self):
        out, err = self.expect(OK, "help")
        for command in ("run", "explain", "check", "certify", "limit", "help", "--version"):
            self.assertIn(command, out)
        self.assertEqual(err, "")
        self.assertEqual(self.expect(OK, "--help")[0], out)
        self.assertEqual(self.expect(USAGE)[1], out)
        for command in ("run", "explain", "check", "certify", "limit"):
            page = self.expect(OK, "help", command)[0]
            self.assertEqual(self.expect(OK, command, "--help")[0], page)
            self.assertLessEqual(max(map(len, page.split("\n"))), 100)

    def test_manual_and_completion_know_every_option(self):
        def text_of(*place):
            with open(os.path.join(ROOT, *place), encoding="utf-8") as file:
                return file.read().replace("\\-", "-")
        texts = [text_of("cli", "zwang.1"), text_of("cli", "zwang.bash"), text_of("docs", "cli.md")]
        for command in ("run", "explain", "check", "certify", "limit"):
            for option in set(re.findall(r"--[a-z]+", self.expect(OK, "help", command)[0])):
                for text in texts:
                    self.assertIn(option, text)

    def test_version(self):
        self.assertRegex(self.expect(OK, "--version")[0], r"^zwang \d+\.\d+\.\d+\n$")

    def test_suggestions(self):
        pendulum = example("pendulum")
        for words, meant in ((["rnu", pendulum], "did you mean run?"),
                             (["explian", pendulum], "did you mean explain?"),
                             (["help", "chekc"], "did you mean check?"),
                             (["certfy", pendulum, "a.csv"], "did you mean certify?"),
                             (["certify", pendulum, "a.csv", "--nois", "1"], "did you mean --noise?"),
                             ([pendulum], "zwang run"),
                             (["run", pendulum, "--tme", "1"], "did you mean --time?"),
                             (["run", pendulum, "--reprot=a.html"], "did you mean --report?"),
                             (["run", pendulum, "--method", "dop835"], "did you mean dop853?")):
            self.assertIn(meant, self.expect(USAGE, *words)[1])
        self.assertIn("did you mean", self.expect(MODEL, "run", pendulum, "--set", "mm=1")[1])

    def test_wrong_usage_is_told_and_does_nothing(self):
        pendulum = example("pendulum")
        for words in (["frobnicate"], ["run"], ["run", ""], ["run", pendulum, pendulum],
                      ["run", pendulum, "--frobnicate"], ["run", pendulum, "-t"],
                      ["run", pendulum, "-t", "soon"], ["run", pendulum, "-t", "-1"],
                      ["run", pendulum, "-t", "nan"], ["run", pendulum, "-t", "inf"],
                      ["run", pendulum, "-t", "1e999"], ["run", pendulum, "--tol", "0"],
                      ["run", pendulum, "--tol", "1"], ["run", pendulum, "--every", "0"],
                      ["run", pendulum, "--step", "-1"], ["run", pendulum, "--step", "1e-300"],
                      ["run", pendulum, "--every", "1e-300"], ["run", pendulum, "--method", "magic"],
                      ["run", pendulum, "--method", "rk4"], ["run", pendulum, "--set", "m"],
                      ["run", pendulum, "--set", "m="], ["run", pendulum, "--set", "=1"],
                      ["run", pendulum, "--set", "m=heavy"], ["run", pendulum, "--quiet=1"],
                      ["run", pendulum, "-o", "a.txt"], ["run", pendulum, "--plot", "a.csv"],
                      ["run", pendulum, "--report", "a.svg"], ["run", pendulum, "--at", "1"],
                      ["explain", pendulum, "--at", "-1"], ["explain", pendulum, "-o", "a.csv"],
                      ["check", pendulum, "--json"], ["help", "frobnicate"],
                      ["limit"], ["limit", pendulum, pendulum], ["limit", pendulum, "--from", "0"],
                      ["limit", pendulum, "--from", "100", "--to", "10"], ["limit", pendulum, "--to", "1e40"],
                      ["limit", pendulum, "--every", "step"], ["limit", pendulum, "--every", "1e-9"],
                      ["limit", pendulum, "--json"], ["limit", pendulum, "-o", "a.txt"],
                      ["certify"], ["certify", pendulum], ["certify", pendulum, ""],
                      ["certify", pendulum, "a.csv", "b.csv"], ["certify", pendulum, "a.csv", "-t", "1"],
                      ["certify", pendulum, "a.csv", "--noise", "0"],
                      ["certify", pendulum, "a.csv", "--column", "x"],
                      ["certify", pendulum, "a.csv", "--column", "x="],
                      ["certify", pendulum, "a.csv", "--column", "=x"],
                      ["certify", pendulum, "a.csv", "--law=1"],
                      ["certify", pendulum, "a.csv", "--metric", "x"],
                      ["certify", pendulum, "a.csv", "--metric", "x=1"],
                      ["certify", pendulum, "a.csv", "--metric", "x=1,y=0"],
                      ["certify", pendulum, "a.csv", "--metric", "x=1,y=1,z=1"],
                      ["certify", pendulum, "a.csv", "--json", "-o", "-"],
                      ["certify", pendulum, "a.csv", "--plot", "a.csv"]):
            out, err = self.expect(USAGE, *words, cwd=self.folder.name)
            self.assertTrue(err.startswith("zwang: "), err)
            self.assertEqual(out, "")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_files_that_are_no_models(self):
        self.assertIn("directory", self.expect(FILE, "run", self.folder.name)[1])
        self.assertIn("No such file", self.expect(FILE, "run", self.path("none.zw"))[1])
        for command in ("run", "explain", "check"):
            with open(self.path("binary.zw"), "wb") as file:
                file.write(bytes(range(256)) * 20)
            _, err = self.expect(MODEL, command, self.path("binary.zw"))
            self.assertIn("binary.zw", err)
            self.expect(MODEL, command, self.write("empty.zw", ""))
        if os.getuid() != 0:
            os.chmod(self.write("secret.zw", "coord x = 1\n"), 0)
            self.assertIn("Permission denied", self.expect(FILE, "run", self.path("secret.zw"))[1])

    def test_mistakes_show_the_place(self):
        file = self.write("a.zw", "coord x = 1\nkinetic x'^2\npotential 3*(y + 1)\n")
        for command in ("run", "explain", "check"):
            _, err = self.expect(MODEL, command, file)
            self.assertIn("a.zw:3:14: error: ", err)
            self.assertIn("potential 3*(y + 1)\n", err)
            self.assertIn("\n" + " " * 13 + "^", err)

    def test_no_colour_in_pipes(self):
        for words in (["run", example("pendulum")], ["explain", example("pendulum")],
                      ["run", self.path("none.zw")]):
            _, out, err = zwang(*words)
            self.assertNotIn("\033", out + err)

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["explain", example("pendulum"), "--json"], ["check", example("pendulum")],
                      ["run", example("pendulum"), "-q", "-o", "-"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([ZWANG] + words, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, FILE, words)
            self.assertIn("No space left", done.stderr)


class Papers(Case):
    def complete(self, *words):
        script = ('source "$1"; shift; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _zwang; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", os.path.join(ROOT, "cli", "zwang.bash"),
                               "zwang", *words], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_completion(self):
        self.assertEqual(self.complete("ex"), ["explain"])
        self.assertEqual(self.complete("run", "--method", "var"), ["variational", "variational4"])
        self.assertEqual(self.complete("explain", "--js"), ["--json"])
        self.assertEqual(self.complete("cer"), ["certify"])
        self.assertEqual(self.complete("limit", "--f"), ["--from"])
        self.assertEqual(self.complete("certify", "--no"), ["--noise"])
        self.assertIn("examples/pendulum.zw", self.complete("certify", "examples/pend"))
        self.assertEqual(self.complete("certify", "examples/pendulum.zw", "examples/pend"), [])
        self.assertIn("test/path/broken/nan.csv",
                      self.complete("certify", "examples/pendulum.zw", "test/path/broken/n"))
        self.assertEqual(self.complete("run", "examples/double_pendulum.zw", "--set", "th"), ["th1=", "th2="])
        self.assertIn("examples/pendulum.zw", self.complete("check", "examples/pend"))
        self.assertEqual(self.complete("run", "examples/classics"), [])

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_manual(self):
        done = subprocess.run(["groff", "-ww", "-man", "-Tascii", os.path.join(ROOT, "cli", "zwang.1")],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Terminal(Case):
    """What only a terminal gets to see."""

    def typed(self, words, **environment):
        import pty
        master, slave = pty.openpty()
        env = dict(os.environ, TERM="xterm")
        env.pop("NO_COLOR", None)
        env.update(environment)
        child = subprocess.Popen([ZWANG] + words, stdout=slave, stderr=slave, stdin=slave, env=env)
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(master)
        return child.wait(), seen.decode()

    def test_bar(self):
        code, seen = self.typed(["run", example("double_pendulum"), "-t", "400"])
        self.assertEqual(code, OK)
        self.assertIn(" of 400", seen)
        self.assertRegex(seen, r"\d+% \[=* *\]")
        self.assertTrue(seen.rstrip().endswith("energy holds") or "FAILED" in seen)

    def test_no_colour(self):
        self.assertIn("\033[1m", self.typed(["check", example("pendulum")])[1])
        self.assertNotIn("\033", self.typed(["check", example("pendulum")], NO_COLOR="1")[1])
        self.assertNotIn("\033", self.typed(["run", example("pendulum")], TERM="dumb")[1])


class Run(Case):
    def test_every_example_runs(self):
        for file in EXAMPLES:
            with self.subTest(os.path.basename(file)):
                out, err = self.expect(OK, "run", file, "-t", "0.1")
                self.assertEqual(err, "")
                for label in ("system", "method", "time", "state", "certificate"):
                    self.assertRegex(out, rf"(?m)^{label} +\S")
                self.assertLessEqual(max(map(len, out.split("\n"))), 150)

    def test_summary(self):
        out, _ = self.expect(OK, "run", example("double_pendulum"))
        self.assertRegex(out, r"(?m)^time +10 in \d+ steps \(\d+ rejected\), [\d.]+ m?s$")
        self.assertRegex(out, r"(?m)^energy .*-> .*, drift \S+$")
        self.assertRegex(out, r"(?m)^violation +\S+ position, \S+ velocity$")
        self.assertRegex(out, r"(?m)^certificate +\S+ at worst$")
        self.assertRegex(out, r"(?m)^checks +energy holds$")
        out, _ = self.expect(OK, "run", example("bouncing_ball"))
        self.assertRegex(out, r"(?m)^events +apex \d+, impacts \d+$")
        self.assertRegex(out, r"(?m)^energy .*, work -19.62 -> ")

    def test_quiet(self):
        self.assertEqual(self.expect(OK, "run", example("pendulum"), "-q"), ("", ""))
        self.assertEqual(self.expect(OK, "check", example("pendulum"), "-q"), ("", ""))

    def test_csv(self):
        self.expect(OK, "run", example("pendulum"), "-t", "2", "--every", "0.5", "-o", self.path("a.csv"))
        data = table(self.read("a.csv"))
        self.assertEqual(data["t"], [0, 0.5, 1, 1.5, 2])
        for x, y in zip(data["x"], data["y"]):
            self.assertAlmostEqual(math.hypot(x, y), 1, delta=1e-14)
        self.expect(OK, "run", example("pendulum"), "-t", "2", "--every", "step", "-o",
                    self.path("b.csv"))
        times = table(self.read("b.csv"))["t"]
        self.assertEqual(sorted(set(times)), times)
        self.assertGreater(len(times), 10)

    def test_pipe(self):
        file = example("pendulum")
        out, err = self.expect(OK, "run", file, "-t", "1", "-o", "-")
        self.assertEqual(len(table(out)["t"]), 501)
        self.assertIn("certificate", err)
        for other in (["-o", "/dev/stdout"], ["-o-"], ["--output=-"]):
            self.assertEqual(self.expect(OK, "run", file, "-t", "1", *other)[0], out)
        self.assertEqual(self.expect(OK, "run", file, "-t", "1", "-o", "-", "-q"), (out, ""))
        self.expect(OK, "run", file, "-t", "1", "-o", self.path("a.csv"))
        self.assertEqual(self.read("a.csv"), out)

    def test_same_bytes(self):
        for name in ("double_pendulum", "bouncing_ball", "stick_slip"):
            first = self.expect(OK, "run", example(name), "-q", "-t", "3", "-o", "-")[0]
            self.assertEqual(self.expect(OK, "run", example(name), "-q", "-t", "3", "-o", "-")[0], first)

    def test_set(self):
        def end(*more):
            return table(self.expect(OK, "run", example("pendulum"), "-q", "-o", "-", *more)[0])["x"][-1]
        self.assertEqual(end("--set", "l=2", "--set", "g=1"), end("--set=g=2/2", "--set=l=1+1"))
        self.assertNotEqual(end(), end("--set", "l=2"))
        self.assertEqual(end("-t", "6.283185307179586"), end("-t2*pi"))

    def test_pictures(self):
        paths = [self.path(name) for name in ("a.svg", "a.html", "b.svg", "b.html")]
        self.expect(OK, "run", example("chaplygin_sleigh"), "--plot", paths[0], "--report", paths[1],
                    "-o", paths[2], "-o", paths[3])
        xml.dom.minidom.parse(paths[0])
        self.assertEqual(self.read("a.svg"), self.read("b.svg"))
        self.assertEqual(self.read("a.html"), self.read("b.html"))
        self.assertNotRegex(self.read("a.html"), r"(src|href)=\"https?:")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.html", "a.svg", "b.html", "b.svg"])

    def test_h5(self):
        code, _, err = zwang("run", example("pendulum"), "-q", "-o", self.path("a.h5"))
        if code == FILE and "HDF5" in err:
            self.skipTest("built without HDF5")
        self.assertEqual(code, OK, err)
        with open(self.path("a.h5"), "rb") as file:
            self.assertEqual(file.read(4), b"\x89HDF")

    def test_impossible_files_are_told_before_the_run(self):
        self.write("file", "")
        os.mkdir(self.path("folder.csv"))
        for path in ("none/a.csv", "file/a.csv", "folder.csv"):
            out, err = self.expect(FILE, "run", example("pendulum"), "-t", "1e9", "-o", self.path(path))
            self.assertIn("cannot write", err)
            self.assertEqual(out, "")

    def test_failure_writes_what_there_is(self):
        file = self.write("fall.zw", "coord x = 1\nkinetic x'^2/2\npotential -1/x\n")
        out, err = self.expect(FAILED, "run", file, "-o", self.path("a.csv"))
        self.assertIn("error: ", err)
        self.assertRegex(err, r"the motion ends at t = 1\.1107")
        self.assertRegex(out, r"(?m)^wrote .*a\.csv \(up to t = 1\.1")
        self.assertGreater(len(table(self.read("a.csv"))["t"]), 20)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.csv", "fall.zw"])

    def test_failed_check(self):
        file = self.write("a.zw", "coord x = 1\nkinetic x'^2/2\npotential x^2/2\ncheck still: x within 0.1\n")
        out, err = self.expect(FAILED, "run", file)
        self.assertIn("still FAILED", out)
        self.assertRegex(err, r"check still does not hold from t = 0\.\d+ on")

    def interrupt(self, number, *words):
        child = subprocess.Popen([ZWANG] + list(words), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        line = child.stdout.readline() + child.stdout.readline()  # it is about to run
        time.sleep(0.5)
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
        return child.returncode, line + out, err

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            code, out, err = self.interrupt(number, "run", example("double_pendulum"), "-t", "1e7",
                                            "--every", "0.1", "-o", self.path("a.csv"))
            self.assertEqual(code, INTERRUPTED, out + err)
            self.assertIn("interrupted at t = ", err)
            self.assertRegex(out, r"(?m)^certificate ")
            text = self.read("a.csv")
            self.assertTrue(text.endswith("\n"))
            self.assertGreater(len(table(text)["t"]), 2)
            self.assertEqual(os.listdir(self.folder.name), ["a.csv"])

    def test_interrupt_between_samples(self):
        code, _, err = self.interrupt(signal.SIGINT, "run", example("double_pendulum"), "-t", "1e9",
                                      "--every", "1e9")
        self.assertEqual(code, INTERRUPTED, err)


class Explain(Case):
    def explained(self, *words):
        out, _ = self.expect(OK, "explain", "--json", *words)

        def refuse(word):
            raise ValueError(word)
        return json.loads(out, parse_constant=refuse)

    def test_every_example(self):
        for file in EXAMPLES:
            with self.subTest(os.path.basename(file)):
                data = self.explained(file)
                self.assertTrue(data["ok"])
                self.assertEqual(data["degrees_of_freedom"], len(data["coordinates"]) - data["rank"])
                self.assertLess(data["certificate"]["worst"], 1e-7)
                out, err = self.expect(OK, "explain", file)
                self.assertRegex(out, "Z = |1/2 a'Ma - a'F least")
                self.assertEqual(err, "")

    def test_pendulum(self):
        """Released from the horizontal: it falls freely, and the rod pulls with nothing."""
        data = self.explained(example("pendulum"), "--set", "l=1", "--set", "g=10", "--at", "0.3")
        x, y = data["coordinates"]
        rod = data["constraints"][0]
        self.assertAlmostEqual(data["time"], 0.3)
        self.assertEqual(data["parameters"]["g"], 10)
        self.assertEqual((rod["name"], rod["kind"], rod["state"]), ("rod", "holonomic", "closed"))
        self.assertEqual((x["acceleration_free"], y["acceleration_free"]), (0, -10))
        for c in (x, y):  # M a = F^N + F^L + F^C, with m = 1
            m = data["parameters"].get("m", 1)
            self.assertAlmostEqual(m * c["acceleration"], c["F_N"] + c["F_L"] + c["F_C"], delta=1e-12)
            self.assertAlmostEqual(rod["force_on"][c["name"]], c["F_L"], delta=1e-12)
        self.assertAlmostEqual(rod["force"], math.hypot(x["F_L"], y["F_L"]), delta=1e-12)
        self.assertAlmostEqual(data["Z"], rod["force"] ** 2 / 2 / m, delta=1e-11)

    def test_redundant(self):
        data = self.explained(example("double_pendulum_redundant"))
        self.assertEqual(data["rank"], 2)
        self.assertEqual(len(data["redundant"]), len(data["constraints"]) - 2)
        self.assertIn("redundant    " + ", ".join(data["redundant"]),
                      self.expect(OK, "explain", example("double_pendulum_redundant"))[0])

    def test_contacts(self):
        self.assertEqual(self.explained(example("bouncing_ball"))["constraints"][0]["state"], "open")
        resting = self.explained(example("bouncing_ball"), "--at", "7")["constraints"][0]
        self.assertEqual((resting["kind"], resting["state"]), ("one-sided", "closed"))
        self.assertAlmostEqual(resting["force"], 9.81)
        states = {self.explained(example("stick_slip"), "--at", t)["constraints"][0]["state"]
                  for t in (0.5, 5)}
        self.assertEqual(states, {"sliding", "stuck"})

    def test_massless(self):
        file = self.write("a.zw", "coord x = 1, s = 1\nkinetic x'^2/2\nforce x: 1\nconstraint tie: s = x\n")
        data = self.explained(file)
        self.assertEqual(data["massless"], ["s"])
        self.assertIsNone(data["coordinates"][1]["acceleration_free"])
        self.assertIn("only constraints hold s", self.expect(OK, "check", file)[0])

    def test_error_is_json_too(self):
        file = self.write("a.zw", "coord x = 1\nkinetic x'^2\npotential 3*(y + 1)\n")
        out, _ = self.expect(MODEL, "explain", file, "--json")
        data = json.loads(out)
        self.assertFalse(data["ok"])
        self.assertEqual((data["error"]["line"], data["error"]["column"]), (3, 14))

    def test_long_tables(self):
        out, _ = self.expect(OK, "explain", example("chain"), "--set", "n=100")
        self.assertIn("and 188 more", out)
        self.assertLess(len(out.split("\n")), 80)
        out, _ = self.expect(OK, "explain", example("chain"), "--set", "n=100", "--all")
        self.assertNotIn(" more", out)
        self.assertEqual(len(self.explained(example("chain"), "--set", "n=100")["constraints"]), 100)

    def test_stopped_before(self):
        file = self.write("a.zw", "coord x = 0\nspeed x' = 1\nkinetic x'^2/2\nstop when x > 2\n")
        self.assertIn("the motion ends before, at t = 2",
                      self.expect(OK, "explain", file, "--at", "3")[1])


class Check(Case):
    def test_every_example(self):
        for file in EXAMPLES:
            with self.subTest(os.path.basename(file)):
                out, err = self.expect(OK, "check", file)
                self.assertEqual(err, "")
                for label in ("coordinates", "constraints", "freedom", "redundant", "assembled"):
                    self.assertRegex(out, rf"(?m)^{label} +\S")

    def test_assembly_is_told(self):
        file = self.write("a.zw", "coord x = 1.5, y = 0\nspeed x' = 1\nkinetic (x'^2 + y'^2)/2\n"
                          "constraint rod: x^2 + y^2 = 1\n")
        out, _ = self.expect(OK, "check", file)
        self.assertRegex(out, r"assembled +x moved by 0\.5")
        self.assertRegex(out, r"x' changed by 1")

    def test_nothing_holds_a_coordinate(self):
        file = self.write("a.zw", "coord x = 1, s = 0\nkinetic x'^2/2\n")
        code, _, err = zwang("check", file)
        self.assertIn(code, (FAILED, MODEL))
        self.assertRegex(err, r"a\.zw:1:14: error: .*coordinate s")

    def test_contradiction(self):
        file = self.write("a.zw", "coord x = 0\nkinetic x'^2/2\nconstraint a: x = 0\nconstraint b: x = t\n")
        self.expect(MODEL, "check", file)


class Robots(Case):
    """Bodies from MJCF go through the same commands as equations."""

    def robot(self, name):
        return os.path.join(os.path.dirname(example("pendulum")), "bodies", name + ".xml")

    def test_names_of_speeds(self):
        out, _ = self.expect(OK, "run", self.robot("gyroscope"), "--key", "spinning", "-t", "0.1")
        for word in ("point.qw", "point.qz", "point.wx", "point.wz"):
            self.assertIn(word, out)
        self.assertNotIn("point.qw'", out)
        out, _ = self.expect(OK, "explain", self.robot("gyroscope"), "--key", "spinning")
        self.assertIn("Positions", out)
        out, _ = self.expect(OK, "explain", self.robot("gyroscope"), "--key", "spinning", "--json")
        told = json.loads(out)
        self.assertEqual([c["name"] for c in told["coordinates"]],
                         ["point.qw", "point.qx", "point.qy", "point.qz"])
        self.assertEqual(told["speeds"][2]["speed"], 100)

    def test_motors_are_set(self):
        words = ("run", self.robot("four_bar"), "--key", "up", "-t", "0.5", "-o", "-", "-q")
        still = table(self.expect(OK, *words)[0])
        driven = table(self.expect(OK, *words, "--set", "drive=2")[0])
        same = table(self.expect(OK, "run", self.robot("four_bar"), "--key", "driven", "-t", "0.5",
                                 "-o", "-", "-q")[0])
        self.assertNotEqual(still["crank"][-1], driven["crank"][-1])
        self.assertEqual(same["crank"], driven["crank"])

    def test_maximal_coordinates(self):
        words = ("run", self.robot("four_bar"), "--key", "driven", "-t", "0.5", "-o", "-", "-q")
        tree = table(self.expect(OK, *words)[0])
        free = table(self.expect(OK, *words, "--maximal")[0])
        self.assertIn("coupler.qw", free)
        for name in ("crank", "knuckle", "rocker", "crank'", "energy"):
            self.assertAlmostEqual(float(tree[name][-1]), float(free[name][-1]), delta=1e-7)
        out, _ = self.expect(OK, "check", self.robot("bricard"), "--maximal")
        self.assertIn("freedom      1 degree", out)
        out, _ = self.expect(OK, "explain", self.robot("four_bar"), "--key", "up", "--maximal")
        self.assertIn("redundant    pin", out)
        _, err = self.expect(MODEL, "run", example("pendulum"), "--maximal")
        self.assertIn("here are none", err)

    def test_wrong_names_are_told(self):
        _, err = self.expect(MODEL, "run", self.robot("four_bar"), "--set", "drvie=2")
        self.assertIn("did you mean 'drive'", err)
        _, err = self.expect(MODEL, "run", self.robot("four_bar"), "--key", "upp")
        self.assertIn("did you mean up", err)
        _, err = self.expect(MODEL, "run", example("pendulum"), "--key", "up")
        self.assertIn("no keyframe", err)

    def test_every_example_reports(self):
        for name in ("double_pendulum", "bricard", "arm"):
            self.expect(OK, "check", self.robot(name))
            self.expect(OK, "run", self.robot(name), "-t", "0.2", "--report", self.path("r.html"),
                        "--plot", self.path("r.svg"))
            self.assertGreater(len(self.read("r.html")), 10000)

    def test_what_touches_is_noted(self):
        file = self.write("fall.xml", "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
                          "<body pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
        self.assertIn("contact between geoms is not computed", self.expect(OK, "run", file)[0])
        self.assertIn("contact between geoms is not computed", self.expect(OK, "check", file)[0])

    def test_refused_methods(self):
        _, err = self.expect(FAILED, "run", self.robot("double_pendulum"), "--method", "variational",
                             "--step", "0.01")
        self.assertIn("bodies", err)
        self.expect(OK, "run", self.robot("gyroscope"), "--key", "spinning", "-t", "0.1", "--method",
                    "euler", "--step", "1e-4")


class Certify(Case):
    """Is a recording a motion? The recordings are zwang's own, and what others make of them."""

    def record(self, name, *words, file="a.csv"):
        self.expect(OK, "run", example(name), "-q", "-o", self.path(file), *words)
        return self.path(file)

    def tamper(self, change, name="b.csv"):
        """The recording a.csv as another; change(i, row) edits a row, a dict of numbers by title."""
        rows = list(csv.DictReader(io.StringIO(self.read("a.csv"))))
        for i, row in enumerate(rows):
            row.update({key: float(value) for key, value in row.items()})
            change(i, row)
        text = io.StringIO()
        table_ = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        table_.writeheader()
        table_.writerows([{k: repr(v) for k, v in row.items()} for row in rows])
        return self.write(name, text.getvalue())

    def verdict(self, code, *words):
        out, err = self.expect(code, "certify", *words)
        self.assertEqual(err, "")
        last = out.rstrip("\n").split("\n")[-1]
        self.assertRegex(last, r"^verdict +\S")
        self.assertLessEqual(max(map(len, out.split("\n"))), 150)
        return out, last

    def test_our_own_motions_pass(self):
        for name in ("pendulum", "double_pendulum", "chaplygin_sleigh", "wedge"):
            with self.subTest(name):
                out, last = self.verdict(OK, example(name), self.record(name))
                self.assertIn("a motion of this system (defect ", last)
                for label in ("recording", "ignored", "fit", "violation", "inequality", "defect", "energy"):
                    self.assertRegex(out, rf"(?m)^{label} +\S")
                self.assertIn("with speeds", out)

    def test_csv_and_h5_say_the_same(self):
        self.record("pendulum")
        code, _, err = zwang("run", example("pendulum"), "-q", "-o", self.path("a.h5"))
        if code == FILE and "HDF5" in err:
            self.skipTest("built without HDF5")
        first, second = (json.loads(self.expect(OK, "certify", example("pendulum"), self.path(file), "--json")[0])
                         for file in ("a.csv", "a.h5"))
        for key in ("fit", "mean", "defect", "worst", "verdict", "samples"):
            self.assertEqual(first[key], second[key])

    def test_a_wrong_parameter_is_a_hand(self):
        """Weight that the model does not know of: 0.01 downwards, where the rod cannot take it."""
        out, last = self.verdict(NO_MOTION, example("pendulum"), self.record("pendulum"), "--set", "g=9.8")
        self.assertRegex(last, r"NOT a motion: at t = \S+ an unseen hand pushes y with -0\.01 \(\S+ times")

    def test_a_path_that_leaves_its_constraint(self):
        self.record("pendulum")

        def push(i, row):
            row["x"] += 1e-3 * math.exp(-((i - 250) / 20) ** 2)
        _, last = self.verdict(NO_MOTION, example("pendulum"), self.tamper(push))
        self.assertIn("leaves the constraint rod", last)

    def test_columns(self):
        self.record("pendulum")
        with open(self.path("a.csv"), encoding="utf-8") as file:
            text = file.read()
        for old, new in (("t,x,y,x',y',", "time stamp,pos x,pos y,u,v,"),):
            self.assertTrue(text.startswith(old))
            text = new + text[len(old):]
        file = self.write("c.csv", text)
        _, err = self.expect(FILE, "certify", example("pendulum"), file)
        self.assertRegex(err, r"c\.csv:1:\d+: error: there is no column 'x'")
        words = ["--column", "x=pos x", "--column=y=pos y", "--column", "t=time stamp"]
        out, _ = self.verdict(OK, example("pendulum"), file, *words)
        self.assertIn("without speeds", out)
        self.assertRegex(out, r"ignored +10 columns: u, v, energy")
        out, _ = self.verdict(OK, example("pendulum"), file, *words, "--column", "x'=u")
        self.assertIn("speeds of some coordinates only, not used", out)
        out, _ = self.verdict(OK, example("pendulum"), file, *words, "--column", "x'=u", "--column", "y'=v")
        self.assertIn("with speeds", out)

    def test_metric(self):
        file = self.record("pendulum")
        for metric in ("identity", "x=1,y=5", "x=2*3, y=1/7"):
            self.verdict(OK, example("pendulum"), file, "--metric", metric)
            self.verdict(NO_MOTION, example("pendulum"), file, "--metric", metric, "--set", "g=9.8")
        file = self.record("chain")
        self.expect(USAGE, "certify", example("chain"), file, "--metric", "x=1")

    def test_files(self):
        file, model = self.record("pendulum"), example("pendulum")
        out, _ = self.verdict(NO_MOTION, model, file, "--set", "g=9.8", "-o", self.path("o.csv"),
                              "--plot", self.path("o.svg"), "--report", self.path("o.html"))
        self.assertRegex(out, r"(?m)^wrote .*o\.csv$")
        data = table(self.read("o.csv"))
        self.assertEqual(list(data), ["t", "x", "y", "hand(x)", "hand(y)", "|hand|", "|hand| error",
                                      "lambda(rod)", "power"])
        self.assertEqual(len(data["t"]), 501)
        for x, y, u, v in zip(data["x"], data["y"], data["hand(x)"], data["hand(y)"]):
            self.assertAlmostEqual(x * u + y * v, 0, delta=1e-8)  # nothing along the rod
            self.assertAlmostEqual(v, -0.01 * x * x, delta=2e-5)
        xml.dom.minidom.parse(self.path("o.svg"))
        self.assertIn("hand(x)", self.read("o.svg"))
        self.assertIn("not a motion of this system", self.read("o.html"))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.csv", "o.csv", "o.html", "o.svg"])
        out, err = self.expect(OK, "certify", model, file, "-o", "-")
        self.assertEqual(len(table(out)["t"]), 501)
        self.assertIn("verdict", err)

    def test_impossible_files_are_told_first(self):
        out, err = self.expect(FILE, "certify", example("pendulum"), self.record("pendulum"), "-o",
                               self.path("none/a.csv"))
        self.assertIn("cannot write", err)
        self.assertEqual(out, "")

    def test_json(self):
        file = self.record("pendulum")
        out, _ = self.expect(NO_MOTION, "certify", example("pendulum"), file, "--json", "--set", "g=9.8")
        data = json.loads(out)
        self.assertTrue(data["ok"])
        self.assertEqual(data["verdict"], "not a motion")
        self.assertEqual((data["samples"], data["start"], data["end"], data["speeds"]), (501, 0, 10, True))
        self.assertEqual(data["worst"]["coordinate"], "y")
        self.assertAlmostEqual(data["worst"]["force"], -0.01, delta=1e-5)
        self.assertAlmostEqual(data["mean"] - data["mean_least"], data["defect"], delta=1e-9)
        out, _ = self.expect(FILE, "certify", example("pendulum"), self.path("none.csv"), "--json")
        self.assertFalse(json.loads(out)["ok"])

    def test_quiet(self):
        file = self.record("pendulum")
        self.assertEqual(self.expect(OK, "certify", example("pendulum"), file, "-q"), ("", ""))
        out, err = self.expect(NO_MOTION, "certify", example("pendulum"), file, "-q", "--set", "g=9.8")
        self.assertEqual(out, "")
        self.assertIn("a.csv: NOT a motion", err)

    def test_broken_recordings(self):
        for text, story in (("", "the file is empty"), ("t,x,y\n0,1,0\n", "one sample only"),
                            ("t,x,y\n0,1,0\n1,nan,2\n", ":3:3: error: 'x' is not finite"),
                            ("t,x,yy\n0,1,0\n1,2,2\n", ":1:5: error: .*did you mean 'yy'?"),
                            ("t,x,y\n0,1,0\n1,2,2\n0.5,1,1\n", ":4:1: error: the time goes back")):
            _, err = self.expect(FILE, "certify", example("pendulum"), self.write("c.csv", text))
            self.assertRegex(err, story)
            self.assertIn("c.csv", err)
        self.assertIn("No such file", self.expect(FILE, "certify", example("pendulum"), self.path("no.csv"))[1])
        self.assertIn("irectory", self.expect(FILE, "certify", example("pendulum"), self.folder.name)[1])
        self.expect(MODEL, "certify", self.write("m.zw", "coord x = y\n"), self.path("c.csv"))

    def test_interrupt(self):
        """Sent once the program listens; whatever it has done by then, it does not die of it."""
        words = [example("chain"), "--set", "n=60"]
        self.expect(OK, "run", *words, "-q", "--every", "0.0005", "-t", "2", "-o", self.path("a.csv"))
        if not os.path.exists("/proc/self/status"):
            self.skipTest("no /proc")
        child = subprocess.Popen([ZWANG, "certify", *words, self.path("a.csv"), "-o", self.path("o.csv")],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        caught = 0
        while child.poll() is None and not caught & 1 << signal.SIGINT - 1:
            with open(f"/proc/{child.pid}/status", encoding="utf-8") as file:
                caught = int(re.search(r"SigCgt:\s*(\w+)", file.read()).group(1), 16)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, INTERRUPTED, out + err)
        self.assertIn("interrupted", err)
        self.assertEqual(os.listdir(self.folder.name), ["a.csv"])


class Limit(Case):
    """Added mass and friction without bound."""

    def rows(self, *words):
        return table(self.expect(OK, "limit", *words, "-q", "-o", "-")[0])

    def test_every_law_has_its_limit(self):
        for name, law in (("skate_vakonomic", "vakonomic, alpha = 1, beta = 0"),
                          ("skate_mixed", "mixed, alpha = 1, beta = 1"),
                          ("skate_added_mass", "vakonomic, alpha = 1, beta = 0"),
                          ("skate_on_slope", "nonholonomic, alpha = 0, beta = 1"),
                          ("rolling_disk", "nonholonomic, alpha = 0, beta = 1")):
            with self.subTest(name):
                out, err = self.expect(OK, "limit", example(name), "-t", "1", "--to", "1e6")
                self.assertEqual(err, "")
                self.assertIn(law, out)
                self.assertEqual(len(re.findall(r"(?m)^ +(?:\d|inf)", out)), 7)
                self.assertRegex(out, r"(?m)^order +(1\.000|0\.999) from N = 1000 to 1e\+06: ")
                self.assertLessEqual(max(map(len, out.split("\n"))), 110)

    def test_numbers(self):
        got = self.rows(example("skate_on_slope"), "-t", "1", "--from", "100", "--to", "1e5")
        self.assertEqual(got["N"], [math.inf, 1e2, 1e3, 1e4, 1e5])
        self.assertTrue(math.isnan(got["ratio"][1]))
        for i in (2, 3, 4):
            self.assertAlmostEqual(got["ratio"][i], got["distance"][i - 1] / got["distance"][i], 9)
            self.assertLess(abs(got["ratio"][i] - 10), 1)
        self.assertLess(got["distance"][0], 1e-10)
        coarse = self.rows(example("skate_on_slope"), "-t", "1", "--to", "10", "--tol", "1e-6")
        self.assertGreater(coarse["distance"][0], 1e-9)
        drag = self.rows(example("skate_added_mass"), "-t", "1", "--set", "added=0", "--set", "drag=1", "--to", "10")
        self.assertGreater(drag["steps"][1], 5 * drag["steps"][0])

    def test_files(self):
        words = ["limit", example("skate_mixed"), "-t", "1", "--to", "100"]
        out, _ = self.expect(OK, *words, "-o", self.path("a.csv"), "--plot", self.path("a.svg"),
                             "--report", self.path("a.html"))
        self.assertEqual(len(self.read("a.csv").split("\n")), 5)
        svg = self.read("a.svg")
        xml.dom.minidom.parseString(svg)
        for text in ("Distance from the limit", "log10 N", "phi, N = 100"):
            self.assertIn(text, svg)
        self.assertIn("Distance from the limit", self.read("a.html"))
        self.assertEqual(out.count(self.folder.name), 3)
        before = [self.read(name) for name in ("a.csv", "a.svg", "a.html")]
        self.expect(OK, *words, "-q", "-o", self.path("a.csv"), "--plot", self.path("a.svg"),
                    "--report", self.path("a.html"))
        self.assertEqual([self.read(name) for name in ("a.csv", "a.svg", "a.html")], before)
        self.assertIn("no such folder", self.expect(FILE, *words, "-o", self.path("no/a.csv"))[1])

    def test_what_has_no_limit(self):
        self.assertIn("holds speeds", self.expect(MODEL, "limit", example("pendulum"))[1])
        contact = self.write("a.zw", "coord x = 0, y = 1\nmass 1 at (x, y)\nconstraint floor: y >= 0\n"
                                     "constraint slide: x' = y\n")
        self.assertIn("one-sided", self.expect(MODEL, "limit", contact)[1])
        self.expect(MODEL, "limit", self.write("b.zw", "coord\n"))
        self.assertIn("tolerance", self.expect(USAGE, "limit", example("skate_mixed"), "--tol", "1e-99")[1])

    def test_interrupt(self):
        words = ["limit", example("skate_on_slope"), "-t", "100", "--every", "10", "-o", self.path("a.csv")]
        child = subprocess.Popen([ZWANG] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [child.stdout.readline() for _ in range(5)]
        self.assertIn("inf", lines[-1])
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, INTERRUPTED, err)
        self.assertRegex(err, r"interrupted at N = \d")
        self.assertRegex(out, r"(?m)^order +unknown")
        self.assertGreaterEqual(len(self.read("a.csv").split("\n")), 3)


class Reach(Case):
    AREA = ("coord x, y, z\nkinetic (x'^2 + y'^2)/2\nconstraint area: z' = (x*y' - y*x')/2\n")

    def test_the_start_is_found_and_told(self):
        model = self.write("a.zw", self.AREA + "law vakonomic\nreach x = 0, y = 0, z = 0.5 at 1\n")
        out = self.expect(OK, "run", model, "-o", self.path("a.csv"))[0]
        self.assertIn("lambda(area) = 6.28318530718", out)
        self.assertRegex(out, r"misses by \S+; action 3.1415926535\d*, length 2.5066282746\d*, the least")
        end = {name: column[-1] for name, column in table(self.read("a.csv")).items()}
        self.assertAlmostEqual(end["z"], 0.5, delta=1e-9)
        self.assertAlmostEqual(end["t"], 1)
        self.assertEqual(self.expect(OK, "run", model, "-q")[0], "")
        self.assertIn("3 unknown at the start, 3 asked", self.expect(OK, "check", model)[0])
        self.assertIn("6.28319", self.expect(OK, "explain", model)[0])

    def test_what_cannot_be_is_told(self):
        model = self.write("a.zw", self.AREA + "reach x = 1, y = 1, z = 1 at 1\n")
        for command in ("run", "check"):
            err = self.expect(MODEL, command, model)[1]
            self.assertIn("2 start values are unknown, but 3 conditions are asked", err)
        ring = "coord x = 1, y = 0\nmass 1 at (x, y)\nconstraint ring: x^2 + y^2 = 1\n"
        model = self.write("b.zw", ring + "reach y = 2 at 1\n")
        self.assertIn("no motion was found", self.expect(FAILED, "run", model)[1])
        model = self.write("c.zw", ring + "reach y = 2\n")
        self.assertIn("when?", self.expect(MODEL, "run", model)[1])


class Speed(Case):
    def test_certifying_is_faster_than_computing(self):
        """1e5 samples of the double pendulum, in angles; processor time of the whole programs."""
        model = os.path.join(ROOT, "bench", "double_pendulum.zw")

        def cost(*words):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.expect(OK, *words, "-q")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        run = min(cost("run", model, "-t", "100", "--every", "0.001", "-o", self.path("a.csv"))
                  for _ in range(3))
        certify = min(cost("certify", model, self.path("a.csv")) for _ in range(3))
        print(f"\n100001 samples: run {run * 1e3:.0f} ms, certify {certify * 1e3:.0f} ms")
        if CONFIG == "Release":
            self.assertLess(certify, run)

    def test_from_file_to_first_step(self):
        """The whole program, start to end, for one step of every example; the best of five.
        Processor time, since the machine may be busy; twice what is promised is allowed."""
        def cost(file):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            zwang("run", file, "-q", "-t", "1e-6", "--every", "1")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        def text_of(file):
            with open(file, encoding="utf-8") as stream:
                return stream.read()
        # where to arrive is asked, the first step comes after a search
        files = [file for file in EXAMPLES if "\nreach " not in text_of(file)]
        worst, which = max((min(cost(file) for _ in range(5)), file) for file in files)
        print(f"\nfrom file to first step: at most {worst * 1e3:.1f} ms, for {os.path.basename(which)}")
        if CONFIG == "Release":
            self.assertLess(worst, 0.04)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
