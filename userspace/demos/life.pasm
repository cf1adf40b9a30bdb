; SPDX-License-Identifier: MIT
;
; One generation of the Game of Life on a torus, 32 cells a word, an instance a
; word: neighbours are counted for 32 cells in parallel, bitwise.
;
; Uniforms: cells before and after (64-bit addresses; rows of words, the lowest bit
; is the leftmost cell), words of a row, rows. The grid covers the field exactly.

.group    8, 8, 1
.uniforms sh0, 6		; before sh0, after sh2, words sh4, rows sh5
.input    v0, global_x
.input    v1, global_y

.alias    left, r0		; word to the left, and to the right
.alias    right, r1
.alias    row, r2		; row above, this, below
.alias    edge, r3
.alias    at, r4
.alias    a, r5			; three words of a row
.alias    b, r6
.alias    c, r7
.alias    west, r8		; the neighbours to the left of each cell of b
.alias    east, r9
.alias    alive, r10
.alias    ones, r11		; sums of the three rows, weight 1 and 2
.alias    twos, r12
.alias    t, r13
.alias    sum1, r16		; r16, r17, r18: weight 1 of the rows
.alias    sum2, r19		; r19, r20, r21: weight 2
.alias    index, r24

	; left and right, with wrap-around
	sub.u32		left, v0, 1
	eq.u32		edge, v0, 0
	mov		t, [one], sh4
	sub.u32		t, t, 1
	mov		left, [edge], t
	add.u32		right, v0, 1
	eq.u32		edge, right, sh4
	mov		right, [edge], 0
	; the row above
	sub.u32		row, v1, 1
	eq.u32		edge, v1, 0
	mov		t, [one], sh5
	sub.u32		t, t, 1
	mov		row, [edge], t
	mov		index[0], 0

next_row:
	mul.u32		at, row, sh4
	add.u32		t, at, left
	shl.u32		t, t, 2
	global_load32	sig0, a, [one], sh0 + t
	add.u32		t, at, v0
	shl.u32		t, t, 2
	global_load32	sig1, b, [one], sh0 + t
	add.u32		t, at, right
	shl.u32		t, t, 2
	global_load32	sig2, c, [one], sh0 + t
	sig_waitall3	r25[0], sig0, sig1, sig2
	shl.u32		west, b, 1
	shr.u32		t, a, 31
	or.u32		west, west, t
	shr.u32		east, b, 1
	shl.u32		t, c, 31
	or.u32		east, east, t
	; the middle row has two neighbours, the others have three
	mov		idx0, [one], index[0]
	eq.u32		edge, idx0, 1
	mov		alive, [edge], b
	mov		b, [edge], 0
	xor.u32		ones, west, east
	and.u32		twos, west, east
	and.u32		t, ones, b
	or.u32		twos, twos, t
	xor.u32		ones, ones, b
	mov		r[idx0 + 16], [one], ones
	mov		r[idx0 + 19], [one], twos
	; the next row
	add.u32		row, row, 1
	eq.u32		edge, row, sh5
	mov		row, [edge], 0
	add.u32		index[0], index[0], 1
	lt.u32		r26[0], index[0], 3
	brnz		next_row, r26[0]

	; weight 1 of all: ones; its carry t
	xor.u32		ones, r16, r17
	and.u32		t, r16, r17
	and.u32		a, ones, r18
	or.u32		t, t, a
	xor.u32		ones, ones, r18
	; exactly one of the four of weight 2: two or three neighbours
	xor.u32		a, r19, r20
	and.u32		b, r19, r20
	xor.u32		c, r21, t
	and.u32		t, r21, t
	or.u32		b, b, t
	xor.u32		a, a, c
	not.u32		b, b
	and.u32		a, a, b
	; three, or two and alive
	or.u32		ones, ones, alive
	and.u32		a, a, ones
	mul.u32		at, v1, sh4
	add.u32		at, at, v0
	shl.u32		at, at, 2
	global_store32	sig0, [one], sh2 + at, a
	end
