; SPDX-License-Identifier: MIT
;
; Nodes of four children, and the header: an instance for each inner node of the binary tree, whose
; grandchildren become the children. Nodes that no other refers to are not used.

.alias    last, r17
.alias    ids, r24		; r24 to r27: numbers of the children, or all ones

; Two children, from a child of the binary tree
.macro expand child, first, second
	lt.u32		r1, \child, last	; an inner node
	pair_at		r18, children, \child
	global_load64	sig0, r20, [r0 & r1], base + r18
	sig_wait	r19[0], sig0
	select		\first, [r1], \child, r20
	select		\second, [r1], 0xffffffff, r21
.endm

; One child: the sides of its box, and the reference
.macro child id, low_x, low_y, low_z, high_x, high_y, high_z, ref
	ne.u32		r1, \id, 0xffffffff
	and.u32		r1, r1, r0
	lt.u32		r2, \id, last		; an inner node
	box_at		r18, boxes, \id
	burst_load	sig0, r32, [r1], base + r18, 8
	sub.u32		r19, \id, last
	pair_at		r18, keys, r19
	global_load32	sig1, r20, [r1 & !r2], base + r18
	sig_waitall2	r19[0], sig0, sig1
	or.u32		r20, r20, leaf_ref
	or.u32		r21, \id, node_ref
	select		r20, [r2], r20, r21
	select		\low_x, [r1], 0x7f800000, r32	; an empty box if there is no child
	select		\low_y, [r1], 0x7f800000, r33
	select		\low_z, [r1], 0x7f800000, r34
	select		\high_x, [r1], 0xff800000, r36
	select		\high_y, [r1], 0xff800000, r37
	select		\high_z, [r1], 0xff800000, r38
	select		\ref, [r1], zero, r20
.endm

	mov		last, [one], leaves
	sub.u32		last, last, 1
	lt.u32		r0, v0, last
	pair_at		r18, children, v0
	global_load64	sig0, r28, [r0], base + r18
	sig_wait	r19[0], sig0
	expand		r28, r24, r25
	expand		r29, r26, r27
	child		r24, r40, r44, r48, r52, r56, r60, r64
	child		r25, r41, r45, r49, r53, r57, r61, r65
	child		r26, r42, r46, r50, r54, r58, r62, r66
	child		r27, r43, r47, r51, r55, r59, r63, r67
	shl.u32		r18, v0, 7
	add.u32		r18, r18, nodes
	burst_store	sig0, [r0], base + r18, r40, 16
	burst_store	sig0, [r0], base + r18 + 64, r56, 12

	; the header, with the box of the root
	eq.u32		r1, v0, 0
	mov		r18, [one], boxes
	mov		r21, [one], scene
	burst_load	sig0, r48, [r1], base + r18, 8
	global_load32	sig1, r20, [r1], base + r21 + 24
	sig_waitall2	r19[0], sig0, sig1
	; a refit without a build of as many leaves that was completed: no structure
	ne.u32		r2, r20, leaves
	mov		r20, [one], step
	ne.u32		r3, r20, 0
	and.u32		r2, r2, r3
	mov		r20, [one], leaves
	global_store32	sig1, [r1 & !r2], base + r21 + 24, r20
	mov		r40, [one], sh22
	mov		r41, [one], sh23
	mov		r42, [one], sh24
	mov		r43, [one], sh25
	mov		r44, [one], sh26
	mov		r45, [one], sh27
	mov		r46, [one], sh28
	mov		r47, [one], sh29
	mov		r51, r52
	mov		r52, r53
	mov		r53, r54
	mov		r54, [one], 0
	mov		r55, [one], 0
	select		r40, [r2], r40, zero
	mov		r18, [one], 0
	burst_store	sig0, [r1], base + r18, r40, 16
	end
