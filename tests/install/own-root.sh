#!/bin/bash
# SPDX-License-Identifier: MIT
#
# own-root.sh DIR COMMAND…: run COMMAND in a root folder, made in DIR, which has everything of this
# machine but in which `make install` can write in place: /usr/local, /usr/src, /var/cache and the
# folders of firmware and udev are empty except for the tree, its results and the project's cache,
# /etc is a copy, without libraries of /usr/local in the loader's cache, /readonly is a file system
# that is mounted read-only. Nothing of it is left. It is a separate mount namespace; without root,
# also a user namespace, in which the user is root.

set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

[ "${1:-}" = inside ] || own_mounts "$0" inside "$@"
root=$2
shift 2

# populate FOLDER NAME…: the entries of the folder, except these, which are empty folders.
populate() {
	local folder=$1 path

	shift
	for path in "$folder"/*; do
		[[ " $* " != *" ${path##*/} "* ]] || continue
		if [ -L "$path" ]; then
			cp -P "$path" "$root$path"
		elif [ -d "$path" ]; then
			mkdir "$root$path"
			mount --rbind "$path" "$root$path"
		elif [ -f "$path" ]; then
			touch "$root$path"
			mount --bind "$path" "$root$path"
		fi
	done
	for path in "$@"; do
		mkdir "$root$folder/$path"
	done
}

# populate_own FOLDER…: those of the project that are in an empty folder, or to which a link leads that
# is in one or out of one.
populate_own() {
	local folder path

	for folder in "$@"; do
		for path in "$(realpath -m -- "$folder")" "$(realpath -ms -- "$folder")"; do
			if [ -d "$path" ] && [ ! -d "$root$path" ]; then
				mkdir -p "$root$path"
				mount --rbind "$path" "$root$path"
			fi
		done
	done
}

mount -t tmpfs none "$root"
populate "" usr etc var readonly
populate /usr lib local src
populate /usr/lib firmware udev
populate /var cache
populate_own "$top" "$BUILD" "$OUT" "$PUMICE_CACHE"
# Files that only root can read are not needed.
cp -a /etc/. "$root/etc" 2>/dev/null || :
mount -t tmpfs -o ro none "$root/readonly"
/usr/sbin/chroot "$root" /usr/sbin/ldconfig
exec /usr/sbin/chroot "$root" /usr/bin/env -C "$PWD" "$@"
