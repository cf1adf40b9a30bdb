; SPDX-License-Identifier: MIT
;
; Every instance of every work-group does each atomic operation on the
; same few words. Instance g receives a ticket, and the old value of an
; exchange, and stores both. Local memory also counts a group's instances.
;
; Uniforms: words (64-bit address), tickets, exchanged values (the same). The including file
; defines GROUP, the instances of a work-group.

.group    GROUP, 1, 1
.local    16
.uniforms sh0, 6		; words sh0, tickets sh2, exchanged sh4
.input    v0, global_x
.input    v1, local_x

.alias    nothing, r0		; offset 0
.alias    one_each, r1
.alias    value, r2
.alias    ticket, r3
.alias    swapped, r4
.alias    bit, r5
.alias    left, r6		; lanes that have not counted yet
.alias    want, r8		; compare-exchange: the new value,
.alias    seen, r9		; and after it the expected old value
.alias    found, r10
.alias    at, r11
.alias    unused, r12		; of local memory; those of memory are r18 to r28, since each
				; is loaded until a wait
.alias    first, r13

	mov		nothing, [one], 0
	mov		one_each, [one], 1
	global_atomic.u32 add, sig0, ticket, [one], sh0 + nothing, one_each
	mov		value, [one], -1
	global_atomic.i32 add, sig1, r18, [one], sh0 + nothing + 4, value
	add.u32		value, v0, 5
	global_atomic.u32 min, sig1, r19, [one], sh0 + nothing + 8, value
	sub.i32		value, v0, 100
	global_atomic.i32 max, sig1, r20, [one], sh0 + nothing + 12, value
	shl.u32		bit, one_each, v0
	not.u32		value, bit
	global_atomic.u32 and, sig1, r21, [one], sh0 + nothing + 16, value
	global_atomic.u32 or, sig1, r22, [one], sh0 + nothing + 20, bit
	mul.u32		value, v0, 0x9e3779b1
	global_atomic.u32 xor, sig1, r23, [one], sh0 + nothing + 24, value
	add.u32		value, v0, 1
	global_atomic.u32 xchg, sig2, swapped, [one], sh0 + nothing + 28, value
	mov		value, [one], 1.0
	global_atomic.f32 add, sig1, r24, [one], sh0 + nothing + 32, value
	mov		value, [one], -3
	global_atomic.i32 min, sig1, r25, [one], sh0 + nothing + 36, value
	global_atomic.u32 max, sig1, r26, [one], sh0 + nothing + 40, v0

	; One lane in four counts by compare-exchange, until each has succeeded.
	and.u32		left, v0, 3
	eq.u32		left, left, 0
try:
	global_load32	sig3, seen, [left], sh0 + nothing + 44
	sig_wait	r14[0], sig3
	add.u32		want, seen, 1
	global_atomic.u32 cmpxchg, sig3, found, [left], sh0 + nothing + 44, want
	sig_wait	r14[0], sig3
	ne.u32		r15, found, seen
	and.u32		left, left, r15
	br_any		try, [left]

	; The group's instances, counted in local memory; the first lane adds them up.
	eq.u32		first, v1, 0
	mov		r16, [one], 0
	mov		r17, [one], 0
	local_store64	[first], nothing, r16
	barrier
	local_atomic.u32 add, unused, [one], nothing, one_each
	local_atomic.u32 max, unused, [one], nothing + 4, v1
	barrier
	local_load64	r16, [one], nothing
	global_atomic.u32 add, sig1, r27, [first], sh0 + nothing + 48, r16
	global_atomic.u32 add, sig1, r28, [first], sh0 + nothing + 52, r17

	shl.u32		at, v0, 2
	sig_waitall2	r14[0], sig0, sig2
	global_store32	sig4, [one], sh2 + at, ticket
	global_store32	sig4, [one], sh4 + at, swapped
	mem_fence	device
	end
