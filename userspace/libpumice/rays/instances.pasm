; SPDX-License-Identifier: MIT
;
; Leaves and bounds of instances: an instance of the program for each leaf. A leaf has the inverse of
; the transformation; its box is that of the transformed box of its structure, enlarged by the
; error of rounding to f32.

.alias    lanes, r1		; whose structure was not read yet
.alias    same, r2		; lanes with the structure that is read
.alias    m, r20		; r20 to r31: transformation to the world
.alias    low, r40		; r40 to r45: bounds of the structure
.alias    inverse, r60		; r60 to r71

; d = a * b - c * e
.macro minor d, a, b, c, e
	mul.f32		r12, \c, \e
	neg.f32		r12, r12
	fma.f32		\d, \a, \b, r12
.endm

; low and high of one axis of the box, from a row of the transformation
.macro transform row0, row1, row2, row3, low, high
	mul.f32		r12, \row0, r50		; centre
	abs.f32		r13, r12		; the scale of rounding
	mul.f32		r14, \row1, r51
	add.f32		r12, r12, r14
	abs.f32		r14, r14
	add.f32		r13, r13, r14
	mul.f32		r14, \row2, r52
	add.f32		r12, r12, r14
	abs.f32		r14, r14
	add.f32		r13, r13, r14
	add.f32		r12, r12, \row3
	abs.f32		r14, \row3
	add.f32		r13, r13, r14
	abs.f32		r14, \row0		; half of the size
	mul.f32		r15, r14, r53
	abs.f32		r14, \row1
	fma.f32		r15, r14, r54, r15
	abs.f32		r14, \row2
	fma.f32		r15, r14, r55, r15
	add.f32		r13, r13, r15
	mul.f32		r13, r13, 0x35800000	; 2^-20
	add.f32		r15, r15, r13
	sub.f32		\low, r12, r15
	add.f32		\high, r12, r15
.endm

; - row of the inverse * translation
.macro translate to, row0, row1, row2
	mul.f32		r12, \row0, r23
	fma.f32		r12, \row1, r27, r12
	fma.f32		r12, \row2, r31, r12
	neg.f32		\to, r12
.endm

	lt.u32		r0, v0, leaves
	mov		r16, [one], sources
	sub.u32		r16, r16, 1
	min.u32		r16, v0, r16
	shl.u32		r16, r16, 6
	burst_load	sig0, m, [r0], source + r16, 16	; r32, r33: structure, r34: number
	sig_wait	r19[0], sig0
	mov		lanes, r0
	br_all		bounded, [!lanes]
	mov		r48, [one], 32		; rt_header, low
structure:
	first_where_true r46[0], [lanes], r32
	first_where_true r47[0], [lanes], r33
	eq.u32		same, r32, r46[0]
	eq.u32		r3, r33, r47[0]
	and.u32		same, same, r3
	and.u32		same, same, lanes
	burst_load	sig0, low, [same], r46[0] + r48, 6
	sig_wait	r19[0], sig0
	not.u32		same, same
	and.u32		lanes, lanes, same
	br_any		structure, [lanes]
bounded:
	add.f32		r50, r40, r43
	mul.f32		r50, r50, 0.5
	add.f32		r51, r41, r44
	mul.f32		r51, r51, 0.5
	add.f32		r52, r42, r45
	mul.f32		r52, r52, 0.5
	sub.f32		r53, r43, r50
	sub.f32		r54, r44, r51
	sub.f32		r55, r45, r52
	transform	r20, r21, r22, r23, r4, r8
	transform	r24, r25, r26, r27, r5, r9
	transform	r28, r29, r30, r31, r6, r10

	minor		r60, r25, r30, r26, r29
	minor		r64, r26, r28, r24, r30
	minor		r68, r24, r29, r25, r28
	mul.f32		r12, r20, r60
	fma.f32		r12, r21, r64, r12
	fma.f32		r12, r22, r68, r12
	rcp.f32		r56, r12		; 1 / determinant
	minor		r61, r22, r29, r21, r30
	minor		r62, r21, r26, r22, r25
	minor		r65, r20, r30, r22, r28
	minor		r66, r22, r24, r20, r26
	minor		r69, r21, r28, r20, r29
	minor		r70, r20, r25, r21, r24
	mul.f32		r60, r60, r56
	mul.f32		r61, r61, r56
	mul.f32		r62, r62, r56
	mul.f32		r64, r64, r56
	mul.f32		r65, r65, r56
	mul.f32		r66, r66, r56
	mul.f32		r68, r68, r56
	mul.f32		r69, r69, r56
	mul.f32		r70, r70, r56
	translate	r63, r60, r61, r62
	translate	r67, r64, r65, r66
	translate	r71, r68, r69, r70
	mov		r72, r32
	mov		r73, r33
	mov		r74, r34
	mov		r75, [one], 0
	shl.u32		r16, v0, 6
	add.u32		r16, r16, records
	burst_store	sig0, [r0], base + r16, inverse, 16
	store_bounds
	end
