# SPDX-License-Identifier: MIT
"""make install leaves the files of the tree as they are."""

import os
import shutil
import subprocess
import unittest

from folder import Folder
from prefix import TOP, VERSION


class Sources(Folder):
    """The folder of the driver's sources, which make install replaces, with a build that fails."""

    def setUp(self):
        shutil.rmtree(self.root)
        self.src = self.root / f"usr/src/pumice-{VERSION}"
        self.tree = self.copy(self.root / "tree")

    @staticmethod
    def copy(tree):
        """Make a tree in which make install fails after its checks; return it."""
        for name in ("scripts/install.sh", "scripts/lib.sh", "meson.build"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, tree / name)
        (tree / "scripts/build-native.sh").symlink_to("/bin/false")
        return tree

    def install(self, tree, **folders):
        """Return what install.sh of a tree reports; the folders are in the tree unless named."""
        names = {"BUILD": tree / "build", "OUT": tree / "out", "PUMICE_CACHE": tree / "cache", **folders}
        done = subprocess.run(
            [tree / "scripts/install.sh"], text=True, check=False, capture_output=True,
            env={**os.environ, "DESTDIR": str(self.root), "PREFIX": "/usr",
                 **{name: str(path) for name, path in names.items()}})
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def assert_refused(self, report, reason):
        """Check that a report is the refusal to replace the folder for a reason."""
        self.assertRegex(report, rf"\Aerror: {self.src}, which make install replaces, {reason}\n.*\n\Z")

    def assert_built(self, report):
        """Check that the checks were passed."""
        self.assertIn("error: installing the library and tools in", report)

    def test_the_tree_is_not_replaced(self):
        tree = self.copy(self.src)
        (tree / "dkms.conf").touch()
        self.assert_refused(self.install(tree), "contains the tree, BUILD, OUT or the cache")
        below = self.copy(self.src / "a/b")
        self.assert_refused(self.install(below), "contains the tree, BUILD, OUT or the cache")

    def test_results_are_not_replaced(self):
        self.src.mkdir(parents=True)
        (self.src / "dkms.conf").touch()
        link = self.root / "link"
        link.symlink_to(self.src)
        for name in ("BUILD", "OUT", "PUMICE_CACHE"):
            for folder in (self.src, self.src / "a/b", link / "a"):
                with self.subTest(name=name, folder=folder):
                    self.assert_refused(self.install(self.tree, **{name: folder}),
                                        "contains the tree, BUILD, OUT or the cache")

    def test_another_tree_is_not_replaced(self):
        self.copy(self.src)
        self.assert_refused(self.install(self.tree), "is not a copy of the driver's sources")

    def test_earlier_sources_and_links_are_replaced(self):
        self.assert_built(self.install(self.tree))
        self.src.mkdir(parents=True)
        (self.src / "dkms.conf").touch()
        self.assert_built(self.install(self.tree))
        shutil.rmtree(self.src)
        self.src.symlink_to(self.tree)
        self.assert_built(self.install(self.tree))


# Another user than that of the files of this test.
OWNER = os.getuid() + 1234


