// SPDX-License-Identifier: MIT
/*
 * Acceleration structures built on the GPU: every triangle is found, results are those of a test of
 * all triangles in f64, before and after refits and rebuilds, of both levels; rays inside of closed
 * meshes always hit; mistakes are refused.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice_rays.h>
#include "rays.h"

#define MOST		3000u	/* triangles of a test */
#define RAYS		4096u
#define TIMEOUT_NS	60000000000ull

static const char trace_text[] =
	".group    32, 1, 1\n"
	".uniforms sh0, 7\n"	/* structure, rays, results, number of rays */
	".input    v0, global_x\n"
	"	lt.u32		r0, v0, sh6\n"
	"	shl.u32		r1, v0, 5\n"
	"	burst_load	sig0, r8, [r0], sh2 + r1, 8\n"
	"	sig_wait	r2[0], sig0\n"
	"	ray_query	sig1, r16, [r0], closest, sh0, r8\n"
	"	sig_wait	r2[0], sig1\n"
	"	burst_store	sig0, [r0], sh4 + r1, r16, 6\n"
	"	end\n";

struct result {
	float t, u, v;
	uint32_t instance, primitive, kind, unused[2];
};

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_rays *rays;
	struct pumice_kernel *trace;
	struct pumice_buffer vertices, indices, ray, result, instances;
	uint32_t random;
};

static void open_fixture(struct fixture *fx, const char *device)
{
	char error[512] = "";

	memset(fx, 0, sizeof(*fx));
	fx->random = 12345;
	if (pumice_device_open(device, &fx->dev, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_vm_create(fx->dev, &fx->vm), 0);
	assert_int_equal(pumice_context_create(fx->vm, PUMICE_PRIORITY_NORMAL, &fx->context), 0);
	assert_int_equal(pumice_stream_create(fx->vm, 2 * PUMICE_RAYS_STREAM_BYTES, &fx->stream),
			 0);
	if (pumice_rays_create(fx->vm, &fx->rays))
		fail_msg("%s", pumice_device_error(fx->dev));
	assert_int_equal(pumice_kernel_assemble(fx->vm, "trace", trace_text, &fx->trace), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, MOST * 48, &fx->vertices), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, MOST * 12, &fx->indices), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, RAYS * 32, &fx->ray), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, RAYS * 32, &fx->result), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, 64 * 64, &fx->instances), 0);
}

static void close_fixture(struct fixture *fx)
{
	pumice_buffer_destroy(&fx->instances);
	pumice_buffer_destroy(&fx->result);
	pumice_buffer_destroy(&fx->ray);
	pumice_buffer_destroy(&fx->indices);
	pumice_buffer_destroy(&fx->vertices);
	pumice_kernel_destroy(fx->trace);
	pumice_rays_destroy(fx->rays);
	pumice_stream_destroy(fx->stream);
	pumice_context_destroy(fx->context);
	pumice_vm_destroy(fx->vm);
	pumice_device_close(fx->dev);
}

static float unit(struct fixture *fx)
{
	fx->random = fx->random * 1664525u + 1013904223u;
	return (float)(fx->random >> 8) * 0x1p-24f;
}

static float between(struct fixture *fx, float low, float high)
{
	return low + (high - low) * unit(fx);
}

/* Add a launch that traces count rays, and run the stream. Returns as pumice_context_run(). */
static int trace(struct fixture *fx, const struct pumice_ray_structure *s, uint32_t count,
		 struct pumice_context_state *now)
{
	const uint64_t addresses[3] = { pumice_ray_structure_va(s), fx->ray.va, fx->result.va };
	struct pumice_dispatch dispatch;
	uint32_t uniforms[7];
	uint64_t va;
	int err;

