#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The pictures of the demos, Documentation/pictures/demos: after `make native firmware`

    Documentation/pictures/demos.py [FOLDER]

draws each of them in process and reduces it to at most 640 pixels in width. The result does not
depend on cores, threads or the machine; tests/docs compares it with the files in the tree.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import png  # noqa: E402  # pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
WIDEST = 640
# A picture of noise, which does not compress.
SMALLER = {"triangles.png": 4}
# Picture: arguments of the demo. Animations are shorter than those of `make run`.
PICTURES = {
    "mandelbrot.png": ["mandelbrot", "-o"],
    "histogram.png": ["histogram", "-o"],
    "blur.png": ["blur", "-o"],
    "life.gif": ["life", "-g", "24", "-o"],
    "nbody.gif": ["nbody", "-t", "16", "-o"],
    "rays.png": ["rays", "-o"],
    "triangle.png": ["triangle", "-o"],
    "model.png": ["model", "-o"],
    "gears.png": ["gears", "-o", "gears.gif", "-p"],
    "shadows.png": ["shadows", "-o"],
    "msaa.png": ["msaa", "-o"],
    "triangles.png": ["triangles", "-o"],
    "partial.png": ["partial", "-o"],
    "heatmap.png": ["heatmap", "-o"],
}


def draw(name, folder):
    """Run a demo that writes the picture into a folder; reduce it."""
    words = PICTURES[name]
    program = BUILD / f"native/userspace/demos/pumice-demo-{words[0]}"
    firmware = str(BUILD / "firmware/pumice_fw.bin")
    subprocess.run([str(program), *words[1:], name], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL,
                   env={**os.environ, "PUMICE_DEVICE": "inproc:cores=4,threads=2",
                        "PUMICE_FIRMWARE": firmware})
    path = pathlib.Path(folder) / name
    if name.endswith(".png"):
        width, height, rows = png.read(path)
        factor = SMALLER.get(name) or -(-width // WIDEST)
        png.write(path, *png.reduce(width, height, rows, factor))
    return path


def main():
    """Draw all of them."""
    target = pathlib.Path(sys.argv[1]) if sys.argv[1:] else HERE / "demos"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in PICTURES:
            (target / name).write_bytes(draw(name, folder).read_bytes())


if __name__ == "__main__":
    main()