class Owner(Folder):
    """Results of an installation by root in a user's tree, with a chown that only logs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("scripts/install.sh", "scripts/lib.sh", "meson.build"):
            (cls.root / name).parent.mkdir(exist_ok=True)
            shutil.copy(TOP / name, cls.root / name)
        shutil.copytree(TOP / "packaging", cls.root / "packaging")
        for name in ("build/install/build.ninja", "cache/ccache/object", "cache/distros/root", "qemu"):
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.root / name).touch()
        (cls.root / "bin").mkdir()
        for name, line in (("stat", '[ "${3##*/}" = root ] && echo 0 || '
                            f'echo ${{PUMICE_TEST_OWNER:-{OWNER}}}'),
                           ("id", "echo ${PUMICE_TEST_USER}"),
                           ("make", f'echo "$@" >{cls.root}/make-words; env >{cls.root}/make-env; '
                                    f'touch {cls.root}/build/of-make; exit ${{PUMICE_TEST_MAKE:-0}}'),
                           ("chown", f'printf "%s\\n" "$@" >>{cls.root}/log; '
                                     'exit ${PUMICE_TEST_CHOWN:-0}')):
            (cls.root / "bin" / name).write_text(f"#!/bin/sh\n{line}\n", encoding="ascii")
            (cls.root / "bin" / name).chmod(0o755)

    def setUp(self):
        for name in ("build/of-make", "make-words"):
            (self.root / name).unlink(missing_ok=True)

    def install(self, *words, user="0", **variables):
        """Return (status, arguments of chown) of install.sh, by default for make install-qemu."""
        log = self.root / "log"
        log.write_bytes(b"")
        done = subprocess.run(
            [self.root / "scripts/install.sh", *(words or ["qemu"])], capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "DESTDIR": "",
                 "BUILD": f"{self.root}/build", "OUT": f"{self.root}/out",
                 "PUMICE_CACHE": f"{self.root}/cache", "PREFIX": f"{self.root}/prefix",
                 "PUMICE_QEMU": f"{self.root}/qemu", "PUMICE_TEST_USER": user,
                 "PYTHONDONTWRITEBYTECODE": "", **variables})
        self.report = done.stderr
        return done.returncode, log.read_text(encoding="utf-8").splitlines()

    def results(self, *folders):
        """Return all files and folders in these, and themselves."""
        return {str(path) for folder in folders
                for path in [self.root / folder, *(self.root / folder).rglob("*")]}

    def test_all_results_belong_to_the_owner_of_the_tree(self):
        status, words = self.install()
        self.assertEqual((status, words[:2]), (0, ["-h", f"--reference={self.root}"]))
        self.assertEqual(set(words[2:]),
                         self.results("build", "out", "cache") - self.results("cache/distros"))
        self.assertIn(f"{self.root}/out/logs/install-qemu.log", words)

    def test_those_of_a_failed_installation_do_too(self):
        status, words = self.install(PUMICE_QEMU=f"{self.root}/missing")
        self.assertEqual(status, 1)
        self.assertLessEqual(self.results("build", "out"), set(words))

    def test_folders_may_be_links_and_may_be_missing(self):
        (self.root / "link").symlink_to("build")
        status, words = self.install(BUILD=f"{self.root}/link")
        self.assertEqual((status, set(words[2:])), (0, self.results("build", "out", "cache") -
                                                    self.results("cache/distros")))
        status, words = self.install(BUILD=f"{self.root}/missing")
        self.assertEqual((status, set(words[2:])), (0, self.results("out", "cache") -
                                                    self.results("cache/distros")))
        self.assertEqual([line for line in self.report.splitlines() if "missing" in line], [])

    def test_the_contents_of_a_package_remain_roots(self):
        folder = self.root / "out/[stage]*"     # no pattern
        self.addCleanup(shutil.rmtree, folder)
        relative = os.path.relpath(folder)
        # The last call is refused.
        for wanted, destination, prefix in ((0, folder, "/usr"), (0, relative, "/usr"), (1, relative, "usr")):
            status, words = self.install(DESTDIR=str(destination), PREFIX=prefix)
            self.assertEqual(status, wanted)
            self.assertTrue((folder / "usr/bin/pumice-qemu").exists())
            self.assertIn(f"{self.root}/out/logs", words)
            self.assertEqual(self.results("out/[stage]*") & set(words), set())

    def file_of_a_user(self):
        """Make a result that belongs to a user, if this is root of a namespace with that user; return
        (file, whether it belongs to the user).
        """
        file = self.root / "out/of-user"
        file.parent.mkdir(exist_ok=True)
        file.touch()
        self.addCleanup(file.unlink)
        try:
            os.chown(file, OWNER, -1)
        except OSError:
            return file, False
        return file, True

    def test_files_of_the_owner_are_left(self):
        file, changed = self.file_of_a_user()
        self.assertEqual(str(file) in self.install()[1], not changed)

    def test_a_tree_of_root_or_of_an_unknown_user_is_left(self):
        self.file_of_a_user()
        for owner in ("0", "65534"):
            self.assertEqual(self.install(PUMICE_TEST_OWNER=owner), (0, []))

    def test_a_failed_change_is_reported_and_does_not_change_the_status(self):
        warning = f"files of root may remain in {self.root}/build and {self.root}/out\n"
        for qemu, status in (("qemu", 0), ("missing", 1)):
            found, words = self.install(PUMICE_QEMU=f"{self.root}/{qemu}", PUMICE_TEST_CHOWN="1")
            self.assertEqual(found, status)
            self.assertTrue(words)
            self.assertIn(warning, self.report)
        self.install()
        self.assertNotIn(warning, self.report)

    def test_those_of_its_builds_do_too(self):
        for status in (0, 3):
            (self.root / "build/of-make").unlink(missing_ok=True)
            found, words = self.install("qemu", "--make", "qemu", "gen", PUMICE_TEST_MAKE=str(status))
            self.assertEqual(found, status)
            self.assertIn(f"{self.root}/build/of-make", words)
            self.assertEqual((self.root / "make-words").read_text(encoding="utf-8"),
                             f"-s -C {self.root} qemu gen\n")
        # Results of Python would be outside of build/.
        self.assertIn("PYTHONDONTWRITEBYTECODE=1\n",
                      (self.root / "make-env").read_text(encoding="utf-8"))

    def test_those_of_a_refused_installation_do_too(self):
        for words in ([], ["qemu"]):
            for prefix in ("usr", "/a b"):
                status, changed = self.install(*words, "--make", "gen", PREFIX=prefix)
                self.assertEqual(status, 1)
                self.assertLessEqual(self.results("build", "out"), set(changed))
                self.assertFalse((self.root / "make-words").exists())

    def test_other_words_are_refused(self):
        for words, named in ((["all"], "word all"), (["qemu", "all"], "words all"),
                             (["qemu", "--make"], "words --make"), (["--make"], "words --make")):
            self.assertEqual(self.install(*words, PREFIX=f"{self.root}/refused")[0], 1)
            self.assertIn(f"error: install.sh: unknown {named}\n", self.report)
        self.assertFalse((self.root / "refused").exists())

    def test_make_itself_builds_nothing_before_an_installation(self):
        for target, words in (("install", "--make gen firmware"), ("install-qemu", "qemu --make qemu")):
            done = subprocess.run(["make", "-n", "--no-print-directory", target], cwd=TOP, text=True,
                                  check=False, capture_output=True, env={
                                      **os.environ, "MAKEFLAGS": "", "BUILD": f"{self.root}/new",
                                      "OUT": f"{self.root}/out"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, f"{TOP}/scripts/install.sh {words}\n")

    def test_the_cache_of_root_remains_roots(self):
        (self.root / "cache-of/root").mkdir(parents=True)
        status, words = self.install(PUMICE_CACHE=f"{self.root}/cache-of/root")
        self.assertEqual((status, set(words[2:])), (0, self.results("build", "out")))

    def test_roots_of_debian_in_a_cache_with_a_pattern_in_its_name_remain_roots(self):
        cache = self.root / "out/[c]"     # no pattern
        self.addCleanup(shutil.rmtree, cache)
        for name in ("ccache/object", "distros/root"):
            (cache / name).parent.mkdir(parents=True)
            (cache / name).touch()
        status, words = self.install(PUMICE_CACHE=str(cache))
        self.assertEqual((status, set(words[2:])), (0, self.results("build", "out") -
                                                    self.results("out/[c]/distros")))

    def test_a_user_changes_no_owner(self):
        self.assertEqual(self.install(user="1234"), (0, []))


if __name__ == "__main__":
    unittest.main()
