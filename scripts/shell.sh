#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make shell: a prompt in the guest with the GPU. The guest's /host is
# out/guest/shell here. Ctrl-A X ends the machine if the guest does not.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ -t 0 ] || die "make shell needs a terminal" "for a script use scripts/run-guest.py --job"
say "booting; leave with: exit (or Ctrl-A X)"
exec "$top/scripts/run-guest.py" shell --shell --image "$BUILD/guest/stock.cpio" \
	--image "$BUILD/guest/programs.cpio" --device "pumice,cores=$CORES,threads=$THREADS"
