; SPDX-License-Identifier: MIT
;
; Begin a build or a refit: an instance for each leaf.

	lt.u32		r0, v0, leaves
	word_at		r2, counters, v0
	mov		r3, [one], 0
	global_store32	sig0, [r0], base + r2, r3
	lt.u32		r0, v0, size		; a refit keeps the mark
	lt.u32		r1, v0, 3
	select		r3, [r1], zero, 0xffffffff
	word_at		r2, scene, v0
	global_store32	sig0, [r0], base + r2, r3
	end
