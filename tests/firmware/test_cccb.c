// SPDX-License-Identifier: MIT
/* Client CCB: execution of commands, and malformed ones, which break their context only. */
#include <string.h>

#include "fixture.h"

static void cccb_job_writes_its_result_before_the_update(void **state)
{
	const struct fwif_job_result *result;
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	fx_compute(&c, FX_STREAM_VA, 7);
	fx_update(&c, c.object_addr, 1);
	fx_submit(r, &c);
	assert_int_equal(*c.object, 1);
	assert_int_equal(c.f->cccb_read, c.write);
	result = fx_result(&c, 7);
	assert_int_equal(result->seqno, 7);
	assert_int_equal(result->fault, PUMICE_FAULT_NONE);
	assert_true(result->time_start < result->time_end);
	fx_destroy(r);
}

static void cccb_pad_is_skipped_and_commands_wrap_around(void **state)
{
	struct fwif_cccb_header pad = { FWIF_CCCB_PAD, 0 };
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);
	u32 seqno;

	(void)state;
	for (seqno = 1; seqno < 400; seqno++) {
		if (FX_CCCB - c.write < 40) {
			pad.bytes = FX_CCCB - c.write;
			memcpy(c.cccb + c.write, &pad, sizeof(pad));
			c.write = 0;
		}
		fx_compute(&c, FX_STREAM_VA, seqno);
		fx_update(&c, c.object_addr, seqno);
		fx_submit(r, &c);
		assert_int_equal(*c.object, seqno);
		assert_int_equal(fx_result(&c, seqno)->seqno, seqno);
	}
	assert_int_equal(c.f->state, FWIF_CONTEXT_OK);
	fx_destroy(r);
}

static void cccb_full_to_the_last_free_entry_is_executed(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);
	u32 i;

	(void)state;
	for (i = 1; i <= (FX_CCCB - 8) / sizeof(struct fwif_cccb_update); i++)
		fx_update(&c, c.object_addr, i);
	fx_submit(r, &c);
	assert_int_equal(*c.object, i - 1);
	assert_int_equal(c.f->cccb_read, c.write);
	fx_destroy(r);
}

/* One command that breaks the context. */
struct malformed {
	const char *what;
	u32 words[6];
	u32 bytes;
	bool last;	/* no command follows it */
};

static const struct malformed malformed[] = {
	{ "type 0", { 0, 8 }, 8, false },
	{ "unknown type", { 5, 8 }, 8, false },
	{ "wild type", { 0xffffffff, 16, 0, 0 }, 16, false },
	{ "pad of no bytes", { FWIF_CCCB_PAD, 0 }, 8, false },
	{ "pad of 4 bytes", { FWIF_CCCB_PAD, 4 }, 8, false },
	{ "pad of 12 bytes", { FWIF_CCCB_PAD, 12 }, 16, false },
	{ "pad beyond the write offset", { FWIF_CCCB_PAD, 64 }, 16, true },
	{ "pad beyond the end", { FWIF_CCCB_PAD, 0xfffffff8 }, 16, false },
	{ "wait too short", { FWIF_CCCB_WAIT, 8 }, 8, false },
	{ "wait too long", { FWIF_CCCB_WAIT, 24, 0x200000, 0 }, 24, false },
	{ "wait on address 0", { FWIF_CCCB_WAIT, 16, 0, 0 }, 16, false },
	{ "wait misaligned", { FWIF_CCCB_WAIT, 16, 0x200002, 0 }, 16, false },
	{ "wait unmapped", { FWIF_CCCB_WAIT, 16, FX_FW_HOLE, 0 }, 16, false },
	{ "wait past the window", { FWIF_CCCB_WAIT, 16, 0x80000000, 0 }, 16, false },
	{ "update unmapped", { FWIF_CCCB_UPDATE, 16, FX_FW_HOLE, 0 }, 16, false },
	{ "update past the window", { FWIF_CCCB_UPDATE, 16, 0x90000000, 0 }, 16, false },
	{ "update too short", { FWIF_CCCB_UPDATE, 8 }, 8, false },
	{ "compute too short", { FWIF_CCCB_COMPUTE, 16, 0, 0 }, 16, false },
	{ "compute reserved", { FWIF_CCCB_COMPUTE, 24, FX_STREAM_VA, 0, 1, 1 }, 24, false },
	{ "compute truncated", { FWIF_CCCB_COMPUTE, 24, FX_STREAM_VA, 0 }, 16, true },
};

