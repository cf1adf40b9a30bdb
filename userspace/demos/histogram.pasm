; SPDX-License-Identifier: MIT
;
; Histogram of bytes: each work-group counts in local memory, with
; atomics, and adds its counts to those in memory, with atomics.
;
; Uniforms: bytes and 256 counts (64-bit addresses), words of four bytes, and all
; instances of the grid. Instance i processes the words i, i + instances, …

.group    256, 1, 1
.local    1024			; a count for each value
.uniforms sh0, 6		; bytes sh0, counts sh2, words sh4, instances sh5
.input    v0, global_x
.input    v1, local_x

.alias    word, r0		; number of the word
.alias    inside, r1
.alias    at, r2
.alias    bytes, r3
.alias    bin, r4		; byte offset of a count
.alias    one_more, r5

	mov		one_more, [one], 1
	mov		word, [one], v0
	mov		r8, [one], 0
	shl.u32		bin, v1, 2
	local_store32	[one], bin, r8
	barrier

next:
	lt.u32		inside, word, sh4
	br_all		merge, [!inside]
	shl.u32		at, word, 2
	global_load32	sig0, bytes, [inside], sh0 + at
	sig_wait	r6[0], sig0
	bfe.u32		bin, bytes, 0x0800
	shl.u32		bin, bin, 2
	local_atomic.u32 add, r7, [inside], bin, one_more
	bfe.u32		bin, bytes, 0x0808
	shl.u32		bin, bin, 2
	local_atomic.u32 add, r7, [inside], bin, one_more
	bfe.u32		bin, bytes, 0x0810
	shl.u32		bin, bin, 2
	local_atomic.u32 add, r7, [inside], bin, one_more
	bfe.u32		bin, bytes, 0x0818
	shl.u32		bin, bin, 2
	local_atomic.u32 add, r7, [inside], bin, one_more
	add.u32		word, word, sh5
	jump		next

merge:
	barrier
	shl.u32		bin, v1, 2
	local_load32	r8, [one], bin
	global_atomic.u32 add, sig0, r7, [one], sh2 + bin, r8
	end
