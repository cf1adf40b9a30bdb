// SPDX-License-Identifier: MIT
/*
 * Jobs on all data masters: parallel execution, each with its own queue and its own
 * end; invalid commands; kills; MMU contexts. VDM, PDM, TDM and RDM are fakes.
 */
#include "scene.h"

#include <string.h>

/* One context on each data master, all of one VM, and a scene. */
struct masters {
	struct fixture *r;
	struct fx_vm vm;
	struct scene scene;
	struct fx_context c[FWIF_DM_COUNT];
};

/* Number of the fake of a data master. */
static unsigned int fake_of(u32 dm)
{
	static const unsigned int number[] = {
		[FWIF_DM_VDM] = FAKE_VDM, [FWIF_DM_PDM] = FAKE_PDM, [FWIF_DM_TDM] = FAKE_TDM,
		[FWIF_DM_RDM] = FAKE_RDM,
	};

	return number[dm];
}

static void make_masters(struct masters *f)
{
	u32 dm;

	f->r = fx_booted();
	fx_vm(f->r, &f->vm);
	scene_make(f->r, true, &f->scene);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		fx_context_of(f->r, &f->vm, dm, 1, &f->c[dm]);
}

/* Setup and teardown of each test. */
static int set_up(void **state)
{
	static struct masters f;

	make_masters(&f);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct masters *f = *state;

	fx_destroy(f->r);
	return 0;
}

static void jobs_run_in_parallel_and_end_in_any_order(void **state)
{
	struct masters *f = *state;
	u32 dm;

	fx_vm_endless(&f->vm);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		submit_job(f->r, &f->c[dm], &f->scene, 1);
	assert_int_equal(f->r->boot->jobs_started, FWIF_DM_COUNT);
	assert_int_equal(f->r->boot->active_context, f->c[FWIF_DM_CDM].f->id);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		assert_int_not_equal(f->c[dm].f->slice_start, 0);
	for (dm = FWIF_DM_COUNT - 1; dm >= FWIF_DM_VDM; dm--) {
		fake[fake_of(dm)].status.done = 100 + dm;
		end_and_run(f->r, fake_of(dm), DM_DONE);
		assert_int_equal(*f->c[dm].object, 1);
		assert_int_equal(fx_result(&f->c[dm], 1)->fault, PUMICE_FAULT_NONE);
		assert_int_equal(fx_result(&f->c[dm], 1)->groups, 100 + dm);
		assert_int_equal(fx_result(&f->c[dm], 1)->slices, 1);
		assert_int_equal(f->c[dm].f->slice_start, 0);
		assert_int_equal(*f->c[FWIF_DM_CDM].object, 0);
	}
	assert_int_equal(fx_call_context(f->r, FWIF_KCCB_CONTEXT_KILL, &f->c[0]), FWIF_STATUS_OK);
	assert_int_equal(f->r->boot->jobs_done, FWIF_DM_COUNT);
}

static void fields_of_a_job_reach_its_data_master(void **state)
{
	const u64 tag_of_seqno_9 = 9ull << PUMICE_VDM_TAG__SEQNO__SHIFT;
	struct masters *f = *state;
	u32 dm;

	f->r->boot->split_prims = 77;
	for (dm = FWIF_DM_VDM; dm < FWIF_DM_COUNT; dm++)
		submit_job(f->r, &f->c[dm], &f->scene, 9);
	for (dm = FWIF_DM_VDM; dm < FWIF_DM_COUNT; dm++) {
		const struct dm_job *job = &fake[fake_of(dm)].job;

		assert_int_equal(job->stream, FX_STREAM_VA);
		assert_int_equal(job->ctx, fake[FAKE_VDM].job.ctx);
		assert_int_equal(job->tag, tag_of_seqno_9 | f->c[dm].f->id);
		assert_int_equal(job->scene, dm >= FWIF_DM_TDM ? 0 : f->scene.addr);
		assert_false(job->partial);
	}
	assert_int_equal(fake[FAKE_VDM].job.split, 77);
	end_and_run(f->r, FAKE_VDM, DM_DONE);
	f->r->boot->split_prims = 0;
	submit_job(f->r, &f->c[FWIF_DM_VDM], &f->scene, 10);
	assert_int_equal(fake[FAKE_VDM].job.split, 1024);	/* document 004, "Master VDM" */
	end_and_run(f->r, FAKE_VDM, DM_DONE);
	f->r->boot->split_prims = 0x12345;
	submit_job(f->r, &f->c[FWIF_DM_VDM], &f->scene, 11);
	assert_int_equal(fake[FAKE_VDM].job.split, 0xffff);
}

