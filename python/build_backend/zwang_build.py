"""Builds the wheel: CMake compiles the extension in the source tree around this folder, and this module packs it with the Python files.

A backend of our own (PEP 517) needs no packages, so `pip install .` works where only Debian's packages are installed.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
TREE = HERE.parent


def _version():
    header = (TREE / "include/zwang/version.h").read_text(encoding="utf-8")
    parts = [re.search(rf"define ZW_VERSION_{part}\s+(\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    if not all(parts):
        raise SystemExit("zwang: the version cannot be read from include/zwang/version.h")
    return ".".join(part.group(1) for part in parts)


def _tag():
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"cp311-abi3-{platform}"


def _compile(folder, configured):
    """The extension, compiled in this folder of CMake's."""
    if not (TREE / "CMakeLists.txt").exists():
        raise SystemExit("zwang: build the Python package inside the source tree of zwang")
    configure = ["cmake", "-S", str(TREE), "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DZW_PYTHON=REQUIRED",
                 "-DZW_LIBRARY_ONLY=ON", f"-DZW_PYTHON3={sys.executable}"]
    build = ["cmake", "--build", folder, "--target", "zwang_python", "-j", str(os.cpu_count() or 1)]
    for command in [build] if configured else [configure, build]:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SystemExit(f"zwang: {' '.join(command)}\n{done.stdout[-4000:]}")
    return pathlib.Path(folder) / "python" / "zwang" / "_core.abi3.so"


METADATA = """Metadata-Version: 2.1
Name: zwang
Version: {version}
Summary: Constrained dynamics by Gauss's principle of least constraint: robots, exact contact, equations, certificates
License: {license}
Requires-Python: >=3.11
Requires-Dist: numpy
"""


def _license():
    return (TREE / "LICENSE").read_text(encoding="utf-8").splitlines()[0].strip()


class _Wheel:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data):
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes from the same sources
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, name):
        self.zip.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), "\n".join([*self.record, f"{name},,", ""]))
        self.zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _version()
    name = f"zwang-{version}-{_tag()}.whl"
    info = f"zwang-{version}.dist-info"
    with tempfile.TemporaryDirectory() as folder:
        given = (config_settings or {}).get("build-folder")  # pip install . --config-settings build-folder=build/release
        library = _compile(given or folder, given is not None).read_bytes()
    wheel = _Wheel(pathlib.Path(wheel_directory) / name)
    for path in sorted((HERE / "zwang").iterdir()):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            wheel.add(f"zwang/{path.name}", path.read_bytes())
    wheel.add("zwang/_core.abi3.so", library)
    wheel.add(f"{info}/METADATA", METADATA.format(version=version, license=_license()).encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: zwang_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode())
    wheel.close(f"{info}/RECORD")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("zwang: the sources of the library are part of the package: make a wheel inside the repository")
