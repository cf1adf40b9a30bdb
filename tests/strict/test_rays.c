// SPDX-License-Identifier: MIT
/*
 * The builder of acceleration structures on several cores, whose caches fill whole lines: no box is
 * read from a line that was filled before another core has stored the box.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gpu.h"
#include "inproc/inproc.h"
#include "program.h"
#include "pumice/pumice_rays.h"
#include "strict/cores.h"

#include <cmocka.h>

#define DEVICE		"inproc:cores=4,ram=64,threads=0,mode=strict"
#define LINE_BYTES	128u	/* of the MCU */
#define TRIANGLES	2000u
#define TEXT_BYTES	2048u
#define TIMEOUT_NS	60000000000ull

/* Set vertices of triangles that are distributed over a cube. */
static void fill_vertices(float *to)
{
	uint32_t random = 12345, n;

	for (n = 0; n < TRIANGLES * 9; n++) {
		random = random * 1664525u + 1013904223u;
		to[n] = (float)(random >> 8) * 0x1p-24f;
	}
}

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_buffer vertices;
	struct pumice_stream *stream;
	struct pumice_rays *rays;
	struct pumice_ray_structure *structure;
};

/* Open a device; version: of its register map, or 0 for its own. */
static void set_up(struct fixture *f, uint32_t version)
{
	assert_int_equal(pumice_device_open(DEVICE, &f->dev, NULL, 0), 0);
	cores_fill(inproc_device(f->dev)->gpu->strict.cores, LINE_BYTES);
	if (version)
		f->dev->info.version = version;
	assert_int_equal(pumice_vm_create(f->dev, &f->vm), 0);
	assert_int_equal(pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context), 0);
	assert_int_equal(pumice_stream_create(f->vm, PUMICE_RAYS_STREAM_BYTES, &f->stream), 0);
	assert_int_equal(pumice_buffer_create(f->vm, TRIANGLES * 36, &f->vertices), 0);
	fill_vertices(f->vertices.cpu);
	assert_int_equal(pumice_rays_create(f->vm, &f->rays), 0);
	assert_int_equal(pumice_ray_structure_create(f->rays, TRIANGLES, &f->structure), 0);
}

static void tear_down(struct fixture *f)
{
	pumice_ray_structure_destroy(f->structure);
	pumice_rays_destroy(f->rays);
	pumice_stream_destroy(f->stream);
	pumice_buffer_destroy(&f->vertices);
	pumice_context_destroy(f->context);
	pumice_vm_destroy(f->vm);
	pumice_device_close(f->dev);
}

/* Build, or refit. */
static void build(struct fixture *f, uint32_t flags)
{
	struct pumice_ray_mesh mesh;
	uint64_t va;

	pumice_ray_mesh_init(&mesh, f->vertices.va, TRIANGLES);
	assert_int_equal(pumice_stream_rays_mesh(f->stream, f->structure, &mesh, flags), 0);
	assert_int_equal(pumice_stream_end(f->stream, &va), 0);
	assert_int_equal(pumice_context_run(f->context, va, TIMEOUT_NS, NULL), 0);
	pumice_stream_reset(f->stream);
}

static void boxes_of_other_cores_are_not_read_from_former_lines(void **state)
{
	static const uint32_t flags[] = { 0, PUMICE_RAYS_REFIT };
	char text[TEXT_BYTES];
	struct fixture f;

	(void)state;
	set_up(&f, 0);
	for (uint32_t n = 0; n < 2; n++) {
		build(&f, flags[n]);
		if (!pumice_finding_get(f.dev, 0, text, sizeof(text)))
			fail_msg("%s", text);
	}
	tear_down(&f);
}

/* It has no instruction that invalidates: the build works, and depends on its caches. */
static void older_devices_read_former_lines(void **state)
{
	char text[TEXT_BYTES];
	struct fixture f;

	(void)state;
	set_up(&f, VERSION_CACHES - 1);
	build(&f, 0);
	assert_int_equal(pumice_finding_get(f.dev, 0, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "{\"finding\":\"stale-core\",\"unit\":\"usc-data\""));
	assert_non_null(strstr(text, "\"source\":\"boxes.pasm:"));
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_of_other_cores_are_not_read_from_former_lines),
		cmocka_unit_test(older_devices_read_former_lines),
	};

	return cmocka_run_group_tests_name("strict rays", tests, NULL, NULL);
}