	memcpy(uniforms, addresses, sizeof(addresses));
	uniforms[6] = count;
	pumice_dispatch_init(&dispatch, fx->trace);
	dispatch.groups[0] = (count + 31) / 32;
	dispatch.uniforms = uniforms;
	dispatch.uniform_words = 7;
	assert_int_equal(pumice_stream_dispatch(fx->stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(fx->stream, &va), 0);
	err = pumice_context_run(fx->context, va, TIMEOUT_NS, now);
	pumice_stream_reset(fx->stream);
	return err;
}

static void run(struct fixture *fx, const struct pumice_ray_structure *s, uint32_t count)
{
	if (trace(fx, s, count, NULL))
		fail_msg("%s", pumice_device_error(fx->dev));
}

static void random_triangles(struct fixture *fx, uint32_t count)
{
	float *v = fx->vertices.cpu;

	for (uint32_t n = 0; n < count; n++, v += 9) {
		float at[3] = { between(fx, -20, 20), between(fx, -20, 20), between(fx, -20, 20) };

		for (uint32_t k = 0; k < 9; k++)
			v[k] = at[k % 3] + between(fx, -1, 1);
	}
}

/* The vertex k of triangle n, from 0 on. */
static const float *vertex(const float *v, uint32_t n, uint32_t k)
{
	return v + (size_t)n * 9 + (size_t)k * 3;
}

/* A ray through the middle of a triangle, along its normal, from 0.001 before it. */
static void aim(const float *v, uint32_t n, struct ref_ray *ray)
{
	const float *a = vertex(v, n, 0), *b = vertex(v, n, 1), *c = vertex(v, n, 2);
	float e[3], f[3], length = 0;

	*ray = (struct ref_ray){ .max = 0.002f };
	for (uint32_t k = 0; k < 3; k++) {
		e[k] = b[k] - a[k];
		f[k] = c[k] - a[k];
	}
	for (uint32_t k = 0; k < 3; k++) {
		ray->direction[k] = e[(k + 1) % 3] * f[(k + 2) % 3] -
			e[(k + 2) % 3] * f[(k + 1) % 3];
		length += ray->direction[k] * ray->direction[k];
	}
	for (uint32_t k = 0; k < 3; k++) {
		ray->direction[k] /= -sqrtf(length);
		ray->origin[k] = (a[k] + b[k] + c[k]) / 3 - 0.001f * ray->direction[k];
	}
}

/* Each triangle is hit by its own ray, from the front. */
static void check_each(struct fixture *fx, const struct pumice_ray_structure *s, const float *v,
		       uint32_t count)
{
	const struct result *got = fx->result.cpu;

	for (uint32_t n = 0; n < count; n++)
		aim(v, n, (struct ref_ray *)fx->ray.cpu + n);
	run(fx, s, count);
	for (uint32_t n = 0; n < count; n++) {
		assert_int_equal(got[n].primitive, n);
		assert_int_equal(got[n].kind, 1);
		assert_true(fabsf(got[n].t - 0.001f) < 1e-4f);
		assert_true(fabsf(got[n].u - 1 / 3.f) < 1e-2f && fabsf(got[n].v - 1 / 3.f) < 1e-2f);
	}
}

static void check_random_rays(struct fixture *fx, const struct pumice_ray_structure *s,
			      const float *v, uint32_t count)
{
	const struct result *got = fx->result.cpu;
	struct ref_ray *ray = fx->ray.cpu;
	uint32_t hits = 0, compared = 0;

	for (uint32_t n = 0; n < RAYS; n++) {
		ray[n] = (struct ref_ray){ .max = INFINITY };
		for (uint32_t k = 0; k < 3; k++) {
			ray[n].origin[k] = between(fx, -25, 25);
			ray[n].direction[k] = between(fx, -15, 15) - ray[n].origin[k];
		}
	}
	run(fx, s, RAYS);
	for (uint32_t n = 0; n < RAYS; n++) {
		struct ref_hit want;

		ref_trace(&ray[n], v, count, &want);
		if (want.margin < 1e-4)
			continue;
		compared++;
		hits += want.triangle != REF_MISS;
		assert_int_equal(got[n].primitive, want.triangle);
	}
	assert_true(compared > RAYS * 9 / 10 && hits > RAYS / 4);
}

/* The USCs of the third one have few waves, and those of the last one few registers, too. */
static const char *const devices[] = {
	"inproc:cores=4,threads=0", "inproc:cores=2,threads=2",
	"inproc:preset=default,waves=2,batch=64,threads=0", "inproc:preset=waves,threads=2",
};
#define DEVICES (sizeof(devices) / sizeof(devices[0]))

static void builds_find_every_triangle(void **state)
{
	static const uint32_t counts[] = { 1, 2, 3, 4, 5, 31, 128, 129, 1000 };
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[0]);
	for (uint32_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
		struct pumice_ray_structure *s;
		struct pumice_ray_mesh mesh;

		random_triangles(&fx, counts[n]);
		assert_int_equal(pumice_ray_structure_create(fx.rays, counts[n], &s), 0);
		assert_int_equal(pumice_ray_structure_va(s) % 128, 0);
		pumice_ray_mesh_init(&mesh, fx.vertices.va, counts[n]);
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
		check_each(&fx, s, fx.vertices.cpu, counts[n]);
		pumice_ray_structure_destroy(s);
	}
	close_fixture(&fx);
}

