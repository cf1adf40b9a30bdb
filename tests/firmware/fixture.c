// SPDX-License-Identifier: MIT
/* A host for the firmware: see fixture.h. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pumice_isa.h"

#define FW_START	0x200000u
#define FW_BYTES	(4u << 20)
#define MEM_BYTES	(32ull << 20)
#define GUEST_DISTANCE	(64ull << 20)	/* of the memories of virtual GPUs, bus addresses */
#define MAX_STEPS	8000u	/* of fx_run() */
#define FINISH_STEPS	1000000u
#define LOOK_NS		100u	/* added by each read of the clock */
#define STEP_NS		2000u	/* added by each step */
#define MOMENT_NS	20000

static void raise_irq(void *opaque, unsigned int os)
{
	struct fixture *r = opaque;

	if (os)
		r = r->guest[os];
	if (r)
		__atomic_fetch_add(&r->irqs, 1, __ATOMIC_RELAXED);
}

/* Return the GPU clock: simulated, so that runs are reproducible; with threads, the host's. */
static uint64_t now(void *opaque)
{
	struct fixture *r = opaque;
	struct timespec t;

	if (r->threads) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
	}
	return r->clock += LOOK_NS;
}

static void kick(void *opaque)
{
	(void)opaque;
}

static void log_text(void *opaque, enum pumice_log_level level, const char *text)
{
	(void)opaque;
	(void)level;
	(void)text;
}

static const struct pumice_gpu_ops ops = {
	.raise_irq = raise_irq, .now = now, .kick = kick, .log = log_text,
};

static void die(const char *what)
{
	fprintf(stderr, "fixture: %s\n", what);
	abort();
}

static void write_reg(struct fixture *r, u32 offset, u64 value, unsigned int size)
{
	pumice_gpu_mmio_write(r->gpu, r->os, offset, value, size);
}

u32 fx_reg(struct fixture *r, u32 offset)
{
	return (u32)pumice_gpu_mmio_read(r->gpu, r->os, offset, 4);
}

static void load_image(struct fixture *r)
{
	const char *path = getenv("PUMICE_FIRMWARE");
	FILE *f = path ? fopen(path, "rb") : NULL;

	if (!f || fread(&r->image, sizeof(r->image), 1, f) != 1)
		die("PUMICE_FIRMWARE names no firmware file");
	r->image_bus = testmem_alloc(r->tm, r->image.payload_bytes, 4096);
	if (fread(testmem_host(r->tm, r->image_bus), r->image.payload_bytes, 1, f) != 1)
		die("firmware file is truncated");
	fclose(f);
}

void *fx_fw_alloc(struct fixture *r, u32 bytes, u32 *addr)
{
	struct pumice_mmu_pt_entry pt;

	bytes = (bytes + 63) & ~63u;
	*addr = r->fw_next;
	r->fw_next += bytes;
	if (r->fw_next > r->fw_start + FW_BYTES)
		die("no fw addresses left");
	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(r->tm, 0, *addr), &pt);
	return (u8 *)testmem_host(r->tm, pt.addr) + *addr % 4096;
}

void *fx_fw_alloc_last(struct fixture *r, u32 bytes, u32 *addr)
{
	r->fw_next = (u32)r->fw_start + FW_BYTES - bytes;
	return fx_fw_alloc(r, bytes, addr);
}

static void fill_boot(struct fixture *r)
{
	r->boot = fx_fw_alloc(r, sizeof(*r->boot), &r->boot_addr);
	r->boot->magic = FWIF_BOOT_MAGIC;
	r->boot->version = FWIF_VERSION;
	r->boot->log_level = FWIF_LOG_DEBUG;
	r->kccb_ring = fx_fw_alloc(r, sizeof(*r->kccb_ring), &r->boot->kccb_ring);
	r->kccb_ring->count = FX_KCCB;
	r->kccb = fx_fw_alloc(r, FX_KCCB * sizeof(*r->kccb), &r->boot->kccb);
	r->kccb_status = fx_fw_alloc(r, FX_KCCB * 4, &r->boot->kccb_status);
	r->fwccb_ring = fx_fw_alloc(r, sizeof(*r->fwccb_ring), &r->boot->fwccb_ring);
	r->fwccb_ring->count = FX_FWCCB;
	r->fwccb = fx_fw_alloc(r, FX_FWCCB * sizeof(*r->fwccb), &r->boot->fwccb);
	r->log_ring = fx_fw_alloc(r, sizeof(*r->log_ring), &r->boot->log_ring);
	r->log_ring->count = FX_LOG;
	r->log = fx_fw_alloc(r, FX_LOG * sizeof(*r->log), &r->boot->log);
}

