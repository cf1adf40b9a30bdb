// SPDX-License-Identifier: MIT
/*
 * Rows: rays a second through one structure of 65,522 triangles, against Embree, and its build.
 *
 * Embree has as many threads as the GPU and a robust scene, since our triangles are watertight,
 * too. Both trace the same rays one by one; a result differs if one of the two misses, or if its t
 * does by more than f32 explains. Coherent rays are those of a picture, incoherent ones have random
 * origins and directions.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice_rays.h>

#include "bench.h"

#ifdef HAVE_EMBREE

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#define INTERSECT(scene, hit) rtcIntersect1((scene), (hit), NULL)
#else
#include <embree3/rtcore.h>
#define INTERSECT(scene, hit) intersect((scene), (hit))

static void intersect(RTCScene scene, struct RTCRayHit *hit)
{
	struct RTCIntersectContext context;

	rtcInitIntersectContext(&context);
	rtcIntersect1(scene, &context, hit);
}
#endif

#include "rays.pasm.h"

#define SIDE		181u	/* squares: 65,522 triangles */
#define TRIANGLES	(SIDE * SIDE * 2)
#define RAYS		(1u << 17)
#define WIDTH		512u
#define GROUP		64u
#define TIMEOUT_NS	(60 * 1000000000ull)
#define THREADS		64u

struct ray {
	float origin[3], min, direction[3], max;
};

struct result {
	float t, u, v;
	uint32_t instance, primitive, kind, unused[2];
};

/* Both sides. */
struct sides {
	struct bench *bench;
	struct pumice_rays *rays;
	struct pumice_ray_structure *structure;
	struct pumice_ray_mesh mesh;
	struct pumice_buffer vertices, indices, ray, result;
	struct gpu_work work;
	struct pumice_stream *stream;
	RTCDevice device;
	RTCScene scene;
	RTCGeometry geometry;
	struct result *peer;	/* results */
};

static void check(const struct sides *s, int err)
{
	if (err)
		bench_fail("rays: %s", pumice_device_error(s->bench->gpu.dev));
}

/* A surface of hills over a square. */
static void make_mesh(struct sides *s)
{
	float *v = s->vertices.cpu;
	uint32_t *index = s->indices.cpu;

	for (uint32_t n = 0; n < (SIDE + 1) * (SIDE + 1); n++) {
		const float x = (float)(n % (SIDE + 1)) / SIDE * 20 - 10;
		const float z = (float)(n / (SIDE + 1)) / SIDE * 20 - 10;

		v[n * 3] = x;
		v[n * 3 + 1] = sinf(x * 1.7f) * cosf(z * 1.3f) + 0.2f * sinf(x * 9) * sinf(z * 11);
		v[n * 3 + 2] = z;
	}
	for (uint32_t n = 0; n < SIDE * SIDE; n++) {
		const uint32_t a = n / SIDE * (SIDE + 1) + n % SIDE, b = a + SIDE + 1;
		const uint32_t corner[6] = { a, b, a + 1, a + 1, b, b + 1 };

		memcpy(index + (size_t)n * 6, corner, sizeof(corner));
	}
}

static float between(uint32_t *state, float low, float high)
{
	*state = *state * 1664525u + 1013904223u;
	return low + (high - low) * ((float)(*state >> 8) * 0x1p-24f);
}

static void make_rays(const struct sides *s, bool coherent)
{
	struct ray *ray = s->ray.cpu;
	uint32_t state = 1;

	for (uint32_t n = 0; n < RAYS; n++) {
		const float x = (float)(n % WIDTH) / WIDTH, y = (float)n / (float)RAYS;

		ray[n] = (struct ray){ .origin = { 0, 6, 14 }, .max = INFINITY,
				       .direction = { x - 0.5f, -0.7f * y, -0.7f } };
		for (unsigned int i = 0; i < 3 && !coherent; i++) {
			ray[n].origin[i] = between(&state, -10, 10) * (i == 1 ? 0.2f : 1);
			ray[n].direction[i] = between(&state, -1, 1);
		}
	}
}

