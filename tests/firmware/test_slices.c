// SPDX-License-Identifier: MIT
/* Time slices: order of contexts whose jobs are switched out at work-group boundaries. */
#include <string.h>

#include "fixture.h"

#define GROUPS	6000u	/* of a job that needs many slices */
#define LOOPS	40u	/* of the loop in each */
#define SLICE_NS (FWIF_SLICE_MIN_US * 1000ull)
/* Work-groups in flight when a job is switched out end first. */
#define DRAIN_NS SLICE_NS

/* A fixture with the shortest slices, and a VM with a job of many slices. */
static struct fixture *slices_fixture(struct fx_vm *vm)
{
	struct fixture *r = fx_booted();

	r->boot->slice_us = FWIF_SLICE_MIN_US;
	fx_vm(r, vm);
	fx_vm_groups(vm, GROUPS, LOOPS, false);
	return r;
}

static void add_job(struct fx_context *c, u32 seqno)
{
	fx_compute(c, FX_STREAM_VA, seqno);
	fx_update(c, c->object_addr, seqno);
}

/* Submit a context's commands without running them to the end. */
static void hand_over(struct fixture *r, const struct fx_context *c)
{
	fx_put_kick(r, c);
	fx_kick(r);
}

/* Submit two contexts of one priority, with a job each. */
static void hand_over_two(struct fixture *r, const struct fx_vm *vm_a, const struct fx_vm *vm_b,
			  struct fx_context *a, struct fx_context *b)
{
	fx_context(r, vm_a, 1, a);
	fx_context(r, vm_b, 1, b);
	add_job(a, 1);
	add_job(b, 1);
	hand_over(r, a);
	hand_over(r, b);
}

/* Run until the context has the data master. */
static void run_until_active(struct fixture *r, const struct fx_context *c)
{
	u32 i;

	for (i = 0; i < 10000 && r->boot->active_context != c->f->id; i++)
		fx_steps(r, 1);
	assert_int_equal(r->boot->active_context, c->f->id);
}

static void assert_whole(const struct fx_context *c, u32 seqno)
{
	assert_int_equal(*c->object, seqno);
	assert_int_equal(fx_result(c, seqno)->fault, 0);
	assert_int_equal(fx_result(c, seqno)->groups, GROUPS);
}

static void only_ready_job_is_never_switched_out(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_context(r, &vm, 1, &c);
	add_job(&c, 1);
	fx_submit(r, &c);
	assert_whole(&c, 1);
	assert_int_equal(fx_result(&c, 1)->slices, 1);
	assert_int_equal(r->boot->switches, 0);
	assert_true(fx_result(&c, 1)->run_ticks > 4 * SLICE_NS);
	fx_destroy(r);
}

static void jobs_of_one_priority_run_round_robin_by_slice(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	hand_over_two(r, &vm, &vm, &a, &b);
	fx_finish(r);
	assert_whole(&a, 1);
	assert_whole(&b, 1);
	assert_true(fx_result(&a, 1)->slices > 3);
	assert_in_range(fx_result(&b, 1)->slices, fx_result(&a, 1)->slices - 1,
			fx_result(&a, 1)->slices + 1);
	assert_int_equal(r->boot->switches,
			 fx_result(&a, 1)->slices + fx_result(&b, 1)->slices - 2);
	/* Both were queued from the beginning to nearly the end. */
	assert_true(fx_result(&b, 1)->time_start < fx_result(&a, 1)->time_end);
	assert_true(fx_result(&a, 1)->run_ticks + fx_result(&b, 1)->run_ticks <=
		    fx_result(&b, 1)->time_end - fx_result(&a, 1)->time_start);
	fx_destroy(r);
}

static void high_priority_starts_within_one_slice_of_a_long_job(void **state)
{
	struct fx_context low, high;
	struct fx_vm vm, empty;
	struct fixture *r = slices_fixture(&vm);
	u64 kicked;

	(void)state;
	fx_vm(r, &empty);
	r->boot->slice_us = 10 * FWIF_SLICE_MIN_US;
	fx_context(r, &vm, 0, &low);
	fx_context(r, &empty, 2, &high);
	add_job(&low, 1);
	add_job(&high, 1);
	hand_over(r, &low);
	run_until_active(r, &low);
	kicked = fx_clock(r);
	hand_over(r, &high);
	fx_finish(r);
	assert_whole(&low, 1);
	assert_int_equal(*high.object, 1);
	assert_true(fx_result(&high, 1)->time_start - kicked < 10 * SLICE_NS);
	assert_true(fx_result(&high, 1)->time_end < fx_result(&low, 1)->time_end);
	assert_int_equal(fx_result(&low, 1)->slices, 2);
	fx_destroy(r);
}

