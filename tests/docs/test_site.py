# SPDX-License-Identifier: MIT
"""
The site of `make docs`: links, search, what it contains, and its place in the release archive.

External addresses are checked for their form only, as tests have no network.
"""

import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.parse

import session

TOP = session.TOP
SITE = session.BUILD / "docs"
KERNEL_DOC = re.compile(r"^/\*\*\n \* (?:struct |enum )?(\w+)", re.M)
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)\)")
MENTION = re.compile(r"`([^`\n]+)`")
# A file of hw/ and one of its enumerations, next to each other in a sentence.
IN_FILE = re.compile(r"`(hw/[\w.]+)`+,\s+`+enum (\w+)`|`enum (\w+)`+\s+(?:of|in)\s+`+(hw/[\w.]+)`")
TARGET = re.compile(r"^([a-z][a-z-]*):(?!=)", re.M)
# A target of the Makefile and its prerequisites; an image, as documents name it.
RULE = re.compile(r"^([a-z][a-z-]*):(?!=)([^#\n]*)", re.M)
BUILDERS = ("images", "images-fast", "images-debug", "run", "shell")
IMAGE = re.compile(r"\bbuild/guest/(\w+\.cpio)")
PROGRAMS = TOP / "tests/igt/programs.txt"
# Our programs of IGT that are about fences or the MMU, and text that counts subtests.
FENCES_AND_MMU = ("vm_bind", "vm_layout", "mmu_fault", "fence", "timeline", "dmabuf")
COUNTS = re.compile(r"IGT's API: (\d+) subtests, (\d+) of them about fences and the MMU; (\d+) more "
                    r"need the debug kernel")


def images_by_target():
    """Return {target: images} of the targets of the Makefile that build images of guests."""
    text = (TOP / "Makefile").read_text(encoding="utf-8")
    guest = re.search(r"^guest := (.*)$", text, re.M)[1]
    return {target: set(re.findall(r"\(BUILD\)/guest/(\w+\.cpio)",
                                   needed.replace("$(guest)", guest)))
            for target, needed in RULE.findall(text)}


