# SPDX-License-Identifier: MIT
"""The CI jobs of examples/ci are valid, and use targets and settings that the Makefile has."""

import fnmatch
import pathlib
import re
import shlex
import unittest

import yaml

TOP = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((TOP / "examples/ci").glob("*.yml"))
MAKEFILE = (TOP / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.MULTILINE))
MATRIX = "${{ matrix.target }}"
# Commands that enter a root by `unshare --mount`, and the scripts that implement them.
ENTERING = re.compile(r'build-root\.sh",? "?run\b|/own-root\.sh["\s]|/distro-root\.sh"|'
                      r'own_mounts +"|unshare +["-]')
IMPLEMENTED = {"scripts/lib.sh", "scripts/build-root.sh", "scripts/distro-root.sh",
               "tests/install/own-root.sh", "tests/scripts/test_ci_examples.py"}
# Files that use these commands: their targets in an image of Debian 12 and 13. Kernels and modules are
# compiled in a root for newer kernels, else only in images of other releases.
USERS = {
    "scripts/lint.sh": {"lint", "check"},
    "scripts/check-builds.py": {"check-builds", "check"},
    "scripts/build-native.sh": {"check-builds", "check"},
    "scripts/check-distros.py": {"check-distros"},
    "scripts/build-module.sh": {"check-kernels"},
    "scripts/build-kernel.sh": set(),
    "tests/install/test_layout.py": {"check-unit", "check"},
    "tests/install/test_own_root.py": {"check-unit", "check"},
}
PRIVILEGED = set().union(*USERS.values())
# Pages that state the options of a container.
PAGES = ("examples/ci/README.md", "Documentation/installation.rst", "Containerfile")


def exported(makefile):
    """Return the variables that the Makefile exports, or uses as settings of its targets."""
    names = set()
    for line in re.findall(r"^export (.*)$", makefile, re.MULTILINE):
        names.update(re.split(r"[?:]?=", line, maxsplit=1)[0].split())
    return names | set(re.findall(r"\$\((?:if \$\()?([A-Z_]+)\)", makefile))


SETTINGS = exported(MAKEFILE)


def load(path):
    """Load a file of YAML; a key that occurs twice is an error."""
    class Loader(yaml.SafeLoader):
        """SafeLoader that refuses what would be ignored."""

        def construct_mapping(self, node, deep=False):
            keys = [key.value for key, _ in node.value]
            if len(keys) != len(set(keys)):
                raise yaml.constructor.ConstructorError(None, None, "a key occurs twice",
                                                        node.start_mark)
            return super().construct_mapping(node, deep)

    return yaml.load(path.read_text(encoding="utf-8"), Loader)


def texts(value):
    """Return every text in a document."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def matrix_targets(document):
    """Return the targets of a workflow's matrices."""
    jobs = document.get("jobs", {}).values()
    return [target for job in jobs
            for target in job.get("strategy", {}).get("matrix", {}).get("target", [])]


def make_words(document):
    """Return the words after `make` of all commands: targets and settings, of each entry of a
    matrix.
    """
    words = []
    for text in texts(document):
        for command in re.split(r"&&|\|\||[;\n]", text):
            for target in matrix_targets(document) if MATRIX in command else [""]:
                found = re.search(r"(?:^|\s)make\s(.*)", command.replace(MATRIX, target))
                words += shlex.split(found[1]) if found else []
    return words


def unknown(words):
    """Return the targets and settings that the Makefile does not have."""
    return [word for word in words
            if not (word.split("=")[0] in SETTINGS if "=" in word else word in TARGETS)]


def paragraphs(page):
    """Return the paragraphs of a page, with their lines joined; of a file of commands its comments'."""
    return [" ".join(text.replace("\n# ", " ").split())
            for text in re.split(r"\n#?\n", (TOP / page).read_text(encoding="utf-8"))]


