#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build-native.sh NAME [MESON-OPTION…]: configure build/NAME with meson when it
# is new, and build what is out of date: all, or the targets in TARGETS.
# build/NAME/.done tells when.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

name=$1
shift
dir=$BUILD/$name

build() {
	if [ ! -e "$dir/build.ninja" ]; then
		rm -rf "$dir"
		meson setup "$@" "$dir" "$top"
	fi
	# shellcheck disable=SC2086
	ninja -C "$dir" -j"$JOBS" ${TARGETS:-}
	touch "$dir/.done"
}

with_lock "$BUILD/$name.lock" step "$name" "building library, tools and tests ($name)" \
	build "$@"
