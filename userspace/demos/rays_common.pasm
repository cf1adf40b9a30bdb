; SPDX-License-Identifier: MIT
;
; Registers and macros of the programs that shade points which rays have hit: rays.pasm and
; rays_hit.pasm, which end with rays_bounce.pasm.
;
; Uniforms: structure, image (a word RGBA a pixel) and materials (64-bit addresses), width, height;
; f32: the eye; directions from it to pixel 0, 0, and the steps to the next column and row;
; the direction to the light. Materials are of 32 bytes, by number of the instance: centre x, y, z, 1 / radius
; (0: the floor), red, green, blue, reflectance. v0 and v1 are the column and the row of the pixel.

.equ      BOUNCES, 3
.equ      OFFSET, 0.001		; of a ray from the point where it begins

.alias    inside, r0
.alias    live, r1		; the ray has hit something
.alias    floor_hit, r2
.alias    lit, r3
.alias    ray, r16		; r16 to r23: origin, 0, direction, inf
.alias    hit, r24		; r24 to r29
.alias    material, r32		; r32 to r39
.alias    red, r40
.alias    green, r41
.alias    blue, r42
.alias    weight, r43		; of the ray in the pixel
.alias    nx, r44
.alias    ny, r45
.alias    nz, r46
.alias    shade, r47
.alias    left, r48

; A component of the pixel: the weighted colour that the ray sees
.macro add_colour to, value
	mul.f32		r10, \value, r11
	add.f32		r10, r10, \to
	mov		\to, [r9], r10
.endm

; A component of a new ray from the point of the hit
.macro start axis, point, normal
	mul.f32		r10, \normal, OFFSET
	add.f32		\axis, \point, r10
.endm

; A byte of the word
.macro pack value, shift
	mul.f32		r10, \value, 255.0
	add.f32		r10, r10, 0.5
	cvt_u8.f32	r10, r10
	shl.u32		r10, r10, \shift
	or.u32		r11, r11, r10
.endm

; The ray from the eye through the pixel
.macro eye_ray
	cvt_f32.u32	r4, v0
	cvt_f32.u32	r5, v1
	mov		r16, [one], sh8
	mov		r17, [one], sh9
	mov		r18, [one], sh10
	mov		r19, [one], 0
	mul.f32		r6, r4, sh14
	mul.f32		r7, r5, sh17
	add.f32		r6, r6, r7
	add.f32		r20, r6, sh11
	mul.f32		r6, r4, sh15
	mul.f32		r7, r5, sh18
	add.f32		r6, r6, r7
	add.f32		r21, r6, sh12
	mul.f32		r6, r4, sh16
	mul.f32		r7, r5, sh19
	add.f32		r6, r6, r7
	add.f32		r22, r6, sh13
	mov		r23, [one], inf
.endm