static void fault_of_any_data_master_is_reported_in_the_result(void **state)
{
	const struct fwif_job_result *result;
	struct masters *f = *state;
	u32 dm;

	for (dm = FWIF_DM_VDM; dm < FWIF_DM_COUNT; dm++) {
		submit_job(f->r, &f->c[dm], &f->scene, 1);
		fake_fault(fake_of(dm), PUMICE_FAULT_IPF_BLOCK, 0x123456789a);
		fx_run(f->r);
		result = fx_result(&f->c[dm], 1);
		assert_int_equal(result->fault, PUMICE_FAULT_IPF_BLOCK);
		assert_int_equal(result->unit, PUMICE_UNIT_IPF);
		assert_int_equal(result->access, PUMICE_ACCESS_WRITE);
		assert_int_equal(result->addr, 0x123456789a);
		assert_int_equal(result->pc, 7);
		assert_int_equal(result->usc, 1);
		assert_int_equal(*f->c[dm].object, 1);
		/* The context continues. */
		submit_job(f->r, &f->c[dm], &f->scene, 2);
		end_and_run(f->r, fake_of(dm), DM_DONE);
		assert_int_equal(fx_result(&f->c[dm], 2)->fault, PUMICE_FAULT_NONE);
	}
	assert_int_equal(f->r->boot->jobs_faulted, FWIF_DM_COUNT - 1);
}

static void fragments_wait_for_their_geometry_and_run_parallel_to_the_next(void **state)
{
	struct fx_context *geometry, *fragment;
	struct masters *f = *state;

	geometry = &f->c[FWIF_DM_VDM];
	fragment = &f->c[FWIF_DM_PDM];
	fx_wait_for(fragment, geometry->object_addr, 1);
	submit_job(f->r, fragment, &f->scene, 1);
	submit_job(f->r, geometry, &f->scene, 1);
	submit_job(f->r, geometry, &f->scene, 2);
	assert_int_equal(fake[FAKE_PDM].starts, 0);
	end_and_run(f->r, FAKE_VDM, DM_DONE);
	assert_int_equal(fake[FAKE_PDM].starts, 1);
	assert_int_equal(fake[FAKE_VDM].starts, 2);
	assert_true(fake[FAKE_VDM].status.busy && fake[FAKE_PDM].status.busy);
}

static void assert_broken(struct masters *f, struct fx_context *c)
{
	fx_submit(f->r, c);
	assert_int_equal(c->f->state, FWIF_CONTEXT_BROKEN);
	assert_int_equal(c->f->cccb_read, c->write);
	assert_int_equal(*c->object, 0);
	while (next_message(f->r).type)
		;
}

static void commands_of_another_data_master_break_the_context(void **state)
{
	static const u32 type[] = {
		FWIF_CCCB_COMPUTE, FWIF_CCCB_GEOMETRY, FWIF_CCCB_FRAGMENT, FWIF_CCCB_TRANSFER,
		FWIF_CCCB_RAYS,
	};
	struct fx_context c;
	struct masters *f = *state;
	u32 dm, i;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++) {
		for (i = 0; i < FWIF_DM_COUNT; i++) {
			if (i == dm)
				continue;
			fx_context_of(f->r, &f->vm, dm, 1, &c);
			switch (type[i]) {
			case FWIF_CCCB_COMPUTE:
				fx_compute(&c, FX_STREAM_VA, 1);
				break;
			case FWIF_CCCB_GEOMETRY:
				put_geometry(&c, &f->scene, 1);
				break;
			case FWIF_CCCB_FRAGMENT:
				put_fragment(&c, &f->scene, 1);
				break;
			default:
				put_stream(&c, type[i], 1);
				break;
			}
			assert_broken(f, &c);
		}
	}
	assert_int_equal(f->r->boot->jobs_started, 0);
	fx_assert_alive(f->r);
}

