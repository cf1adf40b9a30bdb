#!/bin/bash
# SPDX-License-Identifier: MIT
#
# install.sh [qemu] [--make TARGET…]: build these targets of the Makefile, then install below
# $DESTDIR$PREFIX (default /usr/local).
#
# Without "qemu": library, headers, tools, demos, manual pages, completion, the firmware
# where the kernel searches for it, the udev rule, and the driver's sources for DKMS. With
# "qemu": QEMU with the device, as the command pumice-qemu, and its manual page. Firmware, udev
# rule and sources have fixed places (/lib/firmware, /usr/lib/udev, /usr/src), whatever PREFIX is.
# Without root and DESTDIR these are left out, and a PREFIX of the user has the rest. Files that root
# creates in the tree of a user belong to the user, who can build and install again: those of the
# targets, too, which are therefore built here.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

: "${DESTDIR:=}"
# Meson interprets a relative folder in its own build folder.
[ -z "$DESTDIR" ] || DESTDIR=$(realpath -m -- "$DESTDIR")

# as_pattern PATH: print the pattern of find that only this path matches.
as_pattern() {
	printf '%s' "$1" | sed 's/[][\\*?]/\\&/g'
}

# return_files: make the tree's owner that of all results, unless it is root or has no number in this
# namespace of users; those in the cache, too, if it is the owner's. Roots of Debian in it belong to
# root, and so do the contents of a package in DESTDIR. Those of an earlier call with another DESTDIR
# are results like others.
return_files() {
	local owner cache folders others

	owner=$(stat -c %u "$top")
	[[ $owner != 0 && $owner != 65534 ]] || return 0
	cache=$(realpath "$PUMICE_CACHE")
	folders=("$(realpath "$OUT")")
	[ ! -d "$BUILD" ] || folders+=("$(realpath "$BUILD")")
	[ "$(stat -c %u "$cache")" != "$owner" ] || folders+=("$cache")
	others=(-path "$(as_pattern "$cache/distros")" -o -path "$(as_pattern "${DESTDIR:-none}")")
	find "${folders[@]}" -ignore_readdir_race \( "${others[@]}" \) -prune -o ! -user "$owner" \
		-exec chown -h --reference="$top" {} +
}
# It does not change the status of the installation.
[ "$(id -u)" -ne 0 ] || trap 'return_files || say "files of root may remain in $BUILD and $OUT"' EXIT
# Python's own results would be next to its sources.
export PYTHONDONTWRITEBYTECODE=1

: "${PREFIX:=/usr/local}"
[[ $PREFIX == /* ]] || die "PREFIX=$PREFIX is not absolute" "for example: make install PREFIX=/usr"
[[ $PREFIX =~ ^[A-Za-z0-9._/+~-]+$ ]] ||
	die "PREFIX=$PREFIX has characters that the installed scripts cannot have" \
		"letters, digits and . _ / + ~ - are accepted"
usage="install.sh [qemu] [--make TARGET…]"
version=$(project_version)
native=$BUILD/install
src=$DESTDIR/usr/src/pumice-$version

# fill TEMPLATE FILE MODE: install a file of packaging/ with the version and QEMU's folder
# substituted.
fill() {
	mkdir -p "$(dirname "$2")"
	sed "s|@VERSION@|$version|g; s|@LIBEXEC@|$PREFIX/libexec/pumice|g" "$top/packaging/$1" >"$2"
	chmod "$3" "$2"
}

# check_prefix TARGET: refuse a prefix in which this user cannot write, before anything is built.
check_prefix() {
	local folder=$DESTDIR$PREFIX

	until [ -e "$folder" ]; do
		folder=$(dirname "$folder")
	done
	[ -w "$folder" ] || die "the user $(id -un) cannot write in $folder" \
		"as root: make $1 PREFIX=$PREFIX; or name a folder of yours: make $1 PREFIX=\$HOME/pumice"
}

# Return whether only the PREFIX of a user is written.
for_user() {
	[ -z "$DESTDIR" ] && [ "$(id -u)" -ne 0 ]
}

# check_sources: refuse to replace the folder of the driver's sources if it is something else, such as
# this tree, or contains results. Of a link only the link is replaced.
check_sources() {
	local folder

	if [ -L "$src" ] || [ ! -e "$src" ]; then
		return
	fi
	for folder in "$top" "$BUILD" "$OUT" "$PUMICE_CACHE"; do
		folder=$(realpath -m -- "$folder")
		while [ -n "$folder" ]; do
			[ ! "$folder" -ef "$src" ] || die "$src, which make install replaces, contains the tree, BUILD, OUT or the cache" \
				"move it to another folder"
			folder=${folder%/*}
		done
	done
	[ -e "$src/dkms.conf" ] || die "$src, which make install replaces, is not a copy of the driver's sources" \
		"move or remove it"
}

# build_targets [--make TARGET…]: not at the same time as another installation, of QEMU.
build_targets() {
	[ $# -gt 0 ] || return 0
	[[ $1 == --make && $# -gt 1 ]] || die "install.sh: unknown words $*" "$usage"
	with_lock "$BUILD/targets.lock" make -s -C "$top" "${@:2}"
}

# A separate build folder, since the prefix is compiled into the library; the flags are those of
# build/native, so that ccache has the objects.
native_part() {
	"$top/scripts/build-native.sh" install --buildtype=debugoptimized -Dtests=false --prefix="$PREFIX"
	meson configure --prefix="$PREFIX" "$native"
	ninja -C "$native" -j"$JOBS"
	DESTDIR=$DESTDIR meson install -C "$native" --no-rebuild
	install -D -m 644 "$top/packaging/completion.bash" \
		"$DESTDIR$PREFIX/share/bash-completion/completions/pumice-run"
	for program in "$DESTDIR$PREFIX"/bin/pumice-*; do
		case ${program##*/} in
		pumice-run | pumice-qemu) ;;
		*) ln -sf pumice-run "$DESTDIR$PREFIX/share/bash-completion/completions/${program##*/}" ;;
		esac
	done
}

