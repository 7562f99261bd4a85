"""What users do wrong, and what zwang answers: a table of files, commands and Python.

    mistakes.py ZWANG [PYTHON BUILD]        with these two, the mistakes in Python as well

Every row has been read by a person: a message says what is wrong and where, in words of the field, and what to write instead where that can be
guessed. A row is (what the message must contain, exit status, file, its text, command), {P} standing for a sound pendulum, {R} for a sound robot.
"""

import os
import re
import subprocess
import sys
import tempfile

ZWANG = os.path.abspath(sys.argv[1])
P = "param l = 1\ncoord x = 1, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\nconstraint rod: x^2 + y^2 = l^2\n"
X = "coord x = 1\nmass 1 at (x)\n"
R = '<mujoco><worldbody><body name="arm"><joint name="j"/><geom size=".1"/></body></worldbody></mujoco>'


def robot(old, new):
    assert old in R
    return R.replace(old, new)


FILES = [  # exit status 3 unless it says otherwise: a mistake in the model
    ("a.zw:2:15: error: 'yy' is not known; declare it with param, coord or let", 3, "coord x = 1\nmass 1 at (x, yy)\n"),
    ("no statement begins with 'mas'; did you mean 'mass'?", 3, "coord x = 1\nmas 1 at (x)\n"),
    ("'x' is a coordinate already (line 1); names are unique", 3, "coord x = 1, x = 2\nmass 1 at (x)\n"),
    ("'lenght' is not known; did you mean 'length'?", 3, "param length = 1\n" + X + "force x: -lenght\n"),
    ("expected ':' or at, not '='; the syntax is: force x: -k*x", 3, X + "force x = -2*x\n"),
    ("this '(' is never closed", 3, "coord x = 1\nmass 1 at (x\n"),
    ("a motion of x, alone or with others, has negative energy. Is a mass or an inertia negative?", 1, "coord x = 1\nmass -1 at (x)\n"),
    ("there is neither mass nor constraint on coordinate y", 1, "coord x = 1, y = 2\nmass 1 at (x)\n"),
    ("no nearby position satisfies constraint b (off by 1) together with a", 3, X + "constraint a: x = 1\nconstraint b: x = 2\n"),
    ("no nearby position satisfies constraint a", 3, X + "constraint a: x^2 = -1\n"),
    ("at t = 0, '/' in \"force x: 1/(x - 1)\" or in its derivative has no finite value", 1, X + "force x: 1/(x - 1)\n"),
    ("'sqrt' in \"force x: sqrt(-x)\" or in its derivative has no finite value", 1, X + "force x: sqrt(-x)\n"),
    ("the definition is circular: m -> n -> m", 3, "param m = n, n = m\n" + X),
    ("there is no function 'sine'; did you mean 'sin'?", 3, X + "force x: sine(x)\n"),
    ("'sin' takes 1 argument, not 2: sin(x)", 3, X + "force x: sin(x, 2)\n"),
    ("x' is a speed, and a potential may not depend on speeds", 3, X + "potential x'^2\n"),
    ("expected an operator or the end of the line before 'x'; a product is written a*b", 3, X + "force x: 2 x\n"),
    ("gravity is a vector, such as (0, -9.81)", 3, X + "gravity 9.81\n"),
    ("the time of a run must be positive, not -3", 3, X + "run time -3\n"),
    ("cannot open the file 'pendulun.zw'; did you mean 'pendulum.zw'?", 3, X + 'include "pendulun.zw"\n'),
    ("cannot open the file 'b.zw'", 3, X + 'include "b.zw"\n'),
    ("; is not part of the language: a statement ends with its line", 3, "coord x = 1;\nmass 1 at (x);\n"),
    ("the file is empty; a model starts with a line such as coord x = 1", 3, ""),
    ("when? the syntax is: reach x = 1, y = 0 at 2", 3, X + "reach x = 1\n"),
]
ROBOTS = [
    ("this closes an element that is not open; the open one is <body> of line 1", 3, robot("</body>", "")),
    ("it turns, but has no moment of inertia about its hinge; give it a geom with mass, or an inertial", 3, robot('<geom size=".1"/>', "")),
    ("type cannot be 'hinj', but one of: free ball slide hinge; did you mean 'hinge'?", 3, robot('name="j"', 'name="j" type="hinj"')),
    ("<geom> has no attribute 'mas'; did you mean 'mass'?", 3, robot('size=".1"', 'size=".1" mas="2"')),
    ("there is no joint 'elbo'", 3, robot("</mujoco>", '<actuator><motor joint="elbo"/></actuator></mujoco>')),
    ("there is no mesh 'foot'", 3, robot('size=".1"', 'type="mesh" mesh="foot"')),
    ("'a' is not a number", 3, robot('size=".1"', 'size="a b"')),
]
COMMANDS = [
    ("there is no command rnu; did you mean run?", 2, "rnu {P}"),
    ("run needs a file (.zw, .xml or .urdf); see `zwang help run`", 2, "run"),
    ("nothing.zw: error: No such file or directory; models in that folder: ", 4, "run nothing.zw"),
    ("error: there is no folder /nowhere/", 4, "run /nowhere/nothing.zw"),
    ("--step 1e+09 is longer than the whole run, from t = 0 to 10; rk4 takes steps well below that, such as --step 0.01", 2, "run {P} --method rk4 --step 1e9"),
    ("pendulun.zw: error: No such file or directory; did you mean pendulum.zw?", 4, "run pendulun.zw"),
    ("no site, body or geom is called hnd; bodies are arm", 2, "look {R} --frame hnd"),
    ("a cost that jumps has no derivative: a condition may be in `cost over` only", 3, "optimise jumps.zw"),
    ("there is nothing to minimise; add a line such as: cost (x - 1)^2", 3, "optimise {P}"),
    ("MJCF describes rigid bodies; this model has none", 3, "export {P} x.xml"),
    ("this is a directory; give a .zw file in it", 4, "run /"),
    ("run has no option --tme; did you mean --time?", 2, "run {P} --tme 3"),
    ("--time needs a value", 2, "run {P} --time"),
    ("--time takes a number, not abc", 2, "run {P} --time abc"),
    ("--time takes a positive number, not -1", 2, "run {P} --time -1"),
    ("there is no method rk5; did you mean rk4?", 2, "run {P} --method rk5"),
    ("--set takes NAME=NUMBER, not l", 2, "run {P} --set l"),
    ("there is no parameter 'mass' to set; there are l", 3, "run {P} --set mass=3"),
    ("there is no 'arm.mas' to set; this has gravcomp, mass; did you mean 'arm.mass'?", 3, "run {R} --set arm.mas=3"),
    ("did you mean 'gravity'?", 3, "run {R} --set gravty=3"),
    ("there is no keyframe 'home': this file has none", 3, "run {R} --key home"),
    ("the file must end in .csv, .h5, .svg or .html, or be - for a pipe", 2, "run {P} -o out.xyz"),
    ("cannot write /nowhere/out.csv: there is no such folder", 4, "run {P} -o /nowhere/out.csv"),
    ("there would be more than 1e12 samples, one every 1e-13", 2, "run {P} --every 1e-13"),
    ("this is not a state of zwang", 3, "run {P} --from {P}"),
    ("nothing.csv: error: cannot be read: No such file or directory", 4, "certify {P} nothing.csv"),
    ("sweep needs parameters: for example --over \"m = 1..2 : 10\"", 2, "sweep {P} --keep max(x)"),
    ("the file is empty; a model starts with a line such as coord x = 1", 3, "sweep empty.zw --over l=1..2:3 --keep max(x"),
    ("\"maximum(x)\" is not a quantity; these are: e at end", 2, "sweep {P} --over l=1..2:3 --keep maximum(x)"),
    ("fit needs unknowns: --vary \"m, mu = 0..1, x(0)\" for example", 2, "fit {P} nothing.csv"),
    ("there is no parameter of that name; there are l", 2, "fit {P} nothing.csv --vary mass"),
    ("there is no 'amr.mass' to set; did you mean arm.mass?", 2, "fit {R} nothing.csv --vary amr.mass"),
    ("where that coordinate starts is written x(0), its initial speed x'(0)", 2, "fit {P} nothing.csv --vary x"),
    ("--at takes a time, 0 or later, not -1", 2, "explain {P} --at -1"),
]
PYTHON = [
    ("there is no parameter lenght; did you mean length?", "zwang.parse('param length = 1\\ncoord x = 1\\nmass 1 at (x)').sim().set_params(lenght=2)"),
    ("there is no column xx; did you mean x?", "zwang.parse(P).run(1)['xx']"),
    ("q: expected 2 numbers, not 3", "zwang.parse(P).sim().q = [1, 2, 3]"),
    ("q: number 1 is not finite", "zwang.parse(P).sim().q = [1, float('nan')]"),
    ("there is no method 'rk5'; the methods are default, dop853, variational", "zwang.parse(P).run(1, method='rk5')"),
    ("the file name must end with .csv", "zwang.parse(P).run(1).to_csv('run.txt')"),
    ("M has shape (1,); expected a diagonal (2,)", "zwang.gauss.solve(M=[1.0], free=[1, 2])"),
    ("the blocks have 0 rows, A has 1", "zwang.gauss.solve(A=[[1.0]], free=[1.0], cones=[])"),
    ("a Batch needs a Model or a list of models", "zwang.Batch('pendulum.zw', 4)"),
    ("the mask has 2 entries for 4 worlds", "zwang.Batch(zwang.parse(P), 4).reset([1, 0])"),
    ("a recording is the path of a file, a Run, or (t, q) or (t, q, v)", "zwang.certify(zwang.parse(P), ([1, 2],))"),
    ("the lower bound 2 is not below the upper one 1", "zwang.fit(zwang.parse(P), zwang.parse(P).run(1), {'l': (2, 1)})"),
    ("q has shape (3, 1); expected (3, 2), a row for each time", "zwang.certify(zwang.parse(P), ([0, 1, 2], [[1], [2], [3]]))"),
    ("nothing.csv: cannot be read: No such file or directory", "zwang.certify(zwang.parse(P), 'nothing.csv')"),
    ("box.joint.vx cannot be set to nan", "r = zwang.Robot(); b = r.world.body('box'); b.joint('box.joint', type='free'); b.geom('box', size=(1, 1, 1)); c = zwang.Batch(r.model(), 2); c.v[0, 0] = float('nan'); c.step(); raise ValueError(c.why(0))"),
    ("'/' cannot be read; is it a folder?", "zwang.load('/')"),
    ("the count must not be negative", "zwang.parse(P).sim().step(-1)"),
    ("there is no speed z; there are x, y", "zwang.parse(P).sim().inverse([0, 0], drive='z')"),
    ("the model has no goal; add a line like", "zwang.parse(P).sim().reach()"),
    ("robot.xml:4:20: <body> has no attribute 'mass'", "robot = zwang.Robot(); robot.world.body('a', mass=3); robot.model()"),
    ("a joint that is referred to needs a name", "robot = zwang.Robot(); robot.actuator('motor', joint=robot.world.body('a').joint())"),
]


