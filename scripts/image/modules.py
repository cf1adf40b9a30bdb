# SPDX-License-Identifier: MIT
"""Kernel modules for the guest: dependency closure, decompressed, with depmod.

Debian compresses its modules, and its packages ship no modules.dep; the kernel
folder (see stock-kernel.sh) has had depmod run on it.
"""

import gzip
import lzma
import os
import subprocess
import tempfile

OPENERS = {".xz": lzma.open, ".gz": gzip.open, ".ko": open}


def _name(path):
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


class Kernel:
    """A kernel folder: bzImage, release, kdir, root/lib/modules/RELEASE."""

    def __init__(self, folder):
        self.folder = folder
        with open(f"{folder}/release", encoding="ascii") as stream:
            self.release = stream.read().strip()
        self.modules = f"{folder}/root/lib/modules/{self.release}"
        self.needs, self.paths = {}, {}
        with open(f"{self.modules}/modules.dep", encoding="ascii") as stream:
            for line in stream:
                path, needs = line.split(":")
                self.paths[_name(path)] = path
                self.needs[_name(path)] = [_name(need) for need in needs.split()]
        with open(f"{self.modules}/modules.builtin", encoding="ascii") as stream:
            self.builtin = {_name(line.strip()) for line in stream}

    def closure(self, names):
        """Return the modules and their dependencies, without built-in ones."""
        wanted, work = set(), list(names)
        while work:
            name = work.pop()
            if name in wanted or name in self.builtin:
                continue
            if name not in self.paths:
                raise KeyError(f"kernel {self.release} has no module {name}")
            wanted.add(name)
            work += self.needs[name]
        return sorted(wanted)

    def read(self, name):
        """Read a module, decompressed."""
        path = f"{self.modules}/{self.paths[name]}"
        with OPENERS[os.path.splitext(path)[1]](path, "rb") as stream:
            return stream.read()


def depends(module):
    """Read the dependencies listed in a module file."""
    text = subprocess.run(["/sbin/modinfo", "-F", "depends", module], check=True,
                          capture_output=True, text=True).stdout
    return [name.replace("-", "_") for name in text.strip().split(",") if name]


def add(archive, kernel, names, own):
    """Add modules and their index to an archive.

    names: modules of the kernel, missing ones are an error; own: our module
    files, which are placed in updates/. Dependencies of both are added.
    """
    wanted = list(names)
    for module in own:
        wanted += depends(module)
    folder = f"lib/modules/{kernel.release}"
    with tempfile.TemporaryDirectory() as staging:
        files = {}
        for name in kernel.closure(wanted):
            files[f"{folder}/kernel/{name}.ko"] = kernel.read(name)
        for module in own:
            name = f"{folder}/updates/pumice.ko"
            archive.stripped(name, module)
            with open(module, "rb") as stream:
                files[name] = stream.read()
        for index in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
            if os.path.exists(f"{kernel.modules}/{index}"):
                with open(f"{kernel.modules}/{index}", "rb") as stream:
                    files[f"{folder}/{index}"] = stream.read()
        for path, data in files.items():
            os.makedirs(os.path.dirname(f"{staging}/{path}"), exist_ok=True)
            with open(f"{staging}/{path}", "wb") as stream:
                stream.write(data)
        subprocess.run(["/sbin/depmod", "-b", staging, kernel.release], check=True)
        for path in sorted(os.listdir(f"{staging}/{folder}")):
            if os.path.isfile(f"{staging}/{folder}/{path}"):
                archive.file(f"{folder}/{path}", f"{staging}/{folder}/{path}")
        for path, data in files.items():
            archive.data(path, data)
