#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Actions of `make reload` in the guest (/etc/reload): driver and firmware come from the share,
# parameters reach the module, and a module that cannot be loaded is an error, which a corrected
# reload ends.

# shellcheck disable=SC2317 # check() calls the functions
FOLDER=/host/reload
FIRMWARE=$FOLDER/firmware/pumice/pumice_fw.bin
WHERE=/sys/module/firmware_class/parameters/path

# shellcheck source-path=SCRIPTDIR source=../unit/support/tap.sh
. "$(dirname "$0")/tap.sh"

has_node() {
	ls /dev/dri/renderD* >/dev/null 2>&1
}

parameter() {
	[ "$(cat /sys/module/pumice/parameters/job_timeout_ms)" = "$1" ]
}

# Fails, as it should, with a message that contains the words.
refused() {
	words=$1
	shift
	if sh /etc/reload "$@" >/tmp/refused.log 2>&1 || ! grep -q "$words" /tmp/refused.log; then
		cat /tmp/refused.log
		return 1
	fi
}

symbols() {
	grep -q "^add-symbol-file MODULE -s .text $(cat /sys/module/pumice/sections/.text) " \
		/host/module.gdb
}

mkdir -p ${FIRMWARE%/*}
cp "$(find /lib/modules -name pumice.ko)" $FOLDER/pumice.ko
cp /lib/firmware/pumice/pumice_fw.bin $FIRMWARE

check "the driver is replaced" sh /etc/reload job_timeout_ms=12345
check "it has a node" has_node
check "it has the parameter" parameter 12345
check "GDB finds its sections" symbols
check "a program runs on it" pumice-info

echo damaged >$FIRMWARE
check "the firmware is that of the share: a damaged one is an error" \
	refused "does not drive the GPU"
cp /lib/firmware/pumice/pumice_fw.bin $FIRMWARE
check "a corrected firmware loads" sh /etc/reload job_timeout_ms=30000
check "it has a node again" has_node

exec 3</dev/dri/renderD128
check "a driver in use stays, and its user is named" refused "t_reload\|sh ("
exec 3<&-
check "it still has its parameter" parameter 30000

echo damaged >$FOLDER/pumice.ko
check "a damaged module is an error" refused "does not load"
printf %s /lib/firmware >$WHERE
check "the image's own driver loads again" modprobe pumice job_timeout_ms=30000
check "it has a node at last" has_node

tap_end
