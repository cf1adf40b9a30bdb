// SPDX-License-Identifier: MIT
/* Kernel CCB: each command, valid and invalid; an invalid one is refused without side effects. */
#include <string.h>

#include "fixture.h"

static void kccb_refuses_unknown_types_and_reserved_fields(void **state)
{
	static const u32 types[] = { 0, 7, 100, 0x80000001, 0xffffffff };
	struct fixture *r = fx_booted();
	struct fwif_kccb_cmd cmd;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(&cmd, 0, sizeof(cmd));
		cmd.type = types[i];
		assert_int_equal(fx_call(r, &cmd), FWIF_STATUS_INVALID);
	}
	for (i = 0; i < 3; i++) {
		memset(&cmd, 0, sizeof(cmd));
		cmd.type = FWIF_KCCB_PING;
		if (i == 2)
			cmd.priority = 1;
		else
			cmd.reserved2[i] = 1ull << 40;
		assert_int_equal(fx_call(r, &cmd), FWIF_STATUS_INVALID);
	}
	fx_assert_alive(r);
	fx_destroy(r);
}

/* Addresses that are invalid for a context. */
static const u32 bad_addresses[] = { 0, 2, 4, FX_FW_HOLE, 0x7fffffc0, 0x80000000, 0xfffffff8 };

static void kick_refuses_invalid_context_addresses(void **state)
{
	struct fixture *r = fx_booted();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad_addresses) / sizeof(bad_addresses[0]); i++) {
		const struct fwif_kccb_cmd cmd = {
			.type = FWIF_KCCB_KICK, .context = bad_addresses[i],
		};

		assert_int_equal(fx_call(r, &cmd), FWIF_STATUS_INVALID);
		fx_assert_alive(r);
	}
	fx_destroy(r);
}

static void kick_refuses_a_context_with_a_bad_field(void **state)
{
	static const struct {
		const char *what;
		size_t field;	/* of struct fwif_context */
		u32 value;
	} cases[] = {
		{ "magic", offsetof(struct fwif_context, magic), 0 },
		{ "data master", offsetof(struct fwif_context, dm), FWIF_DM_COUNT },
		{ "priority", offsetof(struct fwif_context, priority), FWIF_PRIORITIES },
		{ "catalogue misaligned", offsetof(struct fwif_context, catalogue), 0x1000 },
		{ "catalogue too high", offsetof(struct fwif_context, catalogue) + 4, 0x10000 },
		{ "cccb at 0", offsetof(struct fwif_context, cccb), 0 },
		{ "cccb misaligned", offsetof(struct fwif_context, cccb), 0x200004 },
		{ "cccb outside", offsetof(struct fwif_context, cccb), 0x7ffffff8 },
		{ "cccb too small", offsetof(struct fwif_context, cccb_bytes), FWIF_CCCB_MIN / 2 },
		{ "cccb too large", offsetof(struct fwif_context, cccb_bytes), FWIF_CCCB_MAX * 2 },
		{ "cccb no power of two", offsetof(struct fwif_context, cccb_bytes), 4104 },
		{ "results at 0", offsetof(struct fwif_context, results), 0 },
		{ "results outside", offsetof(struct fwif_context, results), 0x7fffffc8 },
		{ "no results", offsetof(struct fwif_context, result_count), 0 },
		{ "results no power of two", offsetof(struct fwif_context, result_count), 3 },
		{ "too many", offsetof(struct fwif_context, result_count), 2 * FWIF_RING_MAX },
		{ "save misaligned", offsetof(struct fwif_context, save), 4 },
		{ "save outside", offsetof(struct fwif_context, save), 0x80000000 },
		{ "reserved", offsetof(struct fwif_context, reserved[2]), 1 },
		{ "misaligned stuck", offsetof(struct fwif_context, stuck), 0x10004 },
	};
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	size_t i;

	(void)state;
	fx_vm(r, &vm);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].what);
		fx_context(r, &vm, 1, &c);
		memcpy((u8 *)c.f + cases[i].field, &cases[i].value, 4);
		assert_int_equal(fx_call_context(r, FWIF_KCCB_KICK, &c), FWIF_STATUS_INVALID);
		assert_int_equal(c.f->state, FWIF_CONTEXT_UNKNOWN);
	}
	fx_assert_alive(r);
	fx_destroy(r);
}

static void kick_refuses_write_offsets_outside_or_between_commands(void **state)
{
	static const u32 bad[] = { 4, FX_CCCB, FX_CCCB + 8, 0xfffffff8 };
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);
	u32 entry;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		c.write = bad[i];
		entry = fx_put_kick(r, &c);
		fx_kick(r);
		fx_run(r);
		assert_int_equal(r->kccb_status[entry], FWIF_STATUS_INVALID);
	}
	c.write = 0;
	fx_submit(r, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_OK);
	fx_destroy(r);
}

static void context_commands_refuse_bad_addresses_and_accept_unknown_contexts(void **state)
{
	static const u32 types[] = { FWIF_KCCB_CONTEXT_KILL, FWIF_KCCB_CONTEXT_RELEASE };
	struct fixture *r = fx_booted();
	size_t i, t;

	(void)state;
	for (t = 0; t < 2; t++) {
		struct fwif_kccb_cmd cmd = { .type = types[t], .context = 0x200000 };

		assert_int_equal(fx_call(r, &cmd), FWIF_STATUS_OK);
		for (i = 0; i < sizeof(bad_addresses) / sizeof(bad_addresses[0]); i++) {
			/* The hole is a valid address, without a registered context. */
			u32 expect = bad_addresses[i] == FX_FW_HOLE ? FWIF_STATUS_OK :
								      FWIF_STATUS_INVALID;

			cmd.context = bad_addresses[i];
			assert_int_equal(fx_call(r, &cmd), expect);
		}
	}
	fx_assert_alive(r);
	fx_destroy(r);
}