static void raised_priority_preempts_a_long_job(void **state)
{
	struct fwif_kccb_cmd raise = { .type = FWIF_KCCB_CONTEXT_PRIORITY, .priority = 2 };
	struct fx_context running, ready;
	struct fx_vm vm, empty;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_vm(r, &empty);
	fx_context(r, &vm, 1, &running);
	fx_context(r, &empty, 0, &ready);
	add_job(&running, 1);
	add_job(&ready, 1);
	hand_over(r, &running);
	run_until_active(r, &running);
	hand_over(r, &ready);
	raise.context = ready.addr;
	fx_put(r, &raise);
	fx_kick(r);
	fx_finish(r);
	assert_whole(&running, 1);
	assert_int_equal(*ready.object, 1);
	assert_true(fx_result(&ready, 1)->time_end < fx_result(&running, 1)->time_end);
	assert_int_equal(fx_result(&running, 1)->slices, 2);
	fx_destroy(r);
}

static void lowered_priority_is_preempted(void **state)
{
	struct fwif_kccb_cmd lower = { .type = FWIF_KCCB_CONTEXT_PRIORITY, .priority = 0 };
	struct fx_context running, ready;
	struct fx_vm vm, empty;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_vm(r, &empty);
	fx_context(r, &vm, 2, &running);
	fx_context(r, &empty, 1, &ready);
	add_job(&running, 1);
	add_job(&ready, 1);
	hand_over(r, &running);
	run_until_active(r, &running);
	hand_over(r, &ready);
	lower.context = running.addr;
	fx_put(r, &lower);
	fx_kick(r);
	fx_finish(r);
	assert_whole(&running, 1);
	assert_true(fx_result(&ready, 1)->time_end < fx_result(&running, 1)->time_end);
	assert_int_equal(fx_result(&running, 1)->slices, 2);
	fx_destroy(r);
}

static void lower_priority_does_not_preempt_a_higher_one(void **state)
{
	struct fx_context low, high;
	struct fx_vm vm, empty;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_vm(r, &empty);
	/* Long enough that no context starves meanwhile. */
	r->boot->slice_us = FWIF_SLICE_MAX_US;
	fx_context(r, &vm, 2, &high);
	fx_context(r, &empty, 0, &low);
	add_job(&high, 1);
	add_job(&low, 1);
	hand_over(r, &high);
	run_until_active(r, &high);
	hand_over(r, &low);
	fx_finish(r);
	assert_whole(&high, 1);
	assert_int_equal(fx_result(&high, 1)->slices, 1);
	assert_true(fx_result(&low, 1)->time_start >= fx_result(&high, 1)->time_end);
	assert_int_equal(r->boot->boosts, 0);
	fx_destroy(r);
}

static void context_without_save_area_is_never_switched_out(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_context(r, &vm, 0, &a);
	a.f->save = 0;
	fx_context(r, &vm, 2, &b);
	add_job(&a, 1);
	add_job(&b, 1);
	hand_over(r, &a);
	run_until_active(r, &a);
	hand_over(r, &b);
	fx_finish(r);
	assert_whole(&a, 1);
	assert_whole(&b, 1);
	assert_int_equal(fx_result(&a, 1)->slices, 1);
	assert_true(fx_result(&b, 1)->time_start >= fx_result(&a, 1)->time_end);
	fx_destroy(r);
}

#define CROWD	64u

/* 64 contexts at three priorities, each with a job of several slices. */
static void crowd(struct fixture *r, const struct fx_vm *vm, struct fx_context *c)
{
	u32 i;

	for (i = 0; i < CROWD; i++) {
		fx_context(r, vm, i % FWIF_PRIORITIES, &c[i]);
		add_job(&c[i], 1);
		hand_over(r, &c[i]);
		fx_steps(r, 3);
	}
}

static void none_of_64_contexts_starves(void **state)
{
	static struct fx_context c[CROWD];
	u64 longest = 0, wait;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);
	u32 i;

	(void)state;
	crowd(r, &vm, c);
	fx_finish(r);
	assert_true(r->boot->boosts > 0);
	for (i = 0; i < CROWD; i++) {
		assert_whole(&c[i], 1);
		wait = fx_result(&c[i], 1)->time_start - fx_result(&c[0], 1)->time_start;
		longest = wait > longest ? wait : longest;
	}
	/* Each starts within the starvation limit and one round of all others, drained. */
	print_message("longest wait for the first slice: %llu us\n",
		      (unsigned long long)longest / 1000);
	assert_true(longest < (FWIF_STARVE_SLICES + CROWD) * (SLICE_NS + DRAIN_NS));
	fx_destroy(r);
}

