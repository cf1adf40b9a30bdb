// SPDX-License-Identifier: MIT
/* In-process backend: the device, and the services that the GPU core requires of its host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inproc.h"
#include "paths.h"
#include "perf.h"
#include "pumice_names.h"

#define FIRMWARE_VARIABLE	"PUMICE_FIRMWARE"
#define LATE_VARIABLE	"PUMICE_LATE"
#define MODE_VARIABLE	"PUMICE_MODE"
#define PRESET_VARIABLE	"PUMICE_PRESET"
#define DEFAULT_RAM_MIB	1024u
/*
 * Longer than the kernel driver's job_timeout_ms, 5 s: programs under a sanitizer or valgrind, or
 * on a loaded machine, have long jobs, and no other program waits for this GPU.
 */
#define DEFAULT_TIMEOUT_MS	30000u
#define MAX_RAM_MIB	65536u

/* Services for the core. */

static void raise_irq(void *opaque, unsigned int os)
{
	virtual_raise_irq(opaque, os);
}

static uint64_t gpu_now(void *opaque)
{
	(void)opaque;
	return now_ns();
}

static void kick(void *opaque)
{
	/* Every waiting thread also polls. */
	(void)opaque;
}

static void log_text(void *opaque, enum pumice_log_level level, const char *text)
{
	(void)opaque;
	(void)level;
	(void)text;
}

static const struct pumice_gpu_ops gpu_ops = {
	.raise_irq = raise_irq,
	.now = gpu_now,
	.kick = kick,
	.log = log_text,
};

static int inproc_timestamp(struct pumice_device *dev, u64 *gpu_ticks, u64 *cpu_ns)
{
	*gpu_ticks = pumice_gpu_mmio_read(inproc_device(dev)->gpu, 0, PUMICE_SYS_CLOCK, 8);
	*cpu_ns = now_ns();
	return 0;
}

static int inproc_fw_counters(struct pumice_device *dev, struct pumice_fw_counters *counters)
{
	struct inproc_device *d = inproc_device(dev);
	const volatile struct fwif_boot *boot = &d->fw->boot;

	*counters = (struct pumice_fw_counters){
		.jobs_started = boot->jobs_started,
		.jobs_done = boot->jobs_done,
		.jobs_faulted = boot->jobs_faulted,
		.jobs_killed = boot->jobs_killed,
		.instructions = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_FW_INSTRET, 8),
	};
	return 0;
}

static int inproc_drm_fd(struct pumice_device *dev)
{
	return fail(dev, EOPNOTSUPP, "drm_fd: an in-process device has no file; open drm");
}

static void inproc_close(struct pumice_device *dev)
{
	struct inproc_device *d = inproc_device(dev), *first = d->first;

	attach_end(d);
	gdb_end(d);
	if (d->os)
		virtual_close(d);
	if (!virtual_put(first))
		return;
	pumice_gpu_destroy(first->gpu);
	virtual_fini(first);
	fw_fini(first);
	ram_fini(first);
	device_destroy(first);
}

static const struct backend_ops inproc_ops = {
	.close = inproc_close,
	.open_virtual = inproc_open_virtual,
	.timestamp = inproc_timestamp,
	.fw_counters = inproc_fw_counters,
	.drm_fd = inproc_drm_fd,
	.stats = inproc_stats,
	.bo_create = inproc_bo_create,
	.bo_destroy = inproc_bo_destroy,
	.bo_map = inproc_bo_map,
	.bo_unmap = inproc_bo_unmap,
	.bo_set_label = inproc_bo_set_label,
	.bo_madvise = inproc_bo_madvise,
	.vm_create = inproc_vm_create,
	.vm_destroy = inproc_vm_destroy,
	.vm_bind = inproc_vm_bind,
	.vm_bind_async = inproc_vm_bind_async,
	.vm_get_state = inproc_vm_get_state,
	.vm_get_faults = inproc_vm_get_faults,
	.context_create = inproc_context_create,
	.context_destroy = inproc_context_destroy,
	.resets = inproc_resets,
	.context_set_priority = inproc_context_set_priority,
	.context_get_state = inproc_context_get_state,
	.context_kill = inproc_context_kill,
	.context_dump = inproc_context_dump,
	.job_result = inproc_job_result,
	.job_running = inproc_job_running,
	.sync_create = inproc_sync_create,
	.sync_destroy = inproc_sync_destroy,
	.sync_signal = inproc_sync_signal,
	.sync_reset = inproc_sync_reset,
	.sync_query = inproc_sync_query,
	.sync_wait = inproc_sync_wait,
	.submit = inproc_submit,
	.wait_flip = inproc_wait_flip,
	.freelist_create = inproc_freelist_create,
	.freelist_destroy = inproc_freelist_destroy,
	.hwrt_create = inproc_hwrt_create,
	.hwrt_destroy = inproc_hwrt_destroy,
	.hwrt_layout = inproc_hwrt_layout,
	.vm_peek = inproc_vm_peek,
	.perf_counter = inproc_perf_counter,
	.perfmon_create = inproc_perfmon_create,
	.perfmon_destroy = inproc_perfmon_destroy,
	.perfmon_read = inproc_perfmon_read,
	.hierarchy_row = inproc_hierarchy_row,
	.hierarchy_bus = inproc_hierarchy_bus,
	.finding = inproc_finding,
	.mode = inproc_mode,
	.set_mode = inproc_set_mode,
	.findings_clears = inproc_findings_clears,
	.findings_lost = inproc_findings_lost,
	.trace_open = inproc_trace_open,
	.trace_next = inproc_trace_next,
	.trace_close = inproc_trace_close,
};

