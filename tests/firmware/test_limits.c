// SPDX-License-Identifier: MIT
/*
 * Limits of the PDS that the firmware sets by data master and load. VDM, PDM and TDM are fakes; the
 * registers are those of the PDS.
 */
#include "scene.h"

enum { TASKS, UNIFIED, COMMON, LOCAL, RESOURCES };

/* One context on each data master, all of one VM, and a scene. */
struct masters {
	struct fixture *r;
	struct fx_vm vm;
	struct scene scene;
	struct fx_context c[FWIF_DM_COUNT];
};

static int set_up(void **state)
{
	static struct masters f;
	u32 dm;

	f.r = fx_booted();
	fx_vm(f.r, &f.vm);
	fx_vm_endless(&f.vm);
	scene_make(f.r, true, &f.scene);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		fx_context_of(f.r, &f.vm, dm, 1, &f.c[dm]);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct masters *f = *state;

	fx_destroy(f->r);
	return 0;
}

static u32 reg(struct masters *f, u32 offset)
{
	return (u32)pumice_gpu_mmio_read(f->r->gpu, 0, offset, 4);
}

static void run(struct masters *f, u32 dm)
{
	submit_job(f->r, &f->c[dm], &f->scene, 1);
}

/* Assert that the limits of a data master are its share, in 1/256, of each USC; 0: no limit. */
static void assert_share(struct masters *f, u32 dm, u32 share)
{
	static const u32 first[] = {
		[FWIF_DM_CDM] = PUMICE_PDS_CDM_TASKS, [FWIF_DM_VDM] = PUMICE_PDS_VDM_TASKS,
		[FWIF_DM_PDM] = PUMICE_PDS_PDM_TASKS, [FWIF_DM_RDM] = PUMICE_PDS_RDM_TASKS,
	};
	const u32 stores = reg(f, PUMICE_SYS_STORES);
	const u32 size[RESOURCES] = {
		PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__SLOTS, reg(f, PUMICE_SYS_CONFIG)),
		PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB, stores) << 10,
		PUMICE_FIELD_GET(PUMICE_SYS_STORES__COMMON_KIB, stores) << 10,
		PUMICE_FIELD_GET(PUMICE_SYS_STORES__LOCAL_KIB, stores) << 10,
	};
	u32 i;

	for (i = 0; i < (dm == FWIF_DM_CDM ? RESOURCES : LOCAL); i++) {
		assert_int_not_equal(size[i], 0);
		assert_int_equal(reg(f, first[dm] + 4 * i), (u64)size[i] * share / 256);
	}
}

static void assert_shares(struct masters *f, u32 cdm, u32 vdm, u32 pdm)
{
	assert_share(f, FWIF_DM_CDM, cdm);
	assert_share(f, FWIF_DM_VDM, vdm);
	assert_share(f, FWIF_DM_PDM, pdm);
}

static void data_masters_are_limited_while_several_have_jobs(void **state)
{
	struct masters *f = *state;

	assert_shares(f, 0, 0, 0);
	run(f, FWIF_DM_CDM);
	assert_shares(f, 0, 0, 0);
	run(f, FWIF_DM_PDM);
	assert_shares(f, 128, 128, 192);
	end_and_run(f->r, FAKE_PDM, DM_DONE);
	assert_shares(f, 0, 0, 0);
}

/* Shares are those of two data masters; of more, each has less. */
static void shares_decrease_with_the_load(void **state)
{
	struct masters *f = *state;

	run(f, FWIF_DM_CDM);
	run(f, FWIF_DM_PDM);
	assert_shares(f, 128, 128, 192);
	run(f, FWIF_DM_VDM);
	assert_shares(f, 85, 85, 128);
	run(f, FWIF_DM_RDM);
	assert_shares(f, 64, 64, 96);
	assert_share(f, FWIF_DM_RDM, 64);
	f->r->boot->pds_shares = 64 | 255u << 8 | 32u << 16;
	run(f, FWIF_DM_TDM);
	assert_shares(f, 32, 0, 16);
	f->r->boot->pds_shares = 0;
	end_and_run(f->r, FAKE_PDM, DM_DONE);
	assert_shares(f, 85, 85, 128);
	end_and_run(f->r, FAKE_VDM, DM_DONE);
	assert_shares(f, 128, 128, 192);
}

