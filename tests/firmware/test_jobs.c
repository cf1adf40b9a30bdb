// SPDX-License-Identifier: MIT
/* Jobs: results, faults, dependencies and the order between contexts. */
#include <string.h>

#include "rig.h"

static void job_fault_is_reported_and_the_next_job_runs(void **state)
{
	struct rig *r = rig_booted();
	const struct fwif_job_result *result;
	struct rig_context c;
	struct rig_vm vm;

	(void)state;
	rig_vm(r, &vm);
	rig_vm_faulty(&vm);
	rig_context(r, &vm, 1, &c);
	rig_compute(&c, RIG_STREAM_VA, 1);
	rig_update(&c, c.object_addr, 1);
	rig_compute(&c, RIG_STREAM_VA + 8192, 2);
	rig_update(&c, c.object_addr, 2);
	rig_submit(r, &c);
	assert_int_equal(*c.object, 2);
	result = rig_result(&c, 1);
	assert_int_equal(result->fault, PUMICE_FAULT_CDM_COMMAND);
	assert_int_equal(result->unit, PUMICE_UNIT_CDM);
	assert_int_equal(result->addr, RIG_STREAM_VA);
	result = rig_result(&c, 2);
	assert_int_equal(result->fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(result->addr, RIG_STREAM_VA + 8192);
	assert_int_equal(result->access, PUMICE_ACCESS_READ);
	assert_in_range(result->mmu_context, 1, 31);
	assert_int_equal(r->boot->jobs_faulted, 2);
	assert_int_equal(r->fwccb[0].type, FWIF_FWCCB_JOB_FAULT);
	assert_int_equal(r->fwccb[0].code, PUMICE_FAULT_CDM_COMMAND);
	assert_int_equal(r->fwccb[0].context_id, c.f->id);
	assert_int_equal(r->fwccb[0].seqno, 1);
	assert_int_equal(r->fwccb[1].seqno, 2);
	rig_destroy(r);
}

static void job_beyond_the_address_space_faults_without_being_started(void **state)
{
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);

	(void)state;
	rig_compute(&c, RIG_STREAM_VA | 1ull << 40, 1);
	rig_update(&c, c.object_addr, 1);
	rig_submit(r, &c);
	assert_int_equal(*c.object, 1);
	assert_int_equal(rig_result(&c, 1)->fault, PUMICE_FAULT_MMU_ADDRESS);
	assert_int_equal(rig_result(&c, 1)->unit, PUMICE_UNIT_FW);
	assert_int_equal(r->boot->jobs_started, 0);
	rig_destroy(r);
}

static void counters_count_jobs_and_commands(void **state)
{
	struct rig_context c;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);
	u32 i, commands = r->boot->commands;

	(void)state;
	for (i = 1; i <= 5; i++)
		rig_compute(&c, RIG_STREAM_VA, i);
	rig_submit(r, &c);
	assert_int_equal(r->boot->jobs_started, 5);
	assert_int_equal(r->boot->jobs_done, 5);
	assert_int_equal(r->boot->jobs_faulted, 0);
	assert_int_equal(r->boot->commands - commands, 1);
	assert_int_equal(r->boot->active_context, FWIF_NO_CONTEXT);
	assert_int_equal(r->boot->queued_contexts, 0);
	rig_destroy(r);
}

static void wait_blocks_a_job_until_another_context_updates(void **state)
{
	struct rig_context a, b;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &a);

	(void)state;
	rig_context(r, &vm, 1, &b);
	rig_wait_for(&b, a.object_addr, 2);
	rig_compute(&b, RIG_STREAM_VA, 1);
	rig_update(&b, b.object_addr, 1);
	rig_submit(r, &b);
	assert_int_equal(*b.object, 0);
	assert_int_equal(r->boot->queued_contexts, 1);
	rig_compute(&a, RIG_STREAM_VA, 1);
	rig_update(&a, a.object_addr, 1);
	rig_submit(r, &a);
	assert_int_equal(*b.object, 0);
	rig_compute(&a, RIG_STREAM_VA, 2);
	rig_update(&a, a.object_addr, 2);
	rig_submit(r, &a);
	assert_int_equal(*b.object, 1);
	assert_true(rig_result(&b, 1)->time_start >= rig_result(&a, 2)->time_end);
	assert_int_equal(r->boot->queued_contexts, 0);
	rig_destroy(r);
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
	struct rig *r = rig_booted();
	struct rig_context c;
	struct rig_vm vm;
	u32 object_addr, *object = rig_fw_alloc(r, 4, &object_addr);
	size_t i;

	(void)state;
	rig_vm(r, &vm);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%#x reaches %#x: %d\n", cases[i].object, cases[i].value,
			      cases[i].reached);
		rig_context(r, &vm, 1, &c);
		*object = cases[i].object;
		rig_wait_for(&c, object_addr, cases[i].value);
		rig_update(&c, c.object_addr, 1);
		rig_submit(r, &c);
		assert_int_equal(*c.object, cases[i].reached);
	}
	rig_destroy(r);
}

