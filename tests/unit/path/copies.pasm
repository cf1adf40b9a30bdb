; SPDX-License-Identifier: MIT
;
; Every work-group, of one or two tasks, copies a word of input an instance to local memory and
; to the common store of each task, computes in local memory, and copies both back: one
; instruction each for the whole group. Before that each task replaces its first 16 shared words
; by a burst.
;
; The including file defines GROUP, the instances of a work-group, at least 32.
; Result: word i is 3 in[i] + in[GROUP - 1 - i]; word GROUP + i is in[i], or in[16 + i] if i < 16.
;
; Uniforms: input (64-bit address), results (the same). Neither crosses 4 GiB.

.group    GROUP, 1, 1
.local    GROUP * 4
.uniforms sh0, 4		; input sh0, results sh2
.input    sh4, group_x
.input    v0, local_x
.equ      WORDS, GROUP
.equ      BYTES, WORDS * 4

.alias    source, r2[0]		; of the group; the upper word is r3[0]
.alias    result, r4[0]		; r5[0]
.alias    at, r6
.alias    value, r7
.alias    other, r8
.alias    done, r9[0]

	mul.u32		source, sh4, BYTES
	add.u32		source, source, sh0
	mov		r3[0], sh1
	mul.u32		result, sh4, 2 * BYTES
	add.u32		result, result, sh2
	mov		r5[0], sh3

	group_load	sig0, sc0, source, WORDS
	group_load_shared sig1, sh16, source, WORDS
	sig_waitall2	done, sig0, sig1

	shl.u32		at, v0, 2
	local_load32	value, [one], at
	mul.u32		value, value, 3
	mov		other, [one], WORDS - 1
	sub.u32		other, other, v0
	mov		idx0, [one], other
	mov		other, [one], sh[idx0 + 16]
	add.u32		value, value, other
	local_store32	[one], at, value
	group_store	sig0, sc0, result, WORDS

	; All waves have read their shared registers: they waited for each other at the copy.
	shared_load	sig1, sh16, source + 64, 16
	sig_wait	done, sig1
	group_store_shared sig1, sh16, result + BYTES, WORDS
	sig_waitall2	done, sig0, sig1
	end
