// SPDX-License-Identifier: MIT
/*
 * Operations on caches: which ones the firmware requests of the device, and when, relative to
 * starts, results, messages, translations and lists of pages. VDM, PDM, TDM and RDM are fakes.
 */
#include "scene.h"

#include <string.h>

#include "pumice_format_table.h"
#include "regs/regs.h"

#define MAX_RECORDS	64u
#define GROUPS		6000u	/* of a job that needs many slices */
#define LOOPS		40u	/* of the loop in each */

#define SCOPE(name)	PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_##name)
#define CTX(n)		PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, n)
#define CLEAN		PUMICE_SLC_OP__CLEAN__MASK
#define FLUSH		(CLEAN | PUMICE_SLC_OP__INVALIDATE__MASK)
#define RANGE		PUMICE_SLC_OP__RANGE__MASK
#define TABLES		PUMICE_MMU_CONTEXTS

/* A write of the firmware to a register that the tests look at. */
struct record {
	u32 offset, value;
	/* State at that time: of the range, of the fixture, and of the context that is watched. */
	u64 first, last;
	u32 jobs_started, messages, object, result;
};

static struct record record[MAX_RECORDS];
static u32 records;
static u64 range_first, range_last;	/* in the registers */
static struct fixture *watched_fixture;
static const struct fx_context *watched;
static u32 watched_seqno;

static bool is_recorded(u32 offset)
{
	return offset == PUMICE_SLC_OP || offset == PUMICE_MMU_INVAL || offset == PUMICE_PM_GROW ||
	       offset == PUMICE_PM_RELEASE || offset == PUMICE_PDM_CTRL ||
	       (offset >= PUMICE_MMU_CTX(1) && offset < PUMICE_MMU_CTX(PUMICE_MMU_CONTEXTS) &&
		!(offset % 8));
}

/* Follow a write to one of the two registers of the range, or to a half of one. */
static void record_range(u32 offset, u64 value, unsigned int size)
{
	if (offset - PUMICE_SLC_START < 8)
		memcpy((u8 *)&range_first + (offset - PUMICE_SLC_START), &value, size);
	else if (offset - PUMICE_SLC_END < 8)
		memcpy((u8 *)&range_last + (offset - PUMICE_SLC_END), &value, size);
}

/* The linker replaces the device's own function by these. */
enum reg_after __real_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size);
enum reg_after __wrap_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size);
enum reg_after __wrap_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size)
{
	if (bus == PUMICE_REG_BUS_FW)
		record_range(offset, value, size);
	if (bus == PUMICE_REG_BUS_FW && is_recorded(offset) && records < MAX_RECORDS) {
		struct record *r = &record[records++];

		*r = (struct record){ .offset = offset, .value = (u32)value,
				      .first = range_first, .last = range_last };
		if (watched) {
			r->jobs_started = watched_fixture->boot->jobs_started;
			r->messages = watched_fixture->fwccb_ring->write;
			r->object = *watched->object;
			r->result = fx_result(watched, watched_seqno)->seqno;
		}
	}
	return __real_regs_write(gpu, bus, os, offset, value, size);
}

static void watch(struct fixture *r, const struct fx_context *c, u32 seqno)
{
	records = 0;
	watched_fixture = r;
	watched = c;
	watched_seqno = seqno;
}

/* Count recorded writes to a register with a value. */
static u32 count(u32 offset, u32 value)
{
	u32 i, n = 0;

	for (i = 0; i < records; i++)
		n += record[i].offset == offset && record[i].value == value;
	return n;
}

/* Assert which operations were recorded, from the first one on, and that there are no more. */
static void assert_ops(const u32 *op, u32 number)
{
	u32 i;

	assert_int_equal(records, number);
	for (i = 0; i < number; i++) {
		assert_int_equal(record[i].offset, PUMICE_SLC_OP);
		assert_int_equal(record[i].value, op[i]);
	}
}

/* Contexts of a VM, one on each data master, and a scene. */
struct caches {
	struct fixture *r;
	struct fx_vm vm;
	struct scene scene;
	struct fx_context c[FWIF_DM_COUNT];
};

