#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build-native.sh NAME [MESON-OPTION…]: configure build/NAME with meson when it
# is new, and build what is out of date: all, or the targets in TARGETS.
# build/NAME/.done tells when.
#
# CC and CXX choose compilers. NATIVE_ROOT= is a root folder (build-root.sh) to build in
# instead of this machine. WERROR=1 makes warnings errors; a build folder keeps what it
# was configured with until that changes.
#
# Objects come from ccache, which meson finds, and whose files lie in our cache: keyed
# by content, so that a clean clone compiles only what no clone has compiled before.
# Paths within the tree are taken as relative, and where the tree lies does not count
# for debug information.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

name=$1
shift
dir=$BUILD/$name
werror=$([ "${WERROR:-0}" = 1 ] && echo true || echo false)

inside=(env)
[ -z "${NATIVE_ROOT:-}" ] || inside=("$top/scripts/build-root.sh" run "$NATIVE_ROOT" env -C "$top")
inside+=("CCACHE_DIR=$PUMICE_CACHE/ccache" "CCACHE_BASEDIR=$top" CCACHE_NOHASHDIR=1
	CCACHE_MAXSIZE=3G "WERROR=${WERROR:-0}")
# Not for ninja: the firmware in there has a compiler of its own.
compilers=(${CC:+"CC=$CC"} ${CXX:+"CXX=$CXX"})
unset CC CXX

build() {
	if [ ! -e "$dir/build.ninja" ]; then
		rm -rf "$dir"
		"${inside[@]}" "${compilers[@]}" meson setup -Dwerror="$werror" "$@" "$dir" "$top"
		echo "$werror" >"$dir/.werror"
	elif [ -e "$dir/.werror" ] && [ "$(cat "$dir/.werror")" != "$werror" ]; then
		"${inside[@]}" meson configure -Dwerror="$werror" "$dir"
		echo "$werror" >"$dir/.werror"
	fi
	# shellcheck disable=SC2086
	"${inside[@]}" ninja -C "$dir" -j"$JOBS" ${TARGETS:-}
	touch "$dir/.done"
}

with_lock "$BUILD/$name.lock" step "$name" "building library, tools and tests ($name)" \
	build "$@"
