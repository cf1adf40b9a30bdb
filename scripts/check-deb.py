#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make check-deb: build the Debian packages in a copy of the tree; look into them, start QEMU.

The copy is build/deb/pumice, since dpkg-buildpackage leaves its products next to the tree. QEMU is
built in the cache, as for `make run`: the first time it takes minutes and a network.
Expectations come from debian/*.install and from debian/control. Log: out/logs/check-deb.log.
"""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import sources
from results import Tally

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
CACHE = pathlib.Path(os.environ.get("PUMICE_CACHE", pathlib.Path.home() / ".cache/pumice"))
COPY = BUILD / "deb/pumice"
PROFILE = "pkg.pumice.noqemu"
# Packages of debug information, which nothing here reads, take most of the time of compression.
OPTIONS = "noautodbgsym"
# Settings of this tree, which the copy must not use.
OWN = ("BUILD", "OUT", "PUMICE_QEMU", "QEMU_VERSION", "QEMU_SRC", "DESTDIR", "PREFIX", "MAKEFLAGS",
       "MFLAGS", "MAKELEVEL", "DEB_BUILD_PROFILES", "DEB_BUILD_OPTIONS")


def build():
    """Copy the tree and build the packages; return the success."""
    shutil.rmtree(COPY.parent, ignore_errors=True)
    for name in sources.files(TOP):
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, COPY / name, follow_symlinks=False)
    environment = {name: value for name, value in os.environ.items() if name not in OWN}
    done = subprocess.run(["scripts/step.sh", "check-deb", "building Debian packages", "env",
                           *(f"--unset={name}" for name in OWN), f"DEB_BUILD_OPTIONS={OPTIONS}",
                           "make", "-C", COPY, "deb"],
                          cwd=TOP, check=False,
                          env={**environment, "BUILD": str(BUILD), "OUT": str(OUT)})
    return done.returncode == 0


def stanzas(text):
    """Return [{field: value}] of a control file."""
    text = re.sub(r"^#.*\n", "", text, flags=re.M)
    return [dict(re.findall(r"^(\S+): *(.*(?:\n[ \t].*)*)", part, re.M))
            for part in text.strip().split("\n\n")]


def expected(package):
    """Return the patterns of files that a package contains: debian/PACKAGE.install."""
    lines = (TOP / f"debian/{package}.install").read_text(encoding="utf-8").splitlines()
    for line in filter(lambda line: line and not line.startswith("#"), lines):
        source, *target = line.split()
        yield f"{target[0]}/{pathlib.PurePath(source).name}" if target else source


def output(*command):
    """Return the output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def contents(archive):
    """Return the files of a package, with their folders."""
    return {line.split(None, 5)[5].split(" -> ")[0].removeprefix("./").rstrip("/")
            for line in output("dpkg-deb", "--contents", archive).splitlines()}


def inspect(tally, stanza, version):
    """Look into a package."""
    package = stanza["Package"]
    found = sorted((COPY / "out/deb").glob(f"{package}_{version}_*.deb"))
    tally.add(f"{package}: built", len(found) == 1, f"{len(found)} in out/deb of the copy")
    if len(found) != 1:
        return
    names = contents(found[0])
    # debhelper compresses manual pages.
    missing = [pattern for pattern in expected(package) if not fnmatch.filter(names, pattern) and
               f"{pattern}.gz" not in names]
    tally.add(f"{package}: files", not missing, f"missing: {', '.join(missing)}")
    depends = output("dpkg-deb", "--field", found[0], "Depends")
    own = re.findall(r"pumice[\w-]*|libpumice\w+", stanza.get("Depends", ""))
    tally.add(f"{package}: depends on {', '.join(own) or 'none of ours'}",
              "${" not in depends and all(name in depends for name in own), depends)


def dkms(tally, version):
    """Check that the installed package registers the sources of the driver with DKMS."""
    archive = COPY / f"out/deb/pumice-dkms_{version}_all.deb"
    tally.add("pumice-dkms: architecture", archive.exists(), "there is no package for all")
    if archive.exists():
        names = contents(archive)
        tally.add("pumice-dkms: dkms.conf", f"usr/src/pumice-{version}/dkms.conf" in names, "missing")
        folder = COPY / "control"
        subprocess.run(["dpkg-deb", "--control", archive, folder], check=True)
        script = (folder / "postinst").read_text(encoding="utf-8")
        tally.add("pumice-dkms: postinst", "dkms" in script and version in script,
                  "it does not add the module")


def qemu(tally, version):
    """Start the QEMU of its package, which has the device."""
    folder = COPY / "qemu"
    for archive in (COPY / "out/deb").glob(f"pumice-qemu_{version}_*.deb"):
        subprocess.run(["dpkg-deb", "--extract", archive, folder], check=True)
    program = folder / "usr/libexec/pumice/qemu-system-x86_64"
    tally.add("pumice-qemu: QEMU", program.exists(), "it is not in the package")
    if program.exists():
        done = subprocess.run([program, "-device", "pumice,help"], check=False, text=True,
                              capture_output=True)
        tally.add("pumice-qemu: device", done.returncode == 0 and "cores=" in done.stdout,
                  done.stdout + done.stderr)


def source_of_qemu(tally, version):
    """Check that the package of QEMU names the source package that the cache has, and its licences."""
    version_of_qemu = (CACHE / "versions/qemu").read_text(encoding="ascii").strip()
    wanted = f"qemu (= {version_of_qemu})"
    archive, = (COPY / "out/deb").glob(f"pumice-qemu_{version}_*.deb")
    found = output("dpkg-deb", "--field", archive, "Built-Using").strip()
    tally.add("pumice-qemu: Built-Using", found == wanted, f"{found}, not {wanted}")
    licences = COPY / "qemu/usr/share/doc/pumice-qemu/copyright.qemu"
    tally.add("pumice-qemu: licences of QEMU", licences.exists() and
              "GPL-2" in licences.read_text(encoding="utf-8"), "copyright.qemu is missing or not QEMU's")


def profile(tally, packages):
    """Check that the profile leaves out the package of QEMU and no other."""
    done = subprocess.run(["dh_listpackages"], cwd=COPY, check=False, text=True,
                          capture_output=True, env={**os.environ, "DEB_BUILD_PROFILES": PROFILE})
    tally.add(f"pumice-qemu: left out by {PROFILE}", done.returncode == 0 and
              set(done.stdout.split()) == packages - {"pumice-qemu"}, done.stdout + done.stderr)


def main():
    """Build, look into each package, print the count."""
    tally = Tally("deb")
    good = build()
    tally.add("make deb", good, "see out/logs/check-deb.log")
    if good:
        version = re.match(r"pumice \((.*?)\) ",
                           (TOP / "debian/changelog").read_text(encoding="utf-8"))[1]
        packages = stanzas((TOP / "debian/control").read_text(encoding="utf-8"))[1:]
        for stanza in packages:
            inspect(tally, stanza, version)
        dkms(tally, version)
        qemu(tally, version)
        source_of_qemu(tally, version)
        profile(tally, {stanza["Package"] for stanza in packages})
    raise SystemExit(tally.close())


if __name__ == "__main__":
    main()
