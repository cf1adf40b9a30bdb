#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A root folder with the compiler that newer kernels were built by, unpacked from
# Debian's packages, for building modules only.
#
#   build-root.sh COMPILER           make it once; print the folder
#   build-root.sh run ROOT COMMAND…  run a command in it
#
# COMPILER is what the kernel's headers depend on, gcc-16-for-host. Newer headers
# bring host tools that need a newer C library than this machine's, so make runs
# inside. No package's scripts are run, so nothing but the unpacked programs is
# there: enough for Kbuild.
#
# A command sees the cache and the work tree's build folder at their own names, and
# /dev and /proc. It runs in a mount namespace of its own; without root, in a user namespace
# too.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

suites="trixie forky sid"
base=$PUMICE_CACHE/build-root
tools="binutils make dash bash coreutils findutils sed grep mawk perl python3 diffutils gzip xz-utils pahole
	libelf1t64 libssl3t64 zlib1g"

fetch() {
	local suite=$1 compiler=$2 debs=$3

	rm -rf "$debs"
	# shellcheck disable=SC2086
	"$top/scripts/debian-suite.sh" "$suite" closure "$debs" "$compiler" $tools
}

unpack() {
	"$top/scripts/unpack-root.sh" "$1" "$2"
	ln -sfn mawk "$2/usr/bin/awk"
	[ -e "$2/usr/bin/sh" ] || ln -s dash "$2/usr/bin/sh"
	mkdir -p "$2/dev" "$2/tmp"
}

# The first suite that has the compiler, as lines "SUITE VERSION".
choose() {
	local suite version

	for suite in $suites; do
		suite_lists "$suite"
		version=$("$top/scripts/debian-suite.sh" "$suite" version "${1%-for-host}" 2>/dev/null || true)
		if [ -n "$version" ]; then
			echo "$suite $version"
			return
		fi
	done
	die "no Debian suite has ${1%-for-host}, which a kernel's headers ask for"
}

make_root() {
	local compiler=$1 file=$PUMICE_CACHE/versions/$1 suite version result

	if [ ! -s "$file" ]; then
		mkdir -p "${file%/*}"
		choose "$compiler" >"$file.$$"
		mv "$file.$$" "$file"
	fi
	read -r suite version <"$file"
	result=$base/$compiler-$version-$(echo "$tools" | sha256sum | cut -c1-8)
	if [ ! -e "$result/.complete" ]; then
		step build-root-fetch "fetching $compiler $version and its libraries" \
			fetch "$suite" "$compiler" "$base/debs"
		step build-root-unpack "unpacking the build root" unpack "$base/debs" "$result"
		rm -rf "$base/debs"
		touch "$result/.complete"
	fi
	echo "$result"
}

# Inside the namespace: mount what is seen, go in.
enter() {
	local root=$1 folder

	shift
	for folder in /dev /proc "$PUMICE_CACHE/kernel" "$BUILD"; do
		mkdir -p "$root$folder"
		mount --rbind "$folder" "$root$folder"
	done
	exec /usr/sbin/chroot "$root" /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/tmp LC_ALL=C \
		DEB_BUILD_ARCH=amd64 "$@"
}

run() {
	local options=(--mount)

	[ "$(id -u)" -eq 0 ] || options+=(--map-root-user)
	exec unshare "${options[@]}" "$top/scripts/build-root.sh" enter "$@"
}

case $1 in
run | enter)
	"$@"
	;;
*)
	with_lock "$base/lock" make_root "$1"
	;;
esac
