#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Unpack upstream IGT as built by Debian's forky, with every
# library it needs, into the cache. Prints the folder of the root.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

suite=forky
base=$PUMICE_CACHE/igt

fetch() {
	"$top/scripts/debian-suite.sh" "$suite" closure "$1" igt-gpu-tools-tests kmod
}

main() {
	local version result

	version=$(fixed_version igt "$suite" igt-gpu-tools-tests)
	result=$base/$version
	if [ ! -e "$result/.complete" ]; then
		step igt-fetch "fetching IGT $version and its libraries" fetch "$base/debs"
		step igt-unpack "unpacking IGT" \
			"$top/scripts/unpack-root.sh" "$base/debs" "$result"
		rm -rf "$base/debs"
		touch "$result/.complete"
	fi
	echo "$result"
}

with_lock "$base/lock" main
