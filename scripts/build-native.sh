#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build-native.sh NAME [MESON-OPTION…]: configure build/NAME with meson when it
# is new, and build what is out of date: all, or the targets in TARGETS.
# build/NAME/.done tells when.
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

export CCACHE_DIR=$PUMICE_CACHE/ccache CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=3G

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