static void assert_only_broken(struct fixture *r, const struct malformed *m)
{
	struct fx_context bad, good;
	struct fx_vm vm;
	u32 message = r->fwccb_ring->write;

	fx_vm(r, &vm);
	fx_context(r, &vm, 1, &bad);
	fx_context(r, &vm, 1, &good);
	fx_update(&bad, bad.object_addr, 1);
	fx_bytes(&bad, m->words, m->bytes);
	if (!m->last)
		fx_update(&bad, bad.object_addr, 2);
	fx_submit(r, &bad);
	assert_int_equal(bad.f->state, FWIF_CONTEXT_BROKEN);
	assert_int_equal(*bad.object, 1);
	assert_int_equal(bad.f->cccb_read, bad.write);
	assert_int_equal(r->fwccb[message].type, FWIF_FWCCB_ERROR);
	assert_int_equal(r->fwccb[message].code, FWIF_ERROR_CLIENT_CCB);
	assert_int_equal(r->fwccb[message].context_id, bad.f->id);
	assert_int_equal(r->fwccb[message].addr, sizeof(struct fwif_cccb_update));
	r->fwccb_ring->read = r->fwccb_ring->write;

	/* Later commands are dropped; the context can be released. */
	fx_update(&bad, bad.object_addr, 3);
	fx_submit(r, &bad);
	assert_int_equal(*bad.object, 1);
	assert_int_equal(bad.f->cccb_read, bad.write);
	fx_compute(&good, FX_STREAM_VA, 1);
	fx_update(&good, good.object_addr, 1);
	fx_submit(r, &good);
	assert_int_equal(*good.object, 1);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &bad), FWIF_STATUS_OK);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &good), FWIF_STATUS_OK);
}

static void cccb_malformed_command_breaks_its_context_only(void **state)
{
	struct fixture *r = fx_booted();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		print_message("%s\n", malformed[i].what);
		assert_only_broken(r, &malformed[i]);
	}
	fx_assert_alive(r);
	fx_destroy(r);
}

static void cccb_command_across_the_end_breaks_the_context(void **state)
{
	const struct fwif_cccb_header pad = { FWIF_CCCB_PAD, FX_CCCB - 16 };
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	memcpy(c.cccb, &pad, sizeof(pad));
	c.write = pad.bytes;
	fx_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_OK);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	fx_destroy(r);
}

static void cccb_that_is_not_mapped_breaks_the_context(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	c.f->cccb = FX_FW_HOLE;
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	fx_assert_alive(r);
	fx_destroy(r);
}

static void results_that_are_not_mapped_break_the_context_in_the_interrupt(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	c.f->results = FX_FW_HOLE;
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	assert_int_equal(r->boot->active_context, FWIF_NO_CONTEXT);
	fx_assert_alive(r);
	fx_destroy(r);
}

static void unmapped_context_affects_no_other_context(void **state)
{
	struct fx_context c, good;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &good);

	(void)state;
	/* The structure is alone in its page. */
	r->fw_next = (r->fw_next + 4095) & ~4095u;
	fx_context(r, &vm, 1, &c);
	fx_submit(r, &c);
	testmem_unmap(r->tm, 0, c.addr & ~4095u, 4096);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL, 4);
	fx_update(&c, c.object_addr, 1);
	fx_submit(r, &c);
	fx_compute(&good, FX_STREAM_VA, 1);
	fx_update(&good, good.object_addr, 1);
	fx_submit(r, &good);
	assert_int_equal(*good.object, 1);
	fx_assert_alive(r);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cccb_job_writes_its_result_before_the_update),
		cmocka_unit_test(cccb_pad_is_skipped_and_commands_wrap_around),
		cmocka_unit_test(cccb_full_to_the_last_free_entry_is_executed),
		cmocka_unit_test(cccb_malformed_command_breaks_its_context_only),
		cmocka_unit_test(cccb_command_across_the_end_breaks_the_context),
		cmocka_unit_test(cccb_that_is_not_mapped_breaks_the_context),
		cmocka_unit_test(results_that_are_not_mapped_break_the_context_in_the_interrupt),
		cmocka_unit_test(unmapped_context_affects_no_other_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