static void run_ours(void *data)
{
	struct sides *s = data;

	gpu_run(&s->work);
}

static void build_ours(void *data)
{
	struct sides *s = data;
	uint64_t va;

	pumice_stream_reset(s->stream);
	check(s, pumice_stream_rays_mesh(s->stream, s->structure, &s->mesh, 0));
	check(s, pumice_stream_end(s->stream, &va));
	check(s, pumice_context_run(s->bench->gpu.context, va, TIMEOUT_NS, NULL));
}

/* A part of the rays, in a thread of its own. */
struct part {
	const struct sides *s;
	pthread_t thread;
	uint32_t first, end;
};

static void *trace_part(void *data)
{
	const struct part *part = data;
	const struct ray *ray = part->s->ray.cpu;

	for (uint32_t n = part->first; n < part->end; n++) {
		struct RTCRayHit hit = {
			.ray = { .org_x = ray[n].origin[0], .org_y = ray[n].origin[1],
				 .org_z = ray[n].origin[2], .tnear = ray[n].min,
				 .dir_x = ray[n].direction[0], .dir_y = ray[n].direction[1],
				 .dir_z = ray[n].direction[2], .tfar = ray[n].max, .mask = ~0u },
			.hit = { .geomID = RTC_INVALID_GEOMETRY_ID },
		};

		INTERSECT(part->s->scene, &hit);
		part->s->peer[n] = (struct result){
			.t = hit.ray.tfar, .u = hit.hit.u, .v = hit.hit.v,
			.primitive = hit.hit.primID,
			.kind = hit.hit.geomID != RTC_INVALID_GEOMETRY_ID,
		};
	}
	return NULL;
}

static void run_peer(void *data)
{
	struct sides *s = data;
	struct part part[THREADS];
	const uint32_t threads = s->bench->threads < THREADS ? s->bench->threads : THREADS;

	for (uint32_t n = 0; n < threads; n++) {
		part[n] = (struct part){ .s = s, .first = (uint32_t)((uint64_t)RAYS * n / threads),
					 .end = (uint32_t)((uint64_t)RAYS * (n + 1) / threads) };
		if (n && pthread_create(&part[n].thread, NULL, trace_part, &part[n]))
			bench_fail("rays: no thread");
	}
	trace_part(&part[0]);
	for (uint32_t n = 1; n < threads; n++)
		pthread_join(part[n].thread, NULL);
}

static void build_peer(void *data)
{
	struct sides *s = data;

	/* The vertices count as changed, and quality MEDIUM builds anew. */
	rtcUpdateGeometryBuffer(s->geometry, RTC_BUFFER_TYPE_VERTEX, 0);
	rtcCommitGeometry(s->geometry);
	rtcCommitScene(s->scene);
}

/* Both must hit the same within the precision of f32. */
static void prove(struct sides *s, const char *name)
{
	const struct result *ours = s->result.cpu;
	uint32_t wrong = 0, hits = 0;

	run_ours(s);
	run_peer(s);
	for (uint32_t n = 0; n < RAYS; n++) {
		const bool both = (ours[n].kind != 0) == (s->peer[n].kind != 0);

		wrong += !both || (ours[n].kind && fabsf(ours[n].t - s->peer[n].t) >
					   1e-4f * (1 + ours[n].t));
		hits += ours[n].kind != 0;
	}
	/* At silhouettes one may hit and the other miss. */
	if (wrong > RAYS / 10000 || hits < RAYS / 4)
		bench_fail("%s: %u of %u rays differ, %u hit", name, wrong, RAYS, hits);
}

static void contest(struct sides *s, const char *name, bool coherent)
{
	const struct bench_contest c = {
		.name = name, .unit = "Mray/s", .peer_name = "Embree", .figure = BENCH_RATE,
		.scale = RAYS * 1e-6, .repeats = 1, .ours = run_ours, .peer = run_peer,
		.our_data = s, .peer_data = s,
	};

	make_rays(s, coherent);
	prove(s, name);
	bench_contest(s->bench, &c);
}

