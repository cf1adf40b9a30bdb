#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The demos that draw, through ioctls and in process: the same pictures to the bit.
#
# All of them check their pictures themselves and report the result by their status. The GPU in
# the demo's process has as many cores as the guest's and runs the same firmware, so
# it gives the same CRC-32. It runs on an emulated processor here, so only those that
# take seconds are drawn twice. No demo may cost a reset of the GPU: its jobs would run again.

DEMOS="triangle model gears msaa shadows triangles partial heatmap rays"
TWICE="triangle model msaa partial"

MARK="pumice: the demos begin"

# shellcheck source-path=SCRIPTDIR source=../unit/support/tap.sh
. "$(dirname "$0")/tap.sh"

# picture DEMO DEVICE: the line with its checksum; empty if it failed.
picture() {
	(cd /tmp && PUMICE_DEVICE=$2 "pumice-demo-$1" -o "/tmp/$1.png") >"/tmp/$1.out" 2>&1 || {
		sed 's/^/# /' "/tmp/$1.out" >&2
		return 1
	}
	grep -o 'CRC-32 [0-9a-f]*' "/tmp/$1.out" || true
}

# resets: print the resets that the driver logged after the mark, which must still be there.
resets() {
	dmesg | awk -v mark="$MARK" 'index($0, mark) { seen = 1 }
		seen && /resetting the GPU: / { print }
		END { if (!seen) print "the log has lost the mark" }'
}

echo "$MARK" >/dev/kmsg
cores=$(PUMICE_DEVICE=drm pumice-demo-triangle -o /tmp/t.png |
	sed -n 's/.*drm, \([0-9]*\) cores.*/\1/p')
for demo in $DEMOS; do
	picture "$demo" drm >"/tmp/$demo.crc"
	report "${demo}_draws_its_picture" $?
done
for demo in $TWICE; do
	gpu=$(cat "/tmp/$demo.crc")
	# Minutes may pass before the picture of an emulated GPU on an emulated processor is complete.
	# The demo's own limit for a wait remains.
	here=$(picture "$demo" "inproc:cores=${cores:-1},job-timeout-ms=0")
	echo "# $demo: $gpu through ioctls, $here in process"
	[ -n "$gpu" ] && [ "$gpu" = "$here" ]
	report "${demo}_is_the_same_to_the_bit" $?
done
resets >/tmp/resets
sed 's/^/# /' /tmp/resets
[ ! -s /tmp/resets ]
report no_demo_costs_a_reset $?
tap_end