static int set_up(void **state)
{
	static struct caches f;
	u32 dm;

	watched = NULL;
	f.r = fx_booted();
	fx_vm(f.r, &f.vm);
	scene_make(f.r, true, &f.scene);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		fx_context_of(f.r, &f.vm, dm, 1, &f.c[dm]);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct caches *f = *state;

	watched = NULL;
	fx_destroy(f->r);
	return 0;
}

static unsigned int fake_of(u32 dm)
{
	static const unsigned int number[] = {
		[FWIF_DM_VDM] = FAKE_VDM, [FWIF_DM_PDM] = FAKE_PDM, [FWIF_DM_TDM] = FAKE_TDM,
		[FWIF_DM_RDM] = FAKE_RDM,
	};

	return number[dm];
}

/* Append a job with flags. */
static void put_job(struct caches *f, struct fx_context *c, u32 seqno, u32 flags)
{
	u32 *type = (u32 *)(void *)(c->cccb + c->write);

	switch (c->f->dm) {
	case FWIF_DM_CDM:
		fx_compute(c, FX_STREAM_VA, seqno);
		break;
	case FWIF_DM_VDM:
		put_geometry(c, &f->scene, seqno);
		break;
	case FWIF_DM_PDM:
		put_fragment(c, &f->scene, seqno);
		break;
	default:
		put_stream(c, c->f->dm == FWIF_DM_TDM ? FWIF_CCCB_TRANSFER : FWIF_CCCB_RAYS, seqno);
		break;
	}
	*type = (*type & FWIF_CCCB_TYPE) | flags;
	fx_update(c, c->object_addr, seqno);
}

static void end(struct caches *f, u32 dm)
{
	if (dm != FWIF_DM_CDM)
		end_and_run(f->r, fake_of(dm), DM_DONE);
}

/* Run a job without flags, so that the VM has an MMU context. */
static u32 bind(struct caches *f)
{
	put_job(f, &f->c[FWIF_DM_CDM], 1, 0);
	fx_submit(f->r, &f->c[FWIF_DM_CDM]);
	return fx_result(&f->c[FWIF_DM_CDM], 1)->mmu_context;
}

static bool has_scene(u32 dm)
{
	return dm == FWIF_DM_VDM || dm == FWIF_DM_PDM;
}

/* On each data master; those with scenes also operate on MMU context 0. */
static void operations_surround_a_job(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f);
	u32 dm, i;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++) {
		const u32 each = has_scene(dm) ? 2 : 1;
		const u32 start[] = { FLUSH | SCOPE(SYSTEM) | CTX(ctx), FLUSH | SCOPE(SYSTEM) };
		const u32 finish[] = { CLEAN | SCOPE(SYSTEM) | CTX(ctx), CLEAN | SCOPE(SYSTEM) };
		const u32 started = f->r->boot->jobs_started;
		struct fx_context *c = &f->c[dm];
		u32 n = 0;

		watch(f->r, c, 2);
		put_job(f, c, 2, FWIF_CACHES_ALL);
		fx_submit(f->r, c);
		end(f, dm);
		assert_int_equal(*c->object, 2);
		for (i = 0; i < records; i++) {
			if (record[i].offset != PUMICE_SLC_OP)
				continue;
			if (n < each) {
				assert_int_equal(record[i].value, start[n]);
				assert_int_equal(record[i].jobs_started, started);
			} else {
				assert_int_equal(record[i].value, finish[n - each]);
				assert_int_equal(record[i].jobs_started, started + 1);
			}
			assert_int_not_equal(record[i].result, 2);
			assert_int_not_equal(record[i].object, 2);
			n++;
		}
		assert_int_equal(n, 2 * each);
	}
}