struct inproc_device *device_create(void)
{
	struct inproc_device *d = calloc(1, sizeof(*d));

	if (!d || device_init(&d->base, &inproc_ops)) {
		free(d);
		return NULL;
	}
	pthread_mutex_init(&d->lock, NULL);
	event_init(d);
	return d;
}

void device_destroy(struct inproc_device *d)
{
	event_fini(d);
	pthread_mutex_destroy(&d->lock);
	device_fini(&d->base);
	free(d);
}

/* Options parsed from the name. */
struct options {
	u32 threads, ram_mib;
	u32 cores, uscs, slots, tasks, waves, batch;	/* 0: of the preset */
	u32 unified_kib, common_kib, local_kib;	/* the same */
	u32 vpm_kib, idx_fifo, chunk_fifo, tile_fifo, tsp_vertices;	/* the same */
	u32 slc_kib, data_l1_bytes, data_l2_bytes, texture_l1_bytes, texture_l2_bytes;
	u32 slot_registers;			/* DEFAULT_REGISTERS, or their number */
	u32 slice_us;				/* 0: default of the firmware */
	u32 split_prims;			/* the same */
	u32 virtual_gpus;			/* that are active */
	u32 hold_us;				/* 0: default of the firmware */
	u32 cdm_share, vdm_share, pdm_share, rdm_share;	/* the same */
	u32 job_timeout_ms;			/* 0: none */
	u32 attach;				/* 1: other processes can observe it */
	const char *text;			/* all of them, for messages */
	char preset[16];			/* name, or empty for the default */
	char late[8];				/* the same */
	char mode[16];				/* the same */
	char pixel_outputs[16];			/* the same */
	char dms_policy[16];			/* the same */
	char fw_gdb[GDB_PATH_MAX + 1];		/* socket for GDB, or empty */
};

#define DEFAULT_REGISTERS	UINT32_MAX

static bool parse_number(const char *text, const char *end, u32 *value)
{
	char *stop;
	unsigned long v;

	if (text == end || *text < '0' || *text > '9')
		return false;
	v = strtoul(text, &stop, 10);
	*value = (u32)v;
	return stop == end && v <= UINT32_MAX;
}

#define OPTION_KEYS \
	"cores, uscs, slots, tasks, waves, batch, threads, ram, unified-store-kib, " \
	"common-store-kib, local-memory-kib, slot-registers, vpm-kib, idx-fifo, chunk-fifo, " \
	"tile-fifo, tsp-vertices, slc-kib, data-l1-bytes, data-l2-bytes, texture-l1-bytes, " \
	"texture-l2-bytes, slice-us, split, " \
	"cdm-share, vdm-share, pdm-share, rdm-share, job-timeout-ms, virtual-gpus, hold-us, " \
	"attach; preset=NAME; " \
	"late=early, data or poison; mode=fast, counted or strict; " \
	"pixel-outputs=common or partition; " \
	"dms-policy=NAME; fw-gdb=PATH"

#define ACCEPTED_KEYS	"accepted: key=number,… of " OPTION_KEYS
#define ACCEPTED_NUMBER	"the value is a whole number; write a comma between two keys"

