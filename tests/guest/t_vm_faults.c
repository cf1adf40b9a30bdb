// SPDX-License-Identifier: MIT
/*
 * The faults that a VM stores: their description of failed jobs, their order and
 * number; valid and invalid arguments of the call.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"
#include "parameters.h"
#include "pumice_formats.h"
#include "pumice_regs.h"
#include "fixture.h"
#include "system.h"

#define KEPT		DRM_PUMICE_VM_FAULTS
#define UNMAPPED	FX_FREE
#define TIMEOUT_MS	500

static int get_faults(int fd, struct drm_pumice_vm_get_faults *args)
{
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_GET_FAULTS, args);
}

/* Return all faults that a fixture's VM has stored after @after. */
static struct drm_pumice_vm_get_faults need_faults(const struct fixture *fx, u64 after,
						   struct drm_pumice_vm_fault *faults)
{
	struct drm_pumice_vm_get_faults args = {
		.vm = fx->vm, .after = after, .faults = ARRAY_OF(faults, KEPT),
	};

	memset(faults, 0xa5, KEPT * sizeof(*faults));
	CHECK_OK(get_faults(fx->fd, &args));
	return args;
}

static void fault_reports_its_location_and_job(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	struct drm_pumice_vm_get_faults args;
	struct drm_pumice_job_get_result result = { 0 };
	struct fixture fx = fx_open();

	args = need_faults(&fx, 0, f);
	CHECK_EQUAL(args.total, 0);
	CHECK_EQUAL(args.returned, 0);
	CHECK_EQUAL(fx_run(&fx, fx_empty_stream(&fx)), 1);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, UNMAPPED + 64, 1)), -EIO);
	CHECK_OK(gpu_job_result(fx.fd, fx.context, 2, &result));
	args = need_faults(&fx, 0, f);
	CHECK_EQUAL(args.total, 1);
	CHECK_EQUAL(args.lost, 0);
	CHECK_EQUAL(args.returned, 1);
	CHECK_EQUAL(f[0].number, 1);
	CHECK_EQUAL(f[0].va, UNMAPPED + 64);
	CHECK_EQUAL(f[0].precision, 1);
	CHECK_EQUAL(f[0].type, DRM_PUMICE_FAULT_WRITE);
	CHECK_EQUAL(f[0].unit, PUMICE_UNIT_USC_DATA);
	CHECK_EQUAL(f[0].fault, result.fault);
	CHECK_EQUAL(f[0].context, fx.context);
	CHECK_EQUAL(f[0].job, 2);
	CHECK_EQUAL(f[0].time, result.end);
	/* add, shl, store */
	CHECK_EQUAL(f[0].pc, 2);
}

/* One job of each kind of address. */
static void type_specifies_the_address(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	struct fixture fx = fx_open();
	struct shader bad = { .insns = 0 };
	const struct launch launch = { .shader = &bad };
	u64 stream;

	emit_raw(&bad, (const u32[4]){ 0xff });
	stream = fx_stream(&fx, &launch);
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, UNMAPPED, 0)), -EIO);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, UNMAPPED, 0)), -EIO);
	CHECK_EQUAL(fx_run(&fx, stream), -EIO);
	CHECK_EQUAL(fx_run(&fx, fx_place(&fx, (const u32[1]){ 0xf0000000 }, 1)), -EIO);
	CHECK_EQUAL(need_faults(&fx, 0, f).returned, 4);
	CHECK_EQUAL(f[0].type, DRM_PUMICE_FAULT_READ);
	CHECK_EQUAL(f[1].type, DRM_PUMICE_FAULT_WRITE);
	CHECK_EQUAL(f[2].type, DRM_PUMICE_FAULT_INSTRUCTION);
	CHECK_EQUAL(f[2].fault, PUMICE_FAULT_USC_OPCODE);
	CHECK_EQUAL(f[2].precision, 16);
	CHECK_EQUAL(f[3].type, DRM_PUMICE_FAULT_COMMAND);
	CHECK_EQUAL(f[3].fault, PUMICE_FAULT_CDM_COMMAND);
}

/* Guests have a device with late=poison (scripts/run-guest.py): a load must be waited for. */
static void data_used_without_a_wait_name_the_register(void)
{
	const u32 loaded = reg_r(1);
	struct drm_pumice_vm_fault f[KEPT];
	struct fixture fx = fx_open();
	struct shader hasty = { .insns = 0 };
	const struct launch launch = {
		.shader = &hasty, .params = { (u32)fx.data.va, (u32)(fx.data.va >> 32) },
	};
	struct pumice_usc_late what;
	u32 word;

	emit(&hasty, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_GLOBAL_LOAD32, .sig0 = 5, .dst = loaded,
		.mask = mask_all(), .src2 = reg_sh(0), .src0 = reg_r(0),
	});
	emit_store(&hasty, 1, 0);
	emit_end(&hasty);
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, fx.data.va, 0)), 1);
	CHECK_EQUAL(fx_run(&fx, fx_stream(&fx, &launch)), -EIO);
	CHECK_EQUAL(need_faults(&fx, 0, f).returned, 1);
	CHECK_EQUAL(f[0].fault, PUMICE_FAULT_USC_LATE);
	CHECK_EQUAL(f[0].type, DRM_PUMICE_FAULT_REGISTER);
	word = (u32)f[0].va;
	CHECK_EQUAL(pumice_usc_late_unpack(&word, &what), PUMICE_UNPACK_OK);
	CHECK_EQUAL(what.place, loaded);
	CHECK_EQUAL(what.sig, 5);
	CHECK(!what.write && !what.local);
}

