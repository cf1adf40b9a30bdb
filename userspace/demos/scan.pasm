; SPDX-License-Identifier: MIT
;
; Inclusive prefix sum of u32 inside each block of 1024 values, one work-group
; per block: waves by scan, then the totals of the 32 waves by another scan.
;
; Uniforms: values, prefix sums and totals of the blocks (64-bit addresses), number
; of values.

.group    1024, 1, 1
.local    128			; the waves' totals
.uniforms sh0, 7		; values sh0, sums sh2, totals sh4, number sh6
.input    sh7, group_x
.input    v0, global_x

.alias    inside, r0
.alias    last, r1		; last lane of the wave
.alias    end_of_block, r2
.alias    at, r3
.alias    sum, r4
.alias    wave_at, r5
.alias    totals, r6

	lt.u32		inside, v0, sh6
	eq.u32		last, sid, 31
	eq.u32		end_of_block, instance, 1023
	shl.u32		at, v0, 2
	mov		sum, [one], 0
	global_load32	sig0, sum, [inside], sh0 + at
	sig_wait	r7[0], sig0
	scan.u32	add, sum, sum
	shl.u32		wave_at, wave_in_group, 2
	local_store32	[last], wave_at, sum
	barrier
	shl.u32		wave_at, sid, 2
	local_load32	totals, [one], wave_at
	scan_excl.u32	add, totals, totals
	shuffle		totals, totals, wave_in_group
	add.u32		sum, sum, totals
	global_store32	sig0, [inside], sh2 + at, sum
	mov		at, [one], sh7
	shl.u32		at, at, 2
	global_store32	sig1, [end_of_block], sh4 + at, sum
	end