/* Parse a text of at least one character; room: bytes of out, its end included. */
static bool parse_text(const char *text, const char *end, char *out, size_t room)
{
	size_t bytes = (size_t)(end - text);

	if (!bytes || bytes >= room)
		return false;
	memcpy(out, text, bytes);
	out[bytes] = 0;
	return true;
}

/*
 * Parse one "key=number" or "key=text" that ends at @end. Returns NULL, or the rule that it
 * breaks.
 */
static const char *parse_option(const char *text, const char *end, struct options *o)
{
	const struct {
		const char *key;
		u32 *value;
		bool size;	/* of a preset: 1 or more, and 0 in @o if it is not given */
	} known[] = {
		{ "cores=", &o->cores, true },
		{ "uscs=", &o->uscs, true },
		{ "slots=", &o->slots, true },
		{ "tasks=", &o->tasks, true },
		{ "waves=", &o->waves, true },
		{ "batch=", &o->batch, true },
		{ "unified-store-kib=", &o->unified_kib, true },
		{ "common-store-kib=", &o->common_kib, true },
		{ "local-memory-kib=", &o->local_kib, true },
		{ "vpm-kib=", &o->vpm_kib, true },
		{ "idx-fifo=", &o->idx_fifo, true },
		{ "chunk-fifo=", &o->chunk_fifo, true },
		{ "tile-fifo=", &o->tile_fifo, true },
		{ "tsp-vertices=", &o->tsp_vertices, true },
		{ "slc-kib=", &o->slc_kib, true },
		{ "data-l1-bytes=", &o->data_l1_bytes, true },
		{ "data-l2-bytes=", &o->data_l2_bytes, true },
		{ "texture-l1-bytes=", &o->texture_l1_bytes, true },
		{ "texture-l2-bytes=", &o->texture_l2_bytes, true },
		{ "threads=", &o->threads, false },
		{ "ram=", &o->ram_mib, false },
		{ "slot-registers=", &o->slot_registers, false },
		{ "slice-us=", &o->slice_us, false },
		{ "split=", &o->split_prims, false },
		{ "cdm-share=", &o->cdm_share, false },
		{ "vdm-share=", &o->vdm_share, false },
		{ "pdm-share=", &o->pdm_share, false },
		{ "rdm-share=", &o->rdm_share, false },
		{ "job-timeout-ms=", &o->job_timeout_ms, false },
		{ "virtual-gpus=", &o->virtual_gpus, false },
		{ "hold-us=", &o->hold_us, false },
		{ "attach=", &o->attach, false },
	};
	const struct {
		const char *key;
		char *value;
		size_t room;
	} texts[] = {
		{ "preset=", o->preset, sizeof(o->preset) },
		{ "late=", o->late, sizeof(o->late) },
		{ "mode=", o->mode, sizeof(o->mode) },
		{ "pixel-outputs=", o->pixel_outputs, sizeof(o->pixel_outputs) },
		{ "dms-policy=", o->dms_policy, sizeof(o->dms_policy) },
		{ "fw-gdb=", o->fw_gdb, sizeof(o->fw_gdb) },
	};
	size_t i, n;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		n = strlen(known[i].key);
		if (strncmp(text, known[i].key, n))
			continue;
		if (!parse_number(text + n, end, known[i].value))
			return ACCEPTED_NUMBER;
		if (known[i].size && !*known[i].value)
			*known[i].value = UINT32_MAX;	/* is refused with the range */
		return NULL;
	}
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		n = strlen(texts[i].key);
		if (!strncmp(text, texts[i].key, n) &&
		    parse_text(text + n, end, texts[i].value, texts[i].room))
			return NULL;
	}
	return ACCEPTED_KEYS;
}

/* Refuse shares of data masters that do not have a byte's value. */
static int check_shares(const struct options *o, char *error, size_t error_bytes)
{
	const struct {
		const char *key;
		u32 value;
	} shares[] = {
		{ "cdm", o->cdm_share }, { "vdm", o->vdm_share }, { "pdm", o->pdm_share },
		{ "rdm", o->rdm_share },
	};
	size_t i;

	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		if (shares[i].value > UINT8_MAX)
			return fail_text(error, error_bytes, EINVAL,
					 "inproc: %s-share=%u is not 0 to %u", shares[i].key,
					 shares[i].value, UINT8_MAX);
	return 0;
}

