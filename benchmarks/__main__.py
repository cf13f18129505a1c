"""Run the benchmarks: `python -m benchmarks [NAME ...]`, or `--list` to see them.

How to add one
--------------
Put a file into this folder that defines `main()` with no required arguments; it is found by itself. The first line of
its docstring is its title. A benchmark prints a table. It reports exact operation counts where it can, and otherwise
*ratios* of times taken in the same run: on a machine with neighbours an absolute time says little. Print the fastest
and the median of several repetitions, never the mean.

Each benchmark runs in a fresh interpreter, so that none meets the warm caches of the one before it.
"""

import argparse
import ast
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent


def discover(folder: Path = HERE) -> dict[str, str]:
    """Name and title of every script in the folder that defines `main()`; nothing is imported."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            title = (ast.get_docstring(tree) or "").partition("\n")[0]
            found[path.stem] = title
    return found


def machine() -> str:
    """What the numbers were taken on; without it they mean nothing later."""
    versions = []
    for package in ("closedchain", "casadi", "llvmlite", "numba", "numpy"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    load = f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, load {load}"
    return f"{system}, Python {platform.python_version()}\n{', '.join(versions)}"


def run(name: str) -> bool:
    """Run one benchmark in a fresh interpreter; True when it ended well."""
    code = f"import benchmarks.{name} as script; raise SystemExit(script.main())"
    return subprocess.run([sys.executable, "-c", code], cwd=HERE.parent, check=False).returncode == 0


def main() -> int:
    """Run the benchmarks named on the command line, or all of them."""
    found = discover()

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all of them if none is named")
    parser.add_argument("--list", action="store_true", help="show what there is, and stop")
    wanted = parser.parse_args()

    unknown = [name for name in wanted.names if name not in found]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(found) or 'none yet'}")
    if wanted.list:
        for name, title in found.items():
            print(f"{name:28} {title}")
        return 0

    print(machine())
    failed = []
    for name in wanted.names or found:
        print(f"\n== {name}: {found[name]}", flush=True)
        start = time.perf_counter()
        if not run(name):
            failed.append(name)
        print(f"-- {name}: {time.perf_counter() - start:.1f} s")

    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
