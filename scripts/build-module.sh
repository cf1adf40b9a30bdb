#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Build the kernel module for one kernel.
#
#   build-module.sh KERNEL PRODUCT [MAKE-ARGUMENT…]
#
# KERNEL is a folder created by stock-kernel.sh or build-kernel.sh. The
# sources are copied to build/module/RELEASE/ (same layout as the work
# tree) and built there, so that one work tree serves several kernels.
# Only changed files are copied and compiled. The module is then copied to
# PRODUCT. MODULE_WORK= is another build folder. For a kernel with its own
# root folder the build runs in that root, else in MODULE_ROOT= if that is
# set. WERROR=1 makes warnings errors.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

kernel=$1
product=$2
shift 2
release=$(cat "$kernel/release")
work=${MODULE_WORK:-$BUILD/module/$release}

inside=()
root=${MODULE_ROOT:-}
[ ! -e "$kernel/build-root" ] || root=$(realpath "$kernel")/build-root
if [ -n "$root" ]; then
	kernel=$(realpath "$kernel")
	inside=("$top/scripts/build-root.sh" run "$root")
fi

copy() {
	mkdir -p "$work/drivers/gpu/drm" "$work/hw" "$work/build/gen"
	rsync -rc "$top/Kbuild" "$work/"
	rsync -rc --delete --exclude '*.o' --exclude '*.ko' --exclude '*.cmd' \
		--exclude '*.mod*' --exclude modules.order --exclude Module.symvers \
		--exclude '*.a' --exclude 'generated' \
		"$top/drivers/gpu/drm/pumice/" "$work/drivers/gpu/drm/pumice/"
	rsync -rc --delete "$top/uapi/" "$work/uapi/"
	rsync -rc "$top"/hw/*.h "$work/hw/"
	rsync -rc --include '*.h' --exclude '*' "$BUILD/gen/" "$work/build/gen/"
}

build() {
	copy
	[ "${WERROR:-0}" != 1 ] || set -- "$@" KCFLAGS=-Werror
	"${inside[@]}" make -C "$kernel/kdir" M="$work" -j"$JOBS" modules "$@"
	cp "$work/drivers/gpu/drm/pumice/pumice.ko" "$product.new"
	mv "$product.new" "$product"
}

with_lock "$work.lock" step "module-${work##*/}" \
	"building the kernel module for $release" build "$@"
