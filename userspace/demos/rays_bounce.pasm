; SPDX-License-Identifier: MIT
;
; The end of rays.pasm and rays_hit.pasm: a ray and its reflections, then the pixel. At found the ray
; has been traced.

bounce:
	ray_query	sig0, hit, [live], closest, sh0, ray
	sig_wait	r49[0], sig0
found:
	eq.u32		r9, r29, 0		; misses see the sky
	and.u32		r9, r9, live
	max.f32		r12, r21, 0.0
	mul.f32		r13, r20, r20
	mul.f32		r14, r21, r21
	add.f32		r13, r13, r14
	mul.f32		r14, r22, r22
	add.f32		r13, r13, r14
	rsqrt.f32	r13, r13
	mul.f32		r12, r12, r13		; height of the direction
	mov		r11, weight
	mov		r13, [one], 0.7
	mul.f32		r14, r12, -0.4
	add.f32		r13, r13, r14
	add_colour	red, r13
	mov		r13, [one], 0.8
	mul.f32		r14, r12, -0.3
	add.f32		r13, r13, r14
	add_colour	green, r13
	mov		r13, [one], 0.9
	add_colour	blue, r13
	ne.u32		r9, r29, 0
	and.u32		live, live, r9
	br_all		done, [!live]

	shl.u32		r4, r27, 5
	burst_load	sig0, material, [live], sh4 + r4, 8
	; the point: r4 to r6
	mul.f32		r4, hit, r20
	add.f32		r4, r4, r16
	mul.f32		r5, hit, r21
	add.f32		r5, r5, r17
	mul.f32		r6, hit, r22
	add.f32		r6, r6, r18
	sig_wait	r49[0], sig0
	eq.f32		floor_hit, r35, 0.0
	; the floor is checkered
	floor.f32	r12, r4
	floor.f32	r13, r6
	cvt_int.i32	r12, r12
	cvt_int.i32	r13, r13
	add.u32		r12, r12, r13
	and.u32		r12, r12, 1
	mov		r9, [one], floor_hit
	and.u32		r9, r9, r12
	mov		r12, [one], 0.25
	mov		r36, [r9], r12
	mov		r37, [r9], r12
	mov		r38, [r9], r12
	; the normal: away from the centre, of the floor upwards
	sub.f32		nx, r4, r32
	mul.f32		nx, nx, r35
	sub.f32		ny, r5, r33
	mul.f32		ny, ny, r35
	sub.f32		nz, r6, r34
	mul.f32		nz, nz, r35
	mov		r12, [one], 1.0
	mov		ny, [floor_hit], r12
	; a ray to the light, in the place of the result
	mul.f32		shade, nx, sh20
	mul.f32		r12, ny, sh21
	add.f32		shade, shade, r12
	mul.f32		r12, nz, sh22
	add.f32		shade, shade, r12
	lt.f32		lit, zero, shade
	and.u32		lit, lit, live
	start		r50, r4, nx
	start		r51, r5, ny
	start		r52, r6, nz
	mov		r53, [one], 0
	mov		r54, [one], sh20
	mov		r55, [one], sh21
	mov		r56, [one], sh22
	mov		r57, [one], inf
	ray_query	sig0, r60, [lit], any, sh0, r50
	sig_wait	r49[0], sig0
	eq.u32		r9, r65, 0
	and.u32		lit, lit, r9
	not.u32		r9, lit
	mov		shade, [r9], zero
	mul.f32		shade, shade, 0.85
	add.f32		shade, shade, 0.15
	; the part that is not reflected
	mov		r12, [one], 1.0
	sub.f32		r11, r12, r39
	mul.f32		r11, r11, weight
	mul.f32		r11, r11, shade
	mov		r9, [one], live
	add_colour	red, r36
	add_colour	green, r37
	add_colour	blue, r38
	mul.f32		weight, weight, r39
	; the reflected ray: direction - 2 * (direction . normal) * normal
	mul.f32		r12, r20, nx
	mul.f32		r13, r21, ny
	add.f32		r12, r12, r13
	mul.f32		r13, r22, nz
	add.f32		r12, r12, r13
	mul.f32		r12, r12, 2.0
	mul.f32		r13, r12, nx
	sub.f32		r20, r20, r13
	mov		r16, r50
	mul.f32		r13, r12, ny
	sub.f32		r21, r21, r13
	mov		r17, r51
	mul.f32		r13, r12, nz
	sub.f32		r22, r22, r13
	mov		r18, r52
	sub.u32		left[0], left[0], 1
	brnz		bounce, left[0]

done:
	mov		r11, [one], 0xff000000
	pack		red, 0
	pack		green, 8
	pack		blue, 16
	mul.u32		r4, v1, sh6
	add.u32		r4, r4, v0
	shl.u32		r4, r4, 2
	global_store32	sig0, [inside], sh2 + r4, r11
	end
