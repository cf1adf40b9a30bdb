# SPDX-License-Identifier: MIT
"""
own-root.sh makes a root folder on each machine, and changes nothing of the machine.

The machine is itself such a root folder, so that it can be one in which Pumice is installed or whose
"/" is not a mount.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

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
    "chroot": r"""
mount --make-rshared /
mkdir "$1/plain"
for path in /*; do
	if [ -L "$path" ]; then
		cp -P "$path" "$1/plain$path"
	elif [ -d "$path" ]; then
		mkdir "$1/plain$path"
		mount --rbind "$path" "$1/plain$path"
	fi
done
/usr/sbin/chroot "$1/plain" env -C "$PWD" tests/install/own-root.sh "$1/inner" echo inside
! grep -F "$1/inner/" /proc/self/mountinfo
""",
}


class OwnRoot(unittest.TestCase):
    """own-root.sh in a root folder that it made."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.dir = pathlib.Path(holder.name)
        for name in ("outer", "inner", "bin"):
            (cls.dir / name).mkdir()
        # One outer root for all, as the loader's cache takes most of the time.
        for name, script in SCRIPTS.items():
            (cls.dir / f"{name}.sh").write_text(script, encoding="ascii")
        done = cls.start("bash", "-c", """
            for name in "${@:2}"; do
                bash -euo pipefail "$1/$name.sh" "$1" >"$1/$name" 2>&1 || echo failed >>"$1/$name"
            done""", "script", cls.dir, *SCRIPTS)
        if done.returncode:
            raise AssertionError(done.stderr)

    @classmethod
    def start(cls, *command, **variables):
        """Run a command in the outer root; the completed process."""
        return subprocess.run(["tests/install/own-root.sh", cls.dir / "outer", *command], cwd=TOP,
                              env={**os.environ, **variables}, text=True, check=False,
                              capture_output=True, timeout=600)

    def result(self, name):
        """Return the lines that a script printed."""
        return (self.dir / name).read_text(encoding="utf-8").splitlines()

    def test_it_can_be_made_in_a_chroot_into_a_plain_folder(self):
        self.assertEqual(self.result("chroot"), ["inside"])

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
        refuse = self.dir / "bin/unshare"
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
