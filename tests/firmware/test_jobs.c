// SPDX-License-Identifier: MIT
/* Jobs: results, faults, dependencies and the order between contexts. */
#include <string.h>

#include "fixture.h"

static void job_fault_is_reported_and_the_next_job_runs(void **state)
{
	struct fixture *r = fx_booted();
	const struct fwif_job_result *result;
	struct fx_context c;
	struct fx_vm vm;

	(void)state;
	fx_vm(r, &vm);
	fx_vm_faulty(&vm);
	fx_context(r, &vm, 1, &c);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_update(&c, c.object_addr, 1);
	fx_compute(&c, FX_STREAM_VA + 8192, 2);
	fx_update(&c, c.object_addr, 2);
	fx_submit(r, &c);
	assert_int_equal(*c.object, 2);
	result = fx_result(&c, 1);
	assert_int_equal(result->fault, PUMICE_FAULT_CDM_COMMAND);
	assert_int_equal(result->unit, PUMICE_UNIT_CDM);
	assert_int_equal(result->addr, FX_STREAM_VA);
	result = fx_result(&c, 2);
	assert_int_equal(result->fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(result->addr, FX_STREAM_VA + 8192);
	assert_int_equal(result->access, PUMICE_ACCESS_READ);
	assert_in_range(result->mmu_context, 1, 31);
	assert_int_equal(r->boot->jobs_faulted, 2);
	assert_int_equal(r->fwccb[0].type, FWIF_FWCCB_JOB_FAULT);
	assert_int_equal(r->fwccb[0].code, PUMICE_FAULT_CDM_COMMAND);
	assert_int_equal(r->fwccb[0].context_id, c.f->id);
	assert_int_equal(r->fwccb[0].seqno, 1);
	assert_int_equal(r->fwccb[1].seqno, 2);
	fx_destroy(r);
}

static void job_beyond_the_address_space_faults_without_being_started(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	fx_compute(&c, FX_STREAM_VA | 1ull << 40, 1);
	fx_update(&c, c.object_addr, 1);
	fx_submit(r, &c);
	assert_int_equal(*c.object, 1);
	assert_int_equal(fx_result(&c, 1)->fault, PUMICE_FAULT_MMU_ADDRESS);
	assert_int_equal(fx_result(&c, 1)->unit, PUMICE_UNIT_FW);
	assert_int_equal(r->boot->jobs_started, 0);
	fx_destroy(r);
}

static void counters_count_jobs_and_commands(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);
	u32 i, commands = r->boot->commands;

	(void)state;
	for (i = 1; i <= 5; i++)
		fx_compute(&c, FX_STREAM_VA, i);
	fx_submit(r, &c);
	assert_int_equal(r->boot->jobs_started, 5);
	assert_int_equal(r->boot->jobs_done, 5);
	assert_int_equal(r->boot->jobs_faulted, 0);
	assert_int_equal(r->boot->commands - commands, 1);
	assert_int_equal(r->boot->active_context, FWIF_NO_CONTEXT);
	assert_int_equal(r->boot->queued_contexts, 0);
	fx_destroy(r);
}

static void wait_blocks_a_job_until_another_context_updates(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &a);

	(void)state;
	fx_context(r, &vm, 1, &b);
	fx_wait_for(&b, a.object_addr, 2);
	fx_compute(&b, FX_STREAM_VA, 1);
	fx_update(&b, b.object_addr, 1);
	fx_submit(r, &b);
	assert_int_equal(*b.object, 0);
	assert_int_equal(r->boot->queued_contexts, 1);
	fx_compute(&a, FX_STREAM_VA, 1);
	fx_update(&a, a.object_addr, 1);
	fx_submit(r, &a);
	assert_int_equal(*b.object, 0);
	fx_compute(&a, FX_STREAM_VA, 2);
	fx_update(&a, a.object_addr, 2);
	fx_submit(r, &a);
	assert_int_equal(*b.object, 1);
	assert_true(fx_result(&b, 1)->time_start >= fx_result(&a, 2)->time_end);
	assert_int_equal(r->boot->queued_contexts, 0);
	fx_destroy(r);
}

