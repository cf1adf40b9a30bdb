# SPDX-License-Identifier: MIT
"""
own-root.sh makes a root folder on each machine, and changes nothing of the machine.

The machine is itself such a root folder, so that it can be one in which Pumice is installed or whose
"/" is not a mount.
"""

import os
import subprocess
import unittest

from folder import Folder
from prefix import TOP

# Run in the outer root, in the tree, one after the other. $1 is a folder with the folder inner.
SCRIPTS = {
    "installed": r"""
mkdir /usr/local/lib
echo 'int none;' | cc -shared -Wl,-soname,libpumice.so.0 -x c - -o /usr/local/lib/libpumice.so.0
/usr/sbin/ldconfig
/usr/sbin/ldconfig -p | grep -o '/usr/local/lib/libpumice.so.0'
tests/install/own-root.sh "$1/inner" /usr/sbin/ldconfig -p | grep 'libpumice.*/usr/local' || echo none
""",
    "cache": r"""
mount -t tmpfs none /var/cache
tests/install/own-root.sh "$1/inner" /usr/sbin/ldconfig
ls -A /var/cache
echo end
""",
    # These tests on a machine with the library of a package, the clone in /usr/local/src, and a cache
    # in /var/cache.
    "again": r"""
tree=/usr/local/src/pumice
[ ! -e "$tree" ] || tree=$(mktemp -d /usr/local/src/XXXXXX)
mkdir -p "$tree/scripts" "$tree/tests/install"
cp meson.build "$tree"
cp scripts/lib.sh scripts/private_mounts.py "$tree/scripts"
cp tests/install/{own-root.sh,folder.py,prefix.py,test_own_root.py} "$tree/tests/install"
echo 'int none;' | cc -shared -Wl,-soname,libpumice.so.0 -x c - -o /usr/lib/libpumice.so.0
/usr/sbin/ldconfig
cd "$tree/tests/install"
export PUMICE_TEST_AGAIN=1 BUILD=/var/cache/build OUT=/var/cache/out PUMICE_CACHE=/var/cache/cache
python3 -B -m unittest test_own_root 2>&1
""",
    # A clone may have any name. BUILD is a link out of an empty folder, the cache one into one.
    "places": r"""
mkdir -p /usr/local/src
tree=$(mktemp -d /usr/local/src/XXXXXX)
export BUILD=/usr/src/build OUT=/var/cache/out PUMICE_CACHE=$1/link
mkdir -p "$tree/scripts" "$tree/tests/install" /usr/local/other "$1/of-link" "$OUT" /usr/local/cache
ln -s "$1/of-link" "$BUILD"
ln -s /usr/local/cache "$PUMICE_CACHE"
mkdir /usr/local/cache/mounted
mount -t tmpfs none /usr/local/cache/mounted
touch /usr/local/cache/mounted/file
cp scripts/lib.sh "$tree/scripts"
cp tests/install/own-root.sh "$tree/tests/install"
cd "$tree"
tests/install/own-root.sh "$1/inner" bash -c '
	pwd
	ls /usr/local /usr/src
	ls -d /var/lib "$PUMICE_CACHE"/mounted/*
	for folder in "$PWD" "$BUILD" "$OUT" "$PUMICE_CACHE"; do echo "$folder" >"$folder/written"; done'
cat "$tree/written" "$1/of-link/written" "$OUT/written" /usr/local/cache/written
""",
    # Everything of the machine is shared, but not the mounts of this script below /tmp.
    "chroot": r"""
mount --make-rshared /
mkdir "$1/plain"
mount --bind "$1/plain" "$1/plain"
mount --make-private "$1/plain"
root=$1/plain/root
mkdir "$root"
for path in /*; do
	if [ -L "$path" ]; then
		cp -P "$path" "$root$path"
	elif [ -d "$path" ]; then
		mkdir "$root$path"
		mount --rbind "$path" "$root$path"
	fi
done
in_chroot=(/usr/sbin/chroot "$root" env -C "$PWD")
"${in_chroot[@]}" unshare --mount true 2>&1 | grep -o 'Invalid argument' || :
"${in_chroot[@]}" tests/install/own-root.sh "$1/inner" grep -c ' shared:' /proc/self/mountinfo || :
grep -F " $1/inner" /proc/self/mountinfo || echo nothing
"${in_chroot[@]}" bash -c '. scripts/lib.sh; own_mounts "$@"' script "$1/mounting.sh" "$1/inner"
grep -F " $1/inner" /proc/self/mountinfo || echo nothing
""",
    "removal": r"""
mkdir -p "$1/folder/mounted"
mount -t tmpfs none "$1/folder/mounted"
touch "$1/folder/mounted/file"
(cd tests/install && python3 -B -c 'import sys, folder; folder.remove(sys.argv[1])' "$1/folder") 2>&1 |
	tail -n 1 || :
ls "$1/folder/mounted"
""",
}
if "PUMICE_TEST_AGAIN" in os.environ:
    del SCRIPTS["again"]