static void builds_agree_with_a_test_of_all_triangles(void **state)
{
	(void)state;
	for (uint32_t d = 0; d < DEVICES; d++) {
		struct pumice_ray_structure *s;
		struct pumice_ray_mesh mesh;
		struct fixture fx;

		open_fixture(&fx, devices[d]);
		random_triangles(&fx, MOST);
		assert_int_equal(pumice_ray_structure_create(fx.rays, MOST + 100, &s), 0);
		pumice_ray_mesh_init(&mesh, fx.vertices.va, MOST);
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
		check_random_rays(&fx, s, fx.vertices.cpu, MOST);
		/* The same triangles move to other places, and rays find them there. */
		random_triangles(&fx, MOST);
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, PUMICE_RAYS_REFIT),
				 0);
		check_random_rays(&fx, s, fx.vertices.cpu, MOST);
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
		check_random_rays(&fx, s, fx.vertices.cpu, MOST);
		pumice_ray_structure_destroy(s);
		close_fixture(&fx);
	}
}

/* All triangles in one place have one code. */
static void equal_triangles_are_one_hit(void **state)
{
	static const float corner[9] = { -1, -1, 5, 1, -1, 5, 0, 1, 5 };
	struct pumice_ray_structure *s;
	struct pumice_ray_mesh mesh;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[0]);
	for (uint32_t n = 0; n < 500; n++)
		memcpy((float *)fx.vertices.cpu + (size_t)n * 9, corner, sizeof(corner));
	assert_int_equal(pumice_ray_structure_create(fx.rays, 500, &s), 0);
	pumice_ray_mesh_init(&mesh, fx.vertices.va, 500);
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
	*(struct ref_ray *)fx.ray.cpu = (struct ref_ray){ .direction = { 0, 0, 1 }, .max = 100 };
	run(&fx, s, 1);
	assert_int_equal(((struct result *)fx.result.cpu)->primitive, 0);
	assert_true(((struct result *)fx.result.cpu)->t == 5);
	pumice_ray_structure_destroy(s);
	close_fixture(&fx);
}