static void malformed_render_commands_break_the_context(void **state)
{
	static const struct {
		const char *what;
		u32 type, offset, value;
	} cases[] = {
		{ "no scene", FWIF_CCCB_GEOMETRY, offsetof(struct fwif_cccb_render, scene), 0 },
		{ "scene misaligned", FWIF_CCCB_GEOMETRY,
		  offsetof(struct fwif_cccb_render, scene), 0x200008 },
		{ "scene beyond the window", FWIF_CCCB_FRAGMENT,
		  offsetof(struct fwif_cccb_render, scene), 0x80000000 },
		{ "chains beyond the window", FWIF_CCCB_FRAGMENT,
		  offsetof(struct fwif_cccb_render, scene), 0x7ffffff0 },
		{ "scene not mapped", FWIF_CCCB_FRAGMENT,
		  offsetof(struct fwif_cccb_render, scene), FX_FW_HOLE },
		{ "reserved", FWIF_CCCB_GEOMETRY, offsetof(struct fwif_cccb_render, reserved), 1 },
		{ "fragment with a record", FWIF_CCCB_FRAGMENT,
		  offsetof(struct fwif_cccb_render, render), 16 },
		{ "fragment with an object", FWIF_CCCB_FRAGMENT,
		  offsetof(struct fwif_cccb_render, before_value), 1 },
		{ "object misaligned", FWIF_CCCB_GEOMETRY,
		  offsetof(struct fwif_cccb_render, before), 0x200002 },
		{ "object not mapped", FWIF_CCCB_GEOMETRY,
		  offsetof(struct fwif_cccb_render, before), FX_FW_HOLE },
		{ "perf misaligned", FWIF_CCCB_GEOMETRY,
		  offsetof(struct fwif_cccb_render, perf), 0x200004 },
		{ "too short", FWIF_CCCB_GEOMETRY, offsetof(struct fwif_cccb_header, bytes), 40 },
		{ "too long", FWIF_CCCB_FRAGMENT, offsetof(struct fwif_cccb_header, bytes), 56 },
	};
	struct fx_context c;
	struct masters *f = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].what);
		fx_context_of(f->r, &f->vm, cases[i].type == FWIF_CCCB_GEOMETRY ? FWIF_DM_VDM :
									   FWIF_DM_PDM, 1, &c);
		if (cases[i].type == FWIF_CCCB_GEOMETRY)
			put_geometry(&c, &f->scene, 1);
		else
			put_fragment(&c, &f->scene, 1);
		memcpy(c.cccb + cases[i].offset, &cases[i].value, 4);
		fx_update(&c, c.object_addr, 1);
		assert_broken(f, &c);
	}
	assert_int_equal(f->r->boot->jobs_started, 0);
}

static void addresses_beyond_the_address_space_fault_the_job(void **state)
{
	struct fwif_cccb_render *cmd;
	struct masters *f = *state;
	u32 i;

	for (i = 0; i < 2; i++) {
		struct fx_context *c = &f->c[FWIF_DM_VDM];

		cmd = (struct fwif_cccb_render *)(void *)(c->cccb + c->write);
		put_geometry(c, &f->scene, i + 1);
		if (i)
			cmd->render = 1ull << PUMICE_MMU_VA_BITS;
		else
			cmd->stream = 1ull << PUMICE_MMU_VA_BITS;
		fx_update(c, c->object_addr, i + 1);
		fx_submit(f->r, c);
		assert_int_equal(*c->object, i + 1);
		assert_int_equal(fx_result(c, i + 1)->fault, PUMICE_FAULT_MMU_ADDRESS);
	}
	assert_int_equal(fake[FAKE_VDM].starts, 0);
}

static void kill_aborts_the_job_of_that_data_master_alone(void **state)
{
	struct masters *f = *state;
	u32 dm;

	for (dm = FWIF_DM_VDM; dm < FWIF_DM_COUNT; dm++)
		submit_job(f->r, &f->c[dm], &f->scene, 1);
	for (dm = FWIF_DM_VDM; dm < FWIF_DM_COUNT; dm++) {
		assert_int_equal(fx_call_context(f->r, FWIF_KCCB_CONTEXT_KILL, &f->c[dm]),
				 FWIF_STATUS_OK);
		assert_int_equal(fake[fake_of(dm)].aborts, 1);
		assert_int_equal(fx_result(&f->c[dm], 1)->fault, PUMICE_FAULT_KILLED);
		assert_int_equal(*f->c[dm].object, 1);
		if (dm + 1 < FWIF_DM_COUNT)
			assert_int_equal(*f->c[dm + 1].object, 0);
		assert_int_equal(fx_call_context(f->r, FWIF_KCCB_CONTEXT_RELEASE, &f->c[dm]),
				 FWIF_STATUS_OK);
	}
}

