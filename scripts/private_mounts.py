#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""private_mounts.py COMMAND…: make every mount of this namespace private, run COMMAND.

For a namespace that was made in a chroot. Its "/" may not be a mount there, and only mounts can be
made private: mount(8) cannot change the one that contains the chroot, and a mount on a folder in it
would be visible outside of the namespace if that one is shared. A process that enters the namespace
again is at the namespace's root, which is a mount. That is a child: the command stays in the chroot.
"""

import ctypes
import os
import sys

CLONE_NEWNS = 0x20000
MS_REC = 0x4000
MS_PRIVATE = 0x40000


def make_private():
    """Leave the chroot, and make all mounts private; return an error number, 0 if there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        namespace = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    except OSError as error:
        return error.errno
    if (libc.setns(namespace, CLONE_NEWNS) or
            libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None)):
        return ctypes.get_errno()
    return 0


def main():
    """Change the mounts in a child, then run the command."""
    child = os.fork()
    if not child:
        os._exit(make_private())
    error = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if error:
        sys.exit(f"private_mounts.py: mounts cannot be made private: {os.strerror(error)}")
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