/* Create the memory of a virtual GPU, and its boot structure. */
static void create_memory(struct fixture *r, u64 base)
{
	r->tm = testmem_create_at(base, MEM_BYTES);
	r->fw_start = FW_START + (u64)r->os * PUMICE_OS_PART_SIZE;
	r->fw_next = (u32)r->fw_start;
	testmem_map(r->tm, 0, r->fw_start, FW_BYTES, PUMICE_PAGE_SIZE_4K, 0);
	fill_boot(r);
}

/* Pass the memory of all virtual GPUs to the GPU; each may access its own. */
static void set_memory(struct fixture *host)
{
	struct pumice_mem_region region[PUMICE_OS_COUNT];
	unsigned int os, count = 0;

	for (os = 0; os < PUMICE_OS_COUNT; os++) {
		const struct fixture *r = os ? host->guest[os] : host;

		if (!r)
			continue;
		region[count] = *testmem_region(r->tm);
		region[count++].oses = (u8)(1u << os);
	}
	if (pumice_gpu_set_memory(host->gpu, region, count))
		die("no memory");
}

static struct fixture *create(const struct pumice_gpu_config *config, u64 base)
{
	struct fixture *r = calloc(1, sizeof(*r));
	const char *error;

	r->host = r;
	r->threads = config->threads;
	r->gpu = pumice_gpu_create(config, &ops, r, &error);
	if (!r->gpu)
		die(error);
	create_memory(r, base);
	set_memory(r);
	load_image(r);
	return r;
}

struct fixture *fx_create(void)
{
	return fx_create_at(TESTMEM_BASE);
}

struct fixture *fx_create_threads(unsigned int threads)
{
	const struct pumice_gpu_config config = { .cores = 1, .threads = threads };

	return create(&config, TESTMEM_BASE);
}

struct fixture *fx_create_at(u64 base)
{
	const struct pumice_gpu_config config = { .cores = 1 };

	return create(&config, base);
}

static struct fixture *booted(const struct pumice_gpu_config *config)
{
	struct fixture *r = create(config, TESTMEM_BASE);

	if (fx_boot(r) != FWIF_STATE_READY)
		die("the firmware did not reach READY");
	return r;
}

struct fixture *fx_booted_oses(unsigned int oses)
{
	const struct pumice_gpu_config config = { .cores = 1, .oses = oses };

	return booted(&config);
}

struct fixture *fx_booted_cores(unsigned int oses, unsigned int cores, unsigned int uscs)
{
	const struct pumice_gpu_config config = {
		.cores = cores, .uscs_per_core = uscs, .oses = oses,
	};

	return booted(&config);
}

struct fixture *fx_guest(struct fixture *r, u32 os)
{
	struct fixture *guest = calloc(1, sizeof(*guest));

	guest->host = r;
	guest->os = os;
	guest->gpu = r->gpu;
	create_memory(guest, TESTMEM_BASE + os * GUEST_DISTANCE);
	r->guest[os] = guest;
	set_memory(r);
	write_reg(guest, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__FW__MASK, 4);
	return guest;
}

u32 fx_connect(struct fixture *guest)
{
	write_reg(guest, PUMICE_OS_CATALOGUE, testmem_ctx_reg(guest->tm, 0), 8);
	write_reg(guest, PUMICE_OS_BOOT_ARG, guest->boot_addr, 4);
	write_reg(guest, PUMICE_OS_CTRL, PUMICE_OS_CTRL__CONNECT__MASK, 4);
	fx_run(guest);
	return guest->boot->state;
}