static void indices_and_strides_select_vertices(void **state)
{
	struct pumice_ray_structure *s;
	struct pumice_ray_mesh mesh;
	static float plain[100 * 9];
	struct fixture fx;
	uint32_t *index;

	(void)state;
	open_fixture(&fx, devices[0]);
	random_triangles(&fx, 100);
	memcpy(plain, fx.vertices.cpu, sizeof(plain));
	/* Vertex n is at position 299 - n, of 20 bytes each. */
	for (uint32_t n = 0; n < 300; n++)
		memcpy((uint8_t *)fx.vertices.cpu + (299 - n) * 20, plain + (size_t)n * 3, 12);
	index = fx.indices.cpu;
	for (uint32_t n = 0; n < 300; n++)
		index[n] = 299 - n;
	assert_int_equal(pumice_ray_structure_create(fx.rays, 100, &s), 0);
	pumice_ray_mesh_init(&mesh, fx.vertices.va, 100);
	mesh.stride = 20;
	mesh.indices = fx.indices.va;
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
	check_each(&fx, s, plain, 100);
	pumice_ray_structure_destroy(s);
	close_fixture(&fx);
}

#define INSTANCES 33u
#define PARTS 40u

static void place(struct fixture *fx, struct pumice_ray_instance *to, uint32_t n, uint64_t va)
{
	pumice_ray_instance_init(to, va, 500 + n);
	for (uint32_t r = 0; r < 3; r++) {
		for (uint32_t c = 0; c < 3; c++)
			to->to_world[r * 4 + c] = (r == c ? 2.f : 0) + between(fx, -0.5f, 0.5f);
		/* On a grid, apart from each other. */
		to->to_world[r * 4 + 3] =
			100 * (float)(r == 0 ? n % 4 : r == 1 ? n / 4 % 4 : n / 16);
	}
}

/* Transform the mesh to the world. */
static void to_world(const struct pumice_ray_instance *i, const float *v, float *out)
{
	for (uint32_t n = 0; n < PARTS * 3; n++) {
		for (uint32_t r = 0; r < 3; r++) {
			const float *row = i->to_world + (size_t)r * 4, *in = v + (size_t)n * 3;

			out[n * 3 + r] = row[0] * in[0] + row[1] * in[1] + row[2] * in[2] + row[3];
		}
	}
}

/* Each triangle of each instance is hit, where its instance is. */
static void check_instances(struct fixture *fx, const struct pumice_ray_structure *top)
{
	const struct pumice_ray_instance *list = fx->instances.cpu;
	const struct result *got = fx->result.cpu;
	static float world[PARTS * 9];

	for (uint32_t n = 0; n < INSTANCES; n++) {
		to_world(&list[n], (float *)fx->vertices.cpu + (size_t)(n % 2) * PARTS * 9, world);
		for (uint32_t p = 0; p < PARTS; p++) {
			struct ref_ray *ray = (struct ref_ray *)fx->ray.cpu + n * PARTS + p;

			aim(world, p, ray);
			/* Coordinates of 300 have steps of 0.00003. */
			for (uint32_t k = 0; k < 3; k++)
				ray->origin[k] -= 0.009f * ray->direction[k];
			ray->max = 0.02f;
		}
	}
	run(fx, top, INSTANCES * PARTS);
	for (uint32_t n = 0; n < INSTANCES * PARTS; n++) {
		assert_int_equal(got[n].instance, 500 + n / PARTS);
		assert_int_equal(got[n].primitive, n % PARTS);
		assert_true(fabsf(got[n].t - 0.01f) < 1e-3f);
	}
}

static void check_transformations(const char *device)
{
	struct pumice_ray_structure *shape[2], *top;
	struct pumice_ray_mesh mesh;
	struct fixture fx;

	open_fixture(&fx, device);
	random_triangles(&fx, 2 * PARTS);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(pumice_ray_structure_create(fx.rays, PARTS, &shape[n]), 0);
		pumice_ray_mesh_init(&mesh, fx.vertices.va + (uint64_t)n * PARTS * 36, PARTS);
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, shape[n], &mesh, 0), 0);
	}
	assert_int_equal(pumice_ray_structure_create(fx.rays, INSTANCES, &top), 0);
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t n = 0; n < INSTANCES; n++)
			place(&fx, (struct pumice_ray_instance *)fx.instances.cpu + n, n,
			      pumice_ray_structure_va(shape[n % 2]));
		assert_int_equal(pumice_stream_rays_instances(fx.stream, top,
							      fx.instances.va, INSTANCES,
							      pass ? PUMICE_RAYS_REFIT : 0), 0);
		check_instances(&fx, top);
	}
	pumice_ray_structure_destroy(top);
	pumice_ray_structure_destroy(shape[1]);
	pumice_ray_structure_destroy(shape[0]);
	close_fixture(&fx);
}

