// SPDX-License-Identifier: MIT
/*
 * Virtual GPUs: each works as if it were alone, whatever another one does. Number 0 boots the
 * firmware, number 1 connects; each has memory that the other may not access.
 */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define GROUPS	6000u	/* of a job that needs many slices */
#define LOOPS	40u	/* of the loop in each */
#define HOLD_US	2000u
#define RUNS	8u	/* of fx_run(), for a job of few work-groups */

/* Two virtual GPUs with a VM and a context of normal priority each. */
struct two {
	struct fixture *r, *guest;
	struct fx_vm vm, guest_vm;
	struct fx_context c, guest_c;
};

static void two_create(struct two *t)
{
	t->r = fx_booted_oses(2);
	t->r->boot->slice_us = FWIF_SLICE_MIN_US;
	t->guest = fx_guest(t->r, 1);
	assert_int_equal(fx_connect(t->guest), FWIF_STATE_READY);
	fx_vm(t->r, &t->vm);
	fx_vm(t->guest, &t->guest_vm);
	fx_context(t->r, &t->vm, 1, &t->c);
	fx_context(t->guest, &t->guest_vm, 1, &t->guest_c);
}

/* Submit a job without running it. */
static void begin_job(struct fixture *r, struct fx_context *c, u32 seqno)
{
	fx_compute(c, FX_STREAM_VA, seqno);
	fx_update(c, c->object_addr, seqno);
	fx_put_kick(r, c);
	fx_kick(r);
}

/* Run a job of virtual GPU 0, with whatever others do, and assert that it ends as alone. */
static void assert_unharmed(struct two *t)
{
	static u32 seqno;
	u32 i;

	seqno++;
	fx_vm_groups(&t->vm, 16, LOOPS, false);
	begin_job(t->r, &t->c, seqno);
	for (i = 0; i < RUNS && *t->c.object != seqno; i++)
		fx_run(t->r);
	assert_int_equal(fx_result(&t->c, seqno)->seqno, seqno);
	assert_int_equal(fx_result(&t->c, seqno)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_result(&t->c, seqno)->groups, 16);
	assert_int_equal(*t->c.object, seqno);
	assert_int_equal(t->c.f->state, FWIF_CONTEXT_OK);
	fx_assert_alive(t->r);
}

static void assert_whole(const struct fx_context *c, u32 seqno, u64 groups)
{
	assert_int_equal(fx_result(c, seqno)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_result(c, seqno)->groups, groups);
	assert_int_equal(*c->object, seqno);
}

static void jobs_of_two_virtual_gpus_run_at_the_same_time(void **state)
{
	struct two t;

	(void)state;
	two_create(&t);
	fx_vm_groups(&t.vm, GROUPS, LOOPS, false);
	fx_vm_groups(&t.guest_vm, GROUPS / 2, LOOPS, false);
	begin_job(t.r, &t.c, 1);
	begin_job(t.guest, &t.guest_c, 2);
	fx_finish(t.r);
	assert_whole(&t.c, 1, GROUPS);
	assert_whole(&t.guest_c, 2, GROUPS / 2);
	/* Slices of both alternate until the shorter job has ended. */
	assert_true(fx_result(&t.guest_c, 2)->time_end < fx_result(&t.c, 1)->time_end);
	assert_true(fx_result(&t.guest_c, 2)->slices > 2);
	assert_in_range(fx_result(&t.c, 1)->slices, fx_result(&t.guest_c, 2)->slices,
			fx_result(&t.guest_c, 2)->slices + 1);
	/* Counters are those of the virtual GPU. */
	assert_int_equal(t.r->boot->jobs_done, 1);
	assert_int_equal(t.guest->boot->jobs_done, 1);
	assert_true(t.r->boot->switches && t.guest->boot->switches);
	fx_destroy(t.r);
}

/* Clear the causes of both lines, so that the next one raises it, and count from 0. */
static void clear_irqs(struct two *t)
{
	u32 os;

	for (os = 0; os < 2; os++)
		pumice_gpu_mmio_write(t->r->gpu, os, PUMICE_OS_IRQ_CLEAR,
				      PUMICE_OS_IRQ_CLEAR__FW__MASK, 4);
	t->r->irqs = 0;
	t->guest->irqs = 0;
}

static void a_kick_serves_the_ring_of_its_virtual_gpu_only(void **state)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct two t;
	u32 entry;

	(void)state;
	two_create(&t);
	entry = fx_put(t.guest, &ping);
	clear_irqs(&t);
	fx_assert_alive(t.r);
	assert_int_equal(t.guest->kccb_status[entry], FWIF_STATUS_PENDING);
	assert_int_equal(t.r->irqs, 1);
	assert_int_equal(t.guest->irqs, 0);
	clear_irqs(&t);
	fx_kick(t.guest);
	fx_run(t.r);
	assert_int_equal(t.guest->kccb_status[entry], FWIF_STATUS_OK);
	assert_int_equal(t.r->irqs, 0);
	assert_int_equal(t.guest->irqs, 1);
	fx_destroy(t.r);
}