static void many_contexts_of_one_priority_share_time_equally(void **state)
{
	static struct fx_context c[CROWD];
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);
	u64 shortest = UINT64_MAX, longest = 0;
	u32 i;

	(void)state;
	for (i = 0; i < CROWD; i++) {
		fx_context(r, &vm, 1, &c[i]);
		add_job(&c[i], 1);
		fx_put_kick(r, &c[i]);
		if (i % 8 == 7) {
			fx_kick(r);
			fx_steps(r, 3);
		}
	}
	for (i = 0; i < 1000000 && !*c[0].object; i++)
		fx_steps(r, 1);
	assert_int_equal(*c[0].object, 1);
	for (i = 1; i < CROWD; i++) {
		shortest = c[i].f->run_ticks < shortest ? c[i].f->run_ticks : shortest;
		longest = c[i].f->run_ticks > longest ? c[i].f->run_ticks : longest;
	}
	assert_true(longest - shortest < 3 * (SLICE_NS + DRAIN_NS));
	fx_finish(r);
	fx_destroy(r);
}

static void context_killed_while_switched_out_ends_as_killed(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);
	u64 run_ticks;

	(void)state;
	hand_over_two(r, &vm, &vm, &a, &b);
	run_until_active(r, &a);
	run_until_active(r, &b);
	assert_int_equal(a.f->job_seqno, 1);
	assert_int_equal(a.f->slice_start, 0);
	assert_true(a.f->job_ticks > 0);
	run_ticks = a.f->job_ticks;
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_KILL, &a), FWIF_STATUS_OK);
	fx_finish(r);
	assert_int_equal(*a.object, 1);
	assert_int_equal(fx_result(&a, 1)->fault, PUMICE_FAULT_KILLED);
	/* It is not resumed in order to end. */
	assert_int_equal(fx_result(&a, 1)->slices, 1);
	assert_int_equal(fx_result(&a, 1)->run_ticks, run_ticks);
	assert_true(fx_result(&a, 1)->time_start < fx_result(&b, 1)->time_start);
	assert_int_equal(a.f->job_ticks, 0);
	assert_whole(&b, 1);
	fx_destroy(r);
}

static void fault_after_a_switch_is_reported_and_others_continue(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm, faulty;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_vm(r, &faulty);
	fx_vm_groups(&faulty, GROUPS, LOOPS, true);
	hand_over_two(r, &faulty, &vm, &a, &b);
	fx_finish(r);
	assert_int_equal(*a.object, 1);
	assert_int_equal(fx_result(&a, 1)->fault, PUMICE_FAULT_CDM_COMMAND);
	assert_true(fx_result(&a, 1)->slices > 1);
	assert_whole(&b, 1);
	fx_destroy(r);
}

static void unmapped_save_area_faults_the_job_only(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_context(r, &vm, 1, &a);
	a.f->save = FX_FW_HOLE;
	fx_context(r, &vm, 1, &b);
	add_job(&a, 1);
	add_job(&b, 1);
	hand_over(r, &a);
	hand_over(r, &b);
	fx_finish(r);
	assert_int_equal(*a.object, 1);
	assert_int_equal(fx_result(&a, 1)->unit, PUMICE_UNIT_CDM);
	assert_int_equal(fx_result(&a, 1)->access, PUMICE_ACCESS_WRITE);
	assert_int_equal(fx_result(&a, 1)->mmu_context, 0);
	assert_int_equal(fx_result(&a, 1)->addr, FX_FW_HOLE);
	assert_whole(&b, 1);
	fx_assert_alive(r);
	fx_destroy(r);
}

static void corrupt_save_area_faults_the_job_only(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	hand_over_two(r, &vm, &vm, &a, &b);
	run_until_active(r, &a);
	run_until_active(r, &b);
	memset(a.save, 0xff, PUMICE_CDM_SAVE_WORDS * 4);
	fx_finish(r);
	assert_int_equal(*a.object, 1);
	assert_int_equal(fx_result(&a, 1)->fault, PUMICE_FAULT_CDM_SAVE);
	assert_whole(&b, 1);
	fx_destroy(r);
}

static void misaligned_save_area_refuses_the_context(void **state)
{
	static const u32 bad[] = { 4, 0x80000000, PUMICE_FW_WINDOW_SIZE - 64, 0xfffffff8 };
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 i, entry;

	(void)state;
	fx_vm(r, &vm);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fx_context(r, &vm, 1, &c);
		c.f->save = bad[i];
		add_job(&c, 1);
		entry = fx_put_kick(r, &c);
		fx_kick(r);
		fx_run(r);
		assert_int_equal(r->kccb_status[entry], FWIF_STATUS_INVALID);
	}
	fx_assert_alive(r);
	fx_destroy(r);
}