static void each_flag_has_its_own_operation(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f);
	const struct {
		u32 flags, ops, op;
	} rows[] = {
		{ 0, 0, 0 },
		{ FWIF_CACHES_START_CORES, 1, FLUSH | SCOPE(GPU) | CTX(ctx) },
		{ FWIF_CACHES_START_SYSTEM, 1, FLUSH | SCOPE(SYSTEM) | CTX(ctx) },
		{ FWIF_CACHES_END, 1, CLEAN | SCOPE(SYSTEM) | CTX(ctx) },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		watch(f->r, &f->c[FWIF_DM_TDM], i + 1);
		put_job(f, &f->c[FWIF_DM_TDM], i + 1, rows[i].flags);
		fx_submit(f->r, &f->c[FWIF_DM_TDM]);
		end(f, FWIF_DM_TDM);
		assert_ops(&rows[i].op, rows[i].ops);
	}
}

/* Writes before the failure are visible before the host is notified of it. */
static void failed_jobs_are_cleaned_before_they_are_reported(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f), clean = CLEAN | SCOPE(SYSTEM) | CTX(ctx);
	struct fx_context *c = &f->c[FWIF_DM_TDM];

	put_job(f, c, 1, FWIF_CACHES_END);
	fx_submit(f->r, c);
	watch(f->r, c, 1);
	fake_fault(FAKE_TDM, PUMICE_FAULT_IPF_BLOCK, 0x1000);
	fx_run(f->r);
	assert_ops(&clean, 1);
	assert_int_equal(record[0].messages, 0);
	assert_int_equal(record[0].result, 0);
	assert_int_equal(f->r->fwccb_ring->write, 1);
	put_job(f, c, 2, FWIF_CACHES_END);
	fx_submit(f->r, c);
	watch(f->r, c, 2);
	assert_int_equal(fx_call_context(f->r, FWIF_KCCB_CONTEXT_KILL, c), FWIF_STATUS_OK);
	assert_ops(&clean, 1);
	assert_int_equal(record[0].result, 0);
	assert_int_equal(fx_result(c, 2)->fault, PUMICE_FAULT_KILLED);
	/* One that has not run has nothing to write. */
	watch(f->r, c, 3);
	put_job(f, c, 3, FWIF_CACHES_ALL);
	fx_submit(f->r, c);
	assert_int_equal(*c->object, 3);
	assert_int_equal(records, 0);
}

/* Its fragment job, which has no operation on the SLC, runs. */
static void refused_geometry_jobs_have_the_operations_of_their_start(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f);
	const u32 start[] = { FLUSH | SCOPE(SYSTEM) | CTX(ctx), FLUSH | SCOPE(SYSTEM) };
	u32 dm;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++) {
		struct fx_context *c = &f->c[dm];
		struct fwif_cccb_compute *job = (void *)(c->cccb + c->write);
		const u32 seqno = dm == FWIF_DM_CDM ? 2 : 1;

		put_job(f, c, seqno, FWIF_CACHES_ALL);
		job->stream = 1ull << PUMICE_MMU_VA_BITS;
		watch(f->r, c, seqno);
		fx_submit(f->r, c);
		assert_int_equal(fx_result(c, seqno)->fault, PUMICE_FAULT_MMU_ADDRESS);
		assert_ops(start, dm == FWIF_DM_VDM ? 2 : 0);
	}
}

/* Its buffers are coherent, too, and its driver has no flags. */
static void jobs_of_older_hosts_have_all_operations(void **state)
{
	u32 i;

	(void)state;
	for (i = 1; i <= 2; i++) {
		struct caches f = { .r = fx_create() };
		struct fx_context *c = &f.c[FWIF_DM_TDM];
		u32 ctx, all[2];

		f.r->boot->version = FWIF_VERSION_MAJOR << 16 | (FWIF_CACHES_SINCE - i % 2);
		assert_int_equal(fx_boot(f.r), FWIF_STATE_READY);
		fx_vm(f.r, &f.vm);
		fx_context_of(f.r, &f.vm, FWIF_DM_TDM, 1, c);
		fx_context(f.r, &f.vm, 1, &f.c[FWIF_DM_CDM]);
		ctx = bind(&f);
		all[0] = FLUSH | SCOPE(SYSTEM) | CTX(ctx);
		all[1] = CLEAN | SCOPE(SYSTEM) | CTX(ctx);
		watch(f.r, c, i);
		put_job(&f, c, i, 0);
		fx_submit(f.r, c);
		end(&f, FWIF_DM_TDM);
		assert_ops(all, i == 1 ? 2 : 0);
		watched = NULL;
		fx_destroy(f.r);
	}
}

