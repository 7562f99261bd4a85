"""Examples of documents and docstrings do what they show: doc.py FILE..."""

import doctest
import sys

import zwang

try:
    import scipy  # noqa: F401
except ImportError:
    print("README.md is left out: SciPy is missing (Debian: python3-scipy)")
    sys.argv = [path for path in sys.argv if not path.endswith("README.md")]

flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
failed = sum(doctest.testfile(path, module_relative=False, optionflags=flags).failed for path in sys.argv[1:])
failed += sum(doctest.testmod(module, optionflags=flags).failed for module in (zwang, zwang.gauss, zwang.sim, zwang.study, zwang.batch, zwang.env, zwang.system))
print("examples that differ:", failed)
sys.exit(failed > 0)
