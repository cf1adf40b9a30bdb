; SPDX-License-Identifier: MIT
;
; Boxes of the binary tree, from the leaves to the root: an instance for each leaf. Of the two that
; reach an inner node the second one continues. It may have the other's box in a line of its caches,
; since the store of its own box, with the bytes from before.

.alias    number, r16		; in the binary tree
.alias    box, r20		; r20 to r27

	lt.u32		r0, v0, leaves
	pair_at		r18, keys, v0
	global_load32	sig0, number, [r0], base + r18
	sig_wait	r19[0], sig0
	box_at		r18, bounds, number
	burst_load	sig0, box, [r0], base + r18, 8
	mov		number, [one], leaves
	sub.u32		number, number, 1
	add.u32		number, number, v0
	sig_wait	r19[0], sig0
climb:
	box_at		r18, boxes, number
	burst_store	sig1, [r0], base + r18, box, 8
	word_at		r18, parents, number
	global_load32	sig0, number, [r0], base + r18
	sig_wait	r19[0], sig0
	mem_fence	device
	ne.u32		r1, number, 0xffffffff
	and.u32		r0, r0, r1
	br_all		done, [!r0]
	word_at		r18, counters, number
	mov		r19, [one], 1
	global_atomic.u32 add, sig0, r30, [r0], base + r18, r19
	sig_wait	r19[0], sig0
	eq.u32		r1, r30, 1
	and.u32		r0, r0, r1
	br_all		done, [!r0]
	mem_fence	device
	drop_lines
	pair_at		r18, children, number
	global_load64	sig0, r28, [r0], base + r18
	sig_wait	r19[0], sig0
	box_at		r18, boxes, r28
	burst_load	sig0, r32, [r0], base + r18, 8
	box_at		r18, boxes, r29
	burst_load	sig1, r40, [r0], base + r18, 8
	sig_waitall2	r19[0], sig0, sig1
	min.f32		r20, r32, r40
	min.f32		r21, r33, r41
	min.f32		r22, r34, r42
	max.f32		r24, r36, r44
	max.f32		r25, r37, r45
	max.f32		r26, r38, r46
	jump		climb
done:
	end
