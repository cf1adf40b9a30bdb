// SPDX-License-Identifier: MIT
/*
 * endless_job FILE BASE COUNTERS
 *
 * A guest's memory from bus address BASE on, as its driver would leave it before it starts
 * the firmware: the image, the shared structures, the tables, and a compute job in the
 * queues. The job never ends. Each shading cluster counts up in a word of its own in the
 * page at bus address COUNTERS, which need not be part of this memory.
 *
 * Writes the memory to FILE, and to standard output, as JSON, the register writes that start
 * the firmware and the bus addresses at which its progress is seen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "enc.h"
#include "fixture.h"

#define GROUPS		16u	/* more than there are shading clusters */
#define SEQNO		1u
#define PDS_INSNS	4u
#define USC_INSNS	4u
#define COUNTERS_VA	(FX_CODE_VA + 0x1000)

static void map_counters(struct fx_vm *vm, u64 bus)
{
	const struct pumice_mmu_pt_entry pte = { .valid = true, .no_exec = true, .addr = bus };

	vm->pt[2] = pumice_mmu_pt_entry_pack64(&pte);
}

/* The PDS program, which hands over the address of the counters, and the endless one. */
static void write_programs(u32 *code)
{
	const struct pumice_pds_insn pds[PDS_INSNS] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 0, .imm = (u32)COUNTERS_VA },
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 1, .imm = (u32)(COUNTERS_VA >> 32) },
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA + PDS_INSNS * 16,
		  .insns = USC_INSNS },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	u32 *usc = code + PDS_INSNS * PUMICE_PDS_WORDS, i;

	for (i = 0; i < PDS_INSNS; i++)
		pumice_pds_pack(code + i * PUMICE_PDS_WORDS, &pds[i]);
	usc_put(usc, 0, INSN(SHL, .dst = R(1), .src0 = SR(USC), .src1 = IMM, .imm = 2));
	usc_put(usc, 1, INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = 1));
	usc_put(usc, 2, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(1),
			     .src1 = R(0)));
	usc_put(usc, 3, INSN(JUMP, .target = 1));
}

static void write_stream(u32 *at)
{
	const struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA, .pds_insns = PDS_INSNS, .shared = 2, .temps = 2,
		.size_x = 32, .size_y = 1, .size_z = 1,
	};
	const struct pumice_cdm_launch launch = {
		.groups_x = GROUPS, .groups_y = 1, .groups_z = 1,
	};

	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &launch);
	at += PUMICE_CDM_LAUNCH_WORDS;
	*at = PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

/* The job in the queues; the firmware finds it there when it starts. */
static void queue_job(struct fixture *r, u64 counters, struct fx_context *c)
{
	struct fx_vm vm;

	fx_vm(r, &vm);
	map_counters(&vm, counters);
	write_programs(vm.code);
	write_stream(vm.stream);
	fx_context(r, &vm, 1, c);
	fx_compute(c, FX_STREAM_VA, SEQNO);
	fx_put_kick(r, c);
}

static void print_address(struct fixture *r, const char *name, const void *host)
{
	printf("\"%s\": %" PRIu64 ", ", name, testmem_bus(r->tm, host));
}

static void print_places(struct fixture *r, const struct fx_context *c)
{
	struct fx_write writes[FX_BOOT_WRITES];
	u32 i;

	printf("{");
	print_address(r, "state", &r->boot->state);
	print_address(r, "jobs_started", &r->boot->jobs_started);
	print_address(r, "jobs_faulted", &r->boot->jobs_faulted);
	print_address(r, "fault", &fx_result(c, SEQNO)->fault);
	print_address(r, "fault_address", &fx_result(c, SEQNO)->addr);
	printf("\"counters_va\": %" PRIu64 ", ", (u64)COUNTERS_VA);
	fx_boot_writes(r, writes);
	printf("\"writes\": [");
	for (i = 0; i < FX_BOOT_WRITES; i++)
		printf("%s[%u, %" PRIu64 ", %u]", i ? ", " : "", writes[i].offset,
		       writes[i].value, writes[i].size);
	printf("]}\n");
}

static bool write_memory(struct fixture *r, u64 base, const char *path)
{
	FILE *f = fopen(path, "wb");
	bool good;

	if (!f)
		return false;
	good = fwrite(testmem_host(r->tm, base), testmem_used(r->tm), 1, f) == 1;
	return !fclose(f) && good;
}

int main(int argc, char **argv)
{
	struct fx_context c;
	struct fixture *r;
	u64 base;

	if (argc != 4) {
		fprintf(stderr, "usage: endless_job FILE BASE COUNTERS\n");
		return 2;
	}
	base = strtoull(argv[2], NULL, 0);
	r = fx_create_at(base);
	queue_job(r, strtoull(argv[3], NULL, 0), &c);
	print_places(r, &c);
	if (!write_memory(r, base, argv[1])) {
		perror(argv[1]);
		return 1;
	}
	fx_destroy(r);
	return 0;
}
