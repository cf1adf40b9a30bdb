// SPDX-License-Identifier: MIT
/*
 * Flips of present jobs: from the TDM's FIFO to the ring of the context, in order and before the
 * job's end; limits of the job reach the TDM; invalid commands and rings. The TDM is a fake.
 */
#include "scene.h"

#include <string.h>

/* A transfer context with a ring of flips. */
struct flipper {
	struct fixture *r;
	struct fx_vm vm;
	struct fx_context c;
	struct fwif_flips *flips;
};

static void give_ring(struct fixture *r, struct fx_context *c, struct fwif_flips **flips)
{
	u32 addr;

	*flips = fx_fw_alloc(r, sizeof(**flips), &addr);
	c->f->flips = addr;
}

static void make(struct flipper *f)
{
	f->r = fx_booted();
	fx_vm(f->r, &f->vm);
	fx_context_of(f->r, &f->vm, FWIF_DM_TDM, 1, &f->c);
	give_ring(f->r, &f->c, &f->flips);
}

static void put_present(struct fx_context *c, u32 seqno, u32 presents)
{
	const struct fwif_cccb_present cmd = {
		.header = { FWIF_CCCB_PRESENT, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = seqno, .presents = presents,
	};

	fx_bytes(c, &cmd, sizeof(cmd));
}

static void submit_present(struct fixture *r, struct fx_context *c, u32 seqno, u32 presents)
{
	put_present(c, seqno, presents);
	fx_update(c, c->object_addr, seqno);
	fx_submit(r, c);
}

static void flips_reach_the_ring_in_order_and_before_the_end(void **state)
{
	const u32 jobs = 3 * FWIF_FLIPS / 4;
	struct flipper f;
	u32 job, n, irqs, count = 0;

	(void)state;
	make(&f);
	for (job = 1; job <= jobs; job++) {
		submit_present(f.r, &f.c, job, 4);
		for (n = 0; n < 4; n++) {
			pumice_gpu_mmio_write(f.r->gpu, 0, PUMICE_OS_IRQ_CLEAR, ~0u, 4);
			irqs = f.r->irqs;
			fake_flip(100 * job + n, 0x1000 * n + job, 7 * job + n);
			if (n == 1)
				continue;	/* two at once */
			fx_run(f.r);
			assert_int_equal(f.flips->write, count + n + 1);
			assert_int_equal(f.r->irqs, irqs + 1);
			assert_int_equal(*f.c.object, job - 1);
		}
		for (n = 0; n < 4; n++, count++) {
			const struct fwif_flip *flip = &f.flips->flip[count % FWIF_FLIPS];

			assert_int_equal(flip->job, job);
			assert_int_equal(flip->frame, 100 * job + n);
			assert_int_equal(flip->addr, 0x1000 * n + job);
			assert_int_equal(flip->time, 7 * job + n);
		}
		end_and_run(f.r, FAKE_TDM, DM_DONE);
		assert_int_equal(*f.c.object, job);
	}
	fx_destroy(f.r);
}

/* Both events are pending at once: the flip is of the job that ends, not of the next one. */
static void a_flip_with_the_end_of_its_job_belongs_to_it(void **state)
{
	struct flipper f;

	(void)state;
	make(&f);
	put_present(&f.c, 1, 1);
	fx_update(&f.c, f.c.object_addr, 1);
	submit_present(f.r, &f.c, 2, 1);
	fake_flip(11, 0, 0);
	end_and_run(f.r, FAKE_TDM, DM_DONE);
	assert_int_equal(f.flips->write, 1);
	assert_int_equal(f.flips->flip[0].job, 1);
	assert_int_equal(fake[FAKE_TDM].starts, 2);
	fake_flip(12, 0, 0);
	end_and_run(f.r, FAKE_TDM, DM_ABORTED);
	assert_int_equal(f.flips->write, 2);
	assert_int_equal(f.flips->flip[1].job, 2);
	assert_int_equal(f.flips->flip[1].frame, 12);
	fx_destroy(f.r);
}

static void contexts_have_rings_of_their_own(void **state)
{
	struct fwif_flips *others;
	struct fx_context other;
	struct flipper f;
	u32 n;

	(void)state;
	make(&f);
	fx_context_of(f.r, &f.vm, FWIF_DM_TDM, 1, &other);
	give_ring(f.r, &other, &others);
	for (n = 1; n <= 10; n++) {
		submit_present(f.r, &f.c, n, 1);
		submit_present(f.r, &other, n, 1);
		fake_flip(n, 0, 0);
		end_and_run(f.r, FAKE_TDM, DM_DONE);
		fake_flip(1000 + n, 0, 0);
		end_and_run(f.r, FAKE_TDM, DM_DONE);
		assert_int_equal(f.flips->write, n);
		assert_int_equal(others->write, n);
		assert_int_equal(f.flips->flip[n - 1].frame, n);
		assert_int_equal(others->flip[n - 1].frame, 1000 + n);
	}
	fx_destroy(f.r);
}

static void the_announced_presents_reach_the_data_master(void **state)
{
	struct flipper f;

	(void)state;
	make(&f);
	submit_present(f.r, &f.c, 1, PUMICE_TDM_MAX_PRESENTS);
	assert_int_equal(fake[FAKE_TDM].job.presents, PUMICE_TDM_MAX_PRESENTS);
	end_and_run(f.r, FAKE_TDM, DM_DONE);
	/* A job without presents may run none, although the previous one could. */
	put_stream(&f.c, FWIF_CCCB_TRANSFER, 2);
	fx_submit(f.r, &f.c);
	assert_int_equal(fake[FAKE_TDM].starts, 2);
	assert_int_equal(fake[FAKE_TDM].job.presents, 0);
	end_and_run(f.r, FAKE_TDM, DM_DONE);
	fx_destroy(f.r);
}

static void flips_of_a_context_without_a_ring_are_discarded(void **state)
{
	struct fx_context plain;
	struct flipper f;

	(void)state;
	make(&f);
	fx_context_of(f.r, &f.vm, FWIF_DM_TDM, 1, &plain);
	put_stream(&plain, FWIF_CCCB_TRANSFER, 1);
	fx_submit(f.r, &plain);
	fake_flip(1, 0, 0);
	end_and_run(f.r, FAKE_TDM, DM_DONE);
	/* Without a job. */
	fake_flip(2, 0, 0);
	fx_run(f.r);
	submit_present(f.r, &f.c, 1, 1);
	fake_flip(3, 0, 0);
	end_and_run(f.r, FAKE_TDM, DM_DONE);
	assert_int_equal(f.flips->write, 1);
	assert_int_equal(f.flips->flip[0].frame, 3);
	fx_destroy(f.r);
}

static void malformed_presents_break_the_context(void **state)
{
	static const struct {
		u32 presents, reserved, bytes;
		bool ring;
	} bad[] = {
		{ 0, 0, sizeof(struct fwif_cccb_present), true },
		{ PUMICE_TDM_MAX_PRESENTS + 1, 0, sizeof(struct fwif_cccb_present), true },
		{ 0xffffffff, 0, sizeof(struct fwif_cccb_present), true },
		{ 1, 1, sizeof(struct fwif_cccb_present), true },
		{ 1, 0, sizeof(struct fwif_cccb_compute), true },
		{ 1, 0, sizeof(struct fwif_cccb_render), true },
		{ 1, 0, sizeof(struct fwif_cccb_present), false },
	};
	struct fwif_flips *flips;
	struct fx_context c;
	struct flipper f;
	size_t i;

	(void)state;
	make(&f);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fwif_cccb_present *cmd;

		fx_context_of(f.r, &f.vm, FWIF_DM_TDM, 1, &c);
		if (bad[i].ring)
			give_ring(f.r, &c, &flips);
		cmd = (struct fwif_cccb_present *)(void *)(c.cccb + c.write);
		put_present(&c, 1, bad[i].presents);
		cmd->reserved = bad[i].reserved;
		cmd->header.bytes = bad[i].bytes;
		fx_update(&c, c.object_addr, 1);
		fx_submit(f.r, &c);
		assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
		assert_int_equal(*c.object, 0);
		while (next_message(f.r).type)
			;
	}
	assert_int_equal(fake[FAKE_TDM].starts, 0);
	fx_destroy(f.r);
}