static void wrong_flags_break_the_context(void **state)
{
	struct caches *f = *state;
	u32 i;

	for (i = 0; i < 5; i++) {
		struct fx_context c;
		u32 *type;

		fx_context_of(f->r, &f->vm, FWIF_DM_CDM, 1, &c);
		type = (u32 *)(void *)(c.cccb + c.write);
		switch (i) {
		case 0:
			fx_wait_for(&c, c.object_addr, 0);
			break;
		case 1:
			fx_update(&c, c.object_addr, 1);
			break;
		case 2:
			fx_bytes(&c, &(struct fwif_cccb_header){ FWIF_CCCB_PAD, 8 }, 8);
			break;
		default:
			fx_compute(&c, FX_STREAM_VA, 1);
			break;
		}
		*type |= i == 3 ? FWIF_CACHES_END << 1 : i == 4 ? 1u << 31 : FWIF_CACHES_END;
		fx_submit(f->r, &c);
		assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
		assert_int_equal(*c.object, 0);
	}
	assert_int_equal(f->r->boot->jobs_started, 0);
}

/* Register maps before 2.9 have no unit SLC. */
static void older_devices_get_no_operations(void **state)
{
	const u32 version = PUMICE_SYS_VERSION__RESET & ~PUMICE_SYS_VERSION__MINOR__MASK;
	struct fwif_kccb_cmd invalidate = {
		.type = FWIF_KCCB_MMU_INVALIDATE,
		.start = FX_STREAM_VA, .end = FX_STREAM_VA + 0xfff,
	};
	struct caches *f = *state;
	u32 minor, i;

	invalidate.catalogue = f->vm.catalogue;
	bind(f);
	for (minor = 8; minor <= 9; minor++) {
		fake_version = version | minor;
		watch(f->r, &f->c[FWIF_DM_VDM], minor);
		put_job(f, &f->c[FWIF_DM_VDM], minor, FWIF_CACHES_ALL);
		fx_submit(f->r, &f->c[FWIF_DM_VDM]);
		end(f, FWIF_DM_VDM);
		assert_int_equal(fx_call(f->r, &invalidate), FWIF_STATUS_OK);
		assert_int_equal(*f->c[FWIF_DM_VDM].object, minor);
		for (i = 0; i < records && minor == 8; i++)
			assert_int_not_equal(record[i].offset, PUMICE_SLC_OP);
	}
	assert_int_equal(records, 8);
	fake_version = 0;
}

/* Assert writes to two registers in a row, the first one an operation. */
static void assert_before(u32 at, u32 op, u32 next)
{
	assert_true(at + 1 < records);
	assert_int_equal(record[at].offset, PUMICE_SLC_OP);
	assert_int_equal(record[at].value, op);
	assert_int_equal(record[at + 1].offset, next);
}

/*
 * Lines are written with the old translations, then tables, then TLBs are dropped, and the lines
 * that running jobs have filled meanwhile.
 */
