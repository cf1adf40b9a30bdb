#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Build QEMU 10.0 with the device overlaid; leave qemu-system-x86_64 in
# build/qemu/.
#
# The source is Debian 13's package with Debian's patches, or QEMU_SRC=. Source
# and build tree live in the cache, keyed by version: the first build takes
# minutes, after that a change of the device compiles the device only.
#
# What the overlay looks like inside QEMU's tree (hw/pumice/):
#   *.c *.h meson.build Kconfig trace-events   from qemu-device/
#   gpu/                                       from qemu-device/gpu/
#   gen/                                       generated headers and tables, hw/decode/
# and what scripts/qemu-hooks.py changes in QEMU's own files.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

suite=trixie
base=$PUMICE_CACHE/qemu
meson_min=1.5

# QEMU's configure wants a newer meson than Debian 12 has. Unpack the
# backported one beside the sources and show it to Python; install nothing.
provide_meson() {
	local have dir=$PUMICE_CACHE/tools/meson

	have=$(meson --version 2>/dev/null || echo 0)
	[ "$(printf '%s\n' "$meson_min" "$have" | sort -V | head -n 1)" = "$meson_min" ] &&
		return
	if [ ! -e "$dir/.complete" ]; then
		"$top/scripts/debian-suite.sh" bookworm-backports update >&2
		"$top/scripts/debian-suite.sh" bookworm-backports download "$dir" meson >&2
		dpkg-deb -x "$dir"/meson_*.deb "$dir"
		touch "$dir/.complete"
	fi
	export PYTHONPATH=$dir/usr/lib/python3/dist-packages
	export PATH=$dir/usr/bin:$PATH
}

fetch() {
	local version=$1 src=$2

	rm -rf "$src.tmp" "$src"
	"$top/scripts/debian-suite.sh" "$suite" source "$src.tmp" "qemu=$version"
	mv "$src.tmp"/qemu-*/ "$src"
	rm -rf "$src.tmp"
}

# QEMU_SRC= is somebody's own tree: link-copy it instead of changing it.
copy_own() {
	rsync -a --delete --exclude /build --exclude /hw/pumice \
		--exclude .git "${QEMU_SRC%/}/" "$1/"
}

configure() {
	local src=$1 obj=$2

	mkdir -p "$obj"
	cd "$obj"
	"$src/configure" --target-list=x86_64-softmmu --without-default-features \
		--enable-tcg --enable-kvm --enable-attr --enable-virtfs \
		--enable-fdt=system --enable-pixman --enable-png \
		--enable-trace-backends=log --disable-modules \
		--disable-install-blobs --disable-docs --disable-download \
		--enable-werror
}

overlay() {
	local to=$1/hw/pumice

	[ -e "$top/qemu-device/meson.build" ] || return 0
	mkdir -p "$to/gen"
	rsync -rc --delete --exclude /gen "$top/qemu-device/" "$to/"
	rsync -rc --delete "$BUILD/gen/" "$top/hw/decode/" "$top/hw/fwif.h" "$to/gen/"
	python3 "$top/scripts/qemu-hooks.py" "$1"
}

compile() {
	local obj=$1

	nice ninja -C "$obj" -j"$JOBS" qemu-system-x86_64
	mkdir -p "$BUILD/qemu"
	cp "$obj/qemu-system-x86_64" "$BUILD/qemu/.new"
	mv "$BUILD/qemu/.new" "$BUILD/qemu/qemu-system-x86_64"
}

main() {
	local version key src obj

	provide_meson
	if [ -n "${QEMU_SRC:-}" ]; then
		key=own-$(echo "$QEMU_SRC" | sha256sum | cut -c1-8)
		src=$base/$key/src
		step qemu-copy "copying the QEMU source from $QEMU_SRC" copy_own "$src"
	else
		version=$(fixed_version qemu "$suite" qemu-system-x86)
		key=${version//[:~]/_}
		src=$base/$key/src
		[ -d "$src" ] ||
			step qemu-fetch "fetching the QEMU source $version" \
				fetch "$version" "$src"
	fi
	obj=$base/$key/build
	if [ ! -e "$obj/.configured" ]; then
		rm -rf "$obj"
		overlay "$src"
		step qemu-configure "configuring QEMU" configure "$src" "$obj"
		touch "$obj/.configured"
	fi
	overlay "$src"
	step qemu "building QEMU (3 to 6 minutes the first time)" compile "$obj"
}

with_lock "$base/lock" main
