#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pumice-frame: a demo's frame, captured and replayed, gives the demo's picture to the
# bit, and its lists hold what the draws put in. Arguments: pumice-frame, a demo.

frame=$1
demo=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
device=inproc:cores=2,threads=2
cases=0
failed=0

check() {
	name=$1
	shift
	cases=$((cases + 1))
	if "$@" >"$folder/out" 2>&1; then
		echo "ok $cases - $name"
	else
		failed=1
		echo "not ok $cases - $name"
		sed 's/^/# /' "$folder/out"
	fi
}

fails_with() {
	local words=$1
	shift
	! "$@" >"$folder/why" 2>&1 && grep -q "$words" "$folder/why"
}

damage() {
	cp "$folder/frame.cap" "$folder/bad.cap"
	printf '\377' | dd of="$folder/bad.cap" bs=1 seek="$1" conv=notrunc status=none
}

export PUMICE_CAPTURE=$folder/frame.cap
check a_demo_captures_its_frame "$demo" -d $device -o "$folder/picture.png"
unset PUMICE_CAPTURE
check a_capture_is_replayed "$frame" -t -d inproc:cores=4,threads=2 -o "$folder/shown" \
	"$folder/frame.cap"
check the_picture_is_the_same_to_the_bit cmp "$folder/picture.png" "$folder/shown/target-0.png"
check streams_are_decoded grep -q "vdm_draw_indexed" "$folder/shown/streams.txt"
check lists_have_primitives grep -q "^  chunk 0 .* triangles 00000001 of 1" \
	"$folder/shown/lists.txt"
check every_tile_has_a_picture test -s "$folder/shown/tile-014-014.png"
damage 0
check a_file_that_is_no_capture_is_refused fails_with "no capture" "$frame" "$folder/bad.cap"
damage 1000
check a_damaged_file_is_refused fails_with "checksum" "$frame" "$folder/bad.cap"
check a_missing_file_is_told fails_with "No such file" "$frame" "$folder/nothing"
echo "1..$cases"
exit $failed
