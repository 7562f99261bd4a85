#!/usr/bin/env python3
"""Which test holds which construct of MJCF and URDF: test/read/constructs.txt, checked and written as docs/constructs.md.

    test/read/constructs.py            1: a file is missing, does not contain its construct, or the page is out of date
    test/read/constructs.py --update   write the page
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "constructs.md")


def place_of(name):
    """Where a compared file lies; NAME of test:NAME is that of its source."""
    if name.startswith("soft/"):
        return os.path.join("test", "system", name)
    return os.path.join("test", "read", name)


def left_out():
    """Files that compare_soft does not step."""
    with open(os.path.join(ROOT, "test", "system", "compare_soft.mjs"), encoding="utf-8") as file:
        return re.findall(r"'([\w.]+)'", re.search(r"const apartFrom = \[(.*?)\]", file.read(), re.S).group(1))


def rows():
    section = None
    with open(os.path.join(ROOT, "test", "read", "constructs.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith("#"):
                head, broken = line.rsplit("|", 1)
                head, files = head.rsplit("|", 1)
                what, _, pattern = head.partition("|")
                yield number, section, what.strip(), pattern.strip(), files.split(), broken.split()


def exists_test(name):
    folder, _, base = name.partition("/")
    return any(os.path.exists(os.path.join(ROOT, "test", folder, base_name))
               for base_name in (f"test_{base}.c", f"{base}.py", base))


def complaints(number, what, pattern, files, broken):
    if pattern.startswith("test:") and not exists_test(pattern[5:]):
        yield f"{number}: there is no test {pattern[5:]}"
    if not pattern.startswith("test:") and not files and not broken:
        yield f"{number}: nothing holds '{what}'"
    for name in files:
        path = os.path.join(ROOT, place_of(name))
        if not os.path.isfile(path):
            yield f"{number}: there is no {place_of(name)}"
            continue
        with open(path, encoding="utf-8") as file:
            if not re.search(pattern, file.read()):
                yield f"{number}: {place_of(name)} does not contain {pattern}"
    for name in broken:
        if not os.path.isfile(os.path.join(ROOT, "test", "read", "broken_robot", f"{name}.txt")):
            yield f"{number}: there is no test/read/broken_robot/{name}.txt"


def page():
    out = ["# Which test holds which construct", "",
           "Made from [test/read/constructs.txt](../test/read/constructs.txt) by `test/read/constructs.py --update`, and checked by the test `read/constructs`.",
           "`numbers`: M, bias, accelerations, energies, momenta, poses, lengths and rates of tendons, lengths, rates and forces of actuators, and sensors agree",
           "with MuJoCo's current release (npm) at 100 states to 1e-10, with meshes to 1e-6, whose vertices are floats there (`system/compare_numbers`). `soft`: so do",
           "100 steps of its soft law by Euler's, RK4, implicit and implicitfast integrators, to 1e-7 (`system/compare_soft`). Messages about broken files are compared to the letter",
           "(`read/robot_broken`).", ""]
    without_steps = left_out()
    last = None
    for _, section, what, pattern, files, broken in rows():
        if section != last:
            out += ["", f"## {section}", "", "| construct | compared with MuJoCo | broken files |", "|---|---|---|"]
            last = section
        held = [f"test `{pattern[5:]}`"] if pattern.startswith("test:") else []
        for name in files:
            by = ["soft"] if name.startswith("soft/") else ["numbers"] + ([] if os.path.basename(name) in without_steps else ["soft"])
            held.append(f"`{name}` ({', '.join(by)})")
        out.append(f"| {what.replace('|', '&#124;')} | {', '.join(held)} | {', '.join(f'`{b}`' for b in broken)} |")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)) + "\n"


def main():
    bad = [text for number, _, what, pattern, files, broken in rows() for text in complaints(number, what, pattern, files, broken)]
    if "--update" in sys.argv[1:]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page())
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != page():
            bad.append("docs/constructs.md is out of date: test/read/constructs.py --update")
    print("\n".join(f"test/read/constructs.txt:{text}" for text in bad) or f"{len(list(rows()))} constructs")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