static void contexts_and_vms_of_another_cannot_be_named(void **state)
{
	static const u32 types[] = {
		FWIF_KCCB_KICK, FWIF_KCCB_CONTEXT_KILL, FWIF_KCCB_CONTEXT_RELEASE,
		FWIF_KCCB_CONTEXT_PRIORITY,
	};
	struct two t;
	u32 i;

	(void)state;
	two_create(&t);
	fx_vm_endless(&t.vm);
	begin_job(t.r, &t.c, 1);
	fx_run(t.r);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		assert_int_equal(fx_call_context(t.guest, types[i], &t.c), FWIF_STATUS_INVALID);
	/* Of the same number, but not the VM that is in use: that would be BUSY. */
	assert_int_equal(fx_call_catalogue(t.guest, FWIF_KCCB_VM_RELEASE, t.vm.catalogue),
			 FWIF_STATUS_OK);
	assert_int_equal(fx_call_catalogue(t.r, FWIF_KCCB_VM_RELEASE, t.vm.catalogue),
			 FWIF_STATUS_BUSY);
	assert_int_equal(t.c.f->state, FWIF_CONTEXT_OK);
	assert_int_equal(fx_call_context(t.r, FWIF_KCCB_CONTEXT_KILL, &t.c), FWIF_STATUS_OK);
	fx_destroy(t.r);
}

/* Assert that a virtual GPU cannot pass addresses in the part of another one. */
static void assert_cannot_name(struct fixture *from, const struct fx_vm *vm, struct fx_context *of)
{
	struct fx_context c;
	u32 i;

	for (i = 0; i < 4; i++) {
		u32 *address[4];

		fx_context(from, vm, 1, &c);
		address[0] = &c.f->cccb;
		address[1] = &c.f->results;
		address[2] = &c.f->save;
		address[3] = &c.f->stuck;
		*address[i] = of->f->results;
		assert_int_equal(fx_call_context(from, FWIF_KCCB_KICK, &c), FWIF_STATUS_INVALID);
	}
	fx_context(from, vm, 1, &c);
	*of->object = 5;
	fx_update(&c, of->object_addr, 77);
	fx_submit(from, &c);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	assert_int_equal(*of->object, 5);
}

static void memory_of_another_cannot_be_named(void **state)
{
	struct two t;

	(void)state;
	two_create(&t);
	assert_cannot_name(t.guest, &t.guest_vm, &t.c);
	assert_cannot_name(t.r, &t.vm, &t.guest_c);
	fx_destroy(t.r);
}

static void tables_of_one_cannot_map_memory_of_another(void **state)
{
	struct fx_context c;
	struct two t;

	(void)state;
	two_create(&t);
	/* The page of the program is one of virtual GPU 0. */
	fx_vm_groups(&t.guest_vm, 1, 1, false);
	t.guest_vm.pt[1] = t.vm.pt[1];
	begin_job(t.guest, &t.guest_c, 1);
	fx_finish(t.r);
	assert_int_equal(fx_result(&t.guest_c, 1)->fault, PUMICE_FAULT_MMU_BUS);
	/* The whole VM is one of virtual GPU 0. */
	fx_context(t.guest, &t.vm, 1, &c);
	begin_job(t.guest, &c, 1);
	fx_finish(t.r);
	assert_int_equal(fx_result(&c, 1)->fault, PUMICE_FAULT_MMU_TABLE_BUS);
	assert_unharmed(&t);
	fx_destroy(t.r);
}

static void priorities_apply_within_a_virtual_gpu(void **state)
{
	struct fx_context low, high[3];
	struct two t;
	u32 i;

	(void)state;
	two_create(&t);
	fx_vm_groups(&t.vm, GROUPS, LOOPS, false);
	fx_vm_groups(&t.guest_vm, GROUPS, LOOPS, false);
	for (i = 0; i < 3; i++) {
		fx_context(t.guest, &t.guest_vm, 2, &high[i]);
		begin_job(t.guest, &high[i], 1);
	}
	fx_context(t.r, &t.vm, 0, &low);
	begin_job(t.r, &low, 1);
	fx_finish(t.r);
	assert_whole(&low, 1, GROUPS);
	/* It has half of the time, the three of high priority have the other half. */
	for (i = 0; i < 3; i++) {
		assert_whole(&high[i], 1, GROUPS);
		assert_true(fx_result(&low, 1)->time_end < fx_result(&high[i], 1)->time_end);
	}
	assert_int_equal(t.r->boot->boosts, 0);
	fx_destroy(t.r);
}

