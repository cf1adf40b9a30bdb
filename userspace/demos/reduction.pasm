; SPDX-License-Identifier: MIT
;
; Sum, minimum and maximum of u32 values: lanes, then waves by reductions, then the
; work-group through local memory, then all work-groups by atomics.
;
; Uniforms: values and three results (64-bit addresses), number of values, all
; instances of the grid. The results are 0, ~0 and 0 before the launch.

.group    256, 1, 1
.local    96			; three results of each of 8 waves
.equ      WAVE_BYTES, 12
.uniforms sh0, 6		; values sh0, results sh2, number sh4, instances sh5
.input    v0, global_x

.alias    value, r0		; number of the value
.alias    inside, r1
.alias    first, r2		; this is lane 0
.alias    waves, r3		; this lane reads the result of a wave
.alias    at, r4
.alias    sum, r5
.alias    low, r6
.alias    high, r7
.alias    loaded, r8

	mov		value, [one], v0
	mov		sum, [one], 0
	mov		low, [one], 0xffffffff
	mov		high, [one], 0
	eq.u32		first, sid, 0
	lt.u32		waves, sid, 8

next:
	lt.u32		inside, value, sh4
	br_all		wave_done, [!inside]
	shl.u32		at, value, 2
	global_load32	sig0, loaded, [inside], sh0 + at
	sig_wait	r9[0], sig0
	select		r9, [inside], 0, loaded
	add.u32		sum, sum, r9
	max.u32		high, high, r9
	select		r9, [inside], 0xffffffff, loaded
	min.u32		low, low, r9
	add.u32		value, value, sh5
	jump		next

wave_done:
	reduce_part.u32	add, sum, sum
	reduce_finish.u32 add, sum[0], sum
	reduce_part.u32	min, low, low
	reduce_finish.u32 min, low[0], low
	reduce_part.u32	max, high, high
	reduce_finish.u32 max, high[0], high
	mul.u32		at, wave_in_group, WAVE_BYTES
	local_store32	[first], at, sum
	local_store32	[first], at + 4, low
	local_store32	[first], at + 8, high
	barrier
	brnz		done, wave_in_group[0]

	; the first wave, a lane for each wave
	mul.u32		at, sid, WAVE_BYTES
	mov		sum, [one], 0
	mov		low, [one], 0xffffffff
	mov		high, [one], 0
	local_load32	sum, [waves], at
	local_load32	low, [waves], at + 4
	local_load32	high, [waves], at + 8
	reduce_part.u32	add, sum, sum
	reduce_finish.u32 add, sum[0], sum
	reduce_part.u32	min, low, low
	reduce_finish.u32 min, low[0], low
	reduce_part.u32	max, high, high
	reduce_finish.u32 max, high[0], high
	mov		at, [one], 0
	global_atomic.u32 add, sig0, r9, [first], sh2 + at, sum
	global_atomic.u32 min, sig0, r10, [first], sh2 + at + 4, low
	global_atomic.u32 max, sig0, r11, [first], sh2 + at + 8, high
done:
	end
