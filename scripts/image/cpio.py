# SPDX-License-Identifier: MIT
"""Write initramfs archives (cpio, "newc") without being root.

Format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
Files, folders, symbolic links and character devices; everything belongs to
root. The time stamps are zero, so equal contents result in equal archives.
"""

import os
import stat
import subprocess
import tempfile


class Archive:
    """An archive being written; use as a context manager."""

    def __init__(self, path):
        self.path = path
        self.temporary = f"{path}.{os.getpid()}"
        self.out = open(self.temporary, "wb")
        self.names = set()

    def __enter__(self):
        return self

    def __exit__(self, kind, _value, _trace):
        if kind is None:
            self._entry("TRAILER!!!", 0, b"")
            # Consecutive archives start at multiples of 512.
            self.out.write(bytes(-self.out.tell() % 512))  # lint: word
            self.out.close()
            os.replace(self.temporary, self.path)
        else:
            self.out.close()
            os.unlink(self.temporary)

    def _entry(self, name, mode, data, device=(0, 0)):
        encoded = name.encode() + b"\0"
        fields = [len(self.names) + 1, mode, 0, 0, 2 if stat.S_ISDIR(mode) else 1, 0,
                  len(data), 0, 0, device[0], device[1], len(encoded), 0]
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self.out.write(header + bytes(-len(header) % 4))
        self.out.write(data + bytes(-len(data) % 4))

    def has(self, name):
        """Return whether the archive already has this path."""
        return name.strip("/") in self.names

    def folder(self, name):
        """Add a folder and its parents, once each."""
        name = name.strip("/")
        if not name or name in self.names:
            return
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFDIR | 0o755, b"")
        self.names.add(name)

    def _add(self, name, mode, data, device=(0, 0)):
        name = name.strip("/")
        if name in self.names:
            return
        self.folder(os.path.dirname(name))
        self._entry(name, mode, data, device)
        self.names.add(name)

    def data(self, name, data, mode=0o644):
        """Add a file with this content (bytes)."""
        self._add(name, stat.S_IFREG | mode, data)

    def file(self, name, source):
        """Add a file of this machine; keeps its executable bit."""
        mode = 0o755 if os.stat(source).st_mode & 0o111 else 0o644
        with open(source, "rb") as stream:
            self.data(name, stream.read(), mode)

    def stripped(self, name, source):
        """Add an ELF file without its debugging information."""
        with tempfile.TemporaryDirectory() as folder:
            small = os.path.join(folder, "small")
            subprocess.run(["objcopy", "--strip-debug", source, small], check=True)
            self.file(name, small)

    def link(self, name, target):
        """Add a symbolic link."""
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, name, major, minor):
        """Add a character device node."""
        self._add(name, stat.S_IFCHR | 0o600, b"", (major, minor))