# Files for the guest's kernel: firmware, module sources, permissions.
kernel_part() {
	install -D -m 644 "$BUILD/firmware/pumice_fw.bin" \
		"$DESTDIR/lib/firmware/pumice/pumice_fw.bin"
	install -D -m 644 "$top/packaging/60-pumice.rules" \
		"$DESTDIR/usr/lib/udev/rules.d/60-pumice.rules"
	rm -rf "$src"
	mkdir -p "$src/drivers/gpu/drm" "$src/hw" "$src/build/gen"
	# The first file: check_sources accepts the folder after an interruption.
	fill dkms.conf.in "$src/dkms.conf" 644
	cp -r "$top/Kbuild" "$top/uapi" "$top/LICENSES" "$src/"
	cp -r "$top/drivers/gpu/drm/pumice" "$src/drivers/gpu/drm/"
	cp "$top"/hw/*.h "$src/hw/"
	cp "$BUILD"/gen/*.h "$src/build/gen/"
}

# Let the dynamic loader load the installed library: as root refresh its cache. It does not search
# every prefix; report how a program finds the library there.
loader_part() {
	local library found PATH=$PATH:/usr/sbin:/sbin

	[ "$(id -u)" -ne 0 ] || ldconfig
	library=$(find "$PREFIX"/lib* -maxdepth 2 -name libpumice.so -print -quit)
	found=$(ldconfig -p | awk -v name="$(readlink "$library")" '$1 == name && !n++ { print $NF }')
	[ "$found" -ef "$library" ] ||
		say "programs do not find the library in ${library%/*}: set LD_LIBRARY_PATH to it," \
			"or as root list it in /etc/ld.so.conf.d and run ldconfig"
}

qemu_part() {
	install -D -m 755 "$PUMICE_QEMU" "$DESTDIR$PREFIX/libexec/pumice/qemu-system-x86_64"
	fill pumice-qemu.in "$DESTDIR$PREFIX/bin/pumice-qemu" 755
	install -D -m 644 "$top/packaging/pumice-qemu.1" "$DESTDIR$PREFIX/share/man/man1/pumice-qemu.1"
	install -D -m 644 "$top/packaging/completion-qemu.bash" \
		"$DESTDIR$PREFIX/share/bash-completion/completions/pumice-qemu"
}

case ${1:-} in
'' | --make)
	check_prefix install
	for_user || check_sources
	build_targets "$@"
	step install-native "installing the library and tools in $DESTDIR$PREFIX" native_part
	if for_user; then
		say "installed version $version without the parts that need root:" \
			"the driver's firmware and sources and the udev rule, for a guest"
	else
		step install-kernel "installing firmware and driver sources" kernel_part
		say "installed version $version. Build the module: dkms install pumice/$version"
	fi
	[ -n "$DESTDIR" ] || loader_part
	;;
qemu)
	check_prefix install-qemu
	build_targets "${@:2}"
	step install-qemu "installing QEMU in $DESTDIR$PREFIX" qemu_part
	say "installed. Start it: pumice-qemu -device pumice …"
	;;
*)
	die "install.sh: unknown word $1" "$usage"
	;;
esac
