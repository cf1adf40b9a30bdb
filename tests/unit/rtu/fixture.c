// SPDX-License-Identifier: MIT
/* Fixture of the tests of the ray tracing unit. See fixture.h. */
#include "fixture.h"

#include <math.h>
#include <string.h>

void fx_setup(struct fixture *fx)
{
	memset(fx, 0, sizeof(*fx));
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	fx->memory = testmem_map(fx->tm, FX_CTX, FX_VA, FX_BYTES, PUMICE_PAGE_SIZE_4K, 0);
	fx->rtu = rtu_create(&fx->mmu, 0, FX_WAVES);
	assert_non_null(fx->rtu);
	fx->seed = 1;
}

void fx_teardown(struct fixture *fx)
{
	rtu_destroy(fx->rtu);
	testmem_destroy(fx->tm);
}

/* Return the host's view of the next bytes. */
static void *take(struct fixture *fx, u64 bytes, u64 *va)
{
	void *host = fx->memory + fx->used;

	*va = FX_VA + fx->used;
	fx->used += bytes;
	assert_true(fx->used <= FX_BYTES);
	return host;
}

void fx_triangles(struct fixture *fx, struct tree *tree, const float *vertices, u32 count)
{
	u64 va;
	void *host = take(fx, tree_bytes(count), &va);

	tree_triangles(tree, host, va, vertices, count);
}

void fx_instances(struct fixture *fx, struct tree *tree, const struct pumice_rt_instance *instances,
		  const struct tree_box *boxes, u32 count)
{
	u64 va;
	void *host = take(fx, tree_bytes(count), &va);

	tree_instances(tree, host, va, instances, boxes, count);
}

bool fx_trace(struct fixture *fx, u64 va, bool any, const struct ray *rays, struct result *results,
	      u32 count)
{
	enum rtu_status status;

	for (u32 l = 0; l < count; l++) {
		u32 words[PUMICE_RT_RAY_REGS];

		memcpy(words, &rays[l], sizeof(words));
		for (u32 n = 0; n < PUMICE_RT_RAY_REGS; n++)
			fx->ray[n][l] = words[n];
	}
	memset(fx->regs, 0xee, sizeof(fx->regs));
	fx->query = (struct rtu_query){
		.ctx = FX_CTX, .addr = va, .any = any, .ray = fx->ray[0], .result = fx->regs[0],
		.lanes = count < PUMICE_LANES ? (1u << count) - 1 : ~0u, .wave = FX_WAVES - 1,
	};
	fx->calls = 0;
	do {
		status = rtu_trace(fx->rtu, &fx->query, &fx->fault);
		fx->query.resumed = true;
		fx->calls++;
	} while (status == RTU_MORE);
	for (u32 l = 0; l < count; l++) {
		u32 words[PUMICE_RT_RESULT_REGS];

		for (u32 n = 0; n < PUMICE_RT_RESULT_REGS; n++)
			words[n] = fx->regs[n][l];
		memcpy(&results[l], words, sizeof(results[l]));
	}
	return status == RTU_DONE;
}

void fx_trace_all(struct fixture *fx, u64 va, bool any, const struct ray *rays,
		  struct result *results, u32 count)
{
	for (u32 n = 0; n < count; n += PUMICE_LANES) {
		u32 part = count - n < PUMICE_LANES ? count - n : PUMICE_LANES;

		if (!fx_trace(fx, va, any, rays + n, results + n, part))
			fail_msg("fault %u at %#llx", fx->fault.fault,
				 (unsigned long long)fx->fault.addr);
	}
}

struct ray fx_ray_z(float x, float y)
{
	return (struct ray){ .origin = { x, y, 0 }, .direction = { 0, 0, 1 }, .max = INFINITY };
}