static void instances_are_where_their_transformation_says(void **state)
{
	(void)state;
	check_transformations(devices[1]);
	/* Registers for three waves of the largest program, of instances, and four of others. */
	check_transformations("inproc:unified-store-kib=36,threads=0");
}

#define SIDE	12u			/* squares of a row of each face of a cube */
#define SURFACE	(6 * SIDE * SIDE * 2)	/* triangles of a closed mesh */
#define ROUNDS	8u			/* of RAYS each */

/* A point of a face of the cube, or of a ball with lumps, all of which is seen from inside. */
static void surface_point(uint32_t face, uint32_t x, uint32_t y, float lumps, float *out)
{
	float v[3], scale = 1;

	v[face % 3] = face < 3 ? 1 : -1;
	v[(face + 1) % 3] = (float)x / SIDE * 2 - 1;
	v[(face + 2) % 3] = (float)y / SIDE * 2 - 1;
	if (lumps != 0)
		scale = (1 + lumps * sinf(7 * v[0]) * sinf(5 * v[1]) * sinf(3 * v[2])) /
			sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	for (uint32_t k = 0; k < 3; k++)
		out[k] = v[k] * scale;
}

/* Make a closed mesh; @lumps: 0 for the cube */
static void closed_mesh(float lumps, float *v)
{
	static const uint8_t corner[6][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 0 },
					      { 1, 1 }, { 0, 1 } };

	for (uint32_t n = 0; n < SURFACE * 3; n++) {
		const uint32_t square = n / 6;

		surface_point(square / (SIDE * SIDE), square % SIDE + corner[n % 6][0],
			      square / SIDE % SIDE + corner[n % 6][1], lumps, v + (size_t)n * 3);
	}
}

/* Transform a vector; @move: the translation applies */
static void transform(const float *m, bool move, float *v)
{
	const float in[3] = { v[0], v[1], v[2] };

	for (uint32_t r = 0; r < 3; r++)
		v[r] = m[r * 4] * in[0] + m[r * 4 + 1] * in[1] + m[r * 4 + 2] * in[2] +
		       (move ? m[r * 4 + 3] : 0);
}

/* Aim from inside of a closed mesh at a vertex, or at a point of an edge, of a random triangle. */
static void aim_at_edge(struct fixture *fx, const float *m, struct ref_ray *ray)
{
	const float *v = vertex(fx->vertices.cpu, (uint32_t)(unit(fx) * SURFACE), 0);
	const uint32_t a = (uint32_t)(unit(fx) * 3), b = (a + 1) % 3;
	const float w = unit(fx) < 0.25f ? 0 : unit(fx);

	*ray = (struct ref_ray){ .max = INFINITY };
	for (uint32_t k = 0; k < 3; k++) {
		ray->origin[k] = between(fx, -0.1f, 0.1f);
		ray->direction[k] = v[a * 3 + k] * (1 - w) + v[b * 3 + k] * w - ray->origin[k];
	}
	if (!m)
		return;
	transform(m, true, ray->origin);
	transform(m, false, ray->direction);
}