static void presents_of_other_data_masters_break_the_context(void **state)
{
	struct fx_context c;
	struct flipper f;

	(void)state;
	make(&f);
	fx_context_of(f.r, &f.vm, FWIF_DM_CDM, 1, &c);
	submit_present(f.r, &c, 1, 1);
	assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	assert_int_equal(*c.object, 0);
	fx_destroy(f.r);
}

static void rings_of_flips_that_no_context_may_have_are_refused(void **state)
{
	static const struct {
		u32 dm, flips;
	} bad[] = {
		{ FWIF_DM_CDM, 0x200000 }, { FWIF_DM_PDM, 0x200000 }, { FWIF_DM_TDM, 0x200004 },
		{ FWIF_DM_TDM, 0x7ffffff8 }, { FWIF_DM_TDM, 0x80000000 },
	};
	struct fx_context c;
	struct flipper f;
	size_t i;

	(void)state;
	make(&f);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fwif_kccb_cmd kick = { .type = FWIF_KCCB_KICK };

		fx_context_of(f.r, &f.vm, bad[i].dm, 1, &c);
		c.f->flips = bad[i].flips;
		kick.context = c.addr;
		assert_int_equal(fx_call(f.r, &kick), FWIF_STATUS_INVALID);
	}
	/* One that is valid but not mapped loses its flips; the job ends. */
	fx_context_of(f.r, &f.vm, FWIF_DM_TDM, 1, &c);
	c.f->flips = FX_FW_HOLE;
	submit_present(f.r, &c, 1, 1);
	fake_flip(1, 0, 0);
	end_and_run(f.r, FAKE_TDM, DM_DONE);
	assert_int_equal(*c.object, 1);
	fx_assert_alive(f.r);
	fx_destroy(f.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flips_reach_the_ring_in_order_and_before_the_end),
		cmocka_unit_test(a_flip_with_the_end_of_its_job_belongs_to_it),
		cmocka_unit_test(contexts_have_rings_of_their_own),
		cmocka_unit_test(the_announced_presents_reach_the_data_master),
		cmocka_unit_test(flips_of_a_context_without_a_ring_are_discarded),
		cmocka_unit_test(malformed_presents_break_the_context),
		cmocka_unit_test(presents_of_other_data_masters_break_the_context),
		cmocka_unit_test(rings_of_flips_that_no_context_may_have_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
