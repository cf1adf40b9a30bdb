; SPDX-License-Identifier: MIT
;
; Leaves and bounds of triangles: an instance for each leaf.

	lt.u32		r0, v0, leaves
	mov		r29, [one], sources
	sub.u32		r29, r29, 1
	min.u32		r29, v0, r29		; number of the triangle
	mul.u32		r15, r29, 3
	mov		r16, r15
	add.u32		r17, r15, 1
	add.u32		r18, r15, 2
	brz		vertices, indexed
	shl.u32		r15, r15, 2
	global_load32	sig0, r16, [r0], indices + r15
	global_load32	sig0, r17, [r0], indices + r15 + 4
	global_load32	sig0, r18, [r0], indices + r15 + 8
	sig_wait	r19[0], sig0
vertices:
	mul.u32		r16, r16, stride
	mul.u32		r17, r17, stride
	mul.u32		r18, r18, stride
	burst_load	sig0, r20, [r0], source + r16, 3
	burst_load	sig0, r23, [r0], source + r17, 3
	burst_load	sig0, r26, [r0], source + r18, 3
	sig_wait	r19[0], sig0
	shl.u32		r16, v0, 6
	add.u32		r16, r16, records
	burst_store	sig0, [r0], base + r16, r20, 10
	min.f32		r4, r20, r23
	min.f32		r4, r4, r26
	min.f32		r5, r21, r24
	min.f32		r5, r5, r27
	min.f32		r6, r22, r25
	min.f32		r6, r6, r28
	max.f32		r8, r20, r23
	max.f32		r8, r8, r26
	max.f32		r9, r21, r24
	max.f32		r9, r9, r27
	max.f32		r10, r22, r25
	max.f32		r10, r10, r28
	store_bounds
	end