static void wait_compares_update_objects_across_wrap_around(void **state)
{
	static const struct {
		u32 object, value;
		bool reached;
	} cases[] = {
		{ 0, 0, true }, { 0, 1, false }, { 1, 0, true },
		{ 0xffffffff, 0xffffffff, true }, { 0xffffffff, 0, false },
		{ 0, 0xffffffff, true }, { 5, 0xfffffff0, true }, { 0xfffffff0, 5, false },
		{ 0x7fffffff, 0, true }, { 0x80000000, 0, false }, { 0x80000000, 1, true },
	};
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 object_addr, *object = fx_fw_alloc(r, 4, &object_addr);
	size_t i;

	(void)state;
	fx_vm(r, &vm);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%#x reaches %#x: %d\n", cases[i].object, cases[i].value,
			      cases[i].reached);
		fx_context(r, &vm, 1, &c);
		*object = cases[i].object;
		fx_wait_for(&c, object_addr, cases[i].value);
		fx_update(&c, c.object_addr, 1);
		fx_submit(r, &c);
		assert_int_equal(*c.object, cases[i].reached);
	}
	fx_destroy(r);
}

static void wait_reads_values_of_the_host_at_the_next_kick_of_any_context(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &a);
	u32 object_addr, *object = fx_fw_alloc(r, 4, &object_addr);

	(void)state;
	fx_context(r, &vm, 1, &b);
	fx_wait_for(&a, object_addr, 1);
	fx_update(&a, a.object_addr, 1);
	fx_submit(r, &a);
	assert_int_equal(*a.object, 0);
	*object = 1;
	fx_submit(r, &b);
	assert_int_equal(*a.object, 1);
	fx_destroy(r);
}

static void chain_of_waits_through_all_contexts_resolves(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c[40];
	struct fx_vm vm;
	u32 i;

	(void)state;
	fx_vm(r, &vm);
	for (i = 0; i < 40; i++)
		fx_context(r, &vm, i % 3, &c[i]);
	/* In reverse: each context waits for the previous one. */
	for (i = 40; i-- > 0;) {
		if (i)
			fx_wait_for(&c[i], c[i - 1].object_addr, 1);
		fx_compute(&c[i], FX_STREAM_VA, 1);
		fx_update(&c[i], c[i].object_addr, 1);
		fx_submit(r, &c[i]);
		assert_int_equal(*c[39].object, i == 0);
	}
	for (i = 1; i < 40; i++)
		assert_true(fx_result(&c[i], 1)->time_start >=
			    fx_result(&c[i - 1], 1)->time_end);
	fx_destroy(r);
}

static void contexts_that_wait_for_each_other_do_not_block_others(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context a, b, c;
	struct fx_vm vm;

	(void)state;
	fx_vm(r, &vm);
	fx_context(r, &vm, 2, &a);
	fx_context(r, &vm, 2, &b);
	fx_context(r, &vm, 0, &c);
	fx_wait_for(&a, b.object_addr, 1);
	fx_update(&a, a.object_addr, 1);
	fx_wait_for(&b, a.object_addr, 1);
	fx_update(&b, b.object_addr, 1);
	fx_submit(r, &a);
	fx_submit(r, &b);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_update(&c, c.object_addr, 1);
	fx_submit(r, &c);
	assert_int_equal(*c.object, 1);
	assert_int_equal(*a.object, 0);
	fx_destroy(r);
}

static void release(struct fixture *r, const struct fx_context *blocker)
{
	assert_int_equal(r->boot->active_context, blocker->f->id);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, blocker), FWIF_STATUS_OK);
	assert_true(fx_run(r));
}

/* Jobs queued while an endless one runs: five contexts, two jobs each. */
static void pile_up(struct fixture *r, struct fx_context *blocker, struct fx_context *c,
		    const u32 *priority)
{
	static struct fx_vm endless, vm;
	u32 i, job;

	fx_vm(r, &endless);
	fx_vm(r, &vm);
	fx_vm_endless(&endless);
	fx_context(r, &endless, 0, blocker);
	fx_compute(blocker, FX_STREAM_VA, 1);
	fx_submit(r, blocker);
	for (i = 0; i < 5; i++) {
		fx_context(r, &vm, priority[i], &c[i]);
		for (job = 1; job <= 2; job++) {
			fx_compute(&c[i], FX_STREAM_VA, job);
			fx_update(&c[i], c[i].object_addr, job);
		}
		fx_submit(r, &c[i]);
		assert_int_equal(*c[i].object, 0);
	}
}

static void assert_order(const struct fx_context *c, const u32 *priority, const u32 *order)
{
	u32 i;

	for (i = 1; i < 5; i++) {
		u32 before = order[i - 1], after = order[i];
		/* Higher priorities first; within a priority, all first jobs before the second. */
		u32 last = priority[before] > priority[after] ? 2 : 1;

		assert_true(fx_result(&c[before], last)->time_end <=
			    fx_result(&c[after], 1)->time_start);
	}
}