class Page(html.parser.HTMLParser):
    """The addresses and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and tag != "link":
                self.links.append(value)


def own_subtests():
    """Return {program: (subtests, kernels)} of our programs of IGT, without "pumice_"."""
    rows = [line.split() for line in PROGRAMS.read_text(encoding="utf-8").splitlines()
            if line.startswith("pumice_")]
    return {row[0].removeprefix("pumice_"): (int(row[1]), row[2]) for row in rows}


def documents(top=TOP):
    """Return the sources of the documentation in a tree."""
    return [top / name for name in session.documents(top)]


class Links(unittest.TestCase):
    """Every link leads somewhere."""

    def test_notes_that_are_not_in_git_are_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            subprocess.run(["git", "init", "-q"], cwd=top, check=True)
            for name in ("a.md", "b.rst", "Documentation/reference/c.rst", "notes.md"):
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                (top / name).touch()
            subprocess.run(["git", "add", "a.md", "b.rst", "Documentation"], cwd=top, check=True)
            self.assertEqual(documents(top), [top / "a.md", top / "b.rst"])

    def well_formed(self, address):
        """Return whether an external address is well-formed: https and a host."""
        parts = urllib.parse.urlsplit(address)
        return (parts.scheme == "https" and re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc)
                and not re.search(r"[\s<>\"]", address))

    def test_links_of_the_site(self):
        pages = {path.resolve(): Page(path) for path in SITE.rglob("*.html")}
        self.assertGreater(len(pages), 100)
        for path, page in pages.items():
            for link in page.links:
                where = f"{path.relative_to(SITE.resolve())}: {link}"
                if "://" in link:
                    self.assertTrue(self.well_formed(link), where)
                    continue
                name, _, anchor = link.partition("#")
                target = (path.parent / urllib.parse.unquote(name.split("?")[0])).resolve() \
                    if name else path
                self.assertTrue(target.exists(), where)
                if target in pages:
                    self.assertIn(urllib.parse.unquote(anchor), pages[target].anchors, where)

    def test_links_of_markdown_files(self):
        count = 0
        for path in documents():
            if path.suffix != ".md":
                continue
            for link in MARKDOWN_LINK.findall(path.read_text(encoding="utf-8")):
                where = f"{path.relative_to(TOP)}: {link}"
                count += 1
                if "://" in link:
                    self.assertTrue(self.well_formed(link), where)
                elif not link.startswith("#"):
                    self.assertTrue((path.parent / link.partition("#")[0]).exists(), where)
        self.assertGreater(count, 20)

    def test_enumerations_are_in_the_files_that_documents_name(self):
        count = 0
        for path in documents():
            for found in IN_FILE.findall(path.read_text(encoding="utf-8")):
                file, name = (found[0] or found[3]), (found[1] or found[2])
                count += 1
                self.assertIn(f'<enum name="{name}"' if file.endswith(".xml") else f"enum {name} {{",
                              (TOP / file).read_text(encoding="utf-8"),
                              f"{path.relative_to(TOP)}: {file}, {name}")
        self.assertGreater(count, 2)

    def test_make_targets_that_documents_name_exist(self):
        targets = set(TARGET.findall((TOP / "Makefile").read_text(encoding="utf-8")))
        self.assertIn("check", targets)
        for path in documents():
            for words in MENTION.findall(path.read_text(encoding="utf-8")):
                found = re.match(r"make ([a-z][a-z-]*)\b(?![/.])", words)
                if found and path.parent != TOP / "tests/igt":
                    self.assertIn(found[1], targets, f"{path.relative_to(TOP)}: {words}")

    def test_images_that_documents_name_are_built_by_targets_that_they_name(self):
        built = images_by_target()
        count = 0
        for path in documents():
            text = path.read_text(encoding="utf-8")
            named = {word for words in re.findall(r"\bmake ((?:[a-z][a-z-]* ?)+)", text)
                     for word in words.split()}
            images = set(IMAGE.findall(text))
            count += len(images)
            for image in images:
                with self.subTest(document=str(path.relative_to(TOP)), image=image):
                    self.assertTrue([target for target in named.intersection(BUILDERS)
                                     if image in built[target]], "no target builds it")
        self.assertGreater(count, 4)


class Contents(unittest.TestCase):
    """The site is complete."""

    def test_numbers_of_subtests_are_those_of_the_programs(self):
        own = own_subtests()
        numbers = [sum(n for n, kernels in own.values() if kernels != "debug"),
                   sum(own[name][0] for name in FENCES_AND_MMU),
                   sum(n for n, kernels in own.values() if kernels == "debug")]
        page = (TOP / "Documentation/testing.rst").read_text(encoding="utf-8")
        found = COUNTS.search(" ".join(page.split()))
        self.assertEqual([int(n) for n in found.groups()], numbers)
        readme = (TOP / "tests/igt/README.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `pumice_(\w+)` \| (\d+) \|", readme, re.M))
        self.assertEqual(rows, {name: str(n) for name, (n, _) in own.items()})

    def test_search_finds_registers_instructions_and_functions(self):
        index = (SITE / "searchindex.js").read_text(encoding="utf-8")
        for word in ("pumice_job_create", "drm_pumice_submit", "stream_base", "global_load32"):
            self.assertIn(word, index.lower())
        self.assertIn("searchtools.js", (SITE / "search.html").read_text(encoding="utf-8"))

    def test_every_kernel_doc_comment_is_on_the_site(self):
        for page, folder in (("uapi-structures", "uapi/drm"),
                             ("driver-functions", "drivers/gpu/drm/pumice")):
            text = (SITE / f"reference/{page}.html").read_text(encoding="utf-8")
            text = re.sub(r"<[^>]*>", "", text)
            names = [name for path in sorted((TOP / folder).glob("*.[ch]"))
                     for name in KERNEL_DOC.findall(path.read_text(encoding="utf-8"))]
            self.assertGreater(len(names), 30)
            for name in names:
                self.assertRegex(text, rf"\b{name}\b", page)

    def test_every_structure_of_interfaces_in_hw_is_on_the_site(self):
        for page, header in (("firmware-structures", "hw/fwif.h"),
                             ("dump-structures", "hw/dumpfile.h")):
            text = (SITE / f"reference/{page}.html").read_text(encoding="utf-8")
            text = re.sub(r"<[^>]*>", "", text)
            found = re.findall(r"^struct (\w+) \{\n(.*?)^\}",
                               (TOP / header).read_text(encoding="utf-8"), re.M | re.S)
            self.assertGreater(len(found), 5)
            for structure, body in found:
                self.assertRegex(text, rf"\b{structure}\b")
                for member in re.findall(r"^\t[\w *]+?\b(\w+)(?:\[.*\])*;", body, re.M):
                    self.assertRegex(text, rf"\b{member}\b", structure)

    def test_only_names_of_others_may_be_undocumented(self):
        text = (TOP / "Documentation/conf.py").read_text(encoding="utf-8")
        patterns = re.search(r"pattern\) for pattern in \((.*?)\)\]", text, re.S)[1]
        patterns = re.findall(r'r"([^"]*)"', patterns)
        self.assertGreater(len(patterns), 4)
        for name in ("pumice_mmu", "fwif_boot", "drm_pumice_submit", "directory"):
            self.assertFalse([p for p in patterns if re.fullmatch(p, name)], name)

    def test_every_source_document_has_an_address(self):
        text = (TOP / "Documentation/sources.rst").read_text(encoding="utf-8")
        table = text.partition("Sections and where")[0]
        rows = re.split(r"^   \* - ", table, flags=re.M)[2:]
        self.assertEqual([row[:3] for row in rows], ["000", "001", "002", "003", "004"])
        for row in rows:
            self.assertRegex(row, r"https://\S+", row[:3])

    def test_the_block_diagram_has_folders_and_limits_of_the_device(self):
        text = (TOP / "Documentation/pictures/overview.svg").read_text(encoding="utf-8")
        folders = [name for names in re.findall(r"gpu/([\w, ]+)<", text)
                   for name in names.split(", ")]
        self.assertGreater(len(folders), 10)
        for name in folders:
            self.assertTrue((TOP / "qemu-device/gpu" / name).is_dir(), name)
        limits = dict(re.findall(r'<constant name="(MAX_\w+)" value="(\d+)"',
                                 (TOP / "hw/registers.xml").read_text(encoding="utf-8")))
        self.assertIn(f"1–{limits['MAX_CORES']} cores, 1–{limits['MAX_USCS_PER_CORE']} USCs each",
                      text)

    def test_every_page_has_diagrams_that_exist(self):
        pictures = [path for path in (SITE / "_images").iterdir() if path.suffix == ".svg"]
        self.assertGreater(len(pictures), 300)


class Settings(unittest.TestCase):
    """Documentation/conf.py, in a copy of the tree, with the results of `make gen` elsewhere."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pumice-site-")
        self.addCleanup(holder.cleanup)
        self.tree = pathlib.Path(holder.name) / "tree"
        self.tree.mkdir()
        session.copy_tree(self.tree)
        shutil.rmtree(self.tree / "build")
        (self.tree / "build/gen/docs").mkdir(parents=True)
        (self.tree / "build/gen/docs/old.rst").touch()      # of another build

    def load(self, build):
        """Load the settings with BUILD; return (status, error, names of reference pages)."""
        done = subprocess.run(
            [sys.executable, "-B", "-c", "import runpy; runpy.run_path('conf.py')"], text=True,
            cwd=self.tree / "Documentation", capture_output=True, check=False,
            env={**os.environ, "BUILD": str(build)})
        return done.returncode, done.stderr, {path.name for path in
                                              (self.tree / "Documentation/reference").glob("*.rst")}

    def test_the_reference_is_that_of_the_build_folder(self):
        pages = {path.name for path in (session.BUILD / "gen/docs").glob("*.rst")}
        self.assertGreater(len(pages), 5)
        (self.tree / "other").mkdir()
        (self.tree / "other/gen").symlink_to(session.BUILD / "gen")
        for build in (session.BUILD, "other"):
            status, error, found = self.load(build)
            self.assertEqual((status, error), (0, ""))
            self.assertLessEqual(pages | {"counters.rst"}, found)
            self.assertNotIn("old.rst", found)

    def test_a_build_folder_without_reference_is_reported(self):
        build = self.tree / "other"
        self.assertEqual(self.load(build),
                         (1, f"{build}/gen/docs is missing: run `make gen` first\n", set()))