static void an_endless_job_is_killed_only_if_another_virtual_gpu_waits(void **state)
{
	struct two t;

	(void)state;
	two_create(&t);
	t.r->boot->os_hold_us = HOLD_US;
	fx_vm_endless(&t.guest_vm);
	begin_job(t.guest, &t.guest_c, 1);
	fx_run(t.r);
	assert_int_equal(t.guest_c.f->state, FWIF_CONTEXT_OK);
	assert_unharmed(&t);
	assert_int_equal(t.guest_c.f->state, FWIF_CONTEXT_KILLED);
	assert_int_equal(fx_result(&t.guest_c, 1)->fault, PUMICE_FAULT_KILLED);
	fx_destroy(t.r);
}

static void overflows_of_one_leave_the_other_unharmed(void **state)
{
	struct fx_context c[FWIF_MAX_OS_CONTEXTS + 1];
	struct two t;
	u32 i;

	(void)state;
	two_create(&t);
	/* Contexts; t.guest_c is not registered. */
	for (i = 0; i <= FWIF_MAX_OS_CONTEXTS; i++) {
		fx_context(t.guest, &t.guest_vm, 1, &c[i]);
		assert_int_equal(fx_call_context(t.guest, FWIF_KCCB_KICK, &c[i]),
				 i < FWIF_MAX_OS_CONTEXTS ? FWIF_STATUS_OK : FWIF_STATUS_NO_SPACE);
	}
	assert_unharmed(&t);
	/* Messages: of each job a fault. */
	fx_vm_faulty(&t.guest_vm);
	for (i = 0; i < 2 * FX_FWCCB; i++) {
		begin_job(t.guest, &c[i], 1);
		fx_finish(t.r);
	}
	assert_true(t.guest->fwccb_ring->dropped);
	assert_int_equal(t.r->fwccb_ring->dropped, 0);
	assert_int_equal(t.r->fwccb_ring->write, 0);
	assert_unharmed(&t);
	fx_destroy(t.r);
}

static void garbage_of_one_leaves_the_other_unharmed(void **state)
{
	struct two t;
	u32 round, i;

	(void)state;
	two_create(&t);
	srand(1);
	for (round = 0; round < 40; round++) {
		u8 *bytes = (u8 *)t.guest->kccb;

		for (i = 0; i < FX_KCCB * sizeof(*t.guest->kccb); i++)
			bytes[i] = (u8)rand();
		for (i = 0; i < FX_KCCB; i++) {
			t.guest->kccb[i].type = (u32)rand() % 11;
			t.guest->kccb[i].context = i % 2 ? t.guest_c.addr : t.c.addr;
		}
		t.guest->kccb_ring->write = (u32)rand();
		t.guest->fwccb_ring->read = (u32)rand();
		for (i = 0; i < 64; i++)
			t.guest_c.cccb[rand() % FX_CCCB] = (u8)rand();
		fx_kick(t.guest);
		assert_unharmed(&t);
	}
	fx_destroy(t.r);
}

static void a_disconnected_virtual_gpu_leaves_nothing(void **state)
{
	struct fx_context c[FWIF_MAX_OS_CONTEXTS];
	struct two t;
	u32 i;

	(void)state;
	two_create(&t);
	fx_vm_endless(&t.guest_vm);
	begin_job(t.guest, &t.guest_c, 1);
	fx_run(t.r);
	assert_int_equal(fx_disconnect(t.guest), FWIF_STATE_OFF);
	assert_int_equal(fx_result(&t.guest_c, 1)->fault, PUMICE_FAULT_KILLED);
	assert_unharmed(&t);
	/* All contexts are free again, and its former one is unknown. */
	t.guest->kccb_ring->write = 0;
	assert_int_equal(fx_connect(t.guest), FWIF_STATE_READY);
	for (i = 0; i < FWIF_MAX_OS_CONTEXTS; i++) {
		fx_context(t.guest, &t.guest_vm, 1, &c[i]);
		assert_int_equal(fx_call_context(t.guest, FWIF_KCCB_KICK, &c[i]), FWIF_STATUS_OK);
	}
	fx_destroy(t.r);
}

static void a_reset_is_noticed_between_two_steps(void **state)
{
	struct two t;

	(void)state;
	two_create(&t);
	fx_vm_endless(&t.guest_vm);
	begin_job(t.guest, &t.guest_c, 1);
	fx_run(t.r);
	/* Disconnected and connected before the firmware reads either. */
	pumice_gpu_mmio_write(t.r->gpu, 1, PUMICE_OS_CTRL, 0, 4);
	t.guest->kccb_ring->write = 0;
	assert_int_equal(fx_connect(t.guest), FWIF_STATE_READY);
	assert_int_equal(fx_result(&t.guest_c, 1)->fault, PUMICE_FAULT_KILLED);
	assert_int_equal(t.guest->boot->queued_contexts, 0);
	fx_assert_alive(t.guest);
	assert_unharmed(&t);
	fx_destroy(t.r);
}

