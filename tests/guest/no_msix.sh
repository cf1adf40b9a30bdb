#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A machine without MSI-X (booted with pci=nomsi): the probe fails with one
# clear line and frees everything.

status=0
echo 1..1
rmmod pumice 2>/dev/null
dmesg -c >/dev/null
modprobe pumice
lines=$(dmesg -c | grep -i pumice)
echo "$lines" | sed 's/^/# /'
[ "$(echo "$lines" | wc -l)" -eq 1 ] || status=1
echo "$lines" | grep -q "no MSI-X" || status=1
ls /dev/dri/renderD* >/dev/null 2>&1 && status=1
rmmod pumice || status=1
[ $status -eq 0 ] && echo "ok 1 - no_msix_refuses_the_device" ||
	echo "not ok 1 - no_msix_refuses_the_device"
exit $status
