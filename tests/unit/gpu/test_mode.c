// SPDX-License-Identifier: MIT
/* Modes of the GPU: when they change, and that results do not depend on them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/preset.h"
#include "../../../qemu-device/gpu/pumice_gpu_places.h"
#include "../../../qemu-device/gpu/regs/regs.h"
#include "job.h"

/* Only a defect takes that long. */
#define ALARM_SECONDS	30u
/* Of a step: 32 instructions of 32 lanes, and what the PDS does for tasks. */
#define MOST_REQUESTS	1500u

#define CLEAN_ALL	(PUMICE_SLC_OP__CLEAN__MASK | PUMICE_SLC_OP__ALL__MASK | \
			 PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_SYSTEM))

static const struct job number = { .program = JOB_NUMBER, .group = 200, .groups = 77 };
static const struct job add = { .program = JOB_ADD, .group = 192, .groups = 77 };
static const struct job forever = { .program = JOB_FOREVER, .group = 256, .groups = 64 };

static u32 mode_of(struct fixture *fx)
{
	return (u32)PUMICE_FIELD_GET(PUMICE_SYS_MODE__MODE, fx_read(fx, PUMICE_SYS_MODE));
}

static u32 refusal(struct fixture *fx)
{
	return (u32)PUMICE_FIELD_GET(PUMICE_SYS_MODE__REFUSED, fx_read(fx, PUMICE_SYS_MODE));
}

/* A job of each mode; each begins with memory that the one before has not written. */
static void results_are_the_same_in_all_modes(void **state)
{
	static const char *const modes[] = { "fast", "counted", "strict", "fast", "strict", "counted" };
	unsigned int threads;
	size_t i;

	(void)state;
	for (threads = 0; threads < 3; threads += 2) {
		struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2,
								     .threads = threads });
		u32 *data = job_map(fx);

		fx_boot_proxy(fx);
		for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
			memset(data, 0, number.group * number.groups * sizeof(*data));
			assert_int_equal(pumice_gpu_set_mode(fx->gpu, modes[i]), 0);
			assert_string_equal(pumice_gpu_mode(fx->gpu), modes[i]);
			assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
			/* In mode strict the caches alone have the results until then. */
			fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_ALL);
			job_assert_numbers(data, &number);
		}
		fx_destroy(fx);
	}
}

/* In mode fast no cache has lines, but programs are kept until lines of code would be dropped. */
static void operations_that_drop_lines_drop_code(void **state)
{
	static const struct {
		u32 op;
		bool drops;
	} cases[] = {
		{ PUMICE_SLC_OP__CLEAN__MASK | PUMICE_SLC_OP__ALL__MASK, false },
		{ PUMICE_SLC_OP__INVALIDATE__MASK | PUMICE_SLC_OP__ALL__MASK, true },
		{ PUMICE_SLC_OP__INVALIDATE__MASK | PUMICE_SLC_OP__CLEAN__MASK |
		  PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, JOB_CTX), true },
		{ PUMICE_SLC_OP__INVALIDATE__MASK |
		  PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, JOB_CTX + 1), false },
	};
	struct fixture *fx = fx_create(NULL);
	u32 n;

	(void)state;
	fx_boot_proxy(fx);
	for (n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		const u64 before = mmu_code_count(&fx->gpu->mmu, JOB_CTX);

		fx_fw_write(fx, PUMICE_SLC_OP,
			    cases[n].op | PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE,
							    PUMICE_MEM_SCOPE_SYSTEM));
		assert_int_equal(mmu_code_count(&fx->gpu->mmu, JOB_CTX) != before,
				 cases[n].drops);
	}
	fx_destroy(fx);
}

/* Run a job in counted mode. The caller destroys the fixture. */
static struct fixture *run_counted(const struct job *job)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2 });
	u32 *data = job_map(fx);

	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	assert_int_equal(job_run(fx, job), PUMICE_IC_PENDING__CDM_DONE__MASK);
	job_assert_numbers(data, job);
	return fx;
}

/* Run the job in counted mode, and return the counts of a client. */
static struct hierarchy_client counts(enum pumice_mem_client client)
{
	struct fixture *fx = run_counted(&number);
	struct hierarchy_client out;

	hierarchy_client_counters(fx->gpu->hierarchy, client, &out);
	fx_destroy(fx);
	return out;
}

/*
 * Each lane stores a word; a line of the caches has the words of 32. The stream has no cache. The
 * firmware reads and writes its window.
 */
