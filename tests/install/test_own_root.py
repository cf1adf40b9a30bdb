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
/usr/sbin/ldconfig -p | grep -o 'libpumice.*'
tests/install/own-root.sh "$1/inner" /usr/sbin/ldconfig -p | grep 'libpumice.*/usr/local' || echo none
""",
    "cache": r"""
mount -t tmpfs none /var/cache
tests/install/own-root.sh "$1/inner" /usr/sbin/ldconfig
ls -A /var/cache
echo end
""",
    "places": r"""
tree=/usr/local/src/pumice
export BUILD=/usr/src/build OUT=/var/cache/out PUMICE_CACHE=/usr/local/cache
mkdir -p "$tree/scripts" "$tree/tests/install" /usr/local/other "$BUILD" "$OUT" "$PUMICE_CACHE"
cp scripts/lib.sh "$tree/scripts"
cp tests/install/own-root.sh "$tree/tests/install"
cd "$tree"
tests/install/own-root.sh "$1/inner" bash -c '
	pwd
	ls /usr/local /usr/src
	for folder in "$PWD" "$BUILD" "$OUT" "$PUMICE_CACHE"; do echo "$folder" >"$folder/written"; done'
cat "$tree/written" "$BUILD/written" "$OUT/written" "$PUMICE_CACHE/written"
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
        return subprocess.run(["tests/install/own-root.sh", cls.root / "outer", *command], cwd=TOP,
                              env={**os.environ, **variables}, text=True, check=False,
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
        found, inside = self.result("installed")
        self.assertIn("/usr/local/lib/libpumice.so.0", found)
        self.assertEqual(inside, "none")

    def test_the_loaders_cache_of_the_machine_is_not_created(self):
        self.assertEqual(self.result("cache"), ["end"])

    def test_a_tree_and_a_cache_in_the_empty_folders_are_visible(self):
        places = ["/usr/local/src/pumice", "/usr/src/build", "/var/cache/out", "/usr/local/cache"]
        self.assertEqual(self.result("places"),
                         [places[0], "/usr/local:", "cache", "src", "", "/usr/src:", "build", *places])

    def test_refused_namespaces_are_reported_with_the_remedy(self):
        refuse = self.root / "bin/unshare"
        refuse.write_text("#!/bin/sh\necho unshare: Operation not permitted >&2\nexit 1\n",
                          encoding="ascii")
        refuse.chmod(0o755)
        done = self.start("true", PATH=f"{refuse.parent}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aerror: a separate mount namespace is refused \(unshare: "
                         r"Operation not permitted\)\n +a container needs --cap-add SYS_ADMIN "
                         r"--security-opt seccomp=unconfined\b.*\n\Z")


if __name__ == "__main__":
    unittest.main()
