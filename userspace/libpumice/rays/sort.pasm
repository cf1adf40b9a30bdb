; SPDX-License-Identifier: MIT
;
; A step of a bitonic sort of the keys: an instance for each two keys. Keys are ordered by code and
; then by number.

	mov		r2, [one], step
	sub.u32		r2, r2, 1
	and.u32		r3, v0, r2
	not.u32		r4, r2
	and.u32		r4, v0, r4
	shl.u32		r4, r4, 1
	or.u32		r4, r4, r3		; the first of the two
	lt.u32		r0, r4, padded
	pair_at		r5, keys, r4
	mov		r6, [one], step
	shl.u32		r6, r6, 3
	add.u32		r6, r5, r6
	global_load64	sig0, r8, [r0], base + r5
	global_load64	sig1, r16, [r0], base + r6
	sig_waitall2	r12[0], sig0, sig1
	lt.u32		r1, r17, r9
	eq.u32		r2, r9, r17
	lt.u32		r3, r16, r8
	and.u32		r2, r2, r3
	or.u32		r1, r1, r2		; they are descending
	and.u32		r2, r4, size
	ne.u32		r2, r2, 0		; they must be
	xor.u32		r1, r1, r2
	global_store64	sig0, [r0 & r1], base + r5, r16
	global_store64	sig1, [r0 & r1], base + r6, r8
	end