static void requests_of_a_job_are_counted_in_its_clients(void **state)
{
	const struct hierarchy_client store = counts(PUMICE_MEM_CLIENT_USC_STORE);
	const struct hierarchy_client stream = counts(PUMICE_MEM_CLIENT_CDM_STREAM);
	const struct hierarchy_client table = counts(PUMICE_MEM_CLIENT_MMU_TABLE);
	const struct hierarchy_client code = counts(PUMICE_MEM_CLIENT_USC_CODE);
	const struct hierarchy_client read = counts(PUMICE_MEM_CLIENT_FW_READ);
	const struct hierarchy_client write = counts(PUMICE_MEM_CLIENT_FW_WRITE);

	(void)state;
	assert_int_equal(store.requests, number.group * number.groups);
	assert_int_equal(store.bytes, store.requests * sizeof(u32));
	assert_true(store.slc.requests && store.slc.requests <= store.requests / 16);
	assert_true(stream.requests);
	assert_int_equal(stream.first.requests, 0);
	assert_int_equal(stream.slc.bypasses, stream.slc.requests);
	assert_true(table.requests);
	/* Those of the firmware's window, which the host changes without any operation. */
	assert_true(table.slc.bypasses);
	assert_true(table.slc.hits + table.slc.misses);
	assert_true(code.requests);
	assert_true(code.first.requests);
	assert_true(read.requests);
	assert_true(write.requests);
}

/* Set the bit of the entries of the job's data. */
static void make_data_coherent(struct fixture *fx)
{
	u64 at;

	for (at = 0; at < JOB_DATA_BYTES; at += testmem_page_bytes(PUMICE_PAGE_SIZE_2M))
		*testmem_pt_entry(fx->tm, JOB_CTX, JOB_DATA + at) |=
			PUMICE_MMU_PT_ENTRY__COHERENT__MASK;
}

/* Loads and atomic operations of a whole job; its programs and stream are in other pages. */
static void coherent_pages_are_in_no_cache(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .preset = "volcanic" });
	const u32 segment = preset_hierarchy(&fx->gpu->config).segment_bytes;
	const struct cache_range lines = { JOB_CTX, JOB_DATA, ~0ull };
	u32 *data = job_map(fx);
	struct hierarchy_client atomic, load, code;

	(void)state;
	make_data_coherent(fx);
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	assert_int_equal(job_run(fx, &add), PUMICE_IC_PENDING__CDM_DONE__MASK);
	job_assert_numbers(data, &add);
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_ATOMIC, &atomic);
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_LOAD, &load);
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_CODE, &code);
	assert_int_equal(atomic.requests, add.group * add.groups);
	assert_int_equal(atomic.slc.bypasses, atomic.requests);
	assert_int_equal(atomic.slc.read_bytes, atomic.requests * segment);
	assert_int_equal(atomic.slc.written_bytes, atomic.requests * segment);
	assert_int_equal(load.slc.bypasses, load.requests);
	assert_int_equal(load.slc.read_bytes, load.requests * segment);
	assert_int_equal(load.first.requests + atomic.first.requests, 0);
	assert_true(code.first.requests);
	assert_int_equal(hierarchy_flush(fx->gpu->hierarchy, 0, HIERARCHY_SYSTEM, &lines).lines, 0);
	fx_destroy(fx);
}

/* They are performed in the SLC, and the lines that the loads have filled above it are dropped. */
static void atomic_operations_are_requests_of_their_client(void **state)
{
	struct fixture *fx = run_counted(&add);
	struct hierarchy_client atomic, load, store;
	struct hierarchy_level l1, l2;

	(void)state;
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_ATOMIC, &atomic);
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_LOAD, &load);
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_STORE, &store);
	hierarchy_level_counters(fx->gpu->hierarchy, PUMICE_CACHE_DATA_L1, &l1);
	hierarchy_level_counters(fx->gpu->hierarchy, PUMICE_CACHE_DATA_L2, &l2);
	assert_int_equal(atomic.requests, add.group * add.groups);
	assert_int_equal(atomic.first.atomics, atomic.requests);
	assert_int_equal(atomic.second.atomics, atomic.requests);
	assert_int_equal(atomic.slc.requests, atomic.requests);
	assert_int_equal(load.requests, atomic.requests);
	assert_int_equal(store.requests, 0);
	assert_true(load.first.misses && l1.dropped == load.first.misses);
	assert_true(load.second.misses && l2.dropped == load.second.misses);
	fx_destroy(fx);
}