static void transfers_do_not_limit_others(void **state)
{
	struct masters *f = *state;

	run(f, FWIF_DM_TDM);
	assert_shares(f, 0, 0, 0);
	run(f, FWIF_DM_VDM);
	assert_shares(f, 0, 0, 0);
	assert_true(fake[FAKE_TDM].status.busy && fake[FAKE_VDM].status.busy);
}

static void rays_have_a_share_of_their_own(void **state)
{
	struct masters *f = *state;

	run(f, FWIF_DM_RDM);
	assert_share(f, FWIF_DM_RDM, 0);
	run(f, FWIF_DM_PDM);
	assert_share(f, FWIF_DM_RDM, 128);
	assert_shares(f, 128, 128, 192);
	f->r->boot->pds_shares = 48u << 8 * FWIF_PDS_SHARE_BYTE_RDM;
	run(f, FWIF_DM_VDM);
	assert_share(f, FWIF_DM_RDM, 32);
	end_and_run(f->r, FAKE_VDM, DM_DONE);
	end_and_run(f->r, FAKE_PDM, DM_DONE);
	assert_share(f, FWIF_DM_RDM, 0);
}

static void shares_of_the_host_apply_from_the_next_job(void **state)
{
	struct masters *f = *state;

	run(f, FWIF_DM_CDM);
	run(f, FWIF_DM_VDM);
	f->r->boot->pds_shares = 64 | 255u << 8 | 32u << 16;
	assert_shares(f, 128, 128, 192);
	run(f, FWIF_DM_TDM);
	assert_shares(f, 64, 0, 32);
	f->r->boot->pds_shares = 0;
	end_and_run(f->r, FAKE_TDM, DM_DONE);
	assert_shares(f, 128, 128, 192);
}

/* A limit of 0 would be none. */
static void a_small_share_is_a_limit(void **state)
{
	struct masters *f = *state;

	f->r->boot->pds_shares = 1 | 1u << 8 | 1u << 16;
	run(f, FWIF_DM_VDM);
	run(f, FWIF_DM_PDM);
	assert_int_equal(reg(f, PUMICE_PDS_VDM_TASKS), 1);
	assert_int_equal(reg(f, PUMICE_PDS_CDM_TASKS), 1);
	assert_int_not_equal(reg(f, PUMICE_PDS_PDM_UNIFIED), 0);
}

static void the_policy_of_the_host_applies_from_the_next_job(void **state)
{
	struct masters *f = *state;
	u32 policy;

	assert_int_equal(reg(f, PUMICE_PDS_DMS_POLICY), PUMICE_DMS_POLICY_GRAPHICS);
	for (policy = PUMICE_DMS_POLICY_COUNT; policy--;) {
		f->r->boot->dms_policy = policy;
		run(f, FWIF_DM_VDM);
		assert_int_equal(reg(f, PUMICE_PDS_DMS_POLICY), policy);
		f->r->boot->dms_policy = (policy + 1) % PUMICE_DMS_POLICY_COUNT;
		assert_int_equal(reg(f, PUMICE_PDS_DMS_POLICY), policy);
		end_and_run(f->r, FAKE_VDM, DM_DONE);
		assert_int_equal(reg(f, PUMICE_PDS_DMS_POLICY),
				 (policy + 1) % PUMICE_DMS_POLICY_COUNT);
	}
}

static void policies_that_do_not_exist_are_the_default(void **state)
{
	static const u32 bad[] = { PUMICE_DMS_POLICY_COUNT, PUMICE_DMS_POLICY_COUNT + 2,
				   0x80000000, UINT32_MAX };
	struct masters *f = *state;
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		f->r->boot->dms_policy = PUMICE_DMS_POLICY_CDM_PDM_VDM;
		run(f, FWIF_DM_VDM);
		assert_int_equal(reg(f, PUMICE_PDS_DMS_POLICY), PUMICE_DMS_POLICY_CDM_PDM_VDM);
		f->r->boot->dms_policy = bad[i];
		end_and_run(f->r, FAKE_VDM, DM_DONE);
		assert_int_equal(reg(f, PUMICE_PDS_DMS_POLICY), PUMICE_DMS_POLICY_GRAPHICS);
	}
}