/* Every ray hits what it is aimed at; @instance: of a structure of instances, or NULL */
static void check_closed(struct fixture *fx, const struct pumice_ray_structure *s,
			 const struct pumice_ray_instance *instance)
{
	const struct result *got = fx->result.cpu;
	uint32_t lost = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t n = 0; n < RAYS; n++)
			aim_at_edge(fx, instance ? instance->to_world : NULL,
				    (struct ref_ray *)fx->ray.cpu + n);
		run(fx, s, RAYS);
		for (uint32_t n = 0; n < RAYS; n++) {
			lost += !got[n].kind;
			if (!got[n].kind)
				continue;
			assert_true(got[n].t > 0.95f && got[n].t < 1.05f);
			if (instance)
				assert_int_equal(got[n].instance, instance->id);
		}
	}
	assert_int_equal(lost, 0);
}

/* Build a structure of a closed mesh, or refit it. */
static void put_closed(struct fixture *fx, struct pumice_ray_structure *s, float lumps,
		       uint32_t flags)
{
	struct pumice_ray_mesh mesh;

	closed_mesh(lumps, fx->vertices.cpu);
	pumice_ray_mesh_init(&mesh, fx->vertices.va, SURFACE);
	assert_int_equal(pumice_stream_rays_mesh(fx->stream, s, &mesh, flags), 0);
}

static void no_ray_leaves_a_closed_mesh_that_was_built_or_refitted(void **state)
{
	static const float shapes[] = { 0, 0.3f, -0.2f };
	struct pumice_ray_structure *s;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[1]);
	assert_int_equal(pumice_ray_structure_create(fx.rays, SURFACE, &s), 0);
	for (uint32_t n = 0; n < sizeof(shapes) / sizeof(shapes[0]); n++) {
		put_closed(&fx, s, shapes[n], 0);
		check_closed(&fx, s, NULL);
		put_closed(&fx, s, shapes[(n + 1) % 3], PUMICE_RAYS_REFIT);
		check_closed(&fx, s, NULL);
	}
	pumice_ray_structure_destroy(s);
	close_fixture(&fx);
}

/* One instance is in the place of its mesh, so that its rays have the edges' own coordinates. */
static void no_ray_leaves_an_instance_of_a_closed_mesh(void **state)
{
	struct pumice_ray_structure *shape, *top;
	struct pumice_ray_instance *list;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[1]);
	assert_int_equal(pumice_ray_structure_create(fx.rays, SURFACE, &shape), 0);
	assert_int_equal(pumice_ray_structure_create(fx.rays, 3, &top), 0);
	list = fx.instances.cpu;
	for (uint32_t pass = 0; pass < 4; pass++) {
		put_closed(&fx, shape, pass < 2 ? 0.3f : 0, pass % 2 ? PUMICE_RAYS_REFIT : 0);
		for (uint32_t n = 0; n < 3; n++)
			place(&fx, &list[n], n, pumice_ray_structure_va(shape));
		pumice_ray_instance_init(&list[0], pumice_ray_structure_va(shape), 7);
		assert_int_equal(pumice_stream_rays_instances(fx.stream, top, fx.instances.va, 3,
							      pass % 2 ? PUMICE_RAYS_REFIT : 0),
				 0);
		for (uint32_t n = 0; n < 3; n++)
			check_closed(&fx, top, &list[n]);
	}
	pumice_ray_structure_destroy(top);
	pumice_ray_structure_destroy(shape);
	close_fixture(&fx);
}

static void initialisers_describe_the_usual_case(void **state)
{
	struct pumice_ray_instance instance;
	struct pumice_ray_mesh mesh;

	(void)state;
	memset(&instance, 0xff, sizeof(instance));
	pumice_ray_instance_init(&instance, 0x123400, 7);
	for (uint32_t n = 0; n < 12; n++)
		assert_true(instance.to_world[n] == (n % 5 ? 0 : 1));
	assert_int_equal(instance.structure, 0x123400);
	assert_int_equal(instance.id, 7);
	assert_int_equal(instance.reserved, 0);
	memset(&mesh, 0xff, sizeof(mesh));
	pumice_ray_mesh_init(&mesh, 0x4000, 9);
	assert_int_equal(mesh.vertices, 0x4000);
	assert_int_equal(mesh.indices, 0);
	assert_int_equal(mesh.stride, 12);
	assert_int_equal(mesh.triangles, 9);
}

