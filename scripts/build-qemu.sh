#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Build QEMU with the device overlaid.
#
#   build-qemu.sh PRODUCT
#
# The source is a Debian package with Debian's patches: QEMU 10.0 of Debian 13,
# or with QEMU_VERSION= the newest version with this prefix whose source is still
# in one of Debian's suites (QEMU_VERSION=10.2). QEMU_SRC= is a user's own tree.
# Source and build tree are in the cache, keyed by version, the build tree also
# by this machine's Debian release: the first build takes minutes, later a change
# of the device compiles only the device. The binary is copied to PRODUCT. Next to
# it, for Debian's package, are built-using, the source package and its version,
# empty for a user's own tree, and copyright, the licences of the source. QEMU's
# own warnings are not errors; with WERROR=1 those of the device are.
#
# Layout of the overlay inside QEMU's tree (hw/pumice/):
#   *.c *.h meson.build Kconfig trace-events   from qemu-device/
#   gpu/                                       from qemu-device/gpu/
#   gen/                                       generated headers and tables, hw/decode/
# and the changes of scripts/qemu-hooks.py to QEMU's own files.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

product=$1
default=10.0
suites="trixie trixie-backports forky sid experimental"
base=$PUMICE_CACHE/qemu
meson_min=1.5

# QEMU's configure requires a newer meson than Debian 12 has. Unpack the
# backported one next to the sources and add it to Python's path; install nothing.
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

# offers WANTED: "SUITE VERSION" of every source package whose upstream
# version equals or begins with WANTED, the newest of the first suite first.
offers() {
	local suite

	for suite in $suites; do
		suite_lists "$suite"
		"$top/scripts/debian-suite.sh" "$suite" sources qemu |
			awk -F: -v wanted="$1" -v suite="$suite" \
				'index($NF ".", wanted ".") == 1 || index($NF, wanted "+") == 1 {
					print suite, $0 }' | sort -rV
	done
}

# fetch WANTED FILE: fetch the first offer that is
# available, unpack it in the cache, write its version
# to FILE. A mirror may lack sources that a suite lists.
fetch() {
	local suite version src tried=

	while read -r suite version; do
		tried+=" $version ($suite)"
		src=$base/$(key "$version")/src
		rm -rf "$src.tmp" "$src"
		"$top/scripts/debian-suite.sh" "$suite" source "$src.tmp" \
			"qemu=$version" || continue
		mv "$src.tmp"/qemu-*/ "$src"
		rm -rf "$src.tmp"
		echo "$version" >"$2"
		return
	done < <(offers "$1")
	die "no source of QEMU $1 can be had from Debian${tried:+: tried$tried}" \
		"give another QEMU_VERSION=, or a source tree of your own: QEMU_SRC="
}

# key VERSION: convert a version to a folder name.
key() {
	echo "${1//[:~]/_}"
}

# QEMU_SRC= is a user's own tree: copy it with links instead of changing it.
copy_own() {
	rsync -a --delete --exclude '/build*' --exclude /hw/pumice \
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
		--disable-werror
}

overlay() {
	local to=$1/hw/pumice

	[ -e "$top/qemu-device/meson.build" ] || return 0
	mkdir -p "$to/gen"
	rsync -rc --delete --exclude /gen --exclude .clang-format "$top/qemu-device/" "$to/"
	rsync -rc --delete "$BUILD/gen/" "$top/hw/decode/" "$top"/hw/*.h "$to/gen/"
	python3 "$top/scripts/qemu-hooks.py" "$1"
}

compile() {
	local obj=$1

	nice ninja -C "$obj" -j"$JOBS" qemu-system-x86_64
	mkdir -p "$(dirname "$product")"
	cp "$obj/qemu-system-x86_64" "$product.new"
	mv "$product.new" "$product"
}

# describe SOURCE VERSION: write the files next to the product.
describe() {
	local to=${product%/*} licences=$1/debian/copyright

	[ -e "$licences" ] || licences=$1/LICENSE
	echo "${2:+qemu (= $2)}" >"$to/built-using"
	# Not with the mode of a tree of the user, which may be read-only.
	install -m 644 "$licences" "$to/copyright"
}

# Compile the device's files again, as QEMU's build does and
# with warnings as errors: the front end completely; the GPU
# core, which check-builds.py compiles completely, syntax only.
warnings() {
	local obj=$1

	cd "$obj"
	ninja -t commands qemu-system-x86_64 |
		sed -nE -e 's,.* -c [^ ]*/hw/pumice/(gen|gpu)/[^ ]*\.c$,& -fsyntax-only,p;t' \
			-e '/ -c [^ ]*\/hw\/pumice\/[^ ]*\.c$/p' |
		sed 's, -MD -MQ [^ ]* -MF [^ ]* -o [^ ]*, -Werror -o /dev/null,' >device-commands
	grep -q /pumice.c device-commands || die "QEMU's build does not compile the device"
	nice xargs -P "$JOBS" -d '\n' -n 1 sh -c <device-commands
}

main() {
	local wanted=${QEMU_VERSION:-$default} file place src obj version=

	provide_meson
	if [ -n "${QEMU_SRC:-}" ]; then
		place=$base/own-$(echo "$QEMU_SRC" | sha256sum | cut -c1-8)
		src=$place/src
		mkdir -p "$src"
		step qemu-copy "copying the QEMU source from $QEMU_SRC" copy_own "$src"
	else
		file=$PUMICE_CACHE/versions/qemu
		[ "$wanted" = $default ] || file+=-$wanted
		mkdir -p "${file%/*}"
		if [ ! -s "$file" ] || [ ! -d "$base/$(key "$(cat "$file")")/src" ]; then
			step qemu-fetch "fetching the source of QEMU $wanted" \
				fetch "$wanted" "$file"
		fi
		version=$(cat "$file")
		place=$base/$(key "$version")
		src=$place/src
	fi
	obj=$place/build-$(host_release)
	if [ ! -e "$obj/.configured" ]; then
		rm -rf "$obj"
		overlay "$src"
		step qemu-configure "configuring QEMU" configure "$src" "$obj"
		touch "$obj/.configured"
	fi
	overlay "$src"
	step qemu "building QEMU ${place##*/} (3 to 6 minutes the first time)" compile "$obj"
	describe "$src" "$version"
	[ "${WERROR:-0}" != 1 ] ||
		step qemu-warnings "looking for warnings of the device" warnings "$obj"
}

with_lock "$base/lock" main