static void wait_reads_values_of_the_host_at_the_next_kick_of_any_context(void **state)
{
	struct rig_context a, b;
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &a);
	u32 object_addr, *object = rig_fw_alloc(r, 4, &object_addr);

	(void)state;
	rig_context(r, &vm, 1, &b);
	rig_wait_for(&a, object_addr, 1);
	rig_update(&a, a.object_addr, 1);
	rig_submit(r, &a);
	assert_int_equal(*a.object, 0);
	*object = 1;
	rig_submit(r, &b);
	assert_int_equal(*a.object, 1);
	rig_destroy(r);
}

static void chain_of_waits_through_all_contexts_resolves(void **state)
{
	struct rig *r = rig_booted();
	struct rig_context c[40];
	struct rig_vm vm;
	u32 i;

	(void)state;
	rig_vm(r, &vm);
	for (i = 0; i < 40; i++)
		rig_context(r, &vm, i % 3, &c[i]);
	/* In reverse: each context waits for the previous one. */
	for (i = 40; i-- > 0;) {
		if (i)
			rig_wait_for(&c[i], c[i - 1].object_addr, 1);
		rig_compute(&c[i], RIG_STREAM_VA, 1);
		rig_update(&c[i], c[i].object_addr, 1);
		rig_submit(r, &c[i]);
		assert_int_equal(*c[39].object, i == 0);
	}
	for (i = 1; i < 40; i++)
		assert_true(rig_result(&c[i], 1)->time_start >=
			    rig_result(&c[i - 1], 1)->time_end);
	rig_destroy(r);
}

static void contexts_that_wait_for_each_other_do_not_block_others(void **state)
{
	struct rig *r = rig_booted();
	struct rig_context a, b, c;
	struct rig_vm vm;

	(void)state;
	rig_vm(r, &vm);
	rig_context(r, &vm, 2, &a);
	rig_context(r, &vm, 2, &b);
	rig_context(r, &vm, 0, &c);
	rig_wait_for(&a, b.object_addr, 1);
	rig_update(&a, a.object_addr, 1);
	rig_wait_for(&b, a.object_addr, 1);
	rig_update(&b, b.object_addr, 1);
	rig_submit(r, &a);
	rig_submit(r, &b);
	rig_compute(&c, RIG_STREAM_VA, 1);
	rig_update(&c, c.object_addr, 1);
	rig_submit(r, &c);
	assert_int_equal(*c.object, 1);
	assert_int_equal(*a.object, 0);
	rig_destroy(r);
}

static void release(struct rig *r, const struct rig_context *blocker)
{
	assert_int_equal(r->boot->active_context, blocker->f->id);
	assert_int_equal(rig_call_context(r, FWIF_KCCB_CONTEXT_KILL, blocker), FWIF_STATUS_OK);
	assert_true(rig_run(r));
}

/* Jobs queued while an endless one runs: five contexts, two jobs each. */
static void pile_up(struct rig *r, struct rig_context *blocker, struct rig_context *c,
		    const u32 *priority)
{
	static struct rig_vm endless, vm;
	u32 i, job;

	rig_vm(r, &endless);
	rig_vm(r, &vm);
	rig_vm_endless(&endless);
	rig_context(r, &endless, 0, blocker);
	rig_compute(blocker, RIG_STREAM_VA, 1);
	rig_submit(r, blocker);
	for (i = 0; i < 5; i++) {
		rig_context(r, &vm, priority[i], &c[i]);
		for (job = 1; job <= 2; job++) {
			rig_compute(&c[i], RIG_STREAM_VA, job);
			rig_update(&c[i], c[i].object_addr, job);
		}
		rig_submit(r, &c[i]);
		assert_int_equal(*c[i].object, 0);
	}
}