/* Return the BIF that has one more request than before; there is one such BIF. */
static u32 bif_of_request(struct fixture *fx, const struct mmu_request *r)
{
	struct hierarchy *h = fx->gpu->hierarchy;
	const u32 bifs = hierarchy_bifs(h);
	u32 i, found = bifs, requests[65];
	struct bif_counters c;

	assert_true(bifs < 65);
	for (i = 0; i < bifs; i++) {
		hierarchy_bif_counters(h, i, &c);
		requests[i] = (u32)c.requests;
	}
	fx->gpu->mmu.request(fx->gpu->mmu.request_opaque, r);
	for (i = 0; i < bifs; i++) {
		hierarchy_bif_counters(h, i, &c);
		if (c.requests == requests[i])
			continue;
		assert_int_equal(c.requests, requests[i] + 1);
		assert_int_equal(found, bifs);
		found = i;
	}
	assert_true(found < bifs);
	return found;
}

/* By their USC if they pass its caches, else by their place; each core has BIFs for two USCs. */
static void requests_pass_the_bif_of_their_unit(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2, .uscs_per_core = 4 });
	struct mmu_request r = { .ctx = JOB_CTX, .bytes = 4 };
	u32 usc, place;

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	assert_int_equal(hierarchy_bifs(fx->gpu->hierarchy), 5);
	for (usc = 0; usc < 8; usc++) {
		r.usc = usc;
		for (place = 0; place < 3; place++) {
			r.addr += 4096;
			r.place = place;
			r.kind = 1;
			r.unit = PUMICE_UNIT_VDM;	/* indices: direct */
			assert_int_equal(bif_of_request(fx, &r), place ? (place - 1) * 2 : 4);
			r.kind = 0;
			r.unit = PUMICE_UNIT_USC_DATA;
			assert_int_equal(bif_of_request(fx, &r), usc / 2);
			r.unit = PUMICE_UNIT_TAG;
			assert_int_equal(bif_of_request(fx, &r) / 2, usc / 4);
		}
	}
	fx_destroy(fx);
}

/*
 * All groups fetch the same word: the first one on each USC misses in the caches of this USC, and
 * the first one of a core in those that its USCs share.
 */
static void fetches_for_a_usc_fill_its_own_caches(void **state)
{
	static const struct job fetch = { .program = JOB_FETCH, .group = 32, .groups = 64 };
	u32 uscs, i, used;

	(void)state;
	for (uscs = 2; uscs <= 4; uscs += 2) {
		struct fixture *fx = fx_create(&(struct fx_options){ .preset = "volcanic",
								     .cores = 2,
								     .uscs_per_core = uscs });
		const u32 *data = job_map(fx);
		struct hierarchy_client pds;

		fx_boot_proxy(fx);
		assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
		assert_int_equal(job_run(fx, &fetch), PUMICE_IC_PENDING__CDM_DONE__MASK);
		for (i = used = 0; i < fetch.group * fetch.groups; i++)
			used |= 1u << ((data[i] >> 8) * uscs + (data[i] & 0xff));
		assert_int_equal(used, (1u << 2 * uscs) - 1);
		hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_PDS_CONSTANT, &pds);
		assert_int_equal(pds.first.requests, fetch.groups);
		assert_int_equal(pds.first.misses, 2 * uscs);
		assert_int_equal(pds.second.requests, 2 * uscs);
		assert_int_equal(pds.second.misses, 2);
		fx_destroy(fx);
	}
}

static u64 all_requests(struct fixture *fx)
{
	struct hierarchy_client out;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
		hierarchy_client_counters(fx->gpu->hierarchy, i, &out);
		sum += out.requests;
	}
	return sum;
}

/*
 * Without threads QEMU's main loop waits for a step, with threads the host for all that run. So
 * each has about the time of one in fast mode, although each request takes some 0.5 us.
 */
static void requests_of_a_step_are_bounded(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });
	u64 before, now, most = 0, steps = 0;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	job_start(fx, &(struct job){ .program = JOB_COUNT, .group = 256, .groups = 64 });
	for (now = all_requests(fx); cdm_status(fx->gpu->cdm)->busy; steps++) {
		before = now;
		pumice_gpu_poll(fx->gpu, 0);
		now = all_requests(fx);
		most = now - before > most ? now - before : most;
	}
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_DONE__MASK);
	assert_true(steps > 16);
	assert_in_range(most, 1, MOST_REQUESTS);
	fx_destroy(fx);
}

static void a_change_drops_the_tlbs_once(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });
	struct mmu *mmu = &fx->gpu->mmu;
	u32 ctx;

	(void)state;
	for (ctx = 0; ctx < PUMICE_MMU_CONTEXTS; ctx++) {
		const u64 before = mmu->gen[ctx];

		assert_int_equal(pumice_gpu_set_mode(fx->gpu, ctx & 1 ? "fast" : "counted"), 0);
		assert_int_equal(mmu->gen[ctx], before + 1);
	}
	fx_destroy(fx);
}

