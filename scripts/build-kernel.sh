#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Build a test kernel from Debian's packaged kernel source.
#
#   build-kernel.sh CONFIG
#
# CONFIG is fast (scripts/kernel/fast.config) or debug (the same plus
# debug.config). Prints the folder of the result, with the layout
# described in stock-kernel.sh. Kept in the cache, keyed by the
# source's version and the content of its inputs, so it is built once.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

config=$top/scripts/kernel/$1.config
fragments=("$top/scripts/kernel/fast.config")
[ "$1" = fast ] || fragments+=("$config")
base=$PUMICE_CACHE/kernel

suite=$(kernel_suite)
# Prefix of make: empty, or the root with the compiler of that suite.
inside=()

# objects CONFIG: approximate number of objects compiled for it.
objects() {
	case $1 in
	debug) echo 2250 ;;
	*) echo 2300 ;;
	esac
}

# Symbols that only drivers select have no prompt, and our driver is
# built out of tree. Add a prompt to each such symbol in this copy.
add_prompt() {
	local file=$1 symbol=$2 kind=$3

	sed -i "/^config $symbol\$/,/$kind/s/\($kind\)\$/\1 \"$symbol\"/" "$file"
	grep -q "$kind \"$symbol\"" "$file" ||
		die "no symbol $symbol in this kernel's ${file##*/linux-}"
}

add_prompts() {
	local symbol

	for symbol in DRM_SCHED DRM_GPUVM DRM_EXEC DRM_GEM_SHMEM_HELPER \
		DRM_SUBALLOC_HELPER; do
		add_prompt "$1/drivers/gpu/drm/Kconfig" "$symbol" tristate
	done
	add_prompt "$1/drivers/base/Kconfig" WANT_DEV_COREDUMP bool
}

unpack() {
	local deb=$1 tree=$2

	rm -rf "$tree"
	mkdir -p "$tree"
	dpkg --fsys-tarfile "$deb" |
		tar -x -O --wildcards '*/linux-source-*.tar.xz' |
		tar -x -J -C "$tree" --strip-components=1 --checkpoint=10000 \
			--checkpoint-action=echo='unpacked %T'
	add_prompts "$tree"
}

# The options of a kernel's own fragment are its purpose:
# every line must be in the result as requested.
require_own() {
	local tree=$1 line

	grep -E '^(CONFIG_|# CONFIG_)' "$config" | while read -r line; do
		case $line in
		*" is not set") ! grep -q "^${line:2:-11}=" "$tree/.config" ;;
		*) grep -qxF "$line" "$tree/.config" ;;
		esac || die "'$line' did not survive the merge" "see $config"
	done
}

# merge_config reports each option whose result differs from the
# request. That is harmless for options that are always set or have no
# prompt; a missing option that the project requires stops the build.
configure() {
	local tree=$1 option

	"${inside[@]}" make -C "$tree" -s tinyconfig
	"${inside[@]}" env -C "$tree" ./scripts/kconfig/merge_config.sh -m .config "${fragments[@]}"
	"${inside[@]}" make -C "$tree" -s olddefconfig
	require_own "$tree"
	for option in MODULES SW_SYNC DRM DRM_SCHED DRM_GPUVM DRM_EXEC DRM_GEM_SHMEM_HELPER \
		WANT_DEV_COREDUMP DRM_VGEM 9P_FS NET_9P_VIRTIO SERIAL_8250_CONSOLE \
		HOTPLUG_PCI_PCIE DEBUG_FS PCI_MSI CRC32 EVENT_TRACING TRACEPOINTS \
		PROC_FS PM PM_SLEEP PM_ADVANCED_DEBUG; do
		grep -q "^CONFIG_$option=[ym]" "$tree/.config" ||
			die "CONFIG_$option did not survive the merge" "see $config"
	done
}

build() {
	local tree=$1

	nice "${inside[@]}" make -C "$tree" -j"$JOBS" bzImage modules \
		KBUILD_BUILD_USER=pumice KBUILD_BUILD_HOST=pumice
	"${inside[@]}" make -C "$tree" modules_install INSTALL_MOD_PATH="$tree/root" \
		INSTALL_MOD_STRIP=1 DEPMOD=true
	"${inside[@]}" make -C "$tree" -s kernelrelease >"$tree/release"
	/sbin/depmod -b "$tree/root" "$(cat "$tree/release")"
	cp "$tree/arch/x86/boot/bzImage" "$tree/bzImage"
	ln -sfn . "$tree/kdir"
	# Objects of the kernel itself are not needed to build modules.
	find "$tree" -name '*.o' -not -path '*/scripts/*' -not -path '*/tools/*' \
		-delete
	find "$tree" -name '*.a' -delete
}

main() {
	local version key work result root

	version=$(fixed_version "linux-source-$suite" "$suite" linux-source-6.12)
	key=$1-$version-$(digest "${fragments[@]}" | cut -c1-8)
	result=$base/$key
	if [ ! -e "$result/.complete" ]; then
		root=$(kernel_root)
		[ -z "$root" ] || inside=("$top/scripts/build-root.sh" run "$root")
		work=$base/debs-$1
		rm -rf "$work"
		step "kernel-$1-fetch" "fetching the kernel source $version" \
			"$top/scripts/debian-suite.sh" "$suite" download "$work" linux-source-6.12
		step "kernel-$1-unpack" "unpacking the kernel source" \
			unpack "$work"/linux-source-6.12_*.deb "$result"
		step "kernel-$1-configure" "configuring the $1 kernel" configure "$result"
		STEP_TOTAL=$(objects "$1") step "kernel-$1" "building the $1 kernel (5 to 10 minutes)" build "$result"
		touch "$result/.complete"
	fi
	echo "$result"
}

with_lock "$base/$1.lock" main "$1"