static void assert_error(const struct fixture *fx, const char *words)
{
	const char *text = pumice_device_error(fx->dev);

	if (!strstr(text, words))
		fail_msg("'%s' is not in: %s", words, text);
}

static void refits_need_a_build_that_was_completed(void **state)
{
	struct pumice_context_state now;
	struct pumice_ray_structure *s;
	struct pumice_ray_mesh mesh;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[1]);
	random_triangles(&fx, 300);
	assert_int_equal(pumice_ray_structure_create(fx.rays, 300, &s), 0);
	for (uint32_t pass = 0; pass < 2; pass++) {
		/* The build is in a stream that does not run. */
		pumice_ray_mesh_init(&mesh, fx.vertices.va, pass ? 300 : 200);
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
		pumice_stream_reset(fx.stream);
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, PUMICE_RAYS_REFIT),
				 0);
		assert_int_equal(trace(&fx, s, 1, &now), -EIO);
		assert_string_equal(pumice_fault_name(now.fault), "rtu-header");
		/* A build and its refit in one stream, and another refit. */
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
		for (uint32_t refit = 0; refit < 2; refit++) {
			assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh,
								 PUMICE_RAYS_REFIT), 0);
			check_each(&fx, s, fx.vertices.cpu, mesh.triangles);
		}
	}
	pumice_ray_structure_destroy(s);
	close_fixture(&fx);
}

