# SPDX-License-Identifier: MIT
"""
Versions since which the ray-tracing data master, flips and operations of the firmware on caches
exist: the constants by which the driver and the firmware decide are those of every place that
documents them.
"""

import os
import re
import unittest
import xml.etree.ElementTree as ElementTree

from contract import HW, ROOT


def read(*path):
    """Return the text of a file."""
    with open(os.path.join(ROOT, *path), encoding="utf-8") as stream:
        return stream.read()


def constant(name):
    """Return the value of a constant of fwif.h."""
    return int(re.search(rf"^#define {name}\s+(\d+)u$", read("hw", "fwif.h"),
                         re.MULTILINE).group(1))


def elements(name):
    """Return all elements of a file of the register map."""
    return list(ElementTree.parse(os.path.join(HW, name)).getroot().iter())


def versions_in(pattern, text):
    """Return the set of minor versions that a pattern finds."""
    return {int(minor) for minor in re.findall(pattern, text)}


def command(name):
    """Return the line and the comment of a command of client CCBs."""
    return re.search(rf"^\tFWIF_CCCB_{name}\b.*?\*/", read("hw", "fwif.h"),
                     re.MULTILINE | re.DOTALL).group(0)


def comment_of(member):
    """Return the comment of a member of a structure of fwif.h."""
    return re.search(rf"^\tu32 {member};\s*(/\*.*?\*/)", read("hw", "fwif.h"),
                     re.MULTILINE | re.DOTALL).group(1)


def listed_in_uapi(feature):
    """Return the minor versions that the kernel interface lists with a feature."""
    notes = read("uapi", "drm", "pumice_drm.h").split(" * Versions, ", 1)[1]
    notes = notes.split(" * Status of the fence", 1)[0]
    return [int(part.split("\t", 1)[0]) for part in notes.split(" *   1.")[1:] if feature in part]


def documented_in_uapi(name):
    """Return the minor versions that the comment of a name of the kernel interface mentions."""
    doc = read("uapi", "drm", "pumice_drm.h").split(f"@{name}: ", 1)[1].split("*/", 1)[0]
    return sorted(versions_in(r"[Ss]ince (?:version )?1\.(\d+)", doc))


def minors_with(feature):
    """Return the minor versions that the register VERSION lists with a feature."""
    version = next(node.get("doc") for node in elements("registers.xml")
                   if node.tag == "reg" and node.get("name") == "VERSION")
    lists = re.findall(r"Since 2\.(\d+): ([^.]*)\.", version)
    return [int(minor) for minor, text in lists if feature in text]


class Flips(unittest.TestCase):
    """The command PRESENT of the TDM, and the flips it causes."""

    def test_the_register_map_has_them_since_the_version_that_is_required(self):
        since = constant("FWIF_FLIPS_SINCE_MAP")
        self.assertEqual(minors_with("PRESENT of the TDM"), [since])
        documented = {node.get("name"): versions_in(r"Since version 2\.(\d+)", node.get("doc", ""))
                      for node in elements("tdm.xml")
                      if re.fullmatch("PRESENTS|FLIP_.*", node.get("name", ""))}
        documented = {name: found for name, found in documented.items() if found}
        self.assertEqual(documented, dict.fromkeys(("PRESENTS", "FLIP_STATUS", "FLIP_CTRL"), {since}))

    def test_the_firmware_interface_has_them_since_the_version_that_is_required(self):
        for text in (command("PRESENT"), comment_of("flips")):
            with self.subTest(text=text):
                self.assertEqual(versions_in(r"Since version 1\.(\d+)", text),
                                 {constant("FWIF_FLIPS_SINCE")})

    def test_the_kernel_interface_lists_them_where_it_documents_them(self):
        listed = listed_in_uapi("@presents and @present_data")
        self.assertEqual(len(listed), 1)
        self.assertEqual(listed_in_uapi("DRM_PUMICE_EVENT_FLIP"), listed)
        self.assertEqual(documented_in_uapi("presents"), listed)


class Rays(unittest.TestCase):
    """Unit RDM, its commands and its contexts."""

    def test_the_register_map_has_the_unit_since_the_version_that_is_required(self):
        since = constant("FWIF_RDM_SINCE_MAP")
        self.assertEqual(minors_with("unit RDM"), [since])
        nodes = [node for name in ("registers.xml", "masters.xml", "trace.xml")
                 for node in elements(name)
                 if re.fullmatch("(?i)RDM(_.*)?", node.get("name", ""))
                 and "Since version" in node.get("doc", "")]
        self.assertIn("unit", {node.tag for node in nodes})
        for node in nodes:
            with self.subTest(tag=node.tag, name=node.get("name")):
                self.assertEqual(versions_in(r"Since version 2\.(\d+)", node.get("doc")), {since})

    def test_the_firmware_interface_has_the_command_since_the_version_that_is_required(self):
        text = read("hw", "fwif.h")
        since = constant("FWIF_RDM_SINCE")
        self.assertEqual(versions_in(r"Since version 1\.(\d+)", command("RAYS")), {since})
        self.assertEqual(versions_in(r"of the RDM since 1\.(\d+)", text), {since})

    def test_the_kernel_interface_lists_the_contexts_where_it_documents_them(self):
        listed = listed_in_uapi("DRM_PUMICE_CONTEXT_RAYS")
        self.assertEqual(len(listed), 1)
        for name in ("DRM_PUMICE_CONTEXT_RAYS", "rays_busy"):
            with self.subTest(name=name):
                self.assertEqual(documented_in_uapi(name), listed)


class Caches(unittest.TestCase):
    """Unit SLC, and flags of jobs."""

    def test_the_register_map_has_the_unit_since_the_version_that_is_required(self):
        since = constant("FWIF_CACHES_SINCE_MAP")
        self.assertEqual(minors_with("unit SLC"), [since])
        unit = next(node for node in elements("slc.xml") if node.tag == "unit")
        self.assertEqual(versions_in(r"Since version 2\.(\d+)", unit.get("doc")), {since})
        self.assertIn(f"before register map 2.{since} have no caches", read("hw", "fwif.h"))

    def test_the_firmware_interface_has_the_flags_since_the_version_that_is_required(self):
        text = read("hw", "fwif.h")
        since = constant("FWIF_CACHES_SINCE")
        self.assertEqual(versions_in(r"FWIF_CACHES_\*, since version[\s*]+1\.(\d+)", text), {since})
        self.assertLessEqual(since, constant("FWIF_VERSION_MINOR"))


if __name__ == "__main__":
    unittest.main()
