; SPDX-License-Identifier: MIT
;
; Each instance stores to its own word, adds to a shared word, and loads its own. The
; old value and the loaded value are stored to the results: zero where the first address
; is a NULL mapping. Uniforms: words (64-bit address), results (the same), value.

.group    64, 1, 1
.uniforms sh0, 5		; words sh0, results sh2, value sh4
.input    v0, global_x

.alias    value, r0
.alias    at, r1
.alias    nothing, r2		; offset 0
.alias    found, r3
.alias    loaded, r4

	add.u32		value, v0, sh4
	shl.u32		at, v0, 2
	mov		nothing, [one], 0
	global_store32	sig0, [one], sh0 + at, value
	sig_wait	r5[0], sig0
	global_atomic.u32 add, sig1, found, [one], sh0 + nothing, value
	global_load32	sig2, loaded, [one], sh0 + at
	sig_waitall2	r5[0], sig1, sig2
	or.u32		found, found, loaded
	global_store32	sig3, [one], sh2 + at, found
	end
