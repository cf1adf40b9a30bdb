// SPDX-License-Identifier: MIT
/*
 * Faults that a VM records: their fields, order and number, and failed jobs that are not
 * among them.
 */
#include "path.h"

#include "pumice/pumice_gfx.h"
#include "store.pasm.h"
#include "stuck.pasm.h"

#define PAGE		4096ull
#define UNMAPPED	0x5000000000ull
#define KEPT		PUMICE_VM_FAULTS

struct faults {
	struct pumice_vm_fault f[KEPT];
	uint32_t count;
	uint64_t lost;
};

/* Read those after @after, at most @room. */
static struct faults get_faults(struct path *p, uint64_t after, uint32_t room)
{
	struct faults all = { .count = room, .lost = 99 };

	memset(all.f, 0xa5, sizeof(all.f));
	assert_int_equal(pumice_vm_get_faults(p->vm, after, all.f, &all.count, sizeof(all.f[0]),
					      &all.lost), 0);
	return all;
}

/* Job @n of p->context faults at page @n after UNMAPPED. */
static void fail_jobs(struct path *p, uint32_t count)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint32_t n;

	for (n = 1; n <= count; n++) {
		const uint32_t uniforms[3] = { VA_WORDS(UNMAPPED + n * PAGE), 1 };

		path_dispatch(p, k, 1, uniforms, 3);
		assert_int_equal(path_run(p, NULL), -EIO);
	}
	pumice_kernel_destroy(k);
}

static void check_fields(struct path *p)
{
	struct pumice_job_result r;
	struct faults all = get_faults(p, 0, KEPT);

	assert_int_equal(all.count, 0);
	assert_int_equal(all.lost, 0);
	/* Job 1 is valid. */
	path_assert_works(p, p->context);
	fail_jobs(p, 1);
	assert_int_equal(pumice_context_get_job_result(p->context, 2, &r, sizeof(r)), 0);
	all = get_faults(p, 0, KEPT);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.lost, 0);
	assert_int_equal(all.f[0].number, 1);
	assert_int_equal(all.f[0].va, UNMAPPED + PAGE);
	assert_int_equal(all.f[0].precision, 1);
	assert_int_equal(all.f[0].job, 2);
	assert_int_equal(all.f[0].time, r.end);
	assert_int_equal(all.f[0].context, pumice_context_id(p->context));
	assert_int_equal(all.f[0].type, PUMICE_FAULT_TYPE_WRITE);
	assert_int_equal(all.f[0].fault, PUMICE_FAULT_MMU_PC_INVALID);
	assert_int_equal(all.f[0].unit, PUMICE_UNIT_USC_DATA);
	/* add, shl, store; and one core has no third USC. */
	assert_int_equal(all.f[0].pc, 2);
	assert_true(all.f[0].usc < PUMICE_MAX_USCS_PER_CORE);
	assert_int_equal(all.f[0].usc, r.usc);
}

static void a_fault_reports_position_and_job(void **state)
{
	(void)state;
	path_one(1, 0, check_fields);
	path_one(1, 2, check_fields);
}

/* Jobs of one work-group go from USC to USC, so that not all are on the first one. */
static void check_uscs(struct path *p)
{
	struct pumice_job_result r;
	struct faults all;
	uint32_t i, used = 0;

	fail_jobs(p, 4);
	all = get_faults(p, 0, KEPT);
	assert_int_equal(all.count, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pumice_context_get_job_result(p->context, i + 1, &r, sizeof(r)),
				 0);
		assert_int_equal(all.f[i].usc, r.usc);
		used |= r.usc;
	}
	assert_true(used);
}

static void faults_report_the_usc(void **state)
{
	(void)state;
	path_one(2, 0, check_uscs);
}

static void check_order(struct path *p)
{
	struct faults all;
	uint32_t i;

	fail_jobs(p, KEPT + 3);
	all = get_faults(p, 0, KEPT);
	assert_int_equal(all.count, KEPT);
	assert_int_equal(all.lost, 3);
	for (i = 0; i < KEPT; i++) {
		assert_int_equal(all.f[i].number, i + 4);
		assert_int_equal(all.f[i].job, i + 4);
		assert_int_equal(all.f[i].va, UNMAPPED + (i + 4) * PAGE);
	}
}

static void the_last_faults_are_kept_in_order(void **state)
{
	(void)state;
	path_one(1, 0, check_order);
	path_one(1, 2, check_order);
}