u32 fx_disconnect(struct fixture *guest)
{
	write_reg(guest, PUMICE_OS_CTRL, 0, 4);
	fx_run(guest);
	return guest->boot->state;
}

void fx_destroy(struct fixture *r)
{
	unsigned int os;

	pumice_gpu_destroy(r->gpu);
	for (os = 1; os < PUMICE_OS_COUNT; os++) {
		if (r->guest[os])
			testmem_destroy(r->guest[os]->tm);
		free(r->guest[os]);
	}
	testmem_destroy(r->tm);
	free(r);
}

/* Run one step of one unit; with threads, sleep briefly. Return false if no unit had work. */
static bool step(struct fixture *r)
{
	const struct timespec moment = { .tv_nsec = MOMENT_NS };

	if (r->threads)
		return !nanosleep(&moment, NULL);
	r->host->clock += STEP_NS;
	return pumice_gpu_poll(r->gpu, 0) != UINT64_MAX;
}

void fx_boot_writes(struct fixture *r, struct fx_write writes[FX_BOOT_WRITES])
{
	const struct fx_write all[FX_BOOT_WRITES] = {
		{ PUMICE_MMU_CTX(0), testmem_ctx_reg(r->tm, 0), 8 },
		{ PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__FW__MASK, 4 },
		{ PUMICE_FW_IMAGE_ADDR, r->image_bus, 8 },
		{ PUMICE_FW_IMAGE_SIZE, r->image.payload_bytes, 4 },
		{ PUMICE_FW_ENTRY, r->image.entry, 4 },
		{ PUMICE_FW_BOOT_ARG, r->boot_addr, 8 },
		{ PUMICE_FW_CTRL, PUMICE_FW_CTRL__RUN__MASK, 4 },
	};

	memcpy(writes, all, sizeof(all));
}

u32 fx_boot(struct fixture *r)
{
	struct fx_write writes[FX_BOOT_WRITES];
	u32 i;

	fx_boot_writes(r, writes);
	for (i = 0; i < FX_BOOT_WRITES; i++)
		write_reg(r, writes[i].offset, writes[i].value, writes[i].size);
	if (!r->threads)
		fx_run(r);
	while (r->threads && !__atomic_load_n(&r->boot->state, __ATOMIC_ACQUIRE))
		step(r);
	return r->boot->state;
}

struct fixture *fx_booted(void)
{
	struct fixture *r = fx_create();

	if (fx_boot(r) != FWIF_STATE_READY)
		die("the firmware did not reach READY");
	return r;
}

u64 fx_clock(struct fixture *r)
{
	return pumice_gpu_mmio_read(r->gpu, 0, PUMICE_SYS_CLOCK, 8);
}

static bool steps(struct fixture *r, u32 count)
{
	while (count--)
		if (!step(r))
			return true;
	return false;
}

void fx_steps(struct fixture *r, unsigned int count)
{
	steps(r, count);
}

bool fx_run(struct fixture *r)
{
	return steps(r, MAX_STEPS);
}

void fx_finish(struct fixture *r)
{
	if (!steps(r, FINISH_STEPS))
		die("the GPU did not become idle");
}

u32 fx_put(struct fixture *r, const struct fwif_kccb_cmd *cmd)
{
	u32 entry = r->kccb_ring->write;
	u32 next = (entry + 1) % FX_KCCB;

	if (next == r->kccb_ring->read)
		die("the kernel CCB is full");
	r->kccb[entry] = *cmd;
	r->kccb_status[entry] = FWIF_STATUS_PENDING;
	r->kccb_ring->write = next;
	return entry;
}

void fx_kick(struct fixture *r)
{
	write_reg(r, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK, 4);
}

u32 fx_call(struct fixture *r, const struct fwif_kccb_cmd *cmd)
{
	u32 entry = fx_put(r, cmd);

	fx_kick(r);
	fx_run(r);
	return r->kccb_status[entry];
}

void fx_assert_alive(struct fixture *r)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };

	assert_int_equal(fx_call(r, &ping), FWIF_STATUS_OK);
	assert_int_equal(r->boot->state, FWIF_STATE_READY);
}

