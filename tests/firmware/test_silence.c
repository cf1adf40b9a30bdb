// SPDX-License-Identifier: MIT
/*
 * Injected faults of the firmware: one of its rings falls silent until the next boot, and
 * everything else continues.
 */
#include <string.h>

#include "fixture.h"

/* A booted firmware whose jobs fault. */
struct faulty {
	struct fixture *r;
	struct fx_vm vm;
	struct fx_context c;
};

static struct faulty faulty_booted(void)
{
	struct faulty f = { .r = fx_booted() };

	fx_vm(f.r, &f.vm);
	/* Long enough that the kick finds it running. */
	fx_vm_groups(&f.vm, 1, 20000, true);
	fx_context(f.r, &f.vm, 1, &f.c);
	return f;
}

static void request_fault(struct fixture *r, const char *text)
{
	assert_int_equal(pumice_gpu_inject(r->gpu, text), 0);
}

/* Clear the host's interrupts. Return: how many there were. */
static u32 clear_irqs(struct fixture *r)
{
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK, 4);
	return r->irqs;
}

static void put_job(struct faulty *f, u32 seqno)
{
	fx_compute(&f->c, FX_STREAM_VA, seqno);
	fx_update(&f->c, f->c.object_addr, seqno);
}

/* It faulted, and its result has all that the host needs to end it. */
static void assert_ended(const struct faulty *f, u32 seqno)
{
	assert_int_equal(fx_result(&f->c, seqno)->fault, PUMICE_FAULT_CDM_COMMAND);
	assert_int_equal(*f->c.object, seqno);
}

/* Reset the GPU and boot the firmware again: the fault does not persist. */
static void boot_anew(struct fixture *r)
{
	struct fwif_boot *boot = r->boot;

	pumice_gpu_reset(r->gpu);
	boot->state = 0;
	memset(r->kccb_ring, 0, sizeof(*r->kccb_ring));
	memset(r->fwccb_ring, 0, sizeof(*r->fwccb_ring));
	r->kccb_ring->count = FX_KCCB;
	r->fwccb_ring->count = FX_FWCCB;
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
}

static void silent_kernel_ccb_is_not_read_while_jobs_and_messages_continue(void **state)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct faulty f = faulty_booted();
	u32 entry, heartbeat, read, irqs;

	(void)state;
	put_job(&f, 1);
	entry = fx_put_kick(f.r, &f.c);
	fx_kick(f.r);
	while (f.r->kccb_status[entry] == FWIF_STATUS_PENDING)
		fx_steps(f.r, 1);
	assert_int_equal(*f.c.object, 0);
	request_fault(f.r, "fw-silence,where=kccb");
	heartbeat = f.r->boot->heartbeat;
	read = f.r->kccb_ring->read;
	irqs = clear_irqs(f.r);
	entry = fx_put(f.r, &ping);
	fx_kick(f.r);
	fx_finish(f.r);
	assert_ended(&f, 1);
	assert_int_equal(f.r->fwccb_ring->write, 1);
	assert_int_equal(f.r->fwccb[0].type, FWIF_FWCCB_JOB_FAULT);
	assert_int_equal(f.r->irqs, irqs + 1);
	assert_int_not_equal(f.r->boot->heartbeat, heartbeat);
	/* The next kick does not help. */
	fx_kick(f.r);
	fx_finish(f.r);
	assert_int_equal(f.r->kccb_status[entry], FWIF_STATUS_PENDING);
	assert_int_equal(f.r->kccb_ring->read, read);
	assert_int_equal(f.r->boot->state, FWIF_STATE_READY);
	boot_anew(f.r);
	fx_assert_alive(f.r);
	fx_destroy(f.r);
}

static void silent_firmware_ccb_is_not_written_while_jobs_and_replies_continue(void **state)
{
	struct faulty f = faulty_booted();
	u32 irqs;

	(void)state;
	request_fault(f.r, "fw-silence,where=fwccb");
	irqs = clear_irqs(f.r);
	put_job(&f, 1);
	fx_submit(f.r, &f.c);
	fx_finish(f.r);
	assert_ended(&f, 1);
	assert_true(f.r->irqs > irqs);
	assert_int_equal(f.r->fwccb_ring->write, 0);
	assert_int_equal(f.r->fwccb_ring->dropped, 0);
	assert_int_equal(f.r->fwccb[0].type, 0);
	fx_assert_alive(f.r);
	boot_anew(f.r);
	fx_context(f.r, &f.vm, 1, &f.c);
	put_job(&f, 1);
	fx_submit(f.r, &f.c);
	fx_finish(f.r);
	assert_ended(&f, 1);
	assert_int_equal(f.r->fwccb_ring->write, 1);
	assert_int_equal(f.r->fwccb[0].type, FWIF_FWCCB_JOB_FAULT);
	fx_destroy(f.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent_kernel_ccb_is_not_read_while_jobs_and_messages_continue),
		cmocka_unit_test(silent_firmware_ccb_is_not_written_while_jobs_and_replies_continue),
	};

	return cmocka_run_group_tests_name("silence of a ring", tests, NULL, NULL);
}
