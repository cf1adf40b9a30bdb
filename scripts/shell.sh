#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make shell: a prompt in the guest with the GPU. The guest's /host is
# out/guest/shell here. Ctrl-A X ends the machine if the guest does not.
#
#   GDB=1      sockets for debuggers in out/guest: shell.gdb of the guest's kernel (QEMU's
#              stub), shell.fw-gdb of the GPU's firmware
#   TOOLS=""   programs of this machine for the guest, with their libraries: "strace gdb"

set -euo pipefail
. "$(dirname "$0")/lib.sh"

device=pumice,cores=$CORES,threads=$THREADS
options=()
[[ ${GDB:-0} == [01] ]] || die "GDB=$GDB is neither 0 nor 1" "make shell GDB=1 has sockets for debuggers"
if [ "${GDB:-0}" = 1 ]; then
	rm -f "$OUT/guest/shell.gdb" "$OUT/guest/shell.fw-gdb"
	options+=(--append nokaslr
		--qemu-option "-gdb unix:$OUT/guest/shell.gdb,server=on,wait=off"
		--qemu-option "-chardev socket,id=fwgdb,path=$OUT/guest/shell.fw-gdb,server=on,wait=off")
	device+=,fw-gdb=fwgdb
	say "kernel: target remote $OUT/guest/shell.gdb; firmware: target remote $OUT/guest/shell.fw-gdb"
fi
if [ -n "${TOOLS:-}" ]; then
	options+=(--image "$BUILD/guest/tools.cpio")
fi

[ -t 0 ] || die "make shell needs a terminal" "for a script use scripts/run-guest.py --job"
say "booting; leave with: exit (or Ctrl-A X)"
exec "$top/scripts/run-guest.py" shell --shell --image "$BUILD/guest/stock.cpio" \
	--image "$BUILD/guest/programs.cpio" --device "$device" "${options[@]}"
