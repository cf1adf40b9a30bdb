/* SPDX-License-Identifier: MIT */
/*
 * Fences, traps, CSR instructions (unprivileged ISA 20191213, sections 2.7, 2.8, chapters 3
 * and 9; privileged ISA 20211203, section 3.3), and records that are not instructions. Part
 * of fwcpu_exec(), exec.c; no header of its own.
 */
op_DECODE:
	fwcpu_code_fill(cpu, at);
	DISPATCH();

op_ILLEGAL:
	RAISE(RV_CAUSE_ILLEGAL, raw_insn(cpu, at));

/* The end mark, or a 4-byte instruction whose second half is past the end of RAM. */
op_FETCH_FAULT:
	RAISE(RV_CAUSE_FETCH_ACCESS, ram_size);

/* Orders the accesses through the window as other threads see them. */
op_FENCE:
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	NEXT(4);

op_FENCE_I:
	fwcpu_code_flush(cpu);
	at += 2;
	left--;
	goto done;

op_ECALL:
	RAISE(RV_CAUSE_ECALL_M, 0);

/* A breakpoint: the instruction in whose place this record is has not been executed. */
op_BREAK:
	cpu->break_hit = true;
	goto done;

op_EBREAK:
	RAISE(RV_CAUSE_BREAKPOINT, at * 2);

op_MRET:
	fwcpu_mret(cpu);
	at = cpu->arch.pc / 2;
	left--;
	goto done;

op_WFI:
	cpu->arch.state = FWCPU_STATE_WAITING;
	at += 2;
	left--;
	goto done;

/* Counters must be up to date when they are read; interrupts may become due after a write. */
op_CSR:
	account(cpu, count - left);
	count = left;
	if (!fwcpu_csr_execute(cpu, in))
		NEXT(4);
	at += 2;
	left--;
	goto done;
