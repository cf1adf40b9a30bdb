#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Root folders with compilers of other Debian releases, unpacked from Debian's
# packages and entered without installing anything.
#
#   build-root.sh COMPILER           for modules of newer kernels; print the folder
#   build-root.sh native SUITE       for the native parts, with GCC and clang of SUITE
#   build-root.sh run ROOT COMMAND…  run a command in one
#
# COMPILER is the dependency of the kernel's headers, gcc-16-for-host. Newer
# headers include host tools that need a newer C library than this machine's, so
# make runs inside. The packages of the second kind are the section [build-root]
# of packages.txt. Both are created once and kept in the cache, keyed by the
# compiler's version. Package scripts are not run, so the programs exist but
# nothing that scripts would have set up, such as alternatives (cc, awk).
#
# A command sees the cache, the work tree and its build folder at their usual paths, and
# /dev and /proc. Its environment is PATH, HOME, LC_ALL and the additions of an env
# prefix. It runs in a separate mount namespace; without root, also in a user namespace.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

suites="trixie forky sid"
base=$PUMICE_CACHE/build-root
tools="binutils make dash bash coreutils findutils sed grep mawk perl python3 diffutils gzip xz-utils pahole
	libelf1t64 libssl3t64 zlib1g"

# unpack DEBS ROOT
unpack() {
	"$top/scripts/unpack-root.sh" "$1" "$2"
	ln -sfn mawk "$2/usr/bin/awk"
	[ -e "$2/usr/bin/sh" ] || ln -s dash "$2/usr/bin/sh"
	mkdir -p "$2/dev" "$2/tmp"
}

# make_root RESULT SUITE TITLE PACKAGE…: unpack the packages and
# all their dependencies into RESULT, unless it exists; print it.
make_root() {
	local result=$1 suite=$2 title=$3 debs=$base/debs

	shift 3
	if [ ! -e "$result/.complete" ]; then
		rm -rf "$debs"
		step build-root-fetch "fetching $title and its libraries" \
			"$top/scripts/debian-suite.sh" "$suite" closure "$debs" "$@"
		step build-root-unpack "unpacking the build root of $title" unpack "$debs" "$result"
		rm -rf "$debs"
		touch "$result/.complete"
	fi
	echo "$result"
}

# Print the first suite that has the compiler, as lines "SUITE VERSION".
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
	die "no Debian suite has ${1%-for-host}, which a kernel's headers require"
}

# Create the root with the compiler COMPILER.
compiler_root() {
	local compiler=$1 file=$PUMICE_CACHE/versions/$1 suite version

	if [ ! -s "$file" ]; then
		mkdir -p "${file%/*}"
		choose "$compiler" >"$file.$$"
		mv "$file.$$" "$file"
	fi
	read -r suite version <"$file"
	# shellcheck disable=SC2086
	make_root "$base/$compiler-$version-$(echo "$tools" | sha256sum | cut -c1-8)" \
		"$suite" "$compiler $version" "$compiler" $tools
}

# Create the root for the native parts, of SUITE.
native_root() {
	local suite=$1 packages version

	mapfile -t packages < <(package_section build-root)
	version=$(fixed_version "native-$suite" "$suite" gcc)
	make_root "$base/native-$suite-${version//:/_}-$(echo "${packages[*]}" | sha256sum | cut -c1-8)" \
		"$suite" "the compilers of Debian $suite" "${packages[@]}"
}

# Inside the namespace: mount the visible folders, enter.
# The work tree first: it may contain BUILD and the cache.
enter() {
	local root=$1 folder

	shift
	mkdir -p "$PUMICE_CACHE"/{kernel,ccache,cppcheck}
	for folder in /dev /proc "$top" "$PUMICE_CACHE"/{kernel,ccache,cppcheck} "$BUILD"; do
		mkdir -p "$root$folder"
		mount --rbind "$folder" "$root$folder"
	done
	exec /usr/sbin/chroot "$root" /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/tmp LC_ALL=C \
		DEB_BUILD_ARCH=amd64 "$@"
}

run() {
	own_mounts "$top/scripts/build-root.sh" enter "$@"
}

case $1 in
run | enter)
	"$@"
	;;
native)
	with_lock "$base/lock" native_root "$2"
	;;
*)
	with_lock "$base/lock" compiler_root "$1"
	;;
esac