static void vm_commands_check_catalogue_and_range(void **state)
{
	static const struct {
		u32 type;
		u64 catalogue, start, end;
		u32 status;
	} cases[] = {
		{ FWIF_KCCB_VM_RELEASE, 0, 0, 0, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_VM_RELEASE, 0x1000, 0, 0, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_VM_RELEASE, 1ull << 48, 0, 0, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_VM_RELEASE, 0x2000, 0, 0, FWIF_STATUS_OK },
		{ FWIF_KCCB_MMU_INVALIDATE, 0, 0, 0xfff, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x1000, 0, 0xfff, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x2000, 0, 0xfff, FWIF_STATUS_OK },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x2000, 8, 0xfff, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x2000, 0, 0xffe, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x2000, 0, (1ull << 40) - 1, FWIF_STATUS_OK },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x2000, 0, (1ull << 40) + 0xfff, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x2000, 0, UINT64_MAX, FWIF_STATUS_INVALID },
		{ FWIF_KCCB_MMU_INVALIDATE, 0x2000, 1, 0, FWIF_STATUS_OK },
	};
	struct fixture *r = fx_booted();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fwif_kccb_cmd cmd = {
			.type = cases[i].type, .catalogue = cases[i].catalogue,
			.start = cases[i].start, .end = cases[i].end,
		};

		print_message("case %zu\n", i);
		assert_int_equal(fx_call(r, &cmd), cases[i].status);
	}
	fx_destroy(r);
}

static void kccb_completes_commands_in_order_across_wrap_around(void **state)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	const struct fwif_kccb_cmd bad = { .type = 99 };
	struct fixture *r = fx_booted();
	u32 commands = r->boot->commands, round, i, entry[FX_KCCB];

	(void)state;
	for (round = 0; round < 5; round++) {
		for (i = 0; i < FX_KCCB - 1; i++)
			entry[i] = fx_put(r, i % 3 ? &ping : &bad);
		fx_kick(r);
		assert_true(fx_run(r));
		for (i = 0; i < FX_KCCB - 1; i++)
			assert_int_equal(r->kccb_status[entry[i]],
					 i % 3 ? FWIF_STATUS_OK : FWIF_STATUS_INVALID);
		assert_int_equal(r->kccb_ring->read, r->kccb_ring->write);
	}
	assert_int_equal(r->boot->commands - commands, 5 * (FX_KCCB - 1));
	fx_destroy(r);
}

static void kccb_masks_a_wild_write_index(void **state)
{
	struct fixture *r = fx_booted();

	(void)state;
	r->kccb_ring->write = 0xfffffff0 + r->kccb_ring->read;
	fx_kick(r);
	assert_true(fx_run(r));
	r->kccb_ring->write = r->kccb_ring->read;
	fx_assert_alive(r);
	fx_destroy(r);
}

static void contexts_beyond_the_limit_get_no_space_until_one_is_released(void **state)
{
	struct fx_context first, c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &first);
	u32 i;

	(void)state;
	assert_int_equal(fx_call_context(r, FWIF_KCCB_KICK, &first), FWIF_STATUS_OK);
	for (i = 1; i <= FWIF_MAX_CONTEXTS; i++) {
		/* Only the structures must differ; they may share their CCB and results. */
		c.f = fx_fw_alloc(r, sizeof(*c.f), &c.addr);
		*c.f = *first.f;
		c.f->state = 0;
		assert_int_equal(fx_call_context(r, FWIF_KCCB_KICK, &c),
				 i < FWIF_MAX_CONTEXTS ? FWIF_STATUS_OK : FWIF_STATUS_NO_SPACE);
	}
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &first), FWIF_STATUS_OK);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_KICK, &c), FWIF_STATUS_OK);
	fx_destroy(r);
}

/* The host may create a context at the address of a released one. */
static void released_context_is_registered_again_at_the_next_kick(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_submit(r, &c);
	assert_int_equal(c.f->cccb_read, c.write);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &c), FWIF_STATUS_OK);
	/* Of the old one; a new context starts at 0. */
	assert_int_not_equal(c.f->cccb_read, 0);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_KICK, &c), FWIF_STATUS_OK);
	assert_int_equal(c.f->cccb_read, 0);
	c.write = 0;
	fx_compute(&c, FX_STREAM_VA, 2);
	fx_submit(r, &c);
	assert_int_equal(fx_result(&c, 2)->seqno, 2);
	fx_destroy(r);
}

static void batch_of_commands_raises_one_interrupt(void **state)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct fixture *r = fx_booted();
	u32 i;

	(void)state;
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK, 4);
	r->irqs = 0;
	for (i = 0; i < 10; i++)
		fx_put(r, &ping);
	fx_kick(r);
	fx_run(r);
	assert_int_equal(r->irqs, 1);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kccb_refuses_unknown_types_and_reserved_fields),
		cmocka_unit_test(kick_refuses_invalid_context_addresses),
		cmocka_unit_test(kick_refuses_a_context_with_a_bad_field),
		cmocka_unit_test(kick_refuses_write_offsets_outside_or_between_commands),
		cmocka_unit_test(context_commands_refuse_bad_addresses_and_accept_unknown_contexts),
		cmocka_unit_test(vm_commands_check_catalogue_and_range),
		cmocka_unit_test(kccb_completes_commands_in_order_across_wrap_around),
		cmocka_unit_test(kccb_masks_a_wild_write_index),
		cmocka_unit_test(contexts_beyond_the_limit_get_no_space_until_one_is_released),
		cmocka_unit_test(released_context_is_registered_again_at_the_next_kick),
		cmocka_unit_test(batch_of_commands_raises_one_interrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
