#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build-native.sh NAME [MESON-OPTION…]: configure build/NAME with meson
# if it is new, and build what is out of date: all, or the targets in
# TARGETS. The time of build/NAME/.done is that of the build. OBJECTS=1:
# compile all and link TARGETS only.
#
# CC and CXX select compilers. NATIVE_ROOT= is a root folder (build-root.sh)
# to build in instead of this machine. WERROR=1 makes warnings errors; a
# build folder keeps its configuration until these change.
#
# Objects are cached by ccache, which meson detects, in our cache folder:
# keyed by content, so that a clean clone compiles only files that no
# clone has compiled before. Paths within the tree are made relative, and
# debug information does not depend on the location of the tree.

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
# Not for ninja: the firmware in this build has its own compiler.
compilers=(${CC:+"CC=$CC"} ${CXX:+"CXX=$CXX"})
unset CC CXX

build() {
	local objects=()

	if [ ! -e "$dir/build.ninja" ]; then
		rm -rf "$dir"
		"${inside[@]}" "${compilers[@]}" meson setup -Dwerror="$werror" "$@" "$dir" "$top"
		echo "$werror" >"$dir/.werror"
	elif [ -e "$dir/.werror" ] && [ "$(cat "$dir/.werror")" != "$werror" ]; then
		"${inside[@]}" meson configure -Dwerror="$werror" "$dir"
		echo "$werror" >"$dir/.werror"
	fi
	if [ -n "${OBJECTS:-}" ]; then
		"${inside[@]}" ninja -C "$dir" build.ninja
		mapfile -t objects < <("${inside[@]}" ninja -C "$dir" -t targets rule c_COMPILER)
		[ ${#objects[@]} -gt 0 ] || die "ninja lists no objects of $name"
	fi
	# shellcheck disable=SC2086
	"${inside[@]}" ninja -C "$dir" -j"$JOBS" "${objects[@]}" ${TARGETS:-}
	touch "$dir/.done"
}

with_lock "$BUILD/$name.lock" step "$name" "building library, tools and tests ($name)" \
	build "$@"