class Archive(unittest.TestCase):
    """make dist."""

    def test_the_archive_has_the_sources_and_the_site(self):
        with tempfile.TemporaryDirectory(prefix="pumice-dist-") as holder:
            tree, out = pathlib.Path(holder) / "tree", pathlib.Path(holder) / "out"
            tree.mkdir()
            session.copy_tree(tree)
            (tree / ".gitignore").write_text((TOP / ".gitignore").read_text() + "/build\n")
            git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "test"]):
                subprocess.run([*git, *words], cwd=tree, check=True)
            subprocess.run(["scripts/dist.sh"], cwd=tree, check=True, capture_output=True,
                           env={**session.environment(holder), "BUILD": str(session.BUILD),
                                "OUT": str(out)})
            with tarfile.open(next(out.glob("pumice-*.tar.xz"))) as archive:
                names = {name.partition("/")[2] for name in archive.getnames()}
        wanted = {name for name in session.sources.files(TOP)
                  if not name.startswith("Documentation/reference/")}
        self.assertEqual(wanted - names, set())
        pages = {f"Documentation/html/{path.relative_to(SITE)}" for path in SITE.rglob("*.html")}
        self.assertEqual(pages - names, set())
        self.assertIn("Documentation/html/searchindex.js", names)
        self.assertFalse(any(".doctrees" in name or name.startswith("build/") for name in names))


if __name__ == "__main__":
    os.chdir(TOP)
    unittest.main()
