"""The notebooks run from end to end: by nbconvert where it is asked for and installed, else cell by cell in this interpreter.

    notebooks.py FOLDER [--nbconvert]
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import types

FOLDER = sys.argv[1]


def cells(path):
    with open(path, encoding="utf-8") as file:
        return ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]


def run_here(path):
    module = types.ModuleType("notebook")
    for number, text in enumerate(cells(path)):
        if "plot(" in text and not HAVE_PLOTS:
            continue
        try:
            exec(compile(text, f"{os.path.basename(path)}, cell {number}", "exec"), module.__dict__)
        except Exception as error:
            print(f"{path}, cell {number}: {type(error).__name__}: {error}\n{text}")
            return False
    return True


def run_there(paths):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, *paths],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        made = set(os.listdir(folder))
    if done.returncode != 0:
        print(done.stdout[-3000:])
    return [path for path in paths if os.path.basename(path) not in made]


def there(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


HAVE_PLOTS = there("matplotlib")
os.environ.setdefault("MPLBACKEND", "Agg")
by_jupyter = "--nbconvert" in sys.argv and there("nbconvert") and there("ipykernel")
if "--nbconvert" in sys.argv and not by_jupyter:
    print("no nbconvert or ipykernel here (Debian: python3-nbconvert python3-ipykernel): cells are run without Jupyter")
paths = sorted(glob.glob(os.path.join(FOLDER, "*.ipynb")))
failed = run_there(paths) if by_jupyter else [path for path in paths if not run_here(path)]
print(f"{len(paths)} notebooks {'by nbconvert' if by_jupyter else 'without Jupyter'}, {len(failed)} fail")
sys.exit(len(failed) > 0 or not paths)
