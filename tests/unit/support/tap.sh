# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# Shell tests in TAP, on this machine and in guests (as /pumice/bin/tap.sh). Source it, call check
# or report for each case and tap_end at the end. $folder is a private folder of the test.

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
tap_cases=0
tap_failed=0

# report NAME STATUS [FILE]: one case, passed if the status is 0; else the file follows as comments.
report() {
	tap_cases=$((tap_cases + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $tap_cases - $1"
		return
	fi
	tap_failed=1
	echo "not ok $tap_cases - $1"
	[ $# -lt 3 ] || sed 's/^/# /' "$3"
}

# check NAME COMMAND…: passes when the command does; else prints its output.
check() {
	tap_name=$1 tap_result=0
	shift
	"$@" >"$folder/tap.log" 2>&1 || tap_result=$?
	report "$tap_name" $tap_result "$folder/tap.log"
}

# gives STATUS TEXT COMMAND…: the command ends with the status, and its output has the text.
gives() {
	tap_status=$1 tap_text=$2 tap_got=0
	shift 2
	"$@" >"$folder/tap.out" 2>&1 || tap_got=$?
	echo "status $tap_got"
	cat "$folder/tap.out"
	[ "$tap_got" -eq "$tap_status" ] && grep -qF -- "$tap_text" "$folder/tap.out"
}

# The plan, and the end of the test.
tap_end() {
	echo "1..$tap_cases"
	exit $tap_failed
}