u32 fx_call_context(struct fixture *r, u32 type, const struct fx_context *c)
{
	const struct fwif_kccb_cmd cmd = { .type = type, .context = c->addr };

	return fx_call(r, &cmd);
}

u32 fx_call_catalogue(struct fixture *r, u32 type, u64 catalogue)
{
	const struct fwif_kccb_cmd cmd = { .type = type, .catalogue = catalogue, .start = 1 };

	return fx_call(r, &cmd);
}

/* Create tables for two pages at FX_STREAM_VA. */
void fx_vm(struct fixture *r, struct fx_vm *vm)
{
	u64 pd = testmem_alloc(r->tm, 4096, 4096), pt = testmem_alloc(r->tm, 4096, 4096);
	u64 pages = testmem_alloc(r->tm, 8192, 4096);
	struct pumice_mmu_pc_entry pce = { .valid = true, .addr = pd };
	struct pumice_mmu_pd_entry pde = { .valid = true, .addr = pt };
	struct pumice_mmu_pt_entry pte = { .valid = true, .addr = pages };
	u64 *entries;

	vm->catalogue = testmem_alloc(r->tm, 8192, 8192);
	entries = testmem_host(r->tm, vm->catalogue);
	entries[FX_STREAM_VA >> 30] = pumice_mmu_pc_entry_pack64(&pce);
	entries = testmem_host(r->tm, pd);
	entries[FX_STREAM_VA >> 21 & 511] = pumice_mmu_pd_entry_pack64(&pde);
	entries = testmem_host(r->tm, pt);
	vm->pt = &entries[FX_STREAM_VA >> 12 & 511];
	vm->pt[0] = pumice_mmu_pt_entry_pack64(&pte);
	pte.addr += 4096;
	vm->pt[1] = pumice_mmu_pt_entry_pack64(&pte);
	vm->stream = testmem_host(r->tm, pages);
	vm->code = vm->stream + 1024;
	vm->stream[0] = PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

void fx_vm_faulty(struct fx_vm *vm)
{
	vm->stream[0] = 0;
}

/* Write a launch of a program at FX_CODE_VA; return the next word of the stream. */
static u32 *put_launch(struct fx_vm *vm, u32 insns, u32 groups)
{
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA, .insns = insns,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };
	const struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA + insns * 16, .pds_insns = 2, .temps = 2,
		.size_x = 1, .size_y = 1, .size_z = 1,
	};
	const struct pumice_cdm_launch launch = {
		.groups_x = groups, .groups_y = 1, .groups_z = 1,
	};

	pumice_pds_pack(vm->code + insns * 4, &task);
	pumice_pds_pack(vm->code + insns * 4 + 4, &end);
	pumice_cdm_state_pack(vm->stream, &state);
	pumice_cdm_launch_pack(vm->stream + PUMICE_CDM_STATE_WORDS, &launch);
	return vm->stream + PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS;
}