static void changed_mappings_leave_no_stale_lines(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f);
	struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_MMU_INVALIDATE, .catalogue = f->vm.catalogue,
		.start = FX_STREAM_VA, .end = FX_STREAM_VA + 0x1fff,
	};

	watch(f->r, &f->c[0], 1);
	assert_int_equal(fx_call(f->r, &cmd), FWIF_STATUS_OK);
	assert_int_equal(records, 4);
	assert_before(0, FLUSH | SCOPE(SYSTEM) | CTX(ctx) | RANGE, PUMICE_SLC_OP);
	assert_before(1, FLUSH | SCOPE(SYSTEM) | CTX(TABLES), PUMICE_MMU_INVAL);
	assert_int_equal(record[3].offset, PUMICE_SLC_OP);
	assert_int_equal(record[3].value, FLUSH | SCOPE(SYSTEM) | CTX(ctx) | RANGE);
	cmd.start = 1;
	cmd.end = 0;
	records = 0;
	assert_int_equal(fx_call(f->r, &cmd), FWIF_STATUS_OK);
	assert_int_equal(records, 4);
	assert_before(0, FLUSH | SCOPE(SYSTEM) | CTX(ctx), PUMICE_SLC_OP);
	assert_before(1, FLUSH | SCOPE(SYSTEM) | CTX(TABLES), PUMICE_MMU_INVAL);
	assert_int_equal(record[3].offset, PUMICE_SLC_OP);
	assert_int_equal(record[3].value, FLUSH | SCOPE(SYSTEM) | CTX(ctx));
}

/* The host frees tables afterwards, which other contexts or lists of pages may have used. */
static void tables_of_a_vm_without_an_mmu_context_have_no_lines(void **state)
{
	struct caches *f = *state;
	const u32 flush = FLUSH | SCOPE(SYSTEM) | CTX(TABLES);
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_MMU_INVALIDATE, .catalogue = f->vm.catalogue + 0x2000,
		.start = FX_STREAM_VA, .end = FX_STREAM_VA + 0x1fff,
	};

	bind(f);
	watch(f->r, &f->c[0], 1);
	assert_int_equal(fx_call(f->r, &cmd), FWIF_STATUS_OK);
	assert_ops(&flush, 1);
}

static void a_released_mmu_context_has_no_lines(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f);

	watch(f->r, &f->c[0], 1);
	assert_int_equal(fx_call_catalogue(f->r, FWIF_KCCB_VM_RELEASE, f->vm.catalogue),
			 FWIF_STATUS_OK);
	assert_before(0, FLUSH | SCOPE(SYSTEM) | CTX(ctx), PUMICE_MMU_CTX(ctx));
	assert_before(records - 2, FLUSH | SCOPE(SYSTEM) | CTX(TABLES), PUMICE_MMU_INVAL);
}

/* START_CORES operates on the lines of the VM alone, although scenes are in context 0. */
static void clients_of_context_0_use_no_caches_of_cores(void **state)
{
	static const enum pumice_mem_client clients[] = {
		PUMICE_MEM_CLIENT_FW_READ, PUMICE_MEM_CLIENT_FW_WRITE,
		PUMICE_MEM_CLIENT_PM_READ, PUMICE_MEM_CLIENT_PM_WRITE,
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
		assert_int_equal(pumice_client_table[clients[i]].path, PUMICE_MEM_PATH_DIRECT);
}

/* All of them, to the last byte, and no others: each register changes alone, too. */
static void ranges_are_those_of_the_host(void **state)
{
	static const struct {
		u64 first, last;
	} ranges[] = {
		{ FX_STREAM_VA, FX_STREAM_VA + 0x1fff },
		{ FX_STREAM_VA + 0x1000, FX_STREAM_VA + 0x1fff },
		{ 0x1234567000, 0x2345678fff },
		{ 0x1234567000, 0x1234567fff },
	};
	struct caches *f = *state;
	const u32 ctx = bind(f);
	struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_MMU_INVALIDATE, .catalogue = f->vm.catalogue,
	};
	u32 i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		cmd.start = ranges[i].first;
		cmd.end = ranges[i].last;
		watch(f->r, &f->c[0], 1);
		assert_int_equal(fx_call(f->r, &cmd), FWIF_STATUS_OK);
		assert_before(0, FLUSH | SCOPE(SYSTEM) | CTX(ctx) | RANGE, PUMICE_SLC_OP);
		assert_int_equal(record[0].first, ranges[i].first);
		assert_int_equal(record[0].last, ranges[i].last);
	}
}