class Examples(unittest.TestCase):
    """The files of examples/ci."""

    def test_make_has_every_target_and_setting(self):
        self.assertEqual(len(FILES), 2)
        for path in FILES:
            words = make_words(load(path))
            self.assertGreaterEqual(len(words), 5, path)
            self.assertEqual(unknown(words), [], path)

    def test_unknown_words_of_make_are_found(self):
        words = make_words({"a": ["cd x && make check-unit WERROR=1", "make check-nothing\n"
                                  "make -v"], "b": "make lint NOTHING=1; cmake x"})
        self.assertEqual(unknown(words), ["check-nothing", "-v", "NOTHING=1"])
        document = {"jobs": {"t": {"strategy": {"matrix": {"target": ["lint", "lind"]}},
                                   "run": f"podman run pumice make {MATRIX}"}}}
        self.assertEqual(unknown(make_words(document)), ["lind"])

    def test_targets_that_enter_roots_have_the_capability(self):
        self.assertLessEqual(PRIVILEGED, TARGETS)
        gitlab = load(TOP / "examples/ci/gitlab-ci.yml")
        entering = {name: job for name, job in gitlab.items() if isinstance(job, dict)
                    and PRIVILEGED & set(make_words({"script": job.get("script")}))}
        self.assertLessEqual({"lint", "unit"}, set(entering))
        for name, job in entering.items():
            self.assertIn("sys-admin", job.get("tags", []), name)
        github = load(TOP / "examples/ci/github-workflow.yml")
        self.assertTrue(PRIVILEGED & set(make_words(github)))
        for text in texts(github):
            if MATRIX in text and " make " in text:
                self.assertIn("--cap-add SYS_ADMIN --security-opt seccomp=unconfined", text)

    def test_the_users_of_roots_are_known(self):
        found = {str(path.relative_to(TOP)) for folder in ("scripts", "tests")
                 for suffix in ("sh", "py") for path in (TOP / folder).rglob(f"*.{suffix}")
                 if ENTERING.search(path.read_text(encoding="utf-8"))}
        self.assertEqual(found - IMPLEMENTED, set(USERS))

    def test_the_pages_name_the_targets_that_enter_roots(self):
        for page in PAGES[:2]:
            named = [set(re.findall(r"`make ([\w-]+)`", text)) for text in paragraphs(page)
                     if "SYS_ADMIN" in text]
            self.assertEqual(named, [PRIVILEGED], page)

    def test_the_pages_name_the_options_of_the_refusal(self):
        script = (TOP / "scripts/lib.sh").read_text(encoding="utf-8")
        options = set(re.findall(r"--(?:cap-add|security-opt) ([\w=]+)", script))
        self.assertEqual(options, {"SYS_ADMIN", "seccomp=unconfined", "apparmor=unconfined"})
        for page in PAGES:
            text, = (text for text in paragraphs(page) if "SYS_ADMIN" in text)
            # GitLab's runner has lists, {option: value} in each.
            found = set(re.findall(r"--(?:cap-add|security-opt) ([\w=]+)", text))
            for name in ("cap_add", "security_opt"):
                for values in re.findall(rf"`{name} = \[(.*?)\]`", text):
                    found |= set(re.findall(r'"(\w+:?\w*)"', values))
            self.assertEqual({option.replace(":", "=") for option in found}, options, page)

    def test_the_pages_name_the_releases_whose_guests_need_roots(self):
        script = (TOP / "scripts/lib.sh").read_text(encoding="utf-8")
        body = re.search(r"^kernel_root\(\) \{\n(.*?)^\}", script, re.M | re.S)[1]
        self.assertIn("\tbookworm | trixie) ;;\n", body)    # Debian 12 and 13
        for page in PAGES[:2]:
            text, = (text for text in paragraphs(page) if "RELEASE=forky" in text)
            self.assertIn("another release than Debian 12 and 13", text, page)
            self.assertIn("`make run`", text, page)

    def test_caches_are_not_sources(self):
        ignored = (TOP / ".gitignore").read_text(encoding="ascii").splitlines()
        for path in FILES:
            with self.subTest(path.name):
                folders = [text for text in texts(load(path)) if "cache" in text]
                self.assertTrue(folders)
                for mounted in re.findall(r"\$(?:PWD|CI_PROJECT_DIR)\"?/([\w.]+)", " ".join(folders)):
                    self.assertTrue(any(fnmatch.fnmatch(f"/{mounted}/", line) for line in ignored),
                                    mounted)
        github = load(TOP / "examples/ci/github-workflow.yml")
        steps = github["jobs"]["test"]["steps"]
        caches = [step["with"]["path"] for step in steps if "cache@" in step.get("uses", "")]
        self.assertTrue(caches and all(path.startswith("~/") for path in caches), caches)
        gitlab = load(TOP / "examples/ci/gitlab-ci.yml")
        for folder in gitlab[".test"]["cache"]["paths"]:
            self.assertIn(f"/{folder.split('/')[0]}/", ignored)


if __name__ == "__main__":
    unittest.main()
