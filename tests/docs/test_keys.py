# SPDX-License-Identifier: MIT
"""The keys of devices in process are the same in the library, its messages and its documents."""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "userspace/libpumice/inproc/device.c"


def read(path):
    """Return the text of a file of the tree."""
    return (TOP / path).read_text(encoding="utf-8")


def accepted():
    """Return the keys that the library parses."""
    return set(re.findall(r'^\t\t\{ "([a-z0-9-]+)=", ', read(SOURCE), flags=re.MULTILINE))


class Keys(unittest.TestCase):
    """Each description names each key."""

    def test_the_library_has_keys(self):
        self.assertLess({"cores", "threads", "preset", "late", "fw-gdb"}, accepted())

    def test_the_message_lists_every_key(self):
        text = read(SOURCE).split("#define OPTION_KEYS", 1)[1].split("\n\n", 1)[0]
        listed = re.sub(r'[\\"\n\t]', "", text).strip()
        self.assertEqual({word.split("=")[0] for word in re.split(r"[,;] *| or ", listed)} -
                         {"counted", "data", "partition", "poison", "strict", ""}, accepted())

    def test_the_page_lists_every_key(self):
        text = read("Documentation/libpumice.rst").split("Keys of ``inproc`` are", 1)[1]
        named = set(re.findall(r"``([a-z0-9-]+)``", text.split("\n\n", 1)[0]))
        self.assertEqual(accepted() - named, set())

    def test_the_header_lists_every_key(self):
        text = read("userspace/libpumice/include/pumice/pumice.h")
        text = text.split('"inproc:key=number', 1)[1].split('"pid:PID"', 1)[0]
        self.assertEqual(accepted() - set(re.findall(r"[a-z0-9-]+", text)), set())

    def test_the_page_of_the_device_lists_every_property(self):
        source = read("qemu-device/pumice.c")
        properties = set(re.findall(r'DEFINE_PROP_\w+\("([a-z0-9-]+)"', source))
        properties |= set(re.findall(r'object_class_property_add_\w+\(klass, "([a-z0-9-]+)"', source))
        self.assertLess({"preset", "mode", "inject", "fw-gdb"}, properties)
        page = read("Documentation/device.rst").split("\nProperty  ", 1)[1].split("\n\n", 1)[0]
        self.assertEqual(set(re.findall(r"^``([a-z0-9-]+)``", page, re.MULTILINE)), properties)

    def test_pages_list_every_file_of_the_driver_in_debugfs(self):
        files = set()
        for path in (TOP / "drivers/gpu/drm/pumice").glob("*.c"):
            text = path.read_text(encoding="utf-8")
            files |= set(re.findall(r'debugfs_create_\w+\("(\w+)"', text))
            files |= set(re.findall(r'^\t\{ "(\w+)", pumice_debugfs_show', text, re.MULTILINE))
        self.assertLess({"state", "mode", "fw_log_level", "pds_shares"}, files)
        page = read("Documentation/driver/debugging.rst").split("/sys/kernel/debug/dri", 1)[1]
        page = page.split("``/proc/", 1)[0]
        self.assertEqual(set(re.findall(r"^``(\w+)``$", page, re.MULTILINE)), files)
        page = read("Documentation/observing.rst").split("\nIn debugfs\n", 1)[1]
        self.assertEqual(set(re.findall(r"``(\w+)``", page.split(":doc:", 1)[0])), files)

    def test_pumice_shares_names_every_key_of_a_share(self):
        keys = {key for key in accepted() if re.search("-(share|policy)$", key)}
        self.assertGreater(len(keys), 4)
        source = read("userspace/tools/shares.c")
        listed = re.search(r'^#define KEYS\s+"(.*?)"', source, flags=re.MULTILINE)[1]
        self.assertEqual(set(re.split(r", | and ", listed)), keys)
        self.assertEqual(len(re.findall(r"\bKEYS\b", source)), 3)    # message and --help
        page = read("userspace/tools/pumice-shares.1").replace("\\-", "-")
        self.assertEqual(set(re.findall(r"\b\w+-(?:share|policy)\b", page)), keys)


if __name__ == "__main__":
    unittest.main()
