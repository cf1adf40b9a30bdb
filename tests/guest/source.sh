#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Faults and time-outs of jobs of the kernel driver name their source: pumice-run prints line,
# lane, work-group, buffer and distance, from the result of JOB_GET_RESULT; pumice-strict prints
# findings with their lines. TAP.

# shellcheck source-path=SCRIPTDIR source=../unit/support/tap.sh
. "$(dirname "$0")/tap.sh"
out=$folder/source.out

# has TEXT…: each is in the output of the last run.
has() {
	for text; do
		grep -qF -- "$text" "$out" || return 1
	done
}

# Instances of y 3, and no others, store to x[i] + 96: the first, lane 16 of wave 1, 32 bytes
# past the 64 of the buffer.
cat >/tmp/source.inc <<'X'
.macro put value
	global_store32 sig0, [one], sh0 + r1, \value
.endm
X
cat >/tmp/source.pasm <<'X'
.group 16, 4
.uniforms sh0, 2
.input v0, local_x
.input v1, local_y
.include "source.inc"
	shr.u32 r2, v1, 1
	and.u32 r2, r2, v1
	mul.u32 r3, r2, 96
	shl.u32 r1, v0, 2
	add.u32 r1, r1, r3
	put v0
	end
X
pumice-run --device drm --groups 1 --arg x=out:f32:16 /tmp/source.pasm >"$out" 2>&1
[ $? -eq 1 ] && has "write, 32 bytes past the end of 'x', argument 0" \
	"  instruction 5 of the program at 0x" ", /tmp/source.inc:2 < /tmp/source.pasm:11" \
	"  lane 16, instance 48 (0, 3, 0), work-group (0, 0, 0), wave 1, slot " \
	"  =>     5  global_store32 sig0, [one], sh0 + r1, v0    ; /tmp/source.inc:2 <"
report fault_names_line_lane_group_and_buffer $? "$out"

echo 'loop: jump loop' >/tmp/source.pasm
pumice-run --device drm --timeout 100 /tmp/source.pasm >"$out" 2>&1
[ $? -eq 1 ] && has "the job timed out: usc-code was busy with it, 1 wave in flight" \
	"  1 at instruction 0 of the program at 0x" ", /tmp/source.pasm:1: jump 0"
report time_out_names_unit_and_line $? "$out"

# A program file that has no lines is as good, but for them.
echo 'loop: jump loop' >/tmp/source.pasm
pumice-as --no-lines -o /tmp/source.pbin /tmp/source.pasm &&
	! pumice-run --device drm --timeout 100 /tmp/source.pbin >"$out" 2>&1 &&
	has "  1 at instruction 0 of the program at 0x" ": jump 0" && ! has "source.pasm:1"
report program_without_lines_is_reported_without_them $? "$out"

# set_mode NAME: select the mode of the GPU; prints the former one.
set_mode() {
	for mode in /sys/kernel/debug/dri/*/mode; do
		cat "$mode"
		echo "$1" >"$mode"
		return
	done
}

# Each wave loads the word of the other one. Instruction 3 is in line 7.
cat >/tmp/race.pasm <<'X'
.group 64, 1, 1
.local 256
.input v0, local_x
	shl.u32 r1, v0, 2
	local_store32 [one], r1, r1
	barrier
	local_store32 [one], r1, r1
	xor.u32 r3, r1, 128
	local_load32 r4, [one], r3
	end
X
former=$(set_mode strict)
gives 3 "2 findings" env PUMICE_DEVICE=drm pumice-strict pumice-run /tmp/race.pasm --groups 1 >"$out" &&
	has "1. local-race, write of local memory, byte 0" \
	"at  /tmp/race.pasm:7 instruction 3 of the program at 0x" \
	"other side: read at /tmp/race.pasm:9 instruction 5, wave 1, lane 0"
report findings_of_a_command_have_its_lines $? "$out"

# The library creates the buffer with 8 bytes; the word after them is in its page.
gives 3 "1 finding" env PUMICE_DEVICE=drm pumice-strict "$(dirname "$0")/leaver" past >"$out" &&
	has "1. past-end, read of address 0x" ", buffer weights, which ends at 0x" \
	"at  leaver.pasm:6 instruction 3 of the program at 0x"
report access_after_the_end_of_a_buffer_of_the_library_is_found $? "$out"

# Those of the command before are still in the driver's file.
echo end >/tmp/end.pasm
check findings_of_others_are_not_those_of_a_command \
	gives 0 "0 findings" env PUMICE_DEVICE=drm pumice-strict pumice-run /tmp/end.pasm

set_mode fast >/dev/null
check gpu_in_mode_fast_is_not_checked gives 1 "not checked: a GPU of the kernel driver in mode fast" \
	env PUMICE_DEVICE=drm pumice-strict pumice-run /tmp/end.pasm
set_mode "$former" >/dev/null
# A guest in mode strict compares the findings itself.
[ "$former" = strict ] || for file in /sys/kernel/debug/dri/*/findings; do
	echo 0 >"$file"
done
tap_end