/* Get the policy of the data master selector by its name; without one the firmware's default. */
static int find_policy(const char *name, u32 *policy, char *error, size_t error_bytes)
{
	*policy = 0;
	while (*name && strcmp(name, pumice_dms_policy_str(*policy)))
		if (++*policy == PUMICE_DMS_POLICY_COUNT)
			return fail_text(error, error_bytes, EINVAL,
					 "inproc: dms-policy=%s is not graphics, round-robin, or an "
					 "order such as cdm-vdm-pdm", name);
	return 0;
}

/* Parse "key=number,key=number". */
static int parse_options(const char *text, struct options *o, char *error, size_t error_bytes)
{
	const char *end, *rule;

	while (text && *text) {
		end = text + strcspn(text, ",");
		rule = parse_option(text, end, o);
		if (rule)
			return fail_text(error, error_bytes, EINVAL, "inproc: invalid option '%.*s'; %s",
					 (int)(end - text < 60 ? end - text : 60), text, rule);
		text = *end ? end + 1 : end;
	}
	if (!o->ram_mib || o->ram_mib > MAX_RAM_MIB)
		return fail_text(error, error_bytes, EINVAL, "inproc: ram=%u is not 1 to %u MiB",
				 o->ram_mib, MAX_RAM_MIB);
	if (o->slot_registers != DEFAULT_REGISTERS && o->slot_registers > PUMICE_USC_OWN_REGS)
		return fail_text(error, error_bytes, EINVAL,
				 "inproc: slot-registers=%u is not 0 to %u", o->slot_registers,
				 PUMICE_USC_OWN_REGS);
	if (o->slice_us && (o->slice_us < FWIF_SLICE_MIN_US || o->slice_us > FWIF_SLICE_MAX_US))
		return fail_text(error, error_bytes, EINVAL,
				 "inproc: slice-us=%u is not %u to %u", o->slice_us,
				 FWIF_SLICE_MIN_US, FWIF_SLICE_MAX_US);
	if (!o->virtual_gpus || o->virtual_gpus > PUMICE_OS_COUNT)
		return fail_text(error, error_bytes, EINVAL,
				 "inproc: virtual-gpus=%u is not 1 to %u", o->virtual_gpus,
				 PUMICE_OS_COUNT);
	if (o->attach > 1)
		return fail_text(error, error_bytes, EINVAL, "inproc: attach=%u is not 0 or 1",
				 o->attach);
	return check_shares(o, error, error_bytes);
}

/* Get the value of the core's configuration for a number of slot registers. */
static u32 config_registers(u32 slot_registers)
{
	if (slot_registers == DEFAULT_REGISTERS)
		return 0;
	return slot_registers ? slot_registers : PUMICE_NO_REGISTERS;
}

/* Describe the layout of hw/heaps.h, as the kernel driver does. */
static void describe_heaps(struct pumice_device_limits *limits)
{
	limits->heaps[0] = (struct pumice_heap){
		.start = BLOCK_BYTES, .size = PUMICE_HEAPS_START - BLOCK_BYTES,
		.page_bytes = PAGE_BYTES,
	};
	limits->heap_count = 1 + tables_heaps(limits->heaps + 1);
}

static void describe_caches(struct inproc_device *d)
{
	u32 caches = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_CACHES, 4);
	u32 *bytes = d->base.limits.cache_bytes;

	_Static_assert(sizeof(d->base.limits.cache_bytes) == PUMICE_CACHE_COUNT * sizeof(*bytes),
		       "a size for each cache");
	bytes[PUMICE_CACHE_SLC] = 1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__SLC, caches);
	bytes[PUMICE_CACHE_DATA_L1] = 1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__DATA_L1, caches);
	bytes[PUMICE_CACHE_DATA_L2] = 1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__DATA_L2, caches);
	bytes[PUMICE_CACHE_TEXTURE_L1] =
		1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__TEXTURE_L1, caches);
	bytes[PUMICE_CACHE_TEXTURE_L2] =
		1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__TEXTURE_L2, caches);
}

static void describe_units(struct inproc_device *d)
{
	u64 units = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_UNITS, 8);
	struct pumice_device_limits *limits = &d->base.limits;

	limits->vpm_bytes = (u32)PUMICE_FIELD_GET(PUMICE_SYS_UNITS__VPM_KIB, units) << 10;
	limits->idx_fifo = (u32)PUMICE_FIELD_GET(PUMICE_SYS_UNITS__IDX_FIFO, units);
	limits->chunk_fifo = (u32)PUMICE_FIELD_GET(PUMICE_SYS_UNITS__CHUNK_FIFO, units);
	limits->tile_fifo = (u32)PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TILE_FIFO, units);
	limits->tsp_vertices = (u32)PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TSP_VERTICES, units);
	limits->tcus_per_spu = (u32)PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TCUS, units);
}