# Run in a namespace by own_mounts.
MOUNTING = """#!/bin/sh
mount -t tmpfs none "$1" && echo mounted
pwd
"""


class OwnRoot(Folder):
    """own-root.sh in a root folder that it made."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("outer", "inner", "bin"):
            (cls.root / name).mkdir()
        (cls.root / "mounting.sh").write_text(MOUNTING, encoding="ascii")
        (cls.root / "mounting.sh").chmod(0o755)
        # One outer root for all, as the loader's cache takes most of the time.
        for name, script in SCRIPTS.items():
            (cls.root / f"{name}.sh").write_text(script, encoding="ascii")
        done = cls.start("bash", "-c", """
            for name in "${@:2}"; do
                bash -euo pipefail "$1/$name.sh" "$1" >"$1/$name" 2>&1 || echo failed >>"$1/$name"
            done""", "script", cls.root, *SCRIPTS)
        if done.returncode:
            raise AssertionError(done.stderr)

    @classmethod
    def start(cls, *command, **variables):
        """Run a command in the outer root; the completed process."""
        folders = {name: f"{cls.root}/{name}" for name in ("BUILD", "OUT", "PUMICE_CACHE")}
        return subprocess.run(["tests/install/own-root.sh", cls.root / "outer", *command], cwd=TOP,
                              env={**os.environ, **folders, **variables}, text=True, check=False,
                              capture_output=True, timeout=600)

    def result(self, name):
        """Return the lines that a script printed."""
        return (self.root / name).read_text(encoding="utf-8").splitlines()

    def test_it_can_be_made_in_a_chroot_into_a_plain_folder(self):
        self.assertEqual(self.result("chroot")[0], "Invalid argument")
        self.assertEqual(self.result("chroot")[3], "mounted")

    def test_its_mounts_are_not_visible_in_a_chroot_whose_mounts_are_shared(self):
        self.assertEqual(self.result("chroot")[1:],
                         ["0", "nothing", "mounted", str(TOP), "nothing"])

    def test_a_folder_with_mounts_is_not_removed(self):
        error, file = self.result("removal")
        self.assertIn(f"folder is not removed: mounts {self.root}/folder/mounted", error)
        self.assertEqual(file, "file")

    def test_the_loader_finds_no_library_of_an_earlier_installation(self):
        self.assertEqual(self.result("installed"), ["/usr/local/lib/libpumice.so.0", "none"])

    def test_the_loaders_cache_of_the_machine_is_not_created(self):
        self.assertEqual(self.result("cache"), ["end"])

    def test_a_tree_and_a_cache_in_the_empty_folders_are_visible(self):
        tree, *lines = self.result("places")
        self.assertRegex(tree, r"\A/usr/local/src/\w+\Z")
        self.assertEqual(lines, ["/usr/local:", "cache", "src", "", "/usr/src:", "build",
                                 f"{self.root}/link/mounted/file", "/var/lib", tree, "/usr/src/build",
                                 "/var/cache/out", f"{self.root}/link"])

    def test_this_passes_on_a_machine_that_has_pumice(self):
        if "again" in SCRIPTS:
            self.assertEqual(self.result("again")[-1], "OK", "\n".join(self.result("again")))

    def refused(self, user):
        """Run own-root.sh as a user without the right to; return (status, report, attempts)."""
        log = self.root / "attempts"
        log.write_bytes(b"")
        for name, lines in (("unshare", f'echo "$@" >>{log}\n'
                             "echo unshare: Operation not permitted >&2\nexit 1"),
                            ("id", f"echo {user}")):
            (self.root / "bin" / name).write_text(f"#!/bin/sh\n{lines}\n", encoding="ascii")
            (self.root / "bin" / name).chmod(0o755)
        done = self.start("true", PATH=f"{self.root}/bin:{os.environ['PATH']}")
        return done.returncode, done.stderr, log.read_text(encoding="utf-8").splitlines()

    def test_refused_namespaces_are_reported_with_the_remedy(self):
        for user, options in (("0", "--mount"), ("1000", "--mount --map-root-user")):
            status, report, attempts = self.refused(user)
            self.assertEqual((status, attempts), (1, [f"{options} true"]))
            self.assertEqual(report, (
                "error: a separate mount namespace is refused (unshare: Operation not permitted)\n"
                "       a container needs --cap-add SYS_ADMIN --security-opt seccomp=unconfined, and "
                "with AppArmor --security-opt apparmor=unconfined; a chroot needs root and /proc\n"))


if __name__ == "__main__":
    unittest.main()
