// SPDX-License-Identifier: MIT
/* Client CCB: execution of commands, and malformed ones, which break their context only. */
#include <string.h>

#include "rig.h"

static void cccb_job_writes_its_result_before_the_update(void **state)
{
	const struct fwif_job_result *result;
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);

	(void)state;
	rig_compute(&c, RIG_STREAM_VA, 7);
	rig_update(&c, c.object_addr, 1);
	rig_submit(r, &c);
	assert_int_equal(*c.object, 1);
	assert_int_equal(c.f->cccb_read, c.write);
	result = rig_result(&c, 7);
	assert_int_equal(result->seqno, 7);
	assert_int_equal(result->fault, PUMICE_FAULT_NONE);
	assert_true(result->time_start < result->time_end);
	rig_destroy(r);
}

static void cccb_pad_is_skipped_and_commands_wrap_around(void **state)
{
	struct fwif_cccb_header pad = { FWIF_CCCB_PAD, 0 };
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);
	u32 seqno;

	(void)state;
	for (seqno = 1; seqno < 400; seqno++) {
		if (RIG_CCCB - c.write < 40) {
			pad.bytes = RIG_CCCB - c.write;
			memcpy(c.cccb + c.write, &pad, sizeof(pad));
			c.write = 0;
		}
		rig_compute(&c, RIG_STREAM_VA, seqno);
		rig_update(&c, c.object_addr, seqno);
		rig_submit(r, &c);
		assert_int_equal(*c.object, seqno);
		assert_int_equal(rig_result(&c, seqno)->seqno, seqno);
	}
	assert_int_equal(c.f->state, FWIF_CONTEXT_OK);
	rig_destroy(r);
}

static void cccb_full_to_the_last_free_entry_is_executed(void **state)
{
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);
	u32 i;

	(void)state;
	for (i = 1; i <= (RIG_CCCB - 8) / sizeof(struct fwif_cccb_update); i++)
		rig_update(&c, c.object_addr, i);
	rig_submit(r, &c);
	assert_int_equal(*c.object, i - 1);
	assert_int_equal(c.f->cccb_read, c.write);
	rig_destroy(r);
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
	{ "wait unmapped", { FWIF_CCCB_WAIT, 16, RIG_FW_HOLE, 0 }, 16, false },
	{ "wait past the window", { FWIF_CCCB_WAIT, 16, 0x80000000, 0 }, 16, false },
	{ "update unmapped", { FWIF_CCCB_UPDATE, 16, RIG_FW_HOLE, 0 }, 16, false },
	{ "update past the window", { FWIF_CCCB_UPDATE, 16, 0x90000000, 0 }, 16, false },
	{ "update too short", { FWIF_CCCB_UPDATE, 8 }, 8, false },
	{ "compute too short", { FWIF_CCCB_COMPUTE, 16, 0, 0 }, 16, false },
	{ "compute reserved", { FWIF_CCCB_COMPUTE, 24, RIG_STREAM_VA, 0, 1, 1 }, 24, false },
	{ "compute truncated", { FWIF_CCCB_COMPUTE, 24, RIG_STREAM_VA, 0 }, 16, true },
};

static void assert_only_broken(struct rig *r, const struct malformed *m)
{
	struct rig_context bad, good;
	struct rig_vm vm;
	u32 message = r->fwccb_ring->write;

	rig_vm(r, &vm);
	rig_context(r, &vm, 1, &bad);
	rig_context(r, &vm, 1, &good);
	rig_update(&bad, bad.object_addr, 1);
	rig_bytes(&bad, m->words, m->bytes);
	if (!m->last)
		rig_update(&bad, bad.object_addr, 2);
	rig_submit(r, &bad);
	assert_int_equal(bad.f->state, FWIF_CONTEXT_BROKEN);
	assert_int_equal(*bad.object, 1);
	assert_int_equal(bad.f->cccb_read, bad.write);
	assert_int_equal(r->fwccb[message].type, FWIF_FWCCB_ERROR);
	assert_int_equal(r->fwccb[message].code, FWIF_ERROR_CLIENT_CCB);
	assert_int_equal(r->fwccb[message].context_id, bad.f->id);
	assert_int_equal(r->fwccb[message].addr, sizeof(struct fwif_cccb_update));
	r->fwccb_ring->read = r->fwccb_ring->write;

	/* Later commands are dropped; the context can be released. */
	rig_update(&bad, bad.object_addr, 3);
	rig_submit(r, &bad);
	assert_int_equal(*bad.object, 1);
	assert_int_equal(bad.f->cccb_read, bad.write);
	rig_compute(&good, RIG_STREAM_VA, 1);
	rig_update(&good, good.object_addr, 1);
	rig_submit(r, &good);
	assert_int_equal(*good.object, 1);
	assert_int_equal(rig_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &bad), FWIF_STATUS_OK);
	assert_int_equal(rig_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &good), FWIF_STATUS_OK);
}

static void cccb_malformed_command_breaks_its_context_only(void **state)
{
	struct rig *r = rig_booted();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		print_message("%s\n", malformed[i].what);
		assert_only_broken(r, &malformed[i]);
	}
	rig_assert_alive(r);
	rig_destroy(r);
}

static void cccb_command_across_the_end_breaks_the_context(void **state)
{
	const struct fwif_cccb_header pad = { FWIF_CCCB_PAD, RIG_CCCB - 16 };
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);

	(void)state;
	memcpy(c.cccb, &pad, sizeof(pad));
	c.write = pad.bytes;
	rig_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_OK);
	rig_compute(&c, RIG_STREAM_VA, 1);
	rig_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	rig_destroy(r);
}

static void cccb_that_is_not_mapped_breaks_the_context(void **state)
{
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);

	(void)state;
	c.f->cccb = RIG_FW_HOLE;
	rig_compute(&c, RIG_STREAM_VA, 1);
	rig_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	rig_assert_alive(r);
	rig_destroy(r);
}

static void results_that_are_not_mapped_break_the_context_in_the_interrupt(void **state)
{
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);

	(void)state;
	c.f->results = RIG_FW_HOLE;
	rig_compute(&c, RIG_STREAM_VA, 1);
	rig_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	assert_int_equal(r->boot->active_context, FWIF_NO_CONTEXT);
	rig_assert_alive(r);
	rig_destroy(r);
}

static void unmapped_context_affects_no_other_context(void **state)
{
	struct rig_context c, good;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &good);

	(void)state;
	/* The structure is alone in its page. */
	r->fw_next = (r->fw_next + 4095) & ~4095u;
	rig_context(r, &vm, 1, &c);
	rig_submit(r, &c);
	testmem_unmap(r->tm, 0, c.addr & ~4095u, 4096);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL, 4);
	rig_update(&c, c.object_addr, 1);
	rig_submit(r, &c);
	rig_compute(&good, RIG_STREAM_VA, 1);
	rig_update(&good, good.object_addr, 1);
	rig_submit(r, &good);
	assert_int_equal(*good.object, 1);
	rig_assert_alive(r);
	rig_destroy(r);
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