static void lost_memory_disconnects_its_virtual_gpu_only(void **state)
{
	struct two t;

	(void)state;
	two_create(&t);
	fx_vm_endless(&t.guest_vm);
	begin_job(t.guest, &t.guest_c, 1);
	fx_run(t.r);
	pumice_gpu_mmio_write(t.r->gpu, 1, PUMICE_OS_CATALOGUE, 0, 8);
	fx_kick(t.guest);
	assert_unharmed(&t);
	/* It stays disconnected until it connects again. */
	pumice_gpu_mmio_write(t.r->gpu, 1, PUMICE_OS_CTRL, 0, 4);
	t.guest->kccb_ring->write = 0;
	assert_int_equal(fx_connect(t.guest), FWIF_STATE_READY);
	fx_assert_alive(t.guest);
	fx_destroy(t.r);
}

static void a_bad_boot_structure_is_refused_and_nothing_else(void **state)
{
	struct fixture *guest;
	struct two t;
	u32 kept;

	(void)state;
	two_create(&t);
	assert_int_equal(fx_disconnect(t.guest), FWIF_STATE_OFF);
	t.guest->boot->magic = 0;
	assert_int_equal(fx_connect(t.guest), FWIF_STATE_REFUSED);
	assert_int_equal(t.guest->boot->error, FWIF_ERROR_MAGIC);
	assert_unharmed(&t);
	/* Rings in the memory of another virtual GPU. */
	t.guest->boot->magic = FWIF_BOOT_MAGIC;
	kept = t.guest->boot->log;
	t.guest->boot->log = t.r->boot->log;
	fx_disconnect(t.guest);
	assert_int_equal(fx_connect(t.guest), FWIF_STATE_REFUSED);
	assert_int_equal(t.guest->boot->error, FWIF_ERROR_RING);
	t.guest->boot->log = kept;
	fx_disconnect(t.guest);
	t.guest->kccb_ring->write = 0;
	assert_int_equal(fx_connect(t.guest), FWIF_STATE_READY);
	/* A structure of another, or none. */
	fx_disconnect(t.guest);
	guest = t.guest;
	guest->boot_addr = t.r->boot_addr;
	fx_connect(guest);
	assert_int_equal(t.r->boot->state, FWIF_STATE_READY);
	assert_unharmed(&t);
	fx_destroy(t.r);
}

static void eight_virtual_gpus_work_at_the_same_time(void **state)
{
	struct fixture *r = fx_booted_oses(PUMICE_OS_COUNT), *of[PUMICE_OS_COUNT] = { r };
	struct fx_context c[PUMICE_OS_COUNT];
	struct fx_vm vm[PUMICE_OS_COUNT];
	u32 os;

	(void)state;
	r->boot->slice_us = FWIF_SLICE_MIN_US;
	for (os = 1; os < PUMICE_OS_COUNT; os++) {
		of[os] = fx_guest(r, os);
		assert_int_equal(fx_connect(of[os]), FWIF_STATE_READY);
	}
	for (os = 0; os < PUMICE_OS_COUNT; os++) {
		fx_vm(of[os], &vm[os]);
		fx_vm_groups(&vm[os], GROUPS + os, LOOPS, false);
		fx_context(of[os], &vm[os], os % 3, &c[os]);
		begin_job(of[os], &c[os], os + 1);
	}
	fx_finish(r);
	for (os = 0; os < PUMICE_OS_COUNT; os++) {
		assert_whole(&c[os], os + 1, GROUPS + os);
		assert_true(fx_result(&c[os], os + 1)->slices > 1);
		assert_true(of[os]->irqs);
	}
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_of_two_virtual_gpus_run_at_the_same_time),
		cmocka_unit_test(a_kick_serves_the_ring_of_its_virtual_gpu_only),
		cmocka_unit_test(contexts_and_vms_of_another_cannot_be_named),
		cmocka_unit_test(memory_of_another_cannot_be_named),
		cmocka_unit_test(tables_of_one_cannot_map_memory_of_another),
		cmocka_unit_test(priorities_apply_within_a_virtual_gpu),
		cmocka_unit_test(an_endless_job_is_killed_only_if_another_virtual_gpu_waits),
		cmocka_unit_test(overflows_of_one_leave_the_other_unharmed),
		cmocka_unit_test(garbage_of_one_leaves_the_other_unharmed),
		cmocka_unit_test(a_disconnected_virtual_gpu_leaves_nothing),
		cmocka_unit_test(a_reset_is_noticed_between_two_steps),
		cmocka_unit_test(lost_memory_disconnects_its_virtual_gpu_only),
		cmocka_unit_test(a_bad_boot_structure_is_refused_and_nothing_else),
		cmocka_unit_test(eight_virtual_gpus_work_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