/* With more VMs than MMU contexts: lines of the former VM, while its tables are still valid. */
static void a_reassigned_mmu_context_has_no_lines(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f);
	struct fx_context c;
	struct fx_vm vm;
	u32 i;

	for (i = 1; i < PUMICE_MMU_CONTEXTS; i++) {
		fx_vm(f->r, &vm);
		fx_context_of(f->r, &vm, FWIF_DM_CDM, 1, &c);
		watch(f->r, &c, 1);
		put_job(f, &c, 1, 0);
		fx_submit(f->r, &c);
		assert_int_equal(*c.object, 1);
		assert_before(records - 2, FLUSH | SCOPE(SYSTEM) | CTX(TABLES), PUMICE_MMU_INVAL);
		if (i + 1 < PUMICE_MMU_CONTEXTS)
			assert_int_equal(record[0].offset, PUMICE_MMU_CTX(i + 1));
	}
	assert_before(0, FLUSH | SCOPE(SYSTEM) | CTX(ctx), PUMICE_MMU_CTX(ctx));
}

/* The host has written the list before it grows, and may free it after a scene is released. */
static void lists_of_pages_are_exchanged_with_the_host(void **state)
{
	struct caches *f = *state;
	const struct fwif_kccb_cmd grown = {
		.type = FWIF_KCCB_FREE_LIST_GROWN, .object = f->scene.list_addr[0], .pages = 20,
	};
	const struct fwif_kccb_cmd release = {
		.type = FWIF_KCCB_SCENE_RELEASE, .object = f->scene.addr,
	};

	watch(f->r, &f->c[0], 1);
	assert_int_equal(fx_call(f->r, &grown), FWIF_STATUS_OK);
	assert_int_equal(records, 2);
	assert_before(0, FLUSH | SCOPE(SYSTEM), PUMICE_PM_GROW);
	records = 0;
	assert_int_equal(fx_call(f->r, &release), FWIF_STATUS_OK);
	assert_int_equal(records, 3);
	assert_int_equal(record[0].offset, PUMICE_PM_RELEASE);
	assert_int_equal(record[1].value, FLUSH | SCOPE(SYSTEM));
	/* Tables that the GPU keeps in pages of the lists. */
	assert_int_equal(record[2].value, FLUSH | SCOPE(SYSTEM) | CTX(TABLES));
}

/* The scene so far has run out of pages, and its lists cannot grow. */
static void partial_renders_see_results_of_other_jobs(void **state)
{
	static const u32 flags[] = {
		0, FWIF_CACHES_START_CORES, FWIF_CACHES_START_SYSTEM, FWIF_CACHES_END,
	};
	struct caches *f = *state;
	const u32 ctx = bind(f);
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++)
		list_set_max(&f->scene, i, 10);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		put_job(f, &f->c[FWIF_DM_VDM], i + 1, flags[i]);
		fx_submit(f->r, &f->c[FWIF_DM_VDM]);
		watch(f->r, &f->c[FWIF_DM_VDM], i + 1);
		end_and_run(f->r, FAKE_VDM, DM_MEMORY);
		end_and_run(f->r, FAKE_VDM, DM_MEMORY);
		assert_int_equal(records, i == 1 || i == 2 ? 2 : 1);
		if (records == 2)
			assert_before(0, FLUSH | SCOPE(GPU) | CTX(ctx), PUMICE_PDM_CTRL);
		end_and_run(f->r, FAKE_PDM, DM_DONE);
		end(f, FWIF_DM_VDM);
		assert_int_equal(*f->c[FWIF_DM_VDM].object, i + 1);
		assert_int_equal(fx_result(&f->c[FWIF_DM_VDM], i + 1)->partials, 1);
	}
}

/* Submit two jobs of many slices, of contexts of their own, without running them. */
static void hand_over_two(struct caches *f, struct fx_context *b)
{
	f->r->boot->slice_us = FWIF_SLICE_MIN_US;
	fx_vm_groups(&f->vm, GROUPS, LOOPS, false);
	fx_context_of(f->r, &f->vm, FWIF_DM_CDM, 1, b);
	put_job(f, &f->c[FWIF_DM_CDM], 2, FWIF_CACHES_ALL);
	put_job(f, b, 1, FWIF_CACHES_ALL);
	fx_put_kick(f->r, &f->c[FWIF_DM_CDM]);
	fx_put_kick(f->r, b);
	fx_kick(f->r);
}