static void priorities_apply_on_each_data_master(void **state)
{
	struct fx_context low, high;
	struct masters *f = *state;

	fx_context_of(f->r, &f->vm, FWIF_DM_PDM, 0, &low);
	fx_context_of(f->r, &f->vm, FWIF_DM_PDM, 2, &high);
	submit_job(f->r, &f->c[FWIF_DM_PDM], &f->scene, 1);
	submit_job(f->r, &low, &f->scene, 2);
	submit_job(f->r, &high, &f->scene, 3);
	end_and_run(f->r, FAKE_PDM, DM_DONE);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_PDM_TAG__CONTEXT, fake[FAKE_PDM].job.tag),
			 high.f->id);
	end_and_run(f->r, FAKE_PDM, DM_DONE);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_PDM_TAG__CONTEXT, fake[FAKE_PDM].job.tag),
			 low.f->id);
}

/* There are 31 MMU contexts for VMs: with more VMs, all but this one's are reassigned. */
static void a_vm_in_use_keeps_its_mmu_context(void **state)
{
	enum { VMS = 40 };
	struct fx_context c;
	struct fx_vm vm;
	struct masters *f = *state;
	u32 i;

	submit_job(f->r, &f->c[FWIF_DM_VDM], &f->scene, 1);
	for (i = 0; i < VMS; i++) {
		fx_vm(f->r, &vm);
		fx_context_of(f->r, &vm, FWIF_DM_TDM, 1, &c);
		submit_job(f->r, &c, NULL, 1);
		assert_int_not_equal(fake[FAKE_TDM].job.ctx, fake[FAKE_VDM].job.ctx);
		assert_int_not_equal(fake[FAKE_TDM].job.ctx, 0);
		end_and_run(f->r, FAKE_TDM, DM_DONE);
		assert_int_equal(*c.object, 1);
	}
	assert_int_equal(fx_call_catalogue(f->r, FWIF_KCCB_VM_RELEASE, f->vm.catalogue),
			 FWIF_STATUS_BUSY);
	end_and_run(f->r, FAKE_VDM, DM_DONE);
	assert_int_equal(fx_call_catalogue(f->r, FWIF_KCCB_VM_RELEASE, f->vm.catalogue),
			 FWIF_STATUS_OK);
}

/* A device whose register map has no RDM: its contexts are refused, and the firmware continues. */
static void contexts_of_rays_need_register_map_2_5(void **state)
{
	const u32 version = PUMICE_SYS_VERSION__RESET & ~PUMICE_SYS_VERSION__MINOR__MASK;
	struct masters *f = *state;
	u32 minor, entry;

	for (minor = 0; minor < 8; minor++) {
		struct fx_context c;

		fake_version = version | minor;
		fx_context_of(f->r, &f->vm, FWIF_DM_RDM, 1, &c);
		put_stream(&c, FWIF_CCCB_RAYS, 1);
		fx_update(&c, c.object_addr, 1);
		entry = fx_put_kick(f->r, &c);
		fx_kick(f->r);
		fx_run(f->r);
		assert_int_equal(f->r->kccb_status[entry],
				 minor < 5 ? FWIF_STATUS_INVALID : FWIF_STATUS_OK);
		assert_int_equal(fake[FAKE_RDM].status.busy, minor >= 5);
		if (minor >= 5)
			end_and_run(f->r, FAKE_RDM, DM_DONE);
		assert_int_equal(*c.object, minor >= 5);
		submit_job(f->r, &f->c[FWIF_DM_VDM], &f->scene, minor + 1);
		end_and_run(f->r, FAKE_VDM, DM_DONE);
		assert_int_equal(*f->c[FWIF_DM_VDM].object, minor + 1);
	}
	fake_version = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(jobs_run_in_parallel_and_end_in_any_order),
		TEST(fields_of_a_job_reach_its_data_master),
		TEST(fault_of_any_data_master_is_reported_in_the_result),
		TEST(fragments_wait_for_their_geometry_and_run_parallel_to_the_next),
		TEST(commands_of_another_data_master_break_the_context),
		TEST(malformed_render_commands_break_the_context),
		TEST(addresses_beyond_the_address_space_fault_the_job),
		TEST(kill_aborts_the_job_of_that_data_master_alone),
		TEST(priorities_apply_on_each_data_master),
		TEST(a_vm_in_use_keeps_its_mmu_context),
		TEST(contexts_of_rays_need_register_map_2_5),
	};

	return cmocka_run_group_tests_name("data masters", tests, NULL, NULL);
}
