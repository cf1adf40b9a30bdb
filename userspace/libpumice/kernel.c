// SPDX-License-Identifier: MIT
/* Kernels: programs placed in an address space. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "pumice_isa.h"

static struct pumice_program *copy_program(const struct pumice_program *from)
{
	size_t bytes = from->header.file_bytes - PUMICE_PROGRAM_HEADER_WORDS * 4;
	struct pumice_program *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->header = from->header;
	p->words = malloc(bytes);
	p->relocs = calloc(from->header.relocs + 1, sizeof(*p->relocs));
	if (!p->words || !p->relocs) {
		pumice_program_destroy(p);
		return NULL;
	}
	memcpy(p->words, from->words, bytes);
	memcpy(p->relocs, from->relocs, from->header.relocs * sizeof(*p->relocs));
	p->usc = p->words;
	p->pds = p->usc + (from->pds - from->usc);
	if (lines_copy(p, from))
		return p;
	pumice_program_destroy(p);
	return NULL;
}

/* Return whether an instruction is one of VERSION_CACHES: operations, and fences of a core. */
static bool operates_on_caches(const u32 *words)
{
	struct pumice_usc_insn insn;

	if (pumice_usc_unpack(words, &insn) != PUMICE_ISA_UNPACK_OK)
		return false;
	switch (insn.opcode) {
	case PUMICE_USC_OP_CACHE_CLEAN:
	case PUMICE_USC_OP_CACHE_CLEAN_RANGE:
	case PUMICE_USC_OP_CACHE_INVALIDATE:
	case PUMICE_USC_OP_CACHE_INVALIDATE_RANGE:
		return true;
	case PUMICE_USC_OP_MEM_FENCE:
		return insn.func == PUMICE_USC_SCOPE_CORE;
	default:
		return false;
	}
}

/* Refuse instructions that the device does not have, which would fault later. */
static int check_device(struct pumice_device *dev, const struct pumice_program *program)
{
	const u32 version = dev->info.version;
	u32 i;

	for (i = 0; i < program->header.usc_insns && version < VERSION_CACHES; i++) {
		if (operates_on_caches(program->usc + (size_t)i * PUMICE_USC_WORDS))
			return fail(dev, EOPNOTSUPP,
				    "kernel: instruction %u, an operation on caches, needs register map 2.9; the device has %u.%u",
				    i, version >> 16, version & 0xffff);
	}
	return 0;
}

/* Copy the instructions to memory of the GPU. */
static int place_code(struct pumice_kernel *k)
{
	u64 bytes = (u64)k->program->header.usc_insns * 16;
	void *cpu;
	int err;

	err = pumice_bo_create(k->vm->dev, bytes, k->vm, &k->bo);
	if (err)
		return err;
	if (k->program->lines.head.files)
		bo_name_internal(k->bo, "program '%.48s'", k->program->lines.names[0]);
	else
		bo_name_internal(k->bo, "a program");
	err = pumice_bo_map(k->bo, &cpu);
	if (err)
		return err;
	memcpy(cpu, k->program->usc, bytes);
	pumice_bo_unmap(k->bo);
	return pumice_vm_place(k->vm, k->bo, PUMICE_BIND_READONLY, &k->code_va);
}

static void link_kernel(struct pumice_kernel *k)
{
	pthread_mutex_lock(&k->vm->lock);
	k->next = k->vm->kernels;
	k->vm->kernels = k;
	pthread_mutex_unlock(&k->vm->lock);
}

static void unlink_kernel(struct pumice_kernel *k)
{
	struct pumice_kernel **link;

	pthread_mutex_lock(&k->vm->lock);
	for (link = &k->vm->kernels; *link; link = &(*link)->next) {
		if (*link == k) {
			*link = k->next;
			break;
		}
	}
	pthread_mutex_unlock(&k->vm->lock);
}

int pumice_kernel_create(struct pumice_vm *vm, const struct pumice_program *program,
			 struct pumice_kernel **kernel)
{
	struct pumice_kernel *k;
	int err;

	if (!program)
		return fail_null(vm->dev, "kernel", "program");
	err = check_device(vm->dev, program);
	if (err)
		return err;
	k = calloc(1, sizeof(*k));
	if (k) {
		k->vm = vm;
		k->program = copy_program(program);
	}
	if (!k || !k->program) {
		free(k);
		return fail(vm->dev, ENOMEM, "kernel: out of memory");
	}
	err = place_code(k);
	if (err)
		pumice_kernel_destroy(k);
	else
		link_kernel(k);
	if (!err)
		*kernel = k;
	return err;
}

int pumice_kernel_assemble(struct pumice_vm *vm, const char *name, const char *text,
			   struct pumice_kernel **kernel)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;
	int err = program_assemble(name, text, device_warnings(vm->dev), &program, error,
				   sizeof(error));

	if (err)
		return fail(vm->dev, -err, "%s", error);
	err = pumice_kernel_create(vm, program, kernel);
	pumice_program_destroy(program);
	return err;
}

void pumice_kernel_destroy(struct pumice_kernel *k)
{
	if (!k)
		return;
	findings_write(k->vm->dev);	/* while the program's lines exist */
	pumice_kernel_destroy(k->positions[0]);
	pumice_kernel_destroy(k->positions[1]);
	unlink_kernel(k);
	if (k->code_va)
		pumice_vm_remove(k->vm, k->code_va);
	pumice_bo_destroy(k->bo);
	pumice_program_destroy(k->program);
	free(k);
}

uint64_t pumice_kernel_code_va(const struct pumice_kernel *k)
{
	return k->code_va;
}
