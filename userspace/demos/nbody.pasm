; SPDX-License-Identifier: MIT
;
; One step of n bodies that attract each other; every body
; reads every other, 64 at a time through local memory.
;
; Uniforms: bodies before and after, velocities (64-bit addresses; x, y, z
; and mass or padding, f32), number of tiles of 64 bodies, time step (f32).

.group    64, 1, 1
.local    1024
.equ      BODY_SHIFT, 4		; bytes of a body: 16
.uniforms sh0, 8		; before sh0, after sh2, velocities sh4, tiles sh6, step sh7
.input    v0, global_x
.input    v1, local_x

.alias    at, r0		; of this instance's body in memory
.alias    tile_at, r1		; of the body that it loads
.alias    local_at, r2		; and its destination
.alias    cursor, r3		; current other body, in local memory
.alias    left, r28
.alias    x, r4			; r4 to r7: this body
.alias    y, r5
.alias    z, r6
.alias    ax, r8		; acceleration
.alias    ay, r9
.alias    az, r10
.alias    other, r12		; r12 to r15: the other body
.alias    dx, r16
.alias    dy, r17
.alias    dz, r18
.alias    near, r19
.alias    velocity, r20		; r20 to r23

	shl.u32		at, v0, BODY_SHIFT
	shl.u32		local_at, v1, BODY_SHIFT
	mov		tile_at, [one], local_at
	global_load128	sig0, x, [one], sh0 + at
	global_load128	sig1, velocity, [one], sh4 + at
	mov		r29[0], sh6
	mov		ax, [one], 0
	mov		ay, [one], 0
	mov		az, [one], 0

next_tile:
	global_load128	sig2, other, [one], sh0 + tile_at
	sig_waitall2	r30[0], sig0, sig2
	local_store128	[one], local_at, other
	barrier
	mov		cursor, [one], 0
	mov		left[0], 64

next_body:
	local_load128	other, [one], cursor
	sub.f32		dx, r12, x
	sub.f32		dy, r13, y
	sub.f32		dz, r14, z
	mov		near, [one], 0.0025	; softening: the square of a length
	fma.f32		near, dx, dx, near
	fma.f32		near, dy, dy, near
	fma.f32		near, dz, dz, near
	rsqrt.f32	near, near
	mul.f32		r24, near, near
	mul.f32		near, near, r24
	mul.f32		near, near, r15		; mass / distance^3
	fma.f32		ax, dx, near, ax
	fma.f32		ay, dy, near, ay
	fma.f32		az, dz, near, az
	add.u32		cursor, cursor, 16
	sub.u32		left[0], left[0], 1
	brnz		next_body, left[0]

	barrier
	add.u32		tile_at, tile_at, 1024
	sub.u32		r29[0], r29[0], 1
	brnz		next_tile, r29[0]

	sig_wait	r30[0], sig1
	fma.f32		r20, ax, sh7, r20
	fma.f32		r21, ay, sh7, r21
	fma.f32		r22, az, sh7, r22
	fma.f32		x, r20, sh7, x
	fma.f32		y, r21, sh7, y
	fma.f32		z, r22, sh7, z
	global_store128	sig0, [one], sh4 + at, velocity
	global_store128	sig1, [one], sh2 + at, x
	end
