#!/bin/bash
# SPDX-License-Identifier: MIT
#
# unpack-root.sh DEBS ROOT: unpack every package file in the folder
# DEBS into the new folder ROOT, laid out with /usr merged. Runs
# none of their scripts. Omitted: documentation, translations, /dev.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

debs=$1
root=$2
rm -rf "$root"
for folder in bin sbin lib lib64; do
	mkdir -p "$root/usr/$folder"
	ln -s "usr/$folder" "$root/$folder"
done
files=("$debs"/*.deb)
number=0
for deb in "${files[@]}"; do
	number=$((number + 1))
	echo "[$number/${#files[@]}] ${deb##*/}"
	dpkg-deb --fsys-tarfile "$deb" |
		tar -x -C "$root" --keep-directory-symlink --no-same-owner \
			--exclude=./usr/share/doc --exclude=./usr/share/man \
			--exclude=./usr/share/info --exclude=./usr/share/locale --exclude=./dev
done
