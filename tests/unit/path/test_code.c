// SPDX-License-Identifier: MIT
/*
 * Code that changes: by the CPU between jobs, by a job with a flush of code, and at an address
 * whose memory is replaced. Each launch has the result of the program that is there. The GPU
 * fetches code of a job once, until such a change is announced.
 */
#include <stdio.h>

#include "internal.h"
#include "program.h"
#include "path.h"

#define ROUNDS	12u

/* A program that stores its number, which has its address in registers. */
static const char victim_text[] =
	".group 1, 1, 1\n.uniforms sh0, 2\n"
	"mov r0, [one], 0\nmov r1, [one], %u\n"
	"global_store32 sig0, [one], sh0 + r0, r1\nsig_wait r2[0], sig0\nend\n";

/* Copy a word an instance from sh0 to sh2. */
static const char copy_text[] =
	".group %u, 1, 1\n.uniforms sh0, 4\n.input v0, local_x\n"
	"shl.u32 r1, v0, 2\n"
	"global_load32 sig0, r3, [one], sh0 + r1\nsig_wait r2[0], sig0\n"
	"global_store32 sig0, [one], sh2 + r1, r3\nsig_wait r2[0], sig0\nend\n";

struct code {
	struct pumice_kernel *victim, *by_number[2], *copy;
	uint64_t alias;		/* of the victim's code, writable */
	uint32_t bytes;
};

static struct pumice_kernel *assemble(struct path *p, const char *format, uint32_t value)
{
	struct pumice_kernel *k;
	char text[512];

	snprintf(text, sizeof(text), format, value);
	if (pumice_kernel_assemble(p->vm, "code", text, &k))
		fail_msg("%s", pumice_device_error(p->dev));
	return k;
}

static void make(struct path *p, struct code *c)
{
	struct pumice_bind bind = { 0 };

	c->victim = assemble(p, victim_text, 100);
	c->by_number[0] = assemble(p, victim_text, 1);
	c->by_number[1] = assemble(p, victim_text, 2);
	c->bytes = c->victim->program->header.usc_insns * PUMICE_USC_WORDS * sizeof(uint32_t);
	c->copy = assemble(p, copy_text, c->bytes / sizeof(uint32_t));
	bind.bo = c->victim->bo;
	bind.size = c->victim->bo->size;
	assert_int_equal(pumice_vm_va_alloc(p->vm, bind.size, 0, &bind.va), 0);
	assert_int_equal(pumice_vm_bind(p->vm, &bind, 1, NULL), 0);
	c->alias = bind.va;
}

static void destroy(struct path *p, struct code *c)
{
	struct pumice_bind bind = { .va = c->alias, .size = c->victim->bo->size };

	assert_int_equal(pumice_vm_bind(p->vm, &bind, 1, NULL), 0);
	pumice_vm_va_free(p->vm, c->alias);
	pumice_kernel_destroy(c->copy);
	pumice_kernel_destroy(c->by_number[1]);
	pumice_kernel_destroy(c->by_number[0]);
	pumice_kernel_destroy(c->victim);
}

/* Add a launch of the victim that stores its number in word n of the results. */
static void launch(struct path *p, const struct code *c, uint32_t n)
{
	const uint64_t va = p->out_va + n * sizeof(uint32_t);
	const uint32_t uniforms[2] = { VA_WORDS(va) };

	path_dispatch(p, c->victim, 1, uniforms, 2);
}

static void run(struct path *p)
{
	if (path_run(p, NULL))
		fail_msg("%s", pumice_device_error(p->dev));
}

/* Return the number that is there in a round. */
static uint32_t number_of(uint32_t round)
{
	return 1 + round % 2;
}

static void check_results(struct path *p)
{
	for (uint32_t n = 0; n < ROUNDS; n++)
		assert_int_equal(p->out_cpu[n], number_of(n));
}

static void cpu_changes_code(struct path *p)
{
	struct code c;
	void *to, *from;

	make(p, &c);
	for (uint32_t n = 0; n < ROUNDS; n++) {
		assert_int_equal(pumice_bo_map(c.victim->bo, &to), 0);
		assert_int_equal(pumice_bo_map(c.by_number[n % 2]->bo, &from), 0);
		memcpy(to, from, c.bytes);
		/* A job fetches the program once for both. */
		p->out_cpu[ROUNDS] = 0;
		launch(p, &c, n);
		launch(p, &c, ROUNDS);
		run(p);
		assert_int_equal(p->out_cpu[ROUNDS], number_of(n));
	}
	check_results(p);
	destroy(p, &c);
}

static void job_changes_code(struct path *p)
{
	struct code c;

	make(p, &c);
	memset(p->out_cpu, 0, ROUNDS * sizeof(uint32_t));
	for (uint32_t n = 0; n < ROUNDS; n++) {
		const uint64_t from = pumice_kernel_code_va(c.by_number[n % 2]);
		const uint32_t uniforms[4] = { VA_WORDS(from), VA_WORDS(c.alias) };

		path_dispatch(p, c.copy, 1, uniforms, 4);
		assert_int_equal(pumice_stream_flush(p->stream,
						     PUMICE_FLUSH_DATA | PUMICE_FLUSH_CODE), 0);
		launch(p, &c, n);
		assert_int_equal(pumice_stream_fence(p->stream), 0);
	}
	run(p);
	check_results(p);
	destroy(p, &c);
}

/* The addresses of the code have other memory in each round. */
static void memory_of_code_is_replaced(struct path *p)
{
	struct code c;

	make(p, &c);
	for (uint32_t n = 0; n < ROUNDS; n++) {
		struct pumice_bind bind = {
			.bo = c.by_number[n % 2]->bo, .va = pumice_kernel_code_va(c.victim),
			.size = c.victim->bo->size, .flags = PUMICE_BIND_READONLY,
		};

		assert_int_equal(pumice_vm_bind(p->vm, &bind, 1, NULL), 0);
		launch(p, &c, n);
		run(p);
	}
	check_results(p);
	destroy(p, &c);
}

static void code_that_the_cpu_changes_is_run_by_the_next_job(void **state)
{
	(void)state;
	path_each(cpu_changes_code);
}

static void code_that_a_job_changes_is_run_after_its_flush(void **state)
{
	(void)state;
	path_each(job_changes_code);
}

static void code_whose_memory_is_replaced_is_run_by_the_next_job(void **state)
{
	(void)state;
	path_each(memory_of_code_is_replaced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_that_the_cpu_changes_is_run_by_the_next_job),
		cmocka_unit_test(code_that_a_job_changes_is_run_after_its_flush),
		cmocka_unit_test(code_whose_memory_is_replaced_is_run_by_the_next_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