static void open_ours(struct sides *s)
{
	struct gpu *gpu = &s->bench->gpu;

	gpu_buffer(gpu, (SIDE + 1) * (SIDE + 1) * 12, &s->vertices);
	gpu_buffer(gpu, TRIANGLES * 12, &s->indices);
	gpu_buffer(gpu, RAYS * sizeof(struct ray), &s->ray);
	gpu_buffer(gpu, RAYS * sizeof(struct result), &s->result);
	make_mesh(s);
	check(s, pumice_rays_create(gpu->vm, &s->rays));
	check(s, pumice_ray_structure_create(s->rays, TRIANGLES, &s->structure));
	check(s, pumice_stream_create(gpu->vm, PUMICE_RAYS_STREAM_BYTES, &s->stream));
	pumice_ray_mesh_init(&s->mesh, s->vertices.va, TRIANGLES);
	s->mesh.indices = s->indices.va;
	build_ours(s);
	gpu_work(gpu, rays_program, sizeof(rays_program), &s->work);
	s->work.groups[0] = RAYS / GROUP;
	gpu_add_word(&s->work, (uint32_t)pumice_ray_structure_va(s->structure));
	gpu_add_word(&s->work, (uint32_t)(pumice_ray_structure_va(s->structure) >> 32));
	gpu_add_address(&s->work, &s->ray);
	gpu_add_address(&s->work, &s->result);
}

static void open_peer(struct sides *s)
{
	char config[32];

	snprintf(config, sizeof(config), "threads=%u", s->bench->threads);
	s->device = rtcNewDevice(config);
	s->scene = rtcNewScene(s->device);
	rtcSetSceneFlags(s->scene, RTC_SCENE_FLAG_ROBUST);
	s->geometry = rtcNewGeometry(s->device, RTC_GEOMETRY_TYPE_TRIANGLE);
	rtcSetSharedGeometryBuffer(s->geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
				   s->vertices.cpu, 0, 12, (SIDE + 1) * (SIDE + 1));
	rtcSetSharedGeometryBuffer(s->geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
				   s->indices.cpu, 0, 12, TRIANGLES);
	rtcCommitGeometry(s->geometry);
	rtcAttachGeometry(s->scene, s->geometry);
	rtcCommitScene(s->scene);
	s->peer = calloc(RAYS, sizeof(*s->peer));
	if (!s->peer || rtcGetDeviceError(s->device))
		bench_fail("rays: Embree failed");
}

static void destroy(struct sides *s)
{
	free(s->peer);
	rtcReleaseGeometry(s->geometry);
	rtcReleaseScene(s->scene);
	rtcReleaseDevice(s->device);
	gpu_work_free(&s->work);
	pumice_stream_destroy(s->stream);
	pumice_ray_structure_destroy(s->structure);
	pumice_rays_destroy(s->rays);
	pumice_buffer_destroy(&s->result);
	pumice_buffer_destroy(&s->ray);
	pumice_buffer_destroy(&s->indices);
	pumice_buffer_destroy(&s->vertices);
}

void bench_rays(struct bench *bench)
{
	struct sides s = { .bench = bench };
	const struct bench_contest build = {
		.name = "65,522 triangles, build", .unit = "ms", .peer_name = "Embree",
		.figure = BENCH_TIME, .scale = 1e3, .repeats = 1, .ours = build_ours,
		.peer = build_peer, .our_data = &s, .peer_data = &s,
	};

	/* Setting up takes a second. */
	if (bench->only &&
	    !strstr("rays, coherent rays, incoherent 65,522 triangles, build", bench->only))
		return;
	open_ours(&s);
	open_peer(&s);
	contest(&s, "rays, coherent", true);
	contest(&s, "rays, incoherent", false);
	bench_contest(bench, &build);
	destroy(&s);
}

#else

void bench_rays(struct bench *bench)
{
	(void)bench;
}

#endif
