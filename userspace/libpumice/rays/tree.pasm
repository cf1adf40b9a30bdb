; SPDX-License-Identifier: MIT
;
; The binary tree of the sorted keys: an instance for each inner node, which finds the keys that it
; includes, and where they differ first, on its own (the radix tree of T. Karras, 2012).

.alias    own, r16		; code of the key at v0
.alias    last, r17		; position of the last key
.alias    way, r23		; 1 or -1: to the other end of the node's keys
.alias    outside, r24		; bits in common with the key next to the node's
.alias    length, r29		; keys in that direction
.alias    t, r30
.alias    end_of_keys, r32
.alias    inside, r33		; bits that the node's keys have in common
.alias    split, r34

; Bits that the keys at v0 and at another position have in common, or -1 without that key. Equal
; codes are continued by the positions. Changes r12, r13, r18, r19.
.macro common to, other
	le.u32		r13, \other, last
	pair_at		r18, keys, \other
	mov		r19, [one], 0
	global_load32	sig0, r19, [r0 & r13], base + r18 + 4
	sig_wait	r12[0], sig0
	xor.u32		r19, r19, own
	eq.u32		r12, r19, 0
	xor.u32		r18, \other, v0
	clz.u32		r19, r19
	clz.u32		r18, r18
	add.u32		r18, r18, 32
	select		r19, [r12], r19, r18
	select		\to, [r13], 0xffffffff, r19
.endm

; The key at a distance in direction of the way
.macro along to, distance
	mul.u32		\to, \distance, way
	add.u32		\to, \to, v0
.endm

	mov		last, [one], leaves
	sub.u32		last, last, 1
	lt.u32		r0, v0, last
	pair_at		r18, keys, v0
	global_load32	sig0, own, [r0], base + r18 + 4
	sig_wait	r12[0], sig0
	add.u32		r20, v0, 1
	common		r21, r20
	sub.u32		r20, v0, 1
	common		r22, r20
	lt.i32		r1, r22, r21
	select		way, [r1], 0xffffffff, one
	min.i32		outside, r21, r22

	mov		r25, [one], 2		; more keys than there are
grow:
	along		r20, r25
	common		r26, r20
	lt.i32		r2, outside, r26
	and.u32		r2, r2, r0
	br_all		grown, [!r2]
	shl.u32		r28, r25, 1
	mov		r25, [r2], r28
	jump		grow
grown:
	mov		length, [one], 0
	shr.u32		t, r25, 1
search:
	ne.u32		r2, t, 0
	and.u32		r2, r2, r0
	br_all		searched, [!r2]
	add.u32		r28, length, t
	along		r20, r28
	common		r26, r20
	lt.i32		r3, outside, r26
	and.u32		r3, r3, r2
	mov		length, [r3], r28
	shr.u32		t, t, 1
	jump		search
searched:
	along		end_of_keys, length
	common		inside, end_of_keys
	mov		split, [one], 0
	mov		t, length
	mov		r4, r0
halve:
	add.u32		t, t, 1
	shr.u32		t, t, 1
	add.u32		r28, split, t
	along		r20, r28
	common		r26, r20
	lt.i32		r3, inside, r26
	and.u32		r3, r3, r4
	mov		split, [r3], r28
	lt.u32		r5, one, t
	and.u32		r4, r4, r5
	br_any		halve, [r4]

	along		r36, split		; the last key of the first child
	min.i32		r21, way, 0
	add.u32		r36, r36, r21
	add.u32		r37, r36, 1		; the first of the second one
	min.u32		r38, v0, end_of_keys
	max.u32		r39, v0, end_of_keys
	eq.u32		r2, r38, r36
	add.u32		r21, r36, last
	select		r40, [r2], r36, r21
	eq.u32		r2, r39, r37
	add.u32		r21, r37, last
	select		r41, [r2], r37, r21
	pair_at		r18, children, v0
	global_store64	sig1, [r0], base + r18, r40
	word_at		r18, parents, r40
	global_store32	sig1, [r0], base + r18, v0
	word_at		r18, parents, r41
	global_store32	sig1, [r0], base + r18, v0
	eq.u32		r2, v0, 0
	mov		r21, [one], 0xffffffff
	word_at		r18, parents, v0
	global_store32	sig1, [r2], base + r18, r21
	end