static void counts_are_the_same_each_time(void **state)
{
	u32 client;

	(void)state;
	for (client = 0; client < PUMICE_MEM_CLIENT_COUNT; client++) {
		const struct hierarchy_client first = counts((enum pumice_mem_client)client);
		const struct hierarchy_client again = counts((enum pumice_mem_client)client);

		assert_memory_equal(&first, &again, sizeof(first));
	}
}

/* Lines and counts of the job before would be those of another user. */
static void a_reset_empties_the_hierarchy(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2 });
	struct hierarchy_client out;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
	pumice_gpu_reset(fx->gpu);
	assert_string_equal(pumice_gpu_mode(fx->gpu), "counted");
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_STORE, &out);
	assert_int_equal(out.requests, 0);
	fx_destroy(fx);
}

static void the_mode_does_not_change_while_a_job_runs(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2, .threads = 2 });

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	job_start(fx, &forever);
	assert_false(fx_read(fx, PUMICE_SYS_MODE) & PUMICE_SYS_MODE__AVAILABLE__MASK);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), -EBUSY);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_COUNTED);
	assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_BUSY);
	assert_int_equal(mode_of(fx), PUMICE_MODE_FAST);
	/* The register has the reason of its own last write only. */
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "fast"), 0);
	assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_BUSY);
	/* The one that it has is none to change to. */
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_FAST);
	assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_NONE);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_ABORTED__MASK);
	assert_true(fx_read(fx, PUMICE_SYS_MODE) & PUMICE_SYS_MODE__AVAILABLE__MASK);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_COUNTED);
	assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_NONE);
	assert_int_equal(mode_of(fx), PUMICE_MODE_COUNTED);
	fx_destroy(fx);
}

/* Each waits for its first step, since nothing runs the GPU meanwhile. */
static void the_mode_does_not_change_while_a_data_master_is_busy(void **state)
{
	static const u32 ctrl[GPU_MASTERS] = {
		[GPU_VDM] = PUMICE_VDM_CTRL, [GPU_PDM] = PUMICE_PDM_CTRL,
		[GPU_TDM] = PUMICE_TDM_CTRL, [GPU_RDM] = PUMICE_RDM_CTRL,
	};
	u32 m, other;

	(void)state;
	for (m = 0; m < GPU_MASTERS; m++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });

		assert_true(fx_read(fx, PUMICE_SYS_MODE) & PUMICE_SYS_MODE__AVAILABLE__MASK);
		regs_write(fx->gpu, PUMICE_REG_BUS_FW, 0, ctrl[m], PUMICE_VDM_CTRL__START__MASK, 4);
		for (other = 0; other < GPU_MASTERS; other++)
			assert_int_equal(master_status(&fx->gpu->master[other])->busy, other == m);
		assert_false(fx_read(fx, PUMICE_SYS_MODE) & PUMICE_SYS_MODE__AVAILABLE__MASK);
		assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), -EBUSY);
		fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_COUNTED);
		assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_BUSY);
		assert_int_equal(mode_of(fx), PUMICE_MODE_FAST);
		pumice_gpu_reset(fx->gpu);
		assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
		fx_destroy(fx);
	}
}

/*
 * The firmware would wait for its own processor. The proxy's write waits for ever then, so that the
 * test writes on its bus.
 */
static void the_firmware_does_not_change_the_mode(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });

	(void)state;
	fx_write(fx, PUMICE_SYS_MODE, 3);
	assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_UNKNOWN);
	assert_int_equal(regs_write(fx->gpu, PUMICE_REG_BUS_FW, 0, PUMICE_SYS_MODE,
				    PUMICE_MODE_COUNTED, 4), REG_DONE);
	assert_int_equal(mode_of(fx), PUMICE_MODE_FAST);
	assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_UNKNOWN);
	fx_destroy(fx);
}

/* The guest after a reset of the machine is another one. */
static void a_reset_of_the_machine_restores_the_mode_of_the_host(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });

	(void)state;
	fx_boot_proxy(fx);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_COUNTED);
	pumice_gpu_reset(fx->gpu);
	assert_int_equal(mode_of(fx), PUMICE_MODE_COUNTED);
	pumice_gpu_machine_reset(fx->gpu);
	assert_int_equal(mode_of(fx), PUMICE_MODE_FAST);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_FAST);
	pumice_gpu_machine_reset(fx->gpu);
	assert_int_equal(mode_of(fx), PUMICE_MODE_COUNTED);
	fx_destroy(fx);
}

