"""Examples of documents and docstrings do what they show: doc.py FILE..."""

import doctest
import glob
import re
import sys

import zwang

try:
    import scipy  # noqa: F401
except ImportError:
    print("README.md is left out: SciPy is missing (Debian: python3-scipy)")
    sys.argv = [path for path in sys.argv if not path.endswith("README.md")]

flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
failed = sum(doctest.testfile(path, module_relative=False, optionflags=flags).failed for path in sys.argv[1:])
failed += sum(doctest.testmod(module, optionflags=flags).failed for module in (zwang, zwang.gauss, zwang.sim, zwang.study, zwang.batch, zwang.env, zwang.system, zwang.robot))


def unknown_names(path):
    """Names of the page of language, C and Python side by side that are not there."""
    text = open(path, encoding="utf-8").read()
    headers = "".join(open(file, encoding="utf-8").read() for file in glob.glob("include/zwang/*.h"))
    model = zwang.parse("coord x = 1\nmass 1 at (x)")
    batch = zwang.Batch(model, 1)
    owners = {"zwang": zwang, "model": model, "sim": model.sim(), "run": model.run(0.1), "batch": batch, "System": zwang.System, "Robot": zwang.Robot,
              "gauss": zwang.gauss, "answer": zwang.gauss.solve(M=[1.0], free=[1.0])}
    for name in sorted(set(re.findall(r"\b(?:zw|ZW)_\w+", text))):
        if not re.search(rf"\b{name}\b", headers):
            yield name
    for owner, name in sorted(set(re.findall(r"\b(" + "|".join(owners) + r")\.(\w+)", text))):
        if not hasattr(owners[owner], name) and name not in ("zw", "csv", "xml", "html", "md"):
            yield f"{owner}.{name}"


for name in unknown_names("docs/reference.md"):
    print(f"docs/reference.md: there is no {name}")
    failed += 1
print("examples that differ:", failed)
sys.exit(failed > 0)
