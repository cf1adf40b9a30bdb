; SPDX-License-Identifier: MIT
;
; Precedes each program of the builder of acceleration structures (rays.c): its uniforms, and
; macros. All parts of a structure are in one buffer; words of the uniforms named after a part
; are its offset in bytes. The formats are those of hw/rt.xml.
;
; A structure has at least two leaves: a single one is there twice. The binary tree has the
; numbers 0 to leaves - 2 for its inner nodes, with 0 as its root, and leaves - 1 + n for the leaf
; at position n of the sorted keys.

.uniforms sh0, 32
.input    v0, global_x

.alias    base, sh0		; address of the buffer
.alias    leaves, sh2
.alias    sources, sh3		; triangles or instances: leaves, or 1
.alias    nodes, sh4		; rt_node
.alias    records, sh5		; rt_triangle or rt_instance
.alias    keys, sh6		; of each leaf: its number, its code
.alias    bounds, sh7		; of each leaf: low x, y, z, 0, high x, y, z, 0
.alias    boxes, sh8		; the same for each number of the binary tree
.alias    parents, sh9		; of each number of the binary tree
.alias    children, sh10	; of each inner node: two numbers
.alias    counters, sh11	; of each inner node: children whose box is complete
.alias    scene, sh12		; low x, y, z, high x, y, z, as ordered integers; then the mark: leaves of
				; the last build that was completed, or 0
.alias    size, sh13		; of the sorting step: sequences that are merged; clear: words of scene
.alias    step, sh14		; distance of the keys that are compared; nodes: 1 for a refit
.alias    padded, sh15		; keys: leaves, rounded up to a power of two
.alias    source, sh16		; address of vertices or instances
.alias    stride, sh18		; bytes from one vertex to the next
.alias    indices, sh19		; address of indices
.alias    indexed, sh21		; 1: there are indices
.alias    header, sh22		; sh22 to sh29: first words of the rt_header
.alias    node_ref, sh30	; rt_child_ref of node 0
.alias    leaf_ref, sh31	; and of leaf 0

; Address of a word of a part
.macro word_at at, part, number
	shl.u32		\at, \number, 2
	add.u32		\at, \at, \part
.endm

; Address of a pair of words
.macro pair_at at, part, number
	shl.u32		\at, \number, 3
	add.u32		\at, \at, \part
.endm

; Address of a box
.macro box_at at, part, number
	shl.u32		\at, \number, 5
	add.u32		\at, \at, \part
.endm

; Combine a side of the boxes in lanes [r0] with the scene's; changes r12 to r14. r1: lane 0
.macro to_scene side, none, op, number
	select		r12, [r0], \none, \side
	reduce_part.f32	\op, r12, r12
	reduce_finish.f32 \op, r12[0], r12
	shr.i32		r13, r12, 31
	or.u32		r13, r13, 0x80000000
	xor.u32		r12, r12, r13
	mov		r13, [one], scene
	global_atomic.u32 \op, sig1, r14, [r1], base + r13 + (\number) * 4, r12
	sig_wait	r13[0], sig1
.endm

; Store the bounds r4 to r11 of the leaf v0 in lanes [r0]; changes r1, r12 to r14
.macro store_bounds
	mov		r7, [one], 0
	mov		r11, [one], 0
	box_at		r12, bounds, v0
	burst_store	sig0, [r0], base + r12, r4, 8
	eq.u32		r1, sid, 0
	to_scene	r4, 0x7f800000, min, 0
	to_scene	r5, 0x7f800000, min, 1
	to_scene	r6, 0x7f800000, min, 2
	to_scene	r8, 0xff800000, max, 3
	to_scene	r9, 0xff800000, max, 4
	to_scene	r10, 0xff800000, max, 5
.endm