static void check_after(struct path *p)
{
	struct faults all;

	fail_jobs(p, KEPT + 3);
	/* The first recorded one is number 4. */
	all = get_faults(p, 2, KEPT);
	assert_int_equal(all.count, KEPT);
	assert_int_equal(all.lost, 1);
	assert_int_equal(all.f[0].number, 4);
	all = get_faults(p, 3, KEPT);
	assert_int_equal(all.count, KEPT);
	assert_int_equal(all.lost, 0);
	assert_int_equal(all.f[0].number, 4);
	all = get_faults(p, KEPT, KEPT);
	assert_int_equal(all.count, 3);
	assert_int_equal(all.lost, 0);
	assert_int_equal(all.f[0].number, KEPT + 1);
	assert_int_equal(all.f[2].number, KEPT + 3);
	all = get_faults(p, KEPT + 3, KEPT);
	assert_int_equal(all.count, 0);
	assert_int_equal(all.lost, 0);
	all = get_faults(p, UINT64_MAX, KEPT);
	assert_int_equal(all.count, 0);
	assert_int_equal(all.lost, 0);
}

static void faults_after_a_number_are_returned_alone(void **state)
{
	(void)state;
	path_one(1, 0, check_after);
}

static void check_room(struct path *p)
{
	struct faults all;

	fail_jobs(p, 3);
	all = get_faults(p, 0, 2);
	assert_int_equal(all.count, 2);
	assert_int_equal(all.lost, 0);
	assert_int_equal(all.f[0].number, 1);
	assert_int_equal(all.f[1].number, 2);
	assert_int_equal(all.f[2].number, 0xa5a5a5a5a5a5a5a5);
	all = get_faults(p, 1, 1);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.f[0].number, 2);
	all = get_faults(p, 0, 0);
	assert_int_equal(all.count, 0);
}

static void limited_room_returns_the_oldest(void **state)
{
	(void)state;
	path_one(1, 0, check_room);
}

/* The fragment job of a render context, which has a queue of its own, with an unmapped record. */
static void check_render(struct path *p)
{
	const struct pumice_freelist_desc pages = { 64, 64, 0, 0 };
	struct pumice_hwrt_desc set = { .width = 64, .height = 64, .samples = 1 };
	struct pumice_frame frame = { .render = UNMAPPED };
	struct pumice_freelist *list;
	struct pumice_context *render;
	struct faults all;

	assert_int_equal(pumice_freelist_create(p->vm, &pages, &list), 0);
	set.local = list;
	assert_int_equal(pumice_hwrt_create(p->vm, &set, &frame.hwrt), 0);
	assert_int_equal(pumice_context_create_type(p->vm, PUMICE_CONTEXT_RENDER,
						    PUMICE_PRIORITY_NORMAL, &render), 0);
	assert_int_equal(pumice_stream_vdm_end(p->stream, &frame.geometry), 0);
	assert_int_equal(pumice_render(render, &frame, LONG, NULL), -EIO);
	all = get_faults(p, 0, KEPT);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.f[0].va, UNMAPPED);
	assert_int_equal(all.f[0].unit, PUMICE_UNIT_ISP);
	assert_int_equal(all.f[0].type, PUMICE_FAULT_TYPE_READ);
	assert_int_equal(all.f[0].job, 2);
	assert_int_equal(all.f[0].context, pumice_context_id(render));
	pumice_context_destroy(render);
	pumice_hwrt_destroy(frame.hwrt);
	pumice_freelist_destroy(list);
}

static void a_fault_of_a_fragment_job_reports_the_render_context(void **state)
{
	(void)state;
	path_one(1, 0, check_render);
}

/* The stores are to an odd address of memory: it is reported, not that of the instruction. */
static void check_misaligned(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	const uint32_t uniforms[3] = { VA_WORDS(p->out_va + 5), 1 };
	struct faults all;

	path_dispatch(p, k, 1, uniforms, 3);
	assert_int_equal(path_run(p, NULL), -EIO);
	all = get_faults(p, 0, KEPT);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.f[0].fault, PUMICE_FAULT_USC_GLOBAL_ALIGN);
	assert_int_equal(all.f[0].type, PUMICE_FAULT_TYPE_WRITE);
	assert_true(all.f[0].va == p->out_va + 5);
	assert_int_equal(all.f[0].precision, 1);
	pumice_kernel_destroy(k);
}

static void a_misaligned_access_reports_its_address(void **state)
{
	(void)state;
	path_one(1, 0, check_misaligned);
}