static void limits_of_a_former_firmware_are_removed(void **state)
{
	struct fixture *r = fx_create();

	(void)state;
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_PDS_PDM_COMMON, 4096, 4);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_PDS_CDM_LOCAL, 4096, 4);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_PDS_DMS_POLICY, PUMICE_DMS_POLICY_ROUND_ROBIN, 4);
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
	assert_int_equal(pumice_gpu_mmio_read(r->gpu, 0, PUMICE_PDS_PDM_COMMON, 4), 0);
	assert_int_equal(pumice_gpu_mmio_read(r->gpu, 0, PUMICE_PDS_CDM_LOCAL, 4), 0);
	assert_int_equal(pumice_gpu_mmio_read(r->gpu, 0, PUMICE_PDS_DMS_POLICY, 4),
			 PUMICE_DMS_POLICY_GRAPHICS);
	fx_destroy(r);
}

/* Register map 2.5 added the registers of the RDM, 2.4 the policy. */
static void registers_that_an_older_device_lacks_are_not_written(void **state)
{
	enum { UNTOUCHED = 7, FORMER_POLICY = PUMICE_DMS_POLICY_CDM_PDM_VDM };
	u32 minor;

	(void)state;
	for (minor = 3; minor <= 5; minor++) {
		struct masters f = { .r = fx_create() };

		fake_version = (PUMICE_SYS_VERSION__RESET & ~PUMICE_SYS_VERSION__MINOR__MASK) |
			       minor;
		pumice_gpu_mmio_write(f.r->gpu, 0, PUMICE_PDS_RDM_TASKS, UNTOUCHED, 4);
		pumice_gpu_mmio_write(f.r->gpu, 0, PUMICE_PDS_DMS_POLICY, FORMER_POLICY, 4);
		assert_int_equal(fx_boot(f.r), FWIF_STATE_READY);
		assert_int_equal(reg(&f, PUMICE_PDS_RDM_TASKS), minor < 5 ? UNTOUCHED : 0);
		assert_int_equal(reg(&f, PUMICE_PDS_DMS_POLICY), minor < 4 ? FORMER_POLICY : 0);
		fx_vm(f.r, &f.vm);
		scene_make(f.r, true, &f.scene);
		fx_context_of(f.r, &f.vm, FWIF_DM_VDM, 1, &f.c[FWIF_DM_VDM]);
		fx_context_of(f.r, &f.vm, FWIF_DM_PDM, 1, &f.c[FWIF_DM_PDM]);
		f.r->boot->dms_policy = PUMICE_DMS_POLICY_ROUND_ROBIN;
		run(&f, FWIF_DM_VDM);
		run(&f, FWIF_DM_PDM);
		assert_share(&f, FWIF_DM_VDM, 128);
		if (minor < 5)
			assert_int_equal(reg(&f, PUMICE_PDS_RDM_TASKS), UNTOUCHED);
		else
			assert_share(&f, FWIF_DM_RDM, 128);
		assert_int_equal(reg(&f, PUMICE_PDS_DMS_POLICY),
				 minor < 4 ? FORMER_POLICY : PUMICE_DMS_POLICY_ROUND_ROBIN);
		fake_version = 0;
		fx_destroy(f.r);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(data_masters_are_limited_while_several_have_jobs),
		TEST(shares_decrease_with_the_load),
		TEST(transfers_do_not_limit_others),
		TEST(rays_have_a_share_of_their_own),
		TEST(shares_of_the_host_apply_from_the_next_job),
		TEST(a_small_share_is_a_limit),
		TEST(the_policy_of_the_host_applies_from_the_next_job),
		TEST(policies_that_do_not_exist_are_the_default),
		cmocka_unit_test(limits_of_a_former_firmware_are_removed),
		cmocka_unit_test(registers_that_an_older_device_lacks_are_not_written),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
