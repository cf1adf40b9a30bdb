#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build-examples.sh DIR: install build/native into DIR/root and build
# the examples in DIR/src against it, as a user would: with pkg-config,
# and with the shared library. The guest image uses both.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

dir=$(realpath -m "$1")

rm -rf "$dir/root" "$dir/src"
mkdir -p "$dir"
unset DESTDIR
meson install -C "$BUILD/native" --no-rebuild --quiet --destdir "$dir/root"
config=$(find "$dir/root" -name pumice.pc)
mkdir "$dir/src"
cp "$top"/examples/{Makefile,README.md,*.c,*.h} "$dir/src"
PKG_CONFIG_PATH=${config%/*} make -s -C "$dir/src" clean all \
	LDFLAGS="-Wl,-rpath,${config%/pkgconfig/*}"
