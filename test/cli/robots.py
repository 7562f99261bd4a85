"""Robots on the command line, and runs that are saved and gone on with: robots.py ZWANG CONFIG"""

import json
import os
import re
import sys
import unittest

from case import FILE, MODEL, OK, ROOT, USAGE, Case, example, table, zwang


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
        said = json.loads(out)
        self.assertEqual([c["name"] for c in said["coordinates"]],
                         ["point.qw", "point.qx", "point.qy", "point.qz"])
        self.assertEqual(said["speeds"][2]["speed"], 100)

    def test_controls_in_names_stay_off_the_terminal(self):
        """A name may have any character; what a terminal would obey is not printed, also where something is wrong."""
        file = self.write("n.xml", "<mujoco><worldbody><body><joint name='a&#10;b&#155;c'/><geom size='.1'/></body>"
                                   "</worldbody></mujoco>")
        for words in (("run", file, "-t", "0.01"), ("explain", file), ("check", file), ("run", file, "--set", "x=1")):
            _, out, err = zwang(*words)
            self.assertNotRegex(out + err, "[\x00-\x08\x0b-\x1f\x7f-\x9f]|a\nb")

    def test_check_says_what_would_help(self):
        """Each advice where it is due, and none where nothing is wrong."""
        body = "<body name='%s' pos='0 0 %s'><freejoint/><geom size='.1'/></body>"
        world = "<mujoco><worldbody>%s</worldbody>%s</mujoco>"
        floor = "<geom type='plane' size='1 1 1'/>"
        key = "<keyframe><key name='apart' qpos='0 0 1 1 0 0 0 0 0 2 1 0 0 0'/></keyframe>"
        slide = "<body><joint name='x' type='slide'/><geom size='.1'/></body>"
        for text, wanted in (
                (world % (floor + body % ("a", 1), ""), None),
                (world % (body % ("a", 1), ""), "a floor, else it falls forever"),
                (world % (floor, ""), "a joint, so that something moves"),
                (world % (floor + body % ("a", 1) + body % ("b", 1.15), ""),
                 'a and b overlap by 0.05 and will be pushed apart at 0.5 m/s: '
                 '<exclude body1="a" body2="b"/> in <contact> if they are meant to overlap, else another pose\n'),
                (world % (floor + body % ("a", 1) + body % ("b", 1.15), key),
                 'a and b overlap by 0.05 and will be pushed apart at 0.5 m/s: '
                 '<exclude body1="a" body2="b"/> in <contact> if they are meant to overlap, else another pose, say --key apart\n'),
                (world % (slide + slide.replace("'x'", "'y'").replace("<body>", "<body pos='0 9 0'>"),
                          "<equality><joint joint1='x' joint2='y'/><joint joint1='x' joint2='y' polycoef='0 1.00000001 0 0 0'/>"
                          "</equality>"), "loops whose lengths agree: equalities are within"),
                (world % (slide, "<actuator><motor name='push' joint='x'/></actuator>"),
                 "a control: all are 0; --set push=X gives one")):
            out, _ = self.expect(OK, "check", self.write("r.xml", text))
            if wanted is None:
                self.assertNotIn("would help", out)
            else:
                self.assertIn("would help   " + wanted, out)

    def test_check_says_what_would_help_urdf(self):
        """Where a mesh is looked for, and that the base is fixed unless something else is said."""
        link = ("<link name='%s'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
                "%s</link>")
        mesh = "<collision><geometry><mesh filename='%sx.stl'/></geometry></collision>"
        joint = "<joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint>"
        robot = "<robot name='r'>" + link % ("a", "") + link + joint + "</robot>"
        fixed = "--base free, if it is to walk, drive or fly"
        ball = "<collision><geometry><sphere radius='.1'/></geometry></collision>"
        further = joint.replace("'j'", "'k'").replace("'b'", "'c'").replace("'a'", "'b'")
        three = "<robot name='r'>" + link % ("a", ball) + link % ("b", "") + link % ("c", ball) + joint + further + "</robot>"
        out, _ = self.expect(OK, "check", self.write("t.urdf", three))
        self.assertIn("<exclude body1=\"a\" body2=\"c\"/> in <contact> of an MJCF file (zwang export makes it from this one) if they", out)
        lost = "x.stl, without which contacts cannot be computed"
        for text, options, wanted, unwanted in (
                (robot % ("b", ""), (), [fixed], [lost]),
                (robot % ("b", ""), ("--base", "fixed"), [], ["would help"]),
                (robot % ("b", ""), ("--base", "free"), ["a floor"], [fixed]),
                (robot % ("b", mesh % "package://p/"), ("--base", "fixed"), [lost + ": --package NAME=PATH"], [fixed]),
                (robot % ("b", mesh % ""), ("--base", "fixed"), [lost + "\n"], ["--package"])):
            out, _ = self.expect(OK, "check", self.write("r.urdf", text), *options)
            for it in wanted:
                self.assertIn(it, out)
            for it in unwanted:
                self.assertNotIn(it, out)

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
        self.assertIn("this file has no bodies", err)

    def test_wrong_names_are_named(self):
        _, err = self.expect(MODEL, "run", self.robot("four_bar"), "--set", "drvie=2")
        self.assertIn("did you mean 'drive'", err)
        _, err = self.expect(MODEL, "run", self.robot("four_bar"), "--key", "upp")
        self.assertIn("did you mean 'up'?", err)
        _, err = self.expect(MODEL, "run", example("pendulum"), "--key", "up")
        self.assertIn("no keyframe", err)

    def test_every_example_reports(self):
        for name in ("double_pendulum", "bricard", "arm"):
            self.expect(OK, "check", self.robot(name))
            self.expect(OK, "run", self.robot(name), "-t", "0.2", "--report", self.path("r.html"),
                        "--plot", self.path("r.svg"))
            self.assertGreater(len(self.read("r.html")), 10000)

    def test_what_touches(self):
        file = self.write("fall.xml", "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
                          "<body pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
        out = self.expect(OK, "run", file, "-t", "1")[0]
        self.assertRegex(out, r"method +impulse, step 0.002\n")
        self.assertRegex(out, r"contacts +1 at most, \S+ deep at worst\n")
        self.assertRegex(out, r"joint0.z += 0.1 ")
        out = self.expect(OK, "run", file, "-t", "1", "--method", "dop853")[0]
        self.assertRegex(out, r"contact +not computed by method dop853")
        self.assertRegex(self.expect(OK, "check", file)[0], r"touching +nothing")

    def test_laws_of_contact(self):
        rod = self.write("rod.xml", "<mujoco><default><geom friction='2 0 0'/></default><worldbody>"
                         "<geom type='plane' size='1 1 1'/><body><joint name='x' type='slide' axis='1 0 0'/>"
                         "<joint name='z' type='slide' axis='0 0 1'/><joint name='a' axis='0 -1 0'/>"
                         "<inertial pos='0 0 0' mass='1' diaginertia='.33 .33 .33'/>"
                         "<geom size='.001' pos='-1 0 0'/></body></worldbody><keyframe><key name='slides' "
                         "qpos='0 0.8922073600614354 1.1' qvel='-1 0 0'/></keyframe></mujoco>")
        words = ("run", rod, "--key", "slides", "-t", "0.01")
        out = self.expect(OK, *words)[0]
        self.assertRegex(out, r"method +impulse, step 0.002\n")
        self.assertRegex(out, r"survived: 1 jam: sliding that no finite force is consistent with")
        self.assertEqual(out.split("state")[1], self.expect(OK, *words, "--contact", "coulomb")[0].split("state")[1])
        out = self.expect(OK, *words, "--contact", "convex")[0]
        self.assertRegex(out, r"method +impulse, step 0.002, contact convex\n")
        self.assertNotIn("jam:", out)
        self.assertRegex(self.expect(OK, *words, "--contact", "soft")[0], r"method +soft")
        self.assertIn("the laws are coulomb, convex, soft", self.expect(USAGE, *words, "--contact", "hard")[1])
        _, err = self.expect(USAGE, *words, "--contact", "convex", "--method", "rk4", "--step", "0.01")
        self.assertIn("contact convex comes with method impulse, and not rk4", err)
        _, err = self.expect(USAGE, "run", example("pendulum"), "--contact", "soft")
        self.assertIn("these are equations", err)

    def test_what_touches_is_explained(self):
        text = ("<mujoco><custom><numeric name='restitution' data='%s'/></custom><worldbody>"
                "<geom name='floor' type='plane' size='1 1 1'/><body name='ball' pos='0 0 .1'><freejoint/>"
                "<geom name='skin' size='.1' mass='2'/></body></worldbody></mujoco>")
        file = self.write("rest.xml", text % "0.5")
        out = self.expect(OK, "explain", file)[0]
        self.assertRegex(out, r"skin on floor +sticks +19.62 +0 +0 +0 +0 +0 +0  0, 0, 0\n")
        self.assertRegex(out, r"world -> ball: 1, normal 19.62, force 0, 0, 19.62")
        said = json.loads(self.expect(OK, "explain", file, "--json")[0])
        self.assertEqual([c["geom2"] for c in said["contacts"]], ["skin"])
        self.assertAlmostEqual(said["contact_sums"][0]["force"][2], 2 * 9.81, 9)
        titles = lambda *more: self.expect(OK, "run", file, "-q", "-t", "0.01", "-o", "-", *more)[0].split("\n")[0]
        self.assertIn("normal(ball on floor)", titles())
        self.assertIn("touch(ball on floor)", titles("--contacts", "all"))
        self.assertNotIn("normal(ball", titles("--contacts", "none"))
        self.assertIn("all or none", self.expect(USAGE, "run", file, "--contacts", "some")[1])
        self.assertRegex(self.expect(OK, "check", file)[0], r"touching +world and ball \(1 point\)")
        self.assertIn("between 0 and 1", self.expect(MODEL, "check", self.write("bad.xml", text % "2"))[1])
        deep = self.write("deep.xml", (text % "0").replace("0 0 .1", "0 0 .05").replace("size=", "condim='1' size="))
        self.assertIn("world and ball (1 point, 0.05 deep)", self.expect(OK, "check", deep)[0])
        self.assertIn("skin on floor pushes", self.expect(OK, "explain", deep)[0])

    def test_fixed_steps(self):
        for method in ("variational", "variational4", "midpoint"):
            out, _ = self.expect(OK, "run", self.robot("double_pendulum"), "--method", method,
                                 "--step", "0.01", "-t", "1")
            self.assertIn("1 in 100 steps", out)
        self.expect(OK, "run", self.robot("gyroscope"), "--key", "spinning", "-t", "0.1", "--method",
                    "euler", "--step", "1e-4")


class Pieces(Case):
    """Runs that are saved and gone on with."""

    def hash_of(self, *words):
        return re.search(r"^hash +([0-9a-f]{16})$", self.expect(OK, "run", *words, "--hash")[0], re.M)[1]

    def test_pieces_have_the_bits_of_the_whole(self):
        robot = os.path.join(ROOT, "examples", "bodies", "four_bar.xml")
        for file, start in ((example("driven_cart"), []), (robot, ["--key", "driven"])):
            for method in ("rk4", "midpoint", "variational4"):
                words = ["--method", method, "--step", "0.01"]
                whole = self.hash_of(file, *words, *start, "-t", "1")
                self.expect(OK, "run", file, *words, *start, "-t", "0.3", "-q", "--save", self.path("a.state"))
                self.assertEqual(whole, self.hash_of(file, *words, "-t", "1", "--every", "0.07", "--from",
                                                     self.path("a.state")))
                self.assertEqual(os.listdir(self.path("")), ["a.state"])

    def test_without_memory(self):
        """Only robots of more than 24 speeds start a step from the multipliers of the previous one."""
        for name, remembers in (("humanoid_falls", True), ("quadruped", False)):
            words = [os.path.join(ROOT, "examples", "contact", name + ".xml"), "--method", "impulse", "--tol", "1", "-t", "0.8"]
            self.assertEqual(self.hash_of(*words) != self.hash_of(*words, "--memoryless"), remembers)
        for words in (["--contact", "soft"], ["--method", "impulse", "--tol", "1e-6"]):
            _, said = self.expect(USAGE, "run", os.path.join(ROOT, "examples", "contact", "quadruped.xml"), "--memoryless", *words)
            self.assertIn("steps without memory are those of method impulse by one linearisation", said)

    def test_adaptive_runs_go_on_too(self):
        out, _ = self.expect(OK, "run", example("double_pendulum"), "-t", "1", "--save", self.path("a.state"))
        self.assertIn("saved        " + self.path("a.state"), out)
        whole, _ = self.expect(OK, "run", example("double_pendulum"), "-t", "2")
        rest, _ = self.expect(OK, "run", example("double_pendulum"), "-t", "2", "--from", self.path("a.state"))
        self.assertNotIn("impact", rest)
        place = re.compile(r"x1 = ([-0-9.]{10})")
        self.assertEqual(place.search(whole)[1], place.search(rest)[1])

    def test_what_cannot_be(self):
        state, pendulum = self.path("a.state"), example("pendulum")
        self.expect(OK, "run", pendulum, "-t", "1", "-q", "--save", state, "--set", "m=2")
        err = self.expect(MODEL, "run", example("double_pendulum"), "--from", state)[1]
        self.assertIn("a.state: error: the state belongs to another system", err)
        self.assertIn("m = 2", self.expect(MODEL, "run", pendulum, "--from", state, "--set", "m=3")[1])
        self.expect(OK, "run", pendulum, "--from", state, "--set", "m=2", "-t", "2")
        self.assertIn("not after the present one", self.expect(USAGE, "run", pendulum, "--from", state, "-t", "1")[1])
        self.assertIn("--key", self.expect(USAGE, "run", pendulum, "--from", state, "--key", "a")[1])
        self.assertIn("no such file", self.expect(FILE, "run", pendulum, "--from", self.path("b.state"))[1].lower())
        self.assertIn("folder", self.expect(FILE, "run", pendulum, "--save", self.path("none/b.state"))[1])
        for words in (["--save", self.path("a.csv")], ["--output", self.path("a.csv")]):
            err = self.expect(USAGE, "run", pendulum, "-o", self.path("a.csv"), *words)[1]
            self.assertIn("a.csv would be written twice", err)
        self.assertFalse(os.path.exists(self.path("a.csv")))
        with open(state, "r+b") as file:
            file.seek(100)
            file.write(b"?")
        self.assertIn("damaged", self.expect(MODEL, "run", pendulum, "--from", state)[1])
        with open(state, "r+b") as file:
            file.truncate(50)
        self.assertIn("truncated", self.expect(MODEL, "run", pendulum, "--from", state)[1])
        self.assertIn("not a state", self.expect(MODEL, "run", pendulum, "--from", pendulum)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