/* Not an address: the offset of the store. */
static void check_local(struct path *p)
{
	struct pumice_kernel *k;
	struct faults all;

	assert_int_equal(pumice_kernel_assemble(p->vm, "local", ".local 64\nmov r0, [one], 4096\n"
						"local_store32 [one], r0, r0\nend\n", &k), 0);
	path_dispatch(p, k, 1, NULL, 0);
	assert_int_equal(path_run(p, NULL), -EIO);
	all = get_faults(p, 0, KEPT);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.f[0].fault, PUMICE_FAULT_USC_LOCAL_BOUNDS);
	assert_int_equal(all.f[0].type, PUMICE_FAULT_TYPE_LOCAL);
	assert_true(all.f[0].va == 4096);
	assert_int_equal(all.f[0].precision, 1);
	pumice_kernel_destroy(k);
}

static void a_fault_of_local_memory_reports_the_offset(void **state)
{
	(void)state;
	path_one(1, 0, check_local);
}

static void check_own(struct path *p)
{
	struct path other = *p;

	assert_int_equal(pumice_vm_create(p->dev, &other.vm), 0);
	fail_jobs(p, 1);
	assert_int_equal(get_faults(p, 0, KEPT).count, 1);
	assert_int_equal(get_faults(&other, 0, KEPT).count, 0);
	pumice_vm_destroy(other.vm);
}

static void each_vm_keeps_its_own_faults(void **state)
{
	(void)state;
	path_one(1, 0, check_own);
}

/* Submit a job that never ends and one after it; waves of the first run on return. */
static void run_two(struct path *p, struct pumice_kernel *k)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	volatile uint32_t *out = p->out_cpu;
	struct pumice_job jobs[2] = { { .context = p->context } };

	*out = 0;
	path_dispatch(p, k, 1, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &jobs[0].stream), 0);
	jobs[1] = jobs[0];
	assert_int_equal(pumice_submit(p->dev, jobs, 2, NULL), 0);
	while (!__atomic_load_n(out, __ATOMIC_RELAXED))
		path_run_briefly(p);
}

static void check_killed(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	struct pumice_job_result r;
	struct faults all;

	run_two(p, k);
	assert_int_equal(pumice_context_kill(p->context), 0);
	assert_int_equal(pumice_context_get_job_result(p->context, 2, &r, sizeof(r)), 0);
	assert_int_equal(r.fault, PUMICE_FAULT_KILLED);
	assert_int_equal(r.unit, PUMICE_UNIT_FW);
	all = get_faults(p, 0, KEPT);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.f[0].job, 1);
	assert_int_equal(all.f[0].fault, PUMICE_FAULT_KILLED);
	assert_int_equal(all.f[0].type, PUMICE_FAULT_TYPE_INSTRUCTION);
	assert_int_equal(all.f[0].unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(all.f[0].va, pumice_kernel_code_va(k) + all.f[0].pc * 16);
	pumice_kernel_destroy(k);
}

static void a_killed_job_is_listed_and_the_canceled_one_after_it_is_not(void **state)
{
	(void)state;
	path_one(1, 0, check_killed);
	path_one(2, 2, check_killed);
}

static void check_destroyed(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	struct pumice_context *own = p->context;

	assert_int_equal(pumice_context_create(p->vm, PUMICE_PRIORITY_NORMAL, &p->context), 0);
	run_two(p, k);
	pumice_context_destroy(p->context);
	p->context = own;
	assert_int_equal(get_faults(p, 0, KEPT).count, 0);
	pumice_kernel_destroy(k);
}

static void jobs_that_end_with_their_context_are_not_listed(void **state)
{
	(void)state;
	path_one(1, 0, check_destroyed);
	path_one(2, 2, check_destroyed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_reports_position_and_job),
		cmocka_unit_test(faults_report_the_usc),
		cmocka_unit_test(the_last_faults_are_kept_in_order),
		cmocka_unit_test(faults_after_a_number_are_returned_alone),
		cmocka_unit_test(limited_room_returns_the_oldest),
		cmocka_unit_test(a_fault_of_a_fragment_job_reports_the_render_context),
		cmocka_unit_test(a_misaligned_access_reports_its_address),
		cmocka_unit_test(a_fault_of_local_memory_reports_the_offset),
		cmocka_unit_test(each_vm_keeps_its_own_faults),
		cmocka_unit_test(a_killed_job_is_listed_and_the_canceled_one_after_it_is_not),
		cmocka_unit_test(jobs_that_end_with_their_context_are_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
