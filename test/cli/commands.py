"""The command line, as its users see it: commands.py ZWANG CONFIG

Every command on real examples, its exit codes and messages, and what is left on the disk.
Robots, and runs in pieces, are in robots.py; recordings on trial, limits and motions from here to
there in paths.py."""

import csv
import json
import stat
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.dom.minidom

from case import (EXAMPLES, FAILED, FILE, INTERRUPTED, MODEL, OK, ROOT, SOME_EXAMPLES, USAGE, ZWANG,
                  Case, example, table, zwang)


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

    def test_wrong_usage_is_reported_and_does_nothing(self):
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
        self.assertEqual(self.complete("ex"), ["explain", "export"])
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
        self.assertTrue("energy holds" in seen and "verdict" in seen or "FAILED" in seen)

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
        self.expect(OK, "run", file, "-t", "1", "--plain", "-o", self.path("a.csv"))
        self.assertEqual(self.read("a.csv"), out)

    def test_head_of_csv(self):
        """Where the numbers come from stands above them, and what happened beside them."""
        self.expect(OK, "run", example("bouncing_ball"), "-q", "-t", "1.2", "--set", "h=1", "--tol", "1e-9",
                    "-o", self.path("a.csv"))
        lines = self.read("a.csv").splitlines()
        notes = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
        self.assertEqual(notes["method"], "dop853")
        self.assertEqual(notes["tolerance"], "1e-09")
        self.assertIn("h = 1", notes["parameters"].split(", "))
        self.assertRegex(notes["zwang"], r"^\d+\.\d+")
        self.assertRegex(notes["proved"], "constraints")
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        labels = [row["event"] for row in rows if row["event"]]
        self.assertEqual(labels[:3], ["impact", "impact", "apex"])
        self.expect(OK, "run", example("pendulum"), "-q", "-o", self.path("b.csv"))
        self.assertIn("a motion", self.expect(OK, "certify", example("pendulum"), self.path("b.csv"))[0])

    def test_json(self):
        out, err = self.expect(OK, "run", example("bouncing_ball"), "--json", "--digits", "--set", "h=1")
        data = json.loads(out)
        self.assertEqual(err, "")
        self.assertEqual(data["set"], {"h": 1})
        self.assertEqual((data["method"], data["time"]["end"], data["ok"]), ("dop853", 7, True))
        self.assertEqual([c["name"] for c in data["state"]["coordinates"]], ["x", "y"])
        self.assertAlmostEqual(data["state"]["coordinates"][0]["value"], 3.5)
        self.assertGreaterEqual(data["state"]["coordinates"][0]["digits"], 12)
        self.assertEqual(set(data["verdict"]), {"clean", "proved", "estimated", "assumed", "survived"})
        self.assertIn("digits", [line["name"] for line in data["verdict"]["estimated"]])
        self.assertGreater(data["events"]["apex"], 10)
        broken = self.write("a.zw", "coord x = 1\nkinetic x'^2/2\nforce x: y\n")
        data = json.loads(self.expect(MODEL, "run", broken, "--json")[0])
        self.assertEqual((data["ok"], data["error"]["line"]), (False, 3))
        self.expect(USAGE, "run", example("pendulum"), "--json", "-o", "-")

    def test_chaos_has_no_digits(self):
        file = example("double_pendulum_angles")
        self.assertRegex(self.expect(OK, "run", file, "-t", "10", "--digits")[0], r"estimated: \d+ digits? of")
        swing = self.write("a.zw", "coord a = 2, b = 2.5\nkinetic a'^2 + b'^2/2 + a'*b'*cos(a - b)\n"
                           "potential -20*cos(a) - 10*cos(b)\n")
        out = self.expect(OK, "run", swing, "-t", "60", "--tol", "1e-6", "--digits")[0]
        self.assertRegex(out, "estimated: no digit of .* at the end can be trusted")

    def test_files_keep_their_kind(self):
        """A link stays a link, a pipe with a name stays one, and no input is overwritten."""
        file = example("pendulum")
        self.write("a.csv", "old")
        os.symlink("a.csv", self.path("link.csv"))
        self.expect(OK, "run", file, "-t", "1", "-q", "-o", self.path("link.csv"))
        self.assertTrue(os.path.islink(self.path("link.csv")))
        self.assertIn("certificate", self.read("a.csv"))
        os.mkfifo(self.path("pipe.csv"))
        reader = subprocess.Popen(["cat", self.path("pipe.csv")], stdout=subprocess.PIPE, text=True)
        self.expect(OK, "run", file, "-t", "1", "-q", "-o", self.path("pipe.csv"))
        self.assertEqual(len(table(reader.communicate(timeout=60)[0])["t"]), 501)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe.csv")).st_mode))
        os.link(self.path("a.csv"), self.path("same.csv"))
        before = self.read("a.csv")
        err = self.expect(USAGE, "certify", file, self.path("a.csv"), "-o", self.path("same.csv"))[1]
        self.assertIn("same.csv is the input file", err)
        copy = self.write("copy.zw", open(file, encoding="utf-8").read())
        self.expect(USAGE, "run", copy, "-t", "1", "--save", copy)
        self.assertEqual(self.read("a.csv"), before)

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

    def test_impossible_files_are_reported_before_the_run(self):
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
        for _ in range(2):  # as timeout(1) does: to the process and to its group
            child.send_signal(number)
        out, err = child.communicate(timeout=60)
        return child.returncode, line + out, err

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            code, out, err = self.interrupt(number, "run", example("double_pendulum"), "-t", "1e7",
                                            "--every", "0.1", "-o", self.path("a.csv"))
            self.assertEqual(code, 128 + number, out + err)
            self.assertIn("interrupted at t = ", err)
            self.assertRegex(out, r"(?m)^certificate ")
            text = self.read("a.csv")
            self.assertTrue(text.endswith("\n"))
            self.assertGreater(len(table(text)["t"]), 2)
            self.assertEqual(os.listdir(self.folder.name), ["a.csv"])

    def test_ignored_signals_stay_ignored(self):
        file = self.write("swing.zw", "coord x = 1\nkinetic x'^2/2\npotential x^2/2\n")
        child = subprocess.Popen([ZWANG, "run", file, "-t", "3000", "-q"],
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for _ in range(5):
            time.sleep(0.02)
            child.send_signal(signal.SIGHUP)
        self.assertEqual(child.wait(timeout=60), OK)

    def test_interrupt_between_samples(self):
        code, _, err = self.interrupt(signal.SIGINT, "run", example("double_pendulum"), "-t", "1e9",
                                      "--every", "1e9")
        self.assertEqual(code, INTERRUPTED, err)


    def test_more_samples_than_memory(self):
        file = self.write("swing.zw", "coord x = 1\nkinetic x'^2/2\npotential x^2/2\n")
        for more in (("-t", "1e300", "--every", "1e-300"), ("-t", "1e6", "--every", "1e-6", "-o", "x.csv")):
            _, err = self.expect(USAGE, "run", file, *more)
            self.assertRegex(err, "there would be .* samples")


class Explain(Case):
    def explained(self, *words):
        out, _ = self.expect(OK, "explain", "--json", *words)

        def refuse(word):
            raise ValueError(word)
        return json.loads(out, parse_constant=refuse)

    def test_examples(self):
        for file in SOME_EXAMPLES:
            with self.subTest(os.path.basename(file)):
                data = self.explained(file)
                self.assertTrue(data["ok"])
                speeds = data.get("speeds", data["coordinates"])
                self.assertEqual(data["degrees_of_freedom"], len(speeds) - data["rank"])
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
        self.assertIn("held by constraints only s", self.expect(OK, "check", file)[0])

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
    def test_examples(self):
        for file in SOME_EXAMPLES:
            with self.subTest(os.path.basename(file)):
                out, err = self.expect(OK, "check", file)
                self.assertEqual(err, "")
                for label in ("coordinates", "constraints", "freedom", "redundant", "assembled"):
                    self.assertRegex(out, rf"(?m)^{label} +\S")

    def test_assembly_is_reported(self):
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