static void a_job_of_many_slices_has_its_operations_once(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f);
	struct fx_context b;

	watch(f->r, &f->c[FWIF_DM_CDM], 2);
	hand_over_two(f, &b);
	fx_finish(f->r);
	assert_int_equal(*f->c[FWIF_DM_CDM].object, 2);
	assert_int_equal(*b.object, 1);
	assert_true(f->r->boot->switches > 2);
	assert_int_equal(count(PUMICE_SLC_OP, FLUSH | SCOPE(SYSTEM) | CTX(ctx)), 2);
	assert_int_equal(count(PUMICE_SLC_OP, CLEAN | SCOPE(SYSTEM) | CTX(ctx)), 2);
	assert_int_equal(records, 4);
}

/* It has written, although no slice of it runs when it ends. */
static void a_job_that_is_killed_while_it_is_switched_out_is_cleaned(void **state)
{
	struct caches *f = *state;
	const u32 ctx = bind(f), clean = CLEAN | SCOPE(SYSTEM) | CTX(ctx);
	struct fx_context *a = &f->c[FWIF_DM_CDM], b;
	const struct fwif_kccb_cmd kill = { .type = FWIF_KCCB_CONTEXT_KILL, .context = a->addr };
	u32 i;

	hand_over_two(f, &b);
	for (i = 0; i < 10000 && f->r->boot->active_context != b.f->id; i++)
		fx_steps(f->r, 1);
	assert_int_equal(f->r->boot->active_context, b.f->id);
	assert_int_equal(f->r->boot->switches, 1);
	watch(f->r, a, 2);
	fx_put(f->r, &kill);
	fx_kick(f->r);
	for (i = 0; i < 10000 && *a->object != 2; i++)
		fx_steps(f->r, 1);
	assert_int_equal(fx_result(a, 2)->fault, PUMICE_FAULT_KILLED);
	assert_int_equal(fx_result(a, 2)->slices, 1);
	assert_ops(&clean, 1);
	assert_int_not_equal(record[0].result, 2);
}

/* Of scenes and lists in its part, and of tables, though no VM is bound. */
static void a_disconnected_virtual_gpu_leaves_no_lines(void **state)
{
	struct fixture *r = fx_booted_oses(2), *guest = fx_guest(r, 1);

	(void)state;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	records = 0;
	assert_int_equal(fx_disconnect(guest), FWIF_STATE_OFF);
	assert_int_equal(count(PUMICE_SLC_OP, FLUSH | SCOPE(SYSTEM)), 1);
	assert_int_equal(count(PUMICE_SLC_OP, FLUSH | SCOPE(SYSTEM) | CTX(TABLES)), 1);
	fx_destroy(r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(operations_surround_a_job),
		TEST(each_flag_has_its_own_operation),
		TEST(failed_jobs_are_cleaned_before_they_are_reported),
		TEST(refused_geometry_jobs_have_the_operations_of_their_start),
		cmocka_unit_test(jobs_of_older_hosts_have_all_operations),
		cmocka_unit_test(a_disconnected_virtual_gpu_leaves_no_lines),
		TEST(wrong_flags_break_the_context),
		TEST(older_devices_get_no_operations),
		TEST(changed_mappings_leave_no_stale_lines),
		TEST(clients_of_context_0_use_no_caches_of_cores),
		TEST(ranges_are_those_of_the_host),
		TEST(tables_of_a_vm_without_an_mmu_context_have_no_lines),
		TEST(a_released_mmu_context_has_no_lines),
		TEST(a_reassigned_mmu_context_has_no_lines),
		TEST(lists_of_pages_are_exchanged_with_the_host),
		TEST(partial_renders_see_results_of_other_jobs),
		TEST(a_job_of_many_slices_has_its_operations_once),
		TEST(a_job_that_is_killed_while_it_is_switched_out_is_cleaned),
	};

	return cmocka_run_group_tests_name("caches", tests, NULL, NULL);
}
