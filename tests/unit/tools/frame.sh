#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pumice-frame: a demo's frame, captured and replayed, gives the demo's picture to the
# bit, and its lists hold what the draws put in. Arguments: pumice-frame, a demo, one
# whose parameter buffer is too small, and one with a uniform stream.

frame=$1
demo=$2
partial=$3
streamed=$4
device=inproc:cores=2,threads=2
# shellcheck source-path=SCRIPTDIR source=../support/tap.sh
. "$(dirname "$0")/../support/tap.sh"

damage() {
	cp "$folder/frame.cap" "$folder/bad.cap"
	printf '\377' | dd of="$folder/bad.cap" bs=1 seek="$1" conv=notrunc status=none
}

export PUMICE_CAPTURE="$folder/frame.cap"
check a_demo_captures_its_frame "$demo" -d $device -o "$folder/picture.png"
unset PUMICE_CAPTURE
check a_capture_is_replayed "$frame" -t -d inproc:cores=4,threads=2 -o "$folder/shown" \
	"$folder/frame.cap"
check the_picture_is_the_same_to_the_bit cmp "$folder/picture.png" "$folder/shown/target-0.png"
check streams_are_decoded grep -q "vdm_draw_indexed" "$folder/shown/streams.txt"
check the_attributes_of_a_draw_are_in_its_table grep -q "attribute_count = 3" "$folder/shown/streams.txt"
check each_entry_of_the_table_is_printed test \
	"$(grep -c "  vdm_attribute$" "$folder/shown/streams.txt")" -eq 3
check each_entry_is_fetched_by_its_number test \
	"$(grep -cE "  fetch v[048], [012]$" "$folder/shown/streams.txt")" -eq 3
check no_pds_program_has_an_attribute_of_its_own test -z \
	"$(grep -E "  attr v" "$folder/shown/streams.txt")"
check the_render_control_list_is_followed grep -q "pdm_store" "$folder/shown/streams.txt"
check its_record_is_decoded grep -q "pdm_render" "$folder/shown/streams.txt"
check lists_have_primitives grep -q "^  chunk 0 .* triangles 00000001 of 1" \
	"$folder/shown/lists.txt"
check every_tile_has_a_picture test -s "$folder/shown/tile-014-014.png"
check pages_are_enough_for_it gives 0 "" "$frame" -p -o "$folder/shown" "$folder/frame.cap"
check there_are_no_partial_renders test -z "$(grep -F "partial renders" "$folder/tap.out")"
export PUMICE_CAPTURE="$folder/partial.cap"
check a_demo_captures_a_frame_of_few_pages "$partial" -d $device -o "$folder/picture.png"
unset PUMICE_CAPTURE
check partial_renders_are_reported gives 0 " partial renders" "$frame" -o "$folder/shown" \
	"$folder/partial.cap"
records="$folder/records"
grep -E "^[0-9a-f]{10}  (vdm|isp|tsp)_(state|attribute)$" "$folder/shown/streams.txt" >"$records"
check draws_share_records test "$(grep -c "vdm_state$" "$records")" -gt \
	"$(grep -c "isp_state$" "$records")"
check a_shared_record_is_printed_once test -z "$(sort "$records" | uniq -d)"
check every_record_that_a_state_names_is_printed test \
	"$(grep -oE "isp_state = 0x[0-9a-f]+" "$folder/shown/streams.txt" | sort -u | wc -l)" -eq \
	"$(grep -c "isp_state$" "$records")"
export PUMICE_CAPTURE="$folder/streamed.cap"
check a_demo_captures_a_frame_with_a_uniform_stream "$streamed" -d $device -o "$folder/picture.png"
unset PUMICE_CAPTURE
check the_frame_is_replayed "$frame" -o "$folder/streamed" "$folder/streamed.cap"
check its_picture_is_the_same_to_the_bit cmp "$folder/picture.png" "$folder/streamed/target-0.png"
check the_state_names_the_uniform_stream grep -q "uniform_words = 16 " \
	"$folder/streamed/streams.txt"
damage 0
check a_file_that_is_not_a_capture_is_refused gives 1 \
	"pumice-frame: capture: $folder/bad.cap: not a capture file" "$frame" "$folder/bad.cap"
damage 1000
check a_corrupt_file_is_refused gives 1 "checksum" "$frame" "$folder/bad.cap"
check a_missing_file_is_reported gives 1 "No such file" "$frame" "$folder/nothing"
tap_end
