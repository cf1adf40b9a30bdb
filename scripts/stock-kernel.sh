#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Unpack one of Debian's own kernels and its headers, without installation.
#
#   stock-kernel.sh           6.12 of the suite that matches this machine
#   stock-kernel.sh SERIES    7.2, 7.3, …: of the first suite that has it, for
#                             building in a root folder with its own compiler
#
# Prints the folder of the result, in the same layout as that of build-kernel.sh:
#
#   bzImage     the kernel
#   release     its release string
#   kdir        where external modules are built
#   root/       lib/modules/RELEASE
#   build-root  the root folder to build in (build-root.sh): with SERIES, and on a
#               Debian whose own compiler is not that of its 6.12
#   compiler    its intended use, with SERIES
#
# KERNEL_IMAGE= with KDIR= creates such a folder for the user's own kernel;
# its modules are then searched in KMODULES= (default /lib/modules/RELEASE).
# They have no effect on a SERIES that is requested by name.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

base=$PUMICE_CACHE/kernel
# Suites searched for a SERIES, in this order.
series_suites="trixie forky sid experimental"

# The unpacked headers reference each other by
# absolute path; redirect these to their location.
relocate_headers() {
	local root=$1

	grep -rlI '/usr/src/linux-' "$root"/usr/src/linux-headers-*/ \
		--include=Makefile --include='*.mk' --include=.kernelvariables 2>/dev/null |
		xargs -r sed -i "s,\([^A-Za-z0-9_.-]\|^\)/usr/src/linux-,\1$root/usr/src/linux-,g"
}

unpack() {
	local debs=$1 release=$2 tree=$3 deb image

	rm -rf "$tree"
	mkdir -p "$tree/headers" "$tree/root"
	for deb in "$debs"/*.deb; do
		case ${deb##*/} in
		linux-headers-* | linux-kbuild-*) dpkg-deb -x "$deb" "$tree/headers" ;;
		*) dpkg-deb -x "$deb" "$tree/root" ;;
		esac
	done
	# One place for the modules, where lib is a folder on any Debian.
	if [ -d "$tree/root/usr/lib/modules" ] && [ ! -d "$tree/root/lib/modules" ]; then
		ln -sfn usr/lib "$tree/root/lib"
	fi
	image=$tree/root/boot/vmlinuz-$release
	[ -e "$image" ] || image=$tree/root/lib/modules/$release/vmlinuz
	mv "$image" "$tree/bzImage"
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

# fetch SUITE DEBS RELEASE: image and headers. Newer packaging has
# the kernel and its modules in dependencies of the image's package.
fetch() {
	local suite=$1 debs=$2 release=$3 image

	image=$(image_package "$suite" "$release")
	rm -rf "$debs"
	# shellcheck disable=SC2046
	"$top/scripts/debian-suite.sh" "$suite" download "$debs" "$image" \
		$("$top/scripts/debian-suite.sh" "$suite" depends "$image" |
			grep -xF -e "linux-base-$release" -e "linux-binary-$release" \
				-e "linux-modules-$release" || true) \
		"linux-headers-$release" "linux-headers-${release%-amd64}-common" \
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

# find_release SERIES SUITE…: "SUITE RELEASE" of the first suite whose kernel for
# this architecture is of that series.
find_release() {
	local series=$1 suite release

	shift
	for suite in "$@"; do
		suite_lists "$suite"
		release=$("$top/scripts/debian-suite.sh" "$suite" depends linux-headers-amd64 |
			sed -n "s/^linux-headers-\(${series//./\\.}[.-].*\)/\1/p" | head -n 1)
		if [ -n "$release" ]; then
			echo "$suite $release"
			return
		fi
	done
	die "no kernel $series in Debian's suites ($*) today" \
		"name those that there are, for example make check-kernels KERNELS=7.3"
}

# fetch_and_unpack SUITE RELEASE TREE
fetch_and_unpack() {
	local suite=$1 release=$2 tree=$3

	step "kernel-$release-fetch" "fetching Debian's kernel $release ($suite)" \
		fetch "$suite" "$base/debs-$release" "$release"
	step "kernel-$release-unpack" "unpacking Debian's kernel $release" \
		unpack "$base/debs-$release" "$release" "$tree"
	rm -rf "$base/debs-$release"
}

# link_build_root SUITE RELEASE TREE: link the root
# folder with the compiler that the headers depend on.
link_build_root() {
	local suite=$1 release=$2 tree=$3 compiler

	if [ ! -s "$tree/compiler" ]; then
		"$top/scripts/debian-suite.sh" "$suite" depends "linux-headers-$release" |
			sed -n 's/^<*\(gcc-[0-9]*\)\(-for-host\)*>*$/\1-for-host/p' |
			head -n 1 >"$tree/compiler"
	fi
	compiler=$(cat "$tree/compiler")
	[ -n "$compiler" ] || die "the headers of kernel $release name no compiler"
	ln -sfn "$("$top/scripts/build-root.sh" "$compiler")" "$tree/build-root"
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

# chosen FILE SERIES SUITE…: print "SUITE RELEASE"
# stored in FILE, determined at the first request.
chosen() {
	local file=$1

	if [ ! -s "$file" ]; then
		shift
		mkdir -p "${file%/*}"
		find_release "$@" >"$file.$$"
		mv "$file.$$" "$file"
	fi
	cat "$file"
}

# Create the kernel of most tests.
main() {
	local found release result root suite

	suite=$(kernel_suite)
	found=$(chosen "$PUMICE_CACHE/versions/kernel-$suite" 6.12 "$suite")
	release=${found#* }
	result=$base/stock-$release
	if [ ! -e "$result/.complete" ]; then
		fetch_and_unpack "${found% *}" "$release" "$result"
		touch "$result/.complete"
	fi
	root=$(kernel_root)
	rm -f "$result/build-root"
	[ -z "$root" ] || ln -s "$root" "$result/build-root"
	echo "$result"
}

# Create a kernel for a root folder with its own compiler.
series() {
	local found release result

	# shellcheck disable=SC2086
	found=$(chosen "$PUMICE_CACHE/versions/kernel-$1" "$1" $series_suites)
	release=${found#* }
	result=$base/series-$release
	if [ ! -e "$result/.complete" ]; then
		fetch_and_unpack "${found% *}" "$release" "$result"
		touch "$result/.complete"
	fi
	link_build_root "${found% *}" "$release" "$result"
	echo "$result"
}

if [ -n "${1:-}" ]; then
	with_lock "$base/series.lock" series "$1"
elif [ -n "${KDIR:-}${KERNEL_IMAGE:-}" ]; then
	own_kernel
else
	with_lock "$base/stock.lock" main
fi