static void streams_of_the_documented_size_hold_any_build(void **state)
{
	struct pumice_ray_structure *s;
	struct pumice_stream *stream;
	struct pumice_ray_mesh mesh;
	struct pumice_rays *rays;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	uint64_t va;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=512", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_rays_create(vm, &rays), 0);
	assert_int_equal(pumice_ray_structure_create(rays, PUMICE_RAYS_MAX_LEAVES, &s), 0);
	pumice_ray_mesh_init(&mesh, 0x10000, PUMICE_RAYS_MAX_LEAVES);
	for (uint32_t top = 0; top < 2; top++) {
		assert_int_equal(pumice_stream_create(vm, PUMICE_RAYS_STREAM_BYTES, &stream), 0);
		assert_int_equal(top ? pumice_stream_rays_instances(stream, s, 0x10000,
								    PUMICE_RAYS_MAX_LEAVES, 0) :
				       pumice_stream_rays_mesh(stream, s, &mesh, 0), 0);
		assert_int_equal(pumice_stream_end(stream, &va), 0);
		pumice_stream_destroy(stream);
	}
	pumice_ray_structure_destroy(s);
	pumice_rays_destroy(rays);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

static void mistakes_are_refused(void **state)
{
	struct pumice_ray_structure *s, *none = NULL;
	struct pumice_ray_mesh mesh, bad;
	struct pumice_stream *foreign;
	struct pumice_vm *other;
	struct fixture fx;
	int err;

	(void)state;
	open_fixture(&fx, devices[0]);
	assert_int_equal(pumice_ray_structure_create(fx.rays, 0, &none), -EINVAL);
	assert_int_equal(pumice_ray_structure_create(fx.rays, PUMICE_RAYS_MAX_LEAVES + 1, &none),
			 -EINVAL);
	assert_null(none);
	assert_int_equal(pumice_ray_structure_create(fx.rays, 10, &s), 0);
	pumice_ray_mesh_init(&mesh, fx.vertices.va, 10);
	for (uint32_t n = 0; n < 7; n++) {
		bad = mesh;
		bad.vertices += n == 0 ? 2 : 0;
		bad.vertices |= n == 1 ? 1ull << 40 : 0;
		bad.indices = n == 2 ? 3 : n == 3 ? 1ull << 40 : 0;
		bad.stride += n == 4;
		bad.triangles = n == 5 ? 0 : n == 6 ? 11 : 10;
		assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &bad, 0), -EINVAL);
	}
	/* The last of 30 vertices begins 29 strides from the first, and has 12 bytes. */
	bad = mesh;
	bad.stride = (uint32_t)((0x100000000ull - 12) / 29 / 4 * 4 + 4);
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &bad, 0), -EINVAL);
	assert_non_null(strstr(pumice_device_error(fx.dev), "exceed 4 GiB"));
	bad.stride -= 4;
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &bad, 0), 0);
	pumice_stream_reset(fx.stream);
	pumice_ray_structure_destroy(s);
	assert_int_equal(pumice_ray_structure_create(fx.rays, 10, &s), 0);
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, NULL, 0), -EINVAL);
	bad = (struct pumice_ray_mesh){ .triangles = 1 };
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &bad, 0), -EINVAL);
	assert_error(&fx, "vertices is 0; set it to their GPU address");
	bad.vertices = mesh.vertices;
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &bad, 0), -EINVAL);
	assert_error(&fx, "stride 0 is not a positive multiple of 4");
	assert_int_equal(pumice_stream_rays_instances(fx.stream, s, 0, 1, 0), -EINVAL);
	assert_error(&fx, "instances is 0; set it");
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, NULL, &mesh, 0), -EINVAL);
	assert_error(&fx, "structure is NULL; set it");
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 2), -EINVAL);
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, PUMICE_RAYS_REFIT), -EINVAL);
	assert_int_equal(pumice_stream_rays_instances(fx.stream, s, fx.instances.va + 8, 1, 0),
			 -EINVAL);
	assert_int_equal(pumice_stream_rays_instances(fx.stream, s, fx.instances.va, 0, 0),
			 -EINVAL);
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, 0), 0);
	mesh.triangles = 9;
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, PUMICE_RAYS_REFIT), -EINVAL);
	assert_non_null(strstr(pumice_device_error(fx.dev), "build it again"));
	assert_int_equal(pumice_stream_rays_instances(fx.stream, s, fx.instances.va, 10,
						      PUMICE_RAYS_REFIT), -EINVAL);
	assert_int_equal(pumice_vm_create(fx.dev, &other), 0);
	assert_int_equal(pumice_stream_create(other, 4096, &foreign), 0);
	assert_int_equal(pumice_stream_rays_mesh(foreign, s, &mesh, 0), -EINVAL);
	pumice_stream_destroy(foreign);
	pumice_vm_destroy(other);
	/* Without room the structure counts as not built. */
	assert_int_equal(pumice_stream_create(fx.vm, 4096, &foreign), 0);
	do
		err = pumice_stream_rays_mesh(foreign, s, &mesh, 0);
	while (!err);
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(pumice_stream_rays_mesh(fx.stream, s, &mesh, PUMICE_RAYS_REFIT), -EINVAL);
	pumice_stream_destroy(foreign);
	pumice_ray_structure_destroy(s);
	pumice_ray_structure_destroy(NULL);
	pumice_rays_destroy(NULL);
	close_fixture(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds_find_every_triangle),
		cmocka_unit_test(builds_agree_with_a_test_of_all_triangles),
		cmocka_unit_test(equal_triangles_are_one_hit),
		cmocka_unit_test(indices_and_strides_select_vertices),
		cmocka_unit_test(instances_are_where_their_transformation_says),
		cmocka_unit_test(no_ray_leaves_a_closed_mesh_that_was_built_or_refitted),
		cmocka_unit_test(no_ray_leaves_an_instance_of_a_closed_mesh),
		cmocka_unit_test(initialisers_describe_the_usual_case),
		cmocka_unit_test(refits_need_a_build_that_was_completed),
		cmocka_unit_test(streams_of_the_documented_size_hold_any_build),
		cmocka_unit_test(mistakes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
