// SPDX-License-Identifier: MIT
/*
 * A compiled program computes the same on the firmware processor, compiled for
 * RV32IMC, as on this machine, compiled by another compiler. Neither compiler nor
 * linker depends on our decoder.
 *
 * Arguments: the ELF files to run, compiled from compiled/.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "compiled/workload.h"
#include "pair.h"

static const char *image_name;

/* Load the segments of the ELF file @elf, @size bytes long, into RAM. */
static void load_segments(struct pair *p, const uint8_t *elf, size_t size)
{
	Elf32_Ehdr header;
	Elf32_Phdr segment;

	assert_true(size >= sizeof(header));
	memcpy(&header, elf, sizeof(header));
	assert_int_equal(header.e_machine, EM_RISCV);
	for (uint32_t i = 0; i < header.e_phnum; i++) {
		assert_true(header.e_phoff + (i + 1) * sizeof(segment) <= size);
		memcpy(&segment, elf + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type != PT_LOAD)
			continue;
		assert_true(segment.p_offset + segment.p_filesz <= size);
		assert_true(segment.p_vaddr + segment.p_memsz <= FX_RAM_SIZE);
		memcpy(p->cpu_fixture.ram + segment.p_vaddr, elf + segment.p_offset,
		       segment.p_filesz);
		memcpy(p->ref_fixture.ram + segment.p_vaddr, elf + segment.p_offset,
		       segment.p_filesz);
	}
	fwcpu_code_changed(&p->cpu, 0, FX_RAM_SIZE);
	pair_set_pc(p, header.e_entry);
}

static void load_image(struct pair *p)
{
	static uint8_t elf[256 * 1024];
	FILE *file = fopen(image_name, "rb");
	size_t size;

	assert_non_null(file);
	size = fread(elf, 1, sizeof(elf), file);
	fclose(file);
	load_segments(p, elf, size);
	snprintf(p->what, sizeof(p->what), "%s", image_name);
}

static void check_results(const struct pair *p)
{
	for (uint32_t i = 0; i < WORKLOADS; i++)
		assert_int_equal(p->cpu_fixture.mmio[WORKLOAD_FIRST_REG + i], workload(i));
}

static void a_compiled_program_agrees_with_the_host(void **state)
{
	struct pair *p = *state;
	uint32_t executed = 0;

	load_image(p);
	while (fwcpu_run(&p->cpu, 100000, 0) == FWCPU_STOP_BUDGET) {
		executed += p->cpu.executed;
		assert_true(executed < 100000000);
	}
	assert_int_equal(p->cpu.arch.state, FWCPU_STATE_WAITING);
	check_results(p);
}

static void interrupts_at_any_instruction_do_not_change_its_results(void **state)
{
	struct pair *p = *state;
	struct random rnd = { random_seed(__func__) };
	uint32_t raised = 0;

	load_image(p);
	while (pair_run(p, 1 + random_next(&rnd) % 500) == FWCPU_STOP_BUDGET) {
		/* Raised only while it can be taken: the program counts handled interrupts. */
		if (p->cpu.irq_line || !p->ref.mie_bit)
			continue;
		pair_set_irq(p, true);
		raised++;
	}
	assert_int_equal(p->cpu.arch.state, FWCPU_STATE_WAITING);
	assert_true(raised > 100);
	assert_int_equal(p->cpu_fixture.mmio[WORKLOAD_IRQ_REG], raised);
	check_results(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_compiled_program_agrees_with_the_host,
						pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			interrupts_at_any_instruction_do_not_change_its_results,
			pair_setup, pair_teardown),
	};
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: test_compiled IMAGE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		image_name = argv[i];
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