static void high_priority_runs_before_normal_before_low(void **state)
{
	static const u32 priority[5] = { 0, 1, 2, 1, 0 };
	static const u32 order[5] = { 2, 1, 3, 0, 4 };
	struct fixture *r = fx_booted();
	struct fx_context blocker, c[5];

	(void)state;
	pile_up(r, &blocker, c, priority);
	release(r, &blocker);
	assert_order(c, priority, order);
	fx_destroy(r);
}

static u32 set_priority(struct fixture *r, const struct fx_context *c, u32 priority)
{
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_CONTEXT_PRIORITY, .context = c->addr, .priority = priority,
	};

	return fx_call(r, &cmd);
}

/*
 * Contexts of one priority run in the order in which they became ready, independent of earlier
 * jobs. All commands are sent together: a context that waits long runs before a higher priority.
 */
static void changed_priority_applies_to_queued_jobs(void **state)
{
	static const u32 before[5] = { 2, 1, 1, 0, 0 }, after[5] = { 0, 1, 2, 2, 1 };
	static const u32 order[5] = { 2, 3, 1, 4, 0 };
	struct fixture *r = fx_booted();
	struct fx_context blocker, c[5];
	u32 entry[5], i;

	(void)state;
	pile_up(r, &blocker, c, before);
	for (i = 5; i--;) {
		const struct fwif_kccb_cmd cmd = {
			.type = FWIF_KCCB_CONTEXT_PRIORITY, .context = c[i].addr,
			.priority = after[i],
		};

		entry[i] = fx_put(r, &cmd);
	}
	release(r, &blocker);
	for (i = 0; i < 5; i++)
		assert_int_equal(r->kccb_status[entry[i]], FWIF_STATUS_OK);
	assert_order(c, after, order);
	fx_destroy(r);
}

static void priority_out_of_range_is_refused(void **state)
{
	struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING, .priority = 1 };
	struct fx_context c, hole = { .addr = 0x80000000 };
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);

	(void)state;
	/* The firmware has not registered the context yet. */
	assert_int_equal(set_priority(r, &c, 2), FWIF_STATUS_OK);
	assert_int_equal(set_priority(r, &c, FWIF_PRIORITIES), FWIF_STATUS_INVALID);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_submit(r, &c);
	assert_int_equal(set_priority(r, &c, FWIF_PRIORITIES), FWIF_STATUS_INVALID);
	assert_int_equal(set_priority(r, &c, ~0u), FWIF_STATUS_INVALID);
	assert_int_equal(set_priority(r, &hole, 1), FWIF_STATUS_INVALID);
	assert_int_equal(set_priority(r, &c, 0), FWIF_STATUS_OK);
	assert_int_equal(fx_call(r, &ping), FWIF_STATUS_INVALID);
	fx_assert_alive(r);
	fx_destroy(r);
}

static void contexts_of_one_priority_run_round_robin_by_job(void **state)
{
	static const u32 priority[5] = { 1, 1, 1, 1, 1 };
	struct fixture *r = fx_booted();
	struct fx_context blocker, c[5];
	u32 i;

	(void)state;
	pile_up(r, &blocker, c, priority);
	release(r, &blocker);
	for (i = 0; i < 4; i++) {
		assert_true(fx_result(&c[i], 1)->time_end <= fx_result(&c[i + 1], 1)->time_start);
		assert_true(fx_result(&c[4], 1)->time_end <= fx_result(&c[i], 2)->time_start);
	}
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_fault_is_reported_and_the_next_job_runs),
		cmocka_unit_test(job_beyond_the_address_space_faults_without_being_started),
		cmocka_unit_test(counters_count_jobs_and_commands),
		cmocka_unit_test(wait_blocks_a_job_until_another_context_updates),
		cmocka_unit_test(wait_compares_update_objects_across_wrap_around),
		cmocka_unit_test(wait_reads_values_of_the_host_at_the_next_kick_of_any_context),
		cmocka_unit_test(chain_of_waits_through_all_contexts_resolves),
		cmocka_unit_test(contexts_that_wait_for_each_other_do_not_block_others),
		cmocka_unit_test(high_priority_runs_before_normal_before_low),
		cmocka_unit_test(contexts_of_one_priority_run_round_robin_by_job),
		cmocka_unit_test(changed_priority_applies_to_queued_jobs),
		cmocka_unit_test(priority_out_of_range_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
