#!/bin/bash
# SPDX-License-Identifier: MIT
#
# host-packages.sh SECTION…: install and list the missing
# packages of these sections of scripts/packages.txt. Does
# nothing if all are installed. Uses sudo when not root.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

missing() {
	local package

	for name in "$@"; do
		package_section "$name"
	done | while read -r package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			echo "$package"
	done
}

install() {
	as_root apt-get -q update
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q install -y --no-install-recommends "$@"
}

command -v apt-get >/dev/null ||
	die "this machine has no apt" \
		"Pumice sets itself up on Debian 12, 13 and testing; elsewhere install the tools named in scripts/packages.txt"
mapfile -t packages < <(missing "$@")
[ ${#packages[@]} -eq 0 ] && exit 0
say "installing ${#packages[@]} Debian packages: ${packages[*]}"
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null ||
		die "installing needs root and there is no sudo" \
			"as root: apt-get install ${packages[*]}"
	sudo -v
fi
with_lock "$PUMICE_CACHE/packages.lock" \
	step packages "installing Debian packages" install "${packages[@]}"
