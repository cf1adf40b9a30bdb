; SPDX-License-Identifier: MIT
;
; Waits until a word of memory is not 0, by an atomic operation that does not change it, and for a
; number of turns more; then each instance stores the word. Uniforms: address of the word, out (64-bit
; addresses), turns.

.group    64, 1, 1
.uniforms sh0, 5
.input    v0, global_x

	mov.u32		r1, 0
	mov.u32		r3, sh4
wait:
	global_atomic.u32 or, sig0, r0, [one], sh0 + r1, r1
	sig_wait	r2[0], sig0
	eq.u32		r4, r0, 0
	br_any		wait, [r4]
delay:
	sub.u32		r3, r3, 1
	gt.i32		r4, r3, 0
	br_any		delay, [r4]
	shl.u32		r1, v0, 2
	global_store32	sig0, [one], sh2 + r1, r0
	end