void fx_vm_endless(struct fx_vm *vm)
{
	const struct pumice_usc_insn jump = { .opcode = PUMICE_USC_OP_JUMP };

	pumice_usc_pack(vm->code, &jump);
	*put_launch(vm, 1, 1) = PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

static u32 operand(u32 bank, u32 num)
{
	const struct pumice_usc_operand opnd = {
		.bank = (u8)bank, .num = (u16)num, .elem = bank == PUMICE_USC_BANK_R,
	};
	u32 raw;

	pumice_usc_operand_pack(&raw, &opnd);
	return raw;
}

void fx_put_loop(u32 *code, u32 loops)
{
	const u32 r0 = operand(PUMICE_USC_BANK_R, 0), r1 = operand(PUMICE_USC_BANK_R, 1);
	const u32 imm = operand(PUMICE_USC_BANK_IMM, 0);
	const struct pumice_usc_insn program[] = {
		{ .opcode = PUMICE_USC_OP_ADD, .form = PUMICE_USC_FORM_SCALAR, .dst = r0,
		  .src0 = r0, .src1 = imm, .imm = 1 },
		{ .opcode = PUMICE_USC_OP_LT, .form = PUMICE_USC_FORM_SCALAR, .dst = r1,
		  .src0 = r0, .src1 = imm, .imm = loops },
		{ .opcode = PUMICE_USC_OP_BRNZ, .target = 0, .src0 = r1 },
		{ .opcode = PUMICE_USC_OP_END },
	};
	u32 i;

	for (i = 0; i < FX_LOOP_INSNS; i++)
		pumice_usc_pack(code + i * PUMICE_USC_WORDS, &program[i]);
}

void fx_vm_groups(struct fx_vm *vm, u32 groups, u32 loops, bool faulty)
{
	u32 *end;

	fx_put_loop(vm->code, loops);
	end = put_launch(vm, FX_LOOP_INSNS, groups);
	*end = faulty ? 0 : PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

void fx_context(struct fixture *r, const struct fx_vm *vm, u32 priority, struct fx_context *c)
{
	static u32 next_id;

	memset(c, 0, sizeof(*c));
	c->f = fx_fw_alloc(r, sizeof(*c->f), &c->addr);
	c->f->magic = FWIF_CONTEXT_MAGIC;
	c->f->id = ++next_id;
	c->f->priority = priority;
	c->f->catalogue = vm->catalogue;
	c->f->cccb_bytes = FX_CCCB;
	c->cccb = fx_fw_alloc(r, FX_CCCB, &c->f->cccb);
	c->f->result_count = FX_RESULTS;
	c->results = fx_fw_alloc(r, FX_RESULTS * sizeof(*c->results), &c->f->results);
	c->save = fx_fw_alloc(r, PUMICE_CDM_SAVE_WORDS * 4, &c->f->save);
	c->object = fx_fw_alloc(r, 4, &c->object_addr);
}

struct fixture *fx_with_context(struct fx_vm *vm, struct fx_context *c)
{
	struct fixture *r = fx_booted();

	fx_vm(r, vm);
	fx_context(r, vm, 1, c);
	return r;
}

void fx_context_of(struct fixture *r, const struct fx_vm *vm, u32 dm, u32 priority,
		   struct fx_context *c)
{
	fx_context(r, vm, priority, c);
	c->f->dm = dm;
}

void fx_bytes(struct fx_context *c, const void *cmd, u32 bytes)
{
	const u8 *from = cmd;

	while (bytes--) {
		c->cccb[c->write] = *from++;
		c->write = (c->write + 1) % FX_CCCB;
	}
}

void fx_wait_for(struct fx_context *c, u32 object, u32 value)
{
	const struct fwif_cccb_wait cmd = { { FWIF_CCCB_WAIT, sizeof(cmd) }, object, value };

	fx_bytes(c, &cmd, sizeof(cmd));
}

void fx_compute_perf(struct fx_context *c, u64 stream, u32 seqno, u32 perf)
{
	const struct fwif_cccb_compute cmd = {
		{ FWIF_CCCB_COMPUTE | FWIF_CACHES_ALL, sizeof(cmd) }, stream, seqno, perf,
	};

	fx_bytes(c, &cmd, sizeof(cmd));
}

void fx_compute(struct fx_context *c, u64 stream, u32 seqno)
{
	fx_compute_perf(c, stream, seqno, 0);
}

void fx_update(struct fx_context *c, u32 object, u32 value)
{
	const struct fwif_cccb_update cmd = { { FWIF_CCCB_UPDATE, sizeof(cmd) }, object, value };

	fx_bytes(c, &cmd, sizeof(cmd));
}

u32 fx_put_kick(struct fixture *r, const struct fx_context *c)
{
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_KICK, .context = c->addr, .write = c->write,
	};

	return fx_put(r, &cmd);
}

void fx_submit(struct fixture *r, const struct fx_context *c)
{
	u32 entry = fx_put_kick(r, c);

	fx_kick(r);
	fx_run(r);
	assert_int_equal(r->kccb_status[entry], FWIF_STATUS_OK);
}

const struct fwif_job_result *fx_result(const struct fx_context *c, u32 seqno)
{
	return &c->results[seqno % FX_RESULTS];
}
