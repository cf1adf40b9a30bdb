#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Debian's own 6.12 kernel and its headers, unpacked and not installed.
# Prints the folder of the result, laid out as build-kernel.sh lays it out:
#
#   bzImage   the kernel
#   release   its release string
#   kdir      where external modules are built
#   root/     lib/modules/RELEASE
#
# KERNEL_IMAGE= with KDIR= makes such a folder of the user's own kernel; its
# modules are then looked for in KMODULES= (default /lib/modules/RELEASE).

set -euo pipefail
. "$(dirname "$0")/lib.sh"

base=$PUMICE_CACHE/kernel

# The unpacked headers name each other by absolute path; lead these to where
# they were unpacked.
relocate_headers() {
	local root=$1

	grep -rlI '/usr/src/linux-' "$root"/usr/src/linux-headers-*/ \
		--include=Makefile --include='*.mk' --include=.kernelvariables 2>/dev/null |
		xargs -r sed -i "s,\([^A-Za-z0-9_.-]\|^\)/usr/src/linux-,\1$root/usr/src/linux-,g"
}

unpack() {
	local debs=$1 release=$2 tree=$3 deb

	rm -rf "$tree"
	mkdir -p "$tree/headers" "$tree/root"
	for deb in "$debs"/linux-headers-*.deb "$debs"/linux-kbuild-*.deb; do
		dpkg-deb -x "$deb" "$tree/headers"
	done
	dpkg-deb -x "$debs"/linux-image-*.deb "$tree/root"
	cp "$tree/root/boot/vmlinuz-$release" "$tree/bzImage"
	# One place for the modules, where lib is a folder on any Debian.
	if [ -d "$tree/root/usr/lib/modules" ] && [ ! -d "$tree/root/lib/modules" ]; then
		ln -sfn usr/lib "$tree/root/lib"
	fi
	rm -rf "$tree/root/boot"
	/sbin/depmod -b "$tree/root" "$release"
	# kbuild is reached by a link to /usr/lib.
	relocate_headers "$tree/headers"
	find "$tree/headers/usr/src" -type l | while read -r deb; do
		case $(readlink "$deb") in
		/*) ln -sfn "$tree/headers$(readlink "$deb")" "$deb" ;;
		esac
	done
	ln -sfn "headers/usr/src/linux-headers-$release" "$tree/kdir"
	echo "$release" >"$tree/release"
}

fetch() {
	local suite=$1 debs=$2 release=$3 common

	common=linux-headers-${release%-amd64}-common
	rm -rf "$debs"
	"$top/scripts/debian-suite.sh" "$suite" download "$debs" \
		"$(image_package "$suite" "$release")" "linux-headers-$release" "$common" \
		"linux-kbuild-${release%-amd64}"
}

# Debian's signed image; its unsigned twin where a mirror lacks it.
image_package() {
	local suite=$1 release=$2

	if [ -n "$("$top/scripts/debian-suite.sh" "$suite" version "linux-image-$release")" ]; then
		echo "linux-image-$release"
	else
		echo "linux-image-$release-unsigned"
	fi
}

own_kernel() {
	local tree=$BUILD/kernel/own

	if [ -z "${KDIR:-}" ] || [ -z "${KERNEL_IMAGE:-}" ]; then
		die "KDIR and KERNEL_IMAGE belong together" \
			"give both: the build tree and the bzImage of one kernel"
	fi
	rm -rf "$tree"
	mkdir -p "$tree/root/lib/modules"
	make -s -C "$KDIR" kernelrelease >"$tree/release"
	ln -s "$(realpath "$KERNEL_IMAGE")" "$tree/bzImage"
	ln -s "$(realpath "$KDIR")" "$tree/kdir"
	ln -s "${KMODULES:-/lib/modules/$(cat "$tree/release")}" \
		"$tree/root/lib/modules/$(cat "$tree/release")"
	echo "$tree"
}

main() {
	local suite release result file=$PUMICE_CACHE/versions/linux-image

	suite=$(kernel_suite)
	if [ ! -s "$file" ]; then
		mkdir -p "${file%/*}"
		step "apt-$suite" "fetching the package lists of Debian $suite" \
			"$top/scripts/debian-suite.sh" "$suite" update
		"$top/scripts/debian-suite.sh" "$suite" depends linux-headers-amd64 |
			sed -n 's/^linux-headers-\(6\.12\..*\)/\1/p' | head -n 1 >"$file.$$"
		[ -s "$file.$$" ] || die "Debian $suite has no 6.12 kernel headers"
		mv "$file.$$" "$file"
	fi
	release=$(cat "$file")
	result=$base/stock-$release
	if [ ! -e "$result/.complete" ]; then
		step kernel-stock-fetch "fetching Debian's kernel $release" \
			fetch "$suite" "$base/debs-$release" "$release"
		step kernel-stock-unpack "unpacking Debian's kernel" \
			unpack "$base/debs-$release" "$release" "$result"
		rm -rf "$base/debs-$release"
		touch "$result/.complete"
	fi
	echo "$result"
}

if [ -n "${KDIR:-}${KERNEL_IMAGE:-}" ]; then
	own_kernel
else
	with_lock "$base/stock.lock" main
fi