static void run_time_of_a_job_is_published_to_the_host(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);
	u64 start;

	(void)state;
	fx_context(r, &vm, 1, &c);
	add_job(&c, 7);
	assert_int_equal(c.f->slice_start, 0);
	hand_over(r, &c);
	run_until_active(r, &c);
	start = c.f->slice_start;
	assert_in_range(start, 1, fx_clock(r));
	assert_int_equal(c.f->job_seqno, 7);
	fx_finish(r);
	assert_int_equal(c.f->slice_start, 0);
	assert_int_equal(c.f->job_ticks, 0);
	assert_int_equal(c.f->slices, 1);
	assert_int_equal(c.f->run_ticks, fx_result(&c, 7)->run_ticks);
	assert_int_equal(fx_result(&c, 7)->run_ticks,
			 fx_result(&c, 7)->time_end - fx_result(&c, 7)->time_start);
	fx_destroy(r);
}

/* The context's time is summed over all slices of all jobs; a result's over its own job. */
static void run_time_of_a_job_is_the_sum_of_its_slices(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);
	u64 first;

	(void)state;
	hand_over_two(r, &vm, &vm, &a, &b);
	fx_finish(r);
	assert_true(fx_result(&a, 1)->slices > 3);
	assert_int_equal(fx_result(&a, 1)->run_ticks, a.f->run_ticks);
	assert_int_equal(fx_result(&b, 1)->run_ticks, b.f->run_ticks);
	first = a.f->run_ticks;
	add_job(&a, 2);
	add_job(&b, 2);
	hand_over(r, &a);
	hand_over(r, &b);
	fx_finish(r);
	assert_true(fx_result(&a, 2)->slices > 3);
	assert_int_equal(fx_result(&a, 2)->run_ticks, a.f->run_ticks - first);
	fx_destroy(r);
}

/* Fences of jobs are signalled by it: the kick's own interrupt was much earlier. */
static void update_after_a_job_interrupts_the_host(void **state)
{
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);

	(void)state;
	fx_context(r, &vm, 1, &c);
	add_job(&c, 1);
	hand_over(r, &c);
	run_until_active(r, &c);
	fx_steps(r, 100);
	assert_int_equal(*c.object, 0);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK, 4);
	r->irqs = 0;
	fx_finish(r);
	assert_int_equal(*c.object, 1);
	assert_int_equal(r->irqs, 1);
	fx_destroy(r);
}

static void log_records_switches_and_boosts(void **state)
{
	static struct fx_context c[CROWD];
	bool seen[FWIF_LOG_EVENT_COUNT] = { false };
	struct fx_vm vm;
	struct fixture *r = slices_fixture(&vm);
	u32 i, n;

	(void)state;
	crowd(r, &vm, c);
	for (i = 0; i < 3000; i++) {
		fx_steps(r, 20);
		for (n = 0; n < FX_LOG; n++) {
			const struct fwif_log_entry *e = &r->log[n];

			if (e->sequence && e->event < FWIF_LOG_EVENT_COUNT)
				seen[e->event] = true;
		}
	}
	assert_true(seen[FWIF_LOG_JOB_SWITCH]);
	assert_true(seen[FWIF_LOG_JOB_RESUME]);
	assert_true(seen[FWIF_LOG_CONTEXT_BOOST]);
	fx_finish(r);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_ready_job_is_never_switched_out),
		cmocka_unit_test(jobs_of_one_priority_run_round_robin_by_slice),
		cmocka_unit_test(high_priority_starts_within_one_slice_of_a_long_job),
		cmocka_unit_test(raised_priority_preempts_a_long_job),
		cmocka_unit_test(lowered_priority_is_preempted),
		cmocka_unit_test(lower_priority_does_not_preempt_a_higher_one),
		cmocka_unit_test(context_without_save_area_is_never_switched_out),
		cmocka_unit_test(none_of_64_contexts_starves),
		cmocka_unit_test(many_contexts_of_one_priority_share_time_equally),
		cmocka_unit_test(context_killed_while_switched_out_ends_as_killed),
		cmocka_unit_test(fault_after_a_switch_is_reported_and_others_continue),
		cmocka_unit_test(unmapped_save_area_faults_the_job_only),
		cmocka_unit_test(corrupt_save_area_faults_the_job_only),
		cmocka_unit_test(misaligned_save_area_refuses_the_context),
		cmocka_unit_test(run_time_of_a_job_is_published_to_the_host),
		cmocka_unit_test(run_time_of_a_job_is_the_sum_of_its_slices),
		cmocka_unit_test(update_after_a_job_interrupts_the_host),
		cmocka_unit_test(log_records_switches_and_boosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