static void describe_limits(struct inproc_device *d)
{
	u32 registers = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_REGISTERS, 4);
	u32 shape = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_SHAPE, 4);

	d->base.limits = (struct pumice_device_limits){
		.slot_registers = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__SLOT, registers),
		.internal_registers = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__INTERNAL, registers),
		.perf_counters = PUMICE_PERF_NUMBER,
		.perfmons = MAX_PERFMONS,
		.preset = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__PRESET, shape),
		.waves_per_usc = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__WAVES, shape),
		.batch = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__BATCH, shape),
		.tasks_per_usc = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__TASKS, registers),
		.pixel_outputs = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__OUTPUTS, registers),
	};
	describe_caches(d);
	describe_units(d);
	describe_heaps(&d->base.limits);
	/* Memory of a size is aligned to the size's highest power of two, up to 2 MiB. */
	d->base.contiguous_bytes = PAGE_BYTES;
}

static void describe(struct inproc_device *d)
{
	struct pumice_device_info *info = &d->base.info;
	u32 config = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_CONFIG, 4);
	u32 stores = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_STORES, 4);
	u32 shape = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_SHAPE, 4);

	*info = (struct pumice_device_info){
		.backend = "inproc",
		.version = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_VERSION, 4),
		.cores = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__CORES, config),
		.uscs_per_core = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__USCS, config),
		.slots_per_usc = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__SLOTS, config),
		.unified_bytes = PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB, stores) << 10,
		.common_bytes = PUMICE_FIELD_GET(PUMICE_SYS_STORES__COMMON_KIB, stores) << 10,
		.local_bytes = PUMICE_FIELD_GET(PUMICE_SYS_STORES__LOCAL_KIB, stores) << 10,
		.max_group_instances = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__GROUP, shape),
		.priorities = (1u << FWIF_PRIORITIES) - 1,
		.page_sizes = 1u << 12 | 1u << 14 | 1u << 16 | 1u << 18 | 1u << 20 | 1u << 21,
		.va_start = BLOCK_BYTES,
		.va_end = PUMICE_HEAPS_START,
		.clock_hz = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_CLOCK_HZ, 4),
	};
}

static void describe_fw(struct inproc_device *d)
{
	struct pumice_device_info *info = &d->base.info;

	info->fw_version = d->fw->boot.fw_version;
	memcpy(info->fw_build_id, d->fw->boot.build_id, sizeof(info->fw_build_id) - 1);
}

/* Find the firmware file. */
static const char *firmware_path(void)
{
	const char *named = getenv(FIRMWARE_VARIABLE);

	if (named && *named)
		return named;
	if (!access(FIRMWARE_KERNEL, R_OK))
		return FIRMWARE_KERNEL;
	return access(FIRMWARE_INSTALLED, R_OK) ? FIRMWARE_BUILT : FIRMWARE_INSTALLED;
}

/* Add to an error of the firmware that a variable of the environment names its file. */
static void name_variable(char *error, size_t error_bytes)
{
	const char *named = getenv(FIRMWARE_VARIABLE);
	size_t used;

	if (!named || !*named || !error || strstr(error, FIRMWARE_VARIABLE))
		return;
	used = strlen(error);
	if (used < error_bytes)
		snprintf(error + used, error_bytes - used,
			 "; " FIRMWARE_VARIABLE " names this file: correct or unset it");
}

/* Return the word of a key, without one that of the environment; NULL: the default. */
static const char *word_or_variable(const char *word, const char *variable)
{
	const char *named = getenv(variable);

	if (word[0])
		return word;
	return named && *named ? named : NULL;
}

/* Name the key or the variable of the environment that the GPU refused. */
static int refuse_options(const struct options *o, const struct pumice_gpu_config *config,
			  const char *why, char *error, size_t error_bytes)
{
	const char *variable = NULL, *word = NULL;

	if (!o->late[0] && !strncmp(why, "late ", strlen("late "))) {
		variable = LATE_VARIABLE;
		word = config->late;
	} else if (!o->mode[0] && !strncmp(why, "mode ", strlen("mode "))) {
		variable = MODE_VARIABLE;
		word = config->mode;
	} else if (!o->preset[0] && !strncmp(why, "the preset ", strlen("the preset "))) {
		variable = PRESET_VARIABLE;
		word = config->preset;
	}
	if (word)
		return fail_text(error, error_bytes, EINVAL, "%s=%.60s: %s; correct or unset this "
				 "variable of the environment", variable, word, why);
	return fail_text(error, error_bytes, EINVAL, "inproc:%.100s: %s", o->text, why);
}