/* The host describes what it maps in mode strict only, so a description may be outdated later. */
static void descriptions_of_buffers_end_with_mode_strict(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });
	static const char buffer;
	struct places_range range;

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	pumice_gpu_note_map(fx->gpu, 4096, 8192, 4096, &buffer, "b");
	pumice_gpu_add_end(fx->gpu, 4096, 8192 + 8, &buffer, "b");
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	assert_true(places_find_range(&fx->gpu->strict.places, 4096, 8192, &range));
	assert_false(places_find_range(&fx->gpu->strict.places, 4096, 8192 + 4096, &range));
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "fast"), 0);
	assert_false(places_find_range(&fx->gpu->strict.places, 4096, 8192, &range));
	assert_false(places_have_ends(&fx->gpu->strict.places));
	fx_destroy(fx);
}

/* No memory is left for a hierarchy. */
static bool exhausted;
/* A job of it begins when the next hierarchy is created; or NULL. */
static struct fixture *beginning;

struct hierarchy *__real_hierarchy_create(const struct hierarchy_config *config,
					  const char **error);
struct hierarchy *__wrap_hierarchy_create(const struct hierarchy_config *config,
					  const char **error);

struct hierarchy *__wrap_hierarchy_create(const struct hierarchy_config *config,
					  const char **error)
{
	struct fixture *fx = beginning;

	beginning = NULL;
	if (fx)
		job_start(fx, &forever);
	return exhausted ? NULL : __real_hierarchy_create(config, error);
}

/* It would have other parts of the GPU while it runs. */
static void the_mode_does_not_change_if_a_job_begins_meanwhile(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2, .threads = 2 });

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	beginning = fx;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), -EBUSY);
	assert_null(beginning);
	assert_int_equal(mode_of(fx), PUMICE_MODE_FAST);
	assert_null(fx->gpu->hierarchy);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_ABORTED__MASK);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	fx_destroy(fx);
}

static void mode_strict_is_whole_after_a_change_without_memory(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });
	const struct strict *strict = &fx->gpu->strict;
	static const char buffer;
	struct places_range range;
	const struct race *race;

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	pumice_gpu_note_map(fx->gpu, 4096, 8192, 4096, &buffer, "b");
	race = strict->race;
	exhausted = true;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), -ENOMEM);
	exhausted = false;
	assert_int_equal(mode_of(fx), PUMICE_MODE_STRICT);
	assert_ptr_equal(strict->race, race);
	assert_non_null(strict->lines);
	assert_true(places_find_range(&fx->gpu->strict.places, 4096, 8192, &range));
	fx_destroy(fx);
}

static void modes_that_do_not_exist_are_refused(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });

	(void)state;
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "slow"), -EINVAL);
	fx_write(fx, PUMICE_SYS_MODE, 3);
	assert_int_equal(refusal(fx), PUMICE_MODE_REFUSAL_UNKNOWN);
	assert_int_equal(mode_of(fx), PUMICE_MODE_FAST);
	/* The firmware would wait for its own processor: the alarm ends the test then. */
	alarm(ALARM_SECONDS);
	fx_fw_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_COUNTED);
	assert_int_equal(mode_of(fx), PUMICE_MODE_FAST);
	fx_destroy(fx);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_the_same_in_all_modes),
		cmocka_unit_test(operations_that_drop_lines_drop_code),
		cmocka_unit_test(requests_of_a_job_are_counted_in_its_clients),
		cmocka_unit_test(atomic_operations_are_requests_of_their_client),
		cmocka_unit_test(coherent_pages_are_in_no_cache),
		cmocka_unit_test(requests_pass_the_bif_of_their_unit),
		cmocka_unit_test(fetches_for_a_usc_fill_its_own_caches),
		cmocka_unit_test(requests_of_a_step_are_bounded),
		cmocka_unit_test(a_change_drops_the_tlbs_once),
		cmocka_unit_test(counts_are_the_same_each_time),
		cmocka_unit_test(a_reset_empties_the_hierarchy),
		cmocka_unit_test(the_mode_does_not_change_while_a_job_runs),
		cmocka_unit_test(the_mode_does_not_change_while_a_data_master_is_busy),
		cmocka_unit_test(the_firmware_does_not_change_the_mode),
		cmocka_unit_test(a_reset_of_the_machine_restores_the_mode_of_the_host),
		cmocka_unit_test(descriptions_of_buffers_end_with_mode_strict),
		cmocka_unit_test(the_mode_does_not_change_if_a_job_begins_meanwhile),
		cmocka_unit_test(mode_strict_is_whole_after_a_change_without_memory),
		cmocka_unit_test(modes_that_do_not_exist_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
