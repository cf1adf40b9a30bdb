// SPDX-License-Identifier: MIT
/*
 * Rows: binds of single pages, as many as one call takes, in a VM with and without other mappings,
 * and their removal by one operation. A job has run in the VM, so that both invalidate TLBs.
 */
#include "check.h"
#include "rows.h"

#define BINDS		4096u
#define OTHERS		20000u
#define SPACING		(2ull * PAGE)	/* from page to page: no two are one range */
#define BINDS_VA	FX_FREE
#define OTHERS_VA	(FX_FREE + GIB)
#define ROUNDS		9u

static struct drm_pumice_bind_op ops[BINDS];

static void bind_pages(const struct fixture *fx, u32 handle, u64 va, u32 count)
{
	u32 n;

	for (n = 0; n < count; n++)
		ops[n] = bind_map(handle, (u64)n * PAGE, va + n * SPACING, PAGE, 0);
	CHECK_OK(gpu_bind(fx->fd, fx->vm, ops, count, NULL));
}

static void measure(const struct fixture *fx, u32 handle, struct samples *binds,
		    struct samples *unbinds)
{
	u64 start;

	start = now_ns();
	bind_pages(fx, handle, BINDS_VA, BINDS);
	samples_add(binds, now_ns() - start);
	start = now_ns();
	need_unmap(fx->fd, fx->vm, BINDS_VA, BINDS * SPACING);
	samples_add(unbinds, now_ns() - start);
}

void bench_binds(void)
{
	static struct samples binds[2], unbinds[2];
	struct fixture fx[2];
	u32 handle[2], i, n;

	for (i = 0; i < 2; i++) {
		fx[i] = fx_open();
		handle[i] = need_bo(fx[i].fd, BINDS * PAGE);
		CHECK_EQUAL(fx_run(&fx[i], fx_empty_stream(&fx[i])), 1);
	}
	for (n = 0; n < OTHERS; n += BINDS)
		bind_pages(&fx[1], handle[1], OTHERS_VA + n * SPACING,
			   OTHERS - n < BINDS ? OTHERS - n : BINDS);
	for (n = 0; n < ROUNDS; n++)
		for (i = 0; i < 2; i++)
			measure(&fx[i], handle[i], &binds[i], &unbinds[i]);
	for (i = 0; i < 2; i++)
		fx_close(&fx[i]);
	row_print_limit("guest: one of 4,096 binds in a call", "us",
			samples_median(&binds[0]) / BINDS, 10);
	row_print_limit("guest: one of 4,096 binds, 20,000 others bound", "us",
			samples_median(&binds[1]) / BINDS, 10);
	row_print_limit("guest: unbind of 4,096 pages in one operation", "ms",
			samples_median(&unbinds[0]) / 1e3, 10);
	row_print_limit("guest: unbind of 4,096 pages, 20,000 others bound", "ms",
			samples_median(&unbinds[1]) / 1e3, 10);
}