/* Create the GPU and boot it. */
static int start(struct inproc_device *d, const struct options *o, char *error,
		 size_t error_bytes)
{
	const struct pumice_gpu_config config = {
		.preset = word_or_variable(o->preset, PRESET_VARIABLE),
		.late = word_or_variable(o->late, LATE_VARIABLE),
		.mode = word_or_variable(o->mode, MODE_VARIABLE),
		.pixel_outputs = o->pixel_outputs[0] ? o->pixel_outputs : NULL,
		.cores = o->cores,
		.uscs_per_core = o->uscs,
		.slots = o->slots,
		.tasks = o->tasks,
		.waves = o->waves,
		.batch = o->batch,
		.threads = o->threads,
		.oses = o->virtual_gpus,
		.unified_kib = o->unified_kib,
		.common_kib = o->common_kib,
		.local_kib = o->local_kib,
		.slot_registers = config_registers(o->slot_registers),
		.vpm_kib = o->vpm_kib,
		.idx_fifo = o->idx_fifo,
		.chunk_fifo = o->chunk_fifo,
		.tile_fifo = o->tile_fifo,
		.tsp_vertices = o->tsp_vertices,
		.slc_kib = o->slc_kib,
		.data_l1_bytes = o->data_l1_bytes,
		.data_l2_bytes = o->data_l2_bytes,
		.texture_l1_bytes = o->texture_l1_bytes,
		.texture_l2_bytes = o->texture_l2_bytes,
	};
	const char *why;
	int err;

	err = find_policy(o->dms_policy, &d->dms_policy, error, error_bytes);
	if (err)
		return err;
	d->gpu = pumice_gpu_create(&config, &gpu_ops, d, &why);
	if (!d->gpu)
		return refuse_options(o, &config, why, error, error_bytes);
	if (ram_init(d, (u64)o->ram_mib << 20))
		return fail_text(error, error_bytes, ENOMEM,
				 "inproc: out of memory: ram=%u MiB; use less", o->ram_mib);
	describe(d);
	describe_limits(d);
	d->slice_us = o->slice_us;
	d->split_prims = o->split_prims;
	d->hold_us = o->hold_us;
	d->debugged = *o->fw_gdb;
	d->pds_shares = o->cdm_share << 8 * FWIF_DM_CDM | o->vdm_share << 8 * FWIF_DM_VDM |
			o->pdm_share << 8 * FWIF_DM_PDM |
			o->rdm_share << 8 * FWIF_PDS_SHARE_BYTE_RDM;
	pthread_mutex_lock(&d->lock);
	err = fw_init(d, firmware_path(), error, error_bytes);
	if (err)
		name_variable(error, error_bytes);
	pthread_mutex_unlock(&d->lock);
	if (!err)
		describe_fw(d);
	if (!err && *o->fw_gdb)
		err = gdb_start(d, o->fw_gdb, error, error_bytes);
	if (!err && (o->attach || attach_is_awaited()))
		err = attach_start(d, error, error_bytes);
	if (!err)
		attach_await(d);
	return err;
}

int inproc_open(const char *rest, struct pumice_device **dev, char *error, size_t error_bytes)
{
	struct options o = {
		.threads = 2, .ram_mib = DEFAULT_RAM_MIB,
		.slot_registers = DEFAULT_REGISTERS, .text = rest ? rest : "",
		.job_timeout_ms = DEFAULT_TIMEOUT_MS, .virtual_gpus = 1,
	};
	struct inproc_device *d;
	int err = parse_options(rest, &o, error, error_bytes);

	if (err)
		return err;
	d = device_create();
	if (!d)
		return fail_text(error, error_bytes, ENOMEM, "inproc: out of memory");
	d->threads = o.threads;
	d->job_timeout_ms = o.job_timeout_ms;
	d->oses = o.virtual_gpus;
	virtual_init(d);
	err = start(d, &o, error, error_bytes);
	if (err)
		inproc_close(&d->base);
	else
		*dev = &d->base;
	return err;
}