def run(folder, words):
    return subprocess.run([ZWANG, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def wrong_rows(folder):
    """What does not come as the table has it: (row, what came)."""
    for name, text in (("pendulum.zw", P), ("robot.xml", R), ("empty.zw", ""), ("jumps.zw", X + "cost if(x > 0, 1, 0)\nvary x(0) = 0..3\nrun time 1\n")):
        write(folder, name, text)
    for name, table in (("a.zw", FILES), ("a.xml", ROBOTS)):
        for words, code, text in table:
            write(folder, name, text)
            done = run(folder, ["run", name])
            if words not in done.stdout or done.returncode != code:
                yield words, f"{done.returncode}: {done.stdout}"
    for words, code, command in COMMANDS:
        done = run(folder, command.replace("{P}", "pendulum.zw").replace("{R}", "robot.xml").split())
        if words not in done.stdout or done.returncode != code:
            yield words, f"{done.returncode}: {done.stdout}"


def wrong_in_python(python, build):
    program = ["import zwang", f"P = {P!r}"]
    for number, (_, line) in enumerate(PYTHON):
        program.append(f"try:\n    {line}\n    print('{number} nothing')\nexcept Exception as error:\n    print('{number}', str(error).splitlines()[0])")
    done = subprocess.run([python, "-c", "\n".join(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.join(build, "python")}, timeout=120)
    said = dict(re.findall(r"^(\d+) (.*)$", done.stdout, re.M))
    for number, (words, _) in enumerate(PYTHON):
        if words not in said.get(str(number), ""):
            yield words, said.get(str(number), done.stdout)


def main():
    rows = len(FILES) + len(ROBOTS) + len(COMMANDS)
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(wrong_rows(folder))
    if len(sys.argv) > 3 and subprocess.run([sys.argv[2], "-c", "import numpy"], capture_output=True).returncode == 0:
        rows += len(PYTHON)
        wrong += wrong_in_python(sys.argv[2], sys.argv[3])
    else:
        print("without those in Python")
    for words, came in wrong:
        print(f"wanted: {words}\ncame:   {came}\n")
    print(f"{rows} mistakes, {len(wrong)} of them answered otherwise")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