/* The GPU virtual address of a launch whose program is at an unmapped address. */
static u64 stream_of_unmapped_program(struct fixture *fx)
{
	struct shader end = shader_end();
	const struct launch launch = { .shader = &end, .code = UNMAPPED };

	return fx_stream(fx, &launch);
}

static void program_that_cannot_be_fetched_is_an_execute_fault(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	struct fixture fx = fx_open();

	CHECK_EQUAL(fx_run(&fx, stream_of_unmapped_program(&fx)), -EIO);
	CHECK_EQUAL(need_faults(&fx, 0, f).returned, 1);
	CHECK_EQUAL(f[0].type, DRM_PUMICE_FAULT_EXECUTE);
	CHECK_EQUAL(f[0].va, UNMAPPED);
}

/* Job n faults at page n after UNMAPPED. */
static void fail_jobs(struct fixture *fx, u32 count)
{
	u32 i;

	for (i = 1; i <= count; i++)
		CHECK_EQUAL(fx_run(fx, fx_store_stream(fx, UNMAPPED + i * PAGE, 0)), -EIO);
}

static void last_faults_are_kept_in_order(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	struct drm_pumice_vm_get_faults args;
	struct fixture fx = fx_open();
	u32 i;

	fail_jobs(&fx, KEPT + 5);
	args = need_faults(&fx, 0, f);
	CHECK_EQUAL(args.total, KEPT + 5);
	CHECK_EQUAL(args.lost, 5);
	CHECK_EQUAL(args.returned, KEPT);
	for (i = 0; i < KEPT; i++) {
		CHECK_EQUAL(f[i].number, i + 6);
		CHECK_EQUAL(f[i].job, i + 6);
		CHECK_EQUAL(f[i].va, UNMAPPED + (i + 6) * PAGE);
	}
}

/* Jobs of one work-group are distributed to the USCs, so that not all are on the first one. */
static void faults_name_the_usc(void)
{
	struct drm_pumice_job_get_result result = { 0 };
	struct drm_pumice_vm_fault f[KEPT];
	struct fixture fx = fx_open();
	u32 i, used = 0;

	fail_jobs(&fx, 4);
	CHECK_EQUAL(need_faults(&fx, 0, f).returned, 4);
	for (i = 0; i < 4; i++) {
		CHECK_OK(gpu_job_result(fx.fd, fx.context, i + 1, &result));
		CHECK_EQUAL(f[i].usc, result.usc);
		used |= result.usc;
	}
	CHECK(used);
}

static void faults_after_a_number_are_returned_alone(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	struct drm_pumice_vm_get_faults args;
	struct fixture fx = fx_open();

	fail_jobs(&fx, KEPT + 2);
	args = need_faults(&fx, KEPT, f);
	CHECK_EQUAL(args.returned, 2);
	CHECK_EQUAL(args.lost, 0);
	CHECK_EQUAL(f[0].number, KEPT + 1);
	args = need_faults(&fx, 1, f);
	CHECK_EQUAL(args.returned, KEPT);
	CHECK_EQUAL(args.lost, 1);
	args = need_faults(&fx, KEPT + 2, f);
	CHECK_EQUAL(args.returned, 0);
	CHECK_EQUAL(args.lost, 0);
	args = need_faults(&fx, UINT64_MAX, f);
	CHECK_EQUAL(args.returned, 0);
	CHECK_EQUAL(args.lost, 0);
	CHECK_EQUAL(args.total, KEPT + 2);
}

static void short_array_receives_the_oldest_faults(void)
{
	struct drm_pumice_vm_fault f[KEPT] = { 0 };
	struct fixture fx = fx_open();
	struct drm_pumice_vm_get_faults args = { .vm = fx.vm, .faults = ARRAY_OF(f, 2) };

	fail_jobs(&fx, 3);
	CHECK_OK(get_faults(fx.fd, &args));
	CHECK_EQUAL(args.returned, 2);
	CHECK_EQUAL(args.total, 3);
	CHECK_EQUAL(f[0].number, 1);
	CHECK_EQUAL(f[1].number, 2);
	CHECK_EQUAL(f[2].number, 0);
	args.faults = (struct drm_pumice_array){ 0 };
	CHECK_OK(get_faults(fx.fd, &args));
	CHECK_EQUAL(args.returned, 0);
	CHECK_EQUAL(args.total, 3);
}

