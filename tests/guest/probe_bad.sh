#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Firmware that is missing, damaged, of another version or does not boot, and a
# device without MSI-X: the probe fails with one clear line, frees everything, and the same
# module loads right afterwards. Each line that pumice_fw.c has for this is tested.
#
# Offsets are those of struct fwif_image_header in hw/fwif.h.

FIRMWARE=/lib/firmware/pumice/pumice_fw.bin
GOOD=/tmp/pumice_fw.good
REFUSES=/lib/firmware/pumice-test/REFUSE/pumice/pumice_fw.bin
HEADER_BYTES=64
MAGIC_AT=0
VERSION_AT=4
PAYLOAD_BYTES_AT=12
ENTRY_AT=16
CRC_AT=20
RESERVED_AT=24
BUILD_ID_AT=32
BUILD_ID_BYTES=32

# shellcheck source-path=SCRIPTDIR source=../unit/support/tap.sh
. "$(dirname "$0")/tap.sh"

note() {
	echo "# $*"
}

# poke OFFSET OCTAL: replace one byte of the firmware file.
poke() {
	printf '%b' "\\0$2" | dd of=$FIRMWARE bs=1 seek="$1" conv=notrunc 2>/dev/null
}

# program OCTAL…: let the firmware begin with these bytes, with a correct checksum, which is the
# one that gzip stores.
program() {
	cp $GOOD $FIRMWARE
	offset=0
	for byte in "$@"; do
		poke $((ENTRY_AT + offset)) 0
		poke $((HEADER_BYTES + offset)) "$byte"
		offset=$((offset + 1))
	done
	dd if=$FIRMWARE bs=$HEADER_BYTES skip=1 2>/dev/null | gzip -c | tail -c 8 | head -c 4 |
		dd of=$FIRMWARE bs=1 seek=$CRC_AT conv=notrunc 2>/dev/null
}

has_node() {
	ls /dev/dri/renderD* >/dev/null 2>&1
}

# Lines that the driver printed since the last call. The kernel's own, of its
# firmware loader and of the driver core, are not counted.
driver_lines() {
	dmesg -c | grep -E 'pumice [0-9a-f:.]+: ' |
		grep -vE 'firmware: failed to load|irect firmware load|loading /lib|probe with driver'
}

# unload: remove the module. The fence of a job that has ended may keep it a little longer.
unload() {
	looks=0
	while [ "$(cat /sys/module/pumice/refcnt)" -ne 0 ] && [ $looks -lt 300 ]; do
		sleep 0.1
		looks=$((looks + 1))
	done
	rmmod pumice
}

# refused WHAT [OPTION]: loading with a module parameter must fail with exactly one line, which
# says WHAT.
refused() {
	dmesg -c >/dev/null
	modprobe pumice ${2:+"$2"}
	lines=$(driver_lines)
	status=0
	if [ "$(echo "$lines" | wc -l)" -ne 1 ]; then
		note "should be one line:"
		status=1
	fi
	echo "$lines" | sed 's/^/# /'
	if ! echo "$lines" | grep -q "$1"; then
		note "should say: $1"
		status=1
	fi
	if has_node; then
		note "there is a render node"
		status=1
	fi
	if grep -q pumice /proc/interrupts; then
		note "the interrupt is still requested"
		status=1
	fi
	if ! rmmod pumice; then
		note "the module cannot be unloaded"
		status=1
	fi
	return $status
}

# works: with the right file the module loads and the GPU runs jobs.
works() {
	cp $GOOD $FIRMWARE
	modprobe pumice
	t_query >/tmp/query.tap 2>&1 && t_sync empty_stream_signals_its_fence >>/tmp/query.tap 2>&1
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' /tmp/query.tap
	unload || status=1
	return $status
}

# bad NAME WHAT: one case, and what must hold after it.
bad() {
	refused "$2"
	report "$1" $?
	works
	report "${1}_then_the_right_one_works" $?
}

# header NAME AT OCTAL WHAT: one case, of a byte of the header.
header() {
	cp $GOOD $FIRMWARE
	poke "$2" "$3"
	refused "$4"
	report "$1" $?
}

[ ! -d /sys/module/pumice ] || unload
cp $FIRMWARE $GOOD

rm $FIRMWARE
bad missing_firmware "cannot be loaded"

cp $GOOD $FIRMWARE
poke $((HEADER_BYTES + 100)) 125
poke $((HEADER_BYTES + 101)) 252
bad damaged_firmware "checksum is wrong"

cp $GOOD $FIRMWARE
poke $((VERSION_AT + 2)) 177
bad firmware_of_another_version "another interface version"

dd if=$GOOD of=$FIRMWARE bs=1024 count=2 2>/dev/null
bad truncated_firmware "size differs from that in its header"

echo >$FIRMWARE
bad nearly_empty_firmware "too short"

header firmware_of_another_device $MAGIC_AT 0 "not a Pumice firmware"
header payload_of_odd_size $PAYLOAD_BYTES_AT 1 "invalid payload size"
header entry_outside_of_the_payload $((ENTRY_AT + 3)) 177 "entry point outside of the payload"
header reserved_field_in_use $RESERVED_AT 1 "reserved header fields are not zero"

cp $GOOD $FIRMWARE
offset=0
while [ $offset -lt $BUILD_ID_BYTES ]; do
	poke $((BUILD_ID_AT + offset)) 170
	offset=$((offset + 1))
done
refused "build id is not terminated"
report build_id_without_an_end $?

# Files without an error, of firmware that boots in another way than it should.
header header_of_another_build $BUILD_ID_AT 170 "is not that of pumice/pumice_fw.bin"

# The first instruction is illegal, and there is no handler yet.
program 0 0 0 0
refused "firmware did not boot: processor lockup, boot error none, mcause 0x2 at 0x0"
report firmware_that_stops_at_its_first_instruction $?

# The first instruction is a jump to itself.
program 157 0 0 0
refused "firmware did not boot in 500 ms (pc 0x0)" fw_timeout_ms=500
report firmware_that_never_is_ready $?

cp $REFUSES $FIRMWARE
refused "firmware did not boot: built for another register map" slice_us=1
report firmware_that_refuses_the_device $?

works
report right_firmware_works_after_all_of_them $?

# The device's bus does not pass MSI and MSI-X on, as the kernel sees it.
cp $GOOD $FIRMWARE
device=$(dirname "$(grep -l 0x7075 /sys/bus/pci/devices/*/device)")
echo 0 >"$device/msi_bus"
refused "no MSI-X"
report no_msix $?
echo 1 >"$device/msi_bus"
works
report no_msix_then_msix_works $?

modprobe pumice
tap_end