static void assert_order(const struct rig_context *c, const u32 *priority, const u32 *order)
{
	u32 i;

	for (i = 1; i < 5; i++) {
		u32 before = order[i - 1], after = order[i];
		/* Higher priorities first; within a priority, all first jobs before the second. */
		u32 last = priority[before] > priority[after] ? 2 : 1;

		assert_true(rig_result(&c[before], last)->time_end <=
			    rig_result(&c[after], 1)->time_start);
	}
}

static void high_priority_runs_before_normal_before_low(void **state)
{
	static const u32 priority[5] = { 0, 1, 2, 1, 0 };
	static const u32 order[5] = { 2, 1, 3, 0, 4 };
	struct rig *r = rig_booted();
	struct rig_context blocker, c[5];

	(void)state;
	pile_up(r, &blocker, c, priority);
	release(r, &blocker);
	assert_order(c, priority, order);
	rig_destroy(r);
}

static u32 set_priority(struct rig *r, const struct rig_context *c, u32 priority)
{
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_CONTEXT_PRIORITY, .context = c->addr, .priority = priority,
	};

	return rig_call(r, &cmd);
}

/*
 * Contexts of one priority run in the order in which they became ready, independent of earlier
 * jobs. All commands are sent together: a context that waits long runs before a higher priority.
 */
static void changed_priority_applies_to_queued_jobs(void **state)
{
	static const u32 before[5] = { 2, 1, 1, 0, 0 }, after[5] = { 0, 1, 2, 2, 1 };
	static const u32 order[5] = { 2, 3, 1, 4, 0 };
	struct rig *r = rig_booted();
	struct rig_context blocker, c[5];
	u32 entry[5], i;

	(void)state;
	pile_up(r, &blocker, c, before);
	for (i = 5; i--;) {
		const struct fwif_kccb_cmd cmd = {
			.type = FWIF_KCCB_CONTEXT_PRIORITY, .context = c[i].addr,
			.priority = after[i],
		};

		entry[i] = rig_put(r, &cmd);
	}
	release(r, &blocker);
	for (i = 0; i < 5; i++)
		assert_int_equal(r->kccb_status[entry[i]], FWIF_STATUS_OK);
	assert_order(c, after, order);
	rig_destroy(r);
}

static void priority_out_of_range_is_refused(void **state)
{
	struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING, .priority = 1 };
	struct rig_context c, hole = { .addr = 0x80000000 };
	struct rig_vm vm;
	struct rig *r = rig_with_context(&vm, &c);

	(void)state;
	/* The firmware has not registered the context yet. */
	assert_int_equal(set_priority(r, &c, 2), FWIF_STATUS_OK);
	assert_int_equal(set_priority(r, &c, FWIF_PRIORITIES), FWIF_STATUS_INVALID);
	rig_compute(&c, RIG_STREAM_VA, 1);
	rig_submit(r, &c);
	assert_int_equal(set_priority(r, &c, FWIF_PRIORITIES), FWIF_STATUS_INVALID);
	assert_int_equal(set_priority(r, &c, ~0u), FWIF_STATUS_INVALID);
	assert_int_equal(set_priority(r, &hole, 1), FWIF_STATUS_INVALID);
	assert_int_equal(set_priority(r, &c, 0), FWIF_STATUS_OK);
	assert_int_equal(rig_call(r, &ping), FWIF_STATUS_INVALID);
	rig_assert_alive(r);
	rig_destroy(r);
}

static void contexts_of_one_priority_run_round_robin_by_job(void **state)
{
	static const u32 priority[5] = { 1, 1, 1, 1, 1 };
	struct rig *r = rig_booted();
	struct rig_context blocker, c[5];
	u32 i;

	(void)state;
	pile_up(r, &blocker, c, priority);
	release(r, &blocker);
	for (i = 0; i < 4; i++) {
		assert_true(rig_result(&c[i], 1)->time_end <= rig_result(&c[i + 1], 1)->time_start);
		assert_true(rig_result(&c[4], 1)->time_end <= rig_result(&c[i], 2)->time_start);
	}
	rig_destroy(r);
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