/* Call it like a program that was built with a later header. */
static void longer_elements_are_zeroed_after_the_known_part(void)
{
	struct { struct drm_pumice_vm_fault fault; u64 more[2]; } f[2];
	struct fixture fx = fx_open();
	struct drm_pumice_vm_get_faults args = {
		.vm = fx.vm, .faults = { sizeof(f[0]), 2, (uintptr_t)f },
	};

	memset(f, 0xa5, sizeof(f));
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, UNMAPPED, 0)), -EIO);
	CHECK_OK(get_faults(fx.fd, &args));
	CHECK_EQUAL(args.returned, 1);
	CHECK_EQUAL(f[0].fault.number, 1);
	CHECK_EQUAL(f[0].more[0] | f[0].more[1], 0);
	CHECK_EQUAL(f[1].more[0], 0xa5a5a5a5a5a5a5a5);
}

static void each_vm_keeps_its_own(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	int fd = need_gpu();
	struct fixture bad = fx_on(fd), good = fx_on(fd);

	CHECK_EQUAL(fx_run(&bad, fx_store_stream(&bad, UNMAPPED, 0)), -EIO);
	CHECK_EQUAL(fx_run(&good, fx_empty_stream(&good)), 1);
	CHECK_EQUAL(need_faults(&bad, 0, f).total, 1);
	CHECK_EQUAL(need_faults(&good, 0, f).total, 0);
}

static void time_out_is_listed_and_a_canceled_job_is_not(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	struct fixture fx = fx_open();
	u32 hanging = fx.sync;

	fx_block(&fx);
	fx.sync = need_sync(fx.fd);
	fx_submit(&fx, fx_store_stream(&fx, fx.data.va, 1));
	CHECK_EQUAL(fx_wait(&fx), -ECANCELED);
	CHECK_EQUAL(sync_status(fx.fd, hanging, 0), -ETIMEDOUT);
	CHECK_EQUAL(need_faults(&fx, 0, f).total, 1);
	CHECK_EQUAL(f[0].fault, PUMICE_FAULT_KILLED);
	CHECK_EQUAL(f[0].type, DRM_PUMICE_FAULT_INSTRUCTION);
	CHECK_EQUAL(f[0].unit, PUMICE_UNIT_USC_CODE);
	CHECK_EQUAL(f[0].job, 1);
	/* mov, shl, store, jump to itself */
	CHECK_EQUAL(f[0].pc, 3);
	CHECK_EQUAL(f[0].va % 16, 0);
	CHECK(f[0].va >= FX_CODE && f[0].va < FX_CODE + FX_CODE_BYTES);
}

static void bad_arguments_are_refused(void)
{
	struct drm_pumice_vm_fault f[KEPT];
	struct fixture fx = fx_open();
	const struct drm_pumice_vm_get_faults good = { .vm = fx.vm, .faults = ARRAY_OF(f, KEPT) };
	struct drm_pumice_vm_get_faults args = good;

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, UNMAPPED, 0)), -EIO);
	args.flags = 1;
	CHECK_ERROR(get_faults(fx.fd, &args), EINVAL);
	args = good;
	args.pad = 1;
	CHECK_ERROR(get_faults(fx.fd, &args), EINVAL);
	args = good;
	args.vm = 999;
	CHECK_ERROR(get_faults(fx.fd, &args), ENOENT);
	args = good;
	args.faults.count = KEPT + 1;
	CHECK_ERROR(get_faults(fx.fd, &args), E2BIG);
	args = good;
	args.faults.stride = sizeof(f[0]) - 8;
	CHECK_ERROR(get_faults(fx.fd, &args), EINVAL);
	args = good;
	args.faults.stride = PAGE + 8;
	CHECK_ERROR(get_faults(fx.fd, &args), E2BIG);
	args = good;
	args.faults.array = UINT64_MAX - 8;
	CHECK_ERROR(get_faults(fx.fd, &args), EINVAL);
	args = good;
	args.faults.array = 8;
	CHECK_ERROR(get_faults(fx.fd, &args), EFAULT);
	/* Input was not changed: the same call again, with memory, returns all. */
	CHECK_EQUAL(args.faults.count, KEPT);
	args.faults.array = (uintptr_t)f;
	CHECK_OK(get_faults(fx.fd, &args));
	CHECK_EQUAL(args.returned, 1);
	CHECK_OK(gpu_vm_destroy(fx.fd, fx.vm));
	CHECK_ERROR(get_faults(fx.fd, &args), ENOENT);
}

static const struct test_case cases[] = {
	TEST_CASE(fault_reports_its_location_and_job),
	TEST_CASE(type_specifies_the_address),
	TEST_CASE(data_used_without_a_wait_name_the_register),
	TEST_CASE(program_that_cannot_be_fetched_is_an_execute_fault),
	TEST_CASE(last_faults_are_kept_in_order),
	TEST_CASE(faults_name_the_usc),
	TEST_CASE(faults_after_a_number_are_returned_alone),
	TEST_CASE(short_array_receives_the_oldest_faults),
	TEST_CASE(longer_elements_are_zeroed_after_the_known_part),
	TEST_CASE(each_vm_keeps_its_own),
	TEST_CASE(time_out_is_listed_and_a_canceled_job_is_not),
	TEST_CASE(bad_arguments_are_refused),
};

TEST_MAIN_TIMEOUT(cases, TIMEOUT_MS)
