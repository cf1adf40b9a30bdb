// SPDX-License-Identifier: MIT
/*
 * pumice-demo-rays: shiny balls on a floor, with shadows and reflections, by ray tracing.
 *
 * The GPU builds the structures of a ball, of the floor and of the scene, then traces the rays of
 * every pixel, in one job; or a launch of the ray-tracing data master has the rays from the eye,
 * and its programs trace the others: the picture is the same. The CPU traces every eighth pixel in
 * every eighth row in f64, through all triangles. Rays that pass an edge of a ball or of a shadow
 * closer than f32 resolves may differ.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice_rays.h>

#include "demo.h"
#include "matrix.h"
#include "mesh.h"
#include "rays.pasm.h"
#include "rays_eye.pasm.h"
#include "rays_hit.pasm.h"

#define NAME		"pumice-demo-rays"
#define GROUP_X		8u
#define GROUP_Y		4u
#define BOUNCES		3u
#define OFFSET		0.001
#define STEP		8u	/* pixels from one that the CPU traces to the next */
#define TOLERANCE	2	/* of 255 */
#define RINGS		32u
#define FLOOR		20.0f	/* half of its side */

/* As in rays.pasm. */
struct material {
	float centre[3], inverse_radius, colour[3], reflectance;
};

/* Instance 0 is the floor. */
static const struct material materials[] = {
	{ { 0, 0, 0 }, 0, { 0.85f, 0.85f, 0.8f }, 0.25f },
	{ { 0, 1, 0 }, 1, { 0.9f, 0.9f, 0.9f }, 0.8f },
	{ { -2.1f, 0.7f, 0.9f }, 1 / 0.7f, { 0.9f, 0.2f, 0.15f }, 0.2f },
	{ { 1.9f, 0.8f, 0.7f }, 1 / 0.8f, { 0.2f, 0.45f, 0.9f }, 0.3f },
	{ { 0.6f, 0.35f, 2.0f }, 1 / 0.35f, { 0.95f, 0.75f, 0.2f }, 0.35f },
	{ { -0.9f, 0.45f, 2.3f }, 1 / 0.45f, { 0.25f, 0.75f, 0.3f }, 0.15f },
	{ { -1.4f, 1.1f, -2.2f }, 1 / 1.1f, { 0.6f, 0.35f, 0.8f }, 0.4f },
};

#define INSTANCES ((uint32_t)(sizeof(materials) / sizeof(materials[0])))

/* Uniforms of the program after its addresses. */
struct view {
	uint32_t width, height;
	float eye[3], first[3], column[3], row[3], light[3];
};

/* A mesh on the CPU and the GPU, and its structure. */
struct shape {
	struct mesh mesh;
	struct pumice_buffer vertices, indices;
	struct pumice_ray_structure *structure;
};

struct scene {
	struct demo demo;
	struct pumice_rays *rays;
	struct shape floor, ball;
	struct pumice_buffer instances, materials, image;
	struct pumice_ray_structure *top;
	struct view view;
};

static void check(const struct scene *s, int err)
{
	if (err)
		demo_fail(NAME, "%s", pumice_device_error(s->demo.dev));
}

static void set_view(struct view *view)
{
	float forward[3] = { -0.25f, -0.42f, -1 }, right[3], up[3];
	const float unit = 1.1f / (float)view->height;

	view->eye[0] = 1.3f;
	view->eye[1] = 2.9f;
	view->eye[2] = 6.2f;
	vector_normalise(forward);
	right[0] = -forward[2];
	right[1] = 0;
	right[2] = forward[0];
	vector_normalise(right);
	vector_cross(right, forward, up);
	for (unsigned int i = 0; i < 3; i++) {
		view->column[i] = right[i] * unit;
		view->row[i] = -up[i] * unit;
		view->first[i] = forward[i] - view->column[i] * ((float)view->width - 1) / 2 -
				 view->row[i] * ((float)view->height - 1) / 2;
	}
	view->light[0] = 0.5f;
	view->light[1] = 0.8f;
	view->light[2] = 0.45f;
	vector_normalise(view->light);
}

static void make_shape(struct scene *s, struct shape *shape)
{
	const uint64_t bytes = (uint64_t)shape->mesh.vertices * sizeof(struct mesh_vertex);
	const uint64_t index_bytes = (uint64_t)shape->mesh.indices * sizeof(uint32_t);

	demo_buffer(&s->demo, bytes, &shape->vertices);
	memcpy(shape->vertices.cpu, shape->mesh.vertex, bytes);
	demo_buffer(&s->demo, index_bytes, &shape->indices);
	memcpy(shape->indices.cpu, shape->mesh.index, index_bytes);
	check(s, pumice_ray_structure_create(s->rays, shape->mesh.indices / 3, &shape->structure));
}

static void place_instances(struct scene *s)
{
	struct pumice_ray_instance *list = s->instances.cpu;

	for (uint32_t n = 0; n < INSTANCES; n++) {
		const struct material *m = &materials[n];

		pumice_ray_instance_init(&list[n],
					 pumice_ray_structure_va(n ? s->ball.structure :
								     s->floor.structure), n);
		for (unsigned int i = 0; i < 3; i++) {
			if (n)
				list[n].to_world[i * 5] = 1 / m->inverse_radius;
			list[n].to_world[i * 4 + 3] = m->centre[i];
		}
	}
	memcpy(s->materials.cpu, materials, sizeof(materials));
}

static void make(struct scene *s, const char *device)
{
	demo_open(&s->demo, NAME, device, rays_program, sizeof(rays_program));
	check(s, pumice_rays_create(s->demo.vm, &s->rays));
	mesh_plane(&s->floor.mesh, FLOOR, 1, 4);
	make_shape(s, &s->floor);
	mesh_sphere(&s->ball.mesh, 1, RINGS, 2 * RINGS);
	make_shape(s, &s->ball);
	demo_buffer(&s->demo, INSTANCES * sizeof(struct pumice_ray_instance), &s->instances);
	demo_buffer(&s->demo, sizeof(materials), &s->materials);
	demo_buffer(&s->demo, (uint64_t)s->view.width * s->view.height * 4, &s->image);
	check(s, pumice_ray_structure_create(s->rays, INSTANCES, &s->top));
	place_instances(s);
	set_view(&s->view);
}

static void build_shape(const struct scene *s, const struct shape *shape)
{
	struct pumice_ray_mesh mesh;

	pumice_ray_mesh_init(&mesh, shape->vertices.va, shape->mesh.indices / 3);
	mesh.stride = sizeof(struct mesh_vertex);
	mesh.indices = shape->indices.va;
	check(s, pumice_stream_rays_mesh(s->demo.stream, shape->structure, &mesh, 0));
}

#define UNIFORMS	(6u + (uint32_t)(sizeof(struct view) / 4))

static void set_uniforms(const struct scene *s, uint32_t uniforms[UNIFORMS])
{
	demo_address(uniforms, pumice_ray_structure_va(s->top));
	demo_address(uniforms + 2, s->image.va);
	demo_address(uniforms + 4, s->materials.va);
	memcpy(uniforms + 6, &s->view, sizeof(s->view));
}

static void build(struct scene *s)
{
	build_shape(s, &s->floor);
	build_shape(s, &s->ball);
	check(s,
	      pumice_stream_rays_instances(s->demo.stream, s->top, s->instances.va, INSTANCES, 0));
}

/* Build and draw in one compute job. */
static void run(struct scene *s)
{
	uint32_t uniforms[UNIFORMS];
	const struct demo_launch launch = {
		.groups = { (s->view.width + GROUP_X - 1) / GROUP_X,
			    (s->view.height + GROUP_Y - 1) / GROUP_Y, 1 },
		.uniforms = uniforms, .uniform_words = UNIFORMS,
	};

	set_uniforms(s, uniforms);
	demo_begin(&s->demo);
	build(s);
	demo_add(&s->demo, &launch);
	demo_end(&s->demo);
	demo_report(&s->demo);
}

/* Inputs of the program of hits and misses: see rays_hit.pasm. */
#define RAY_REGS	PUMICE_RDM_RAY_WORDS
#define RESULT_REGS	(PUMICE_PDS_SOURCE_RAY_KIND - PUMICE_PDS_SOURCE_RAY_T + 1u)
#define HIT_INPUTS	(3u + RAY_REGS + RESULT_REGS)

static void set_inputs(const uint32_t *uniforms, struct pumice_input inputs[HIT_INPUTS])
{
	uint32_t n, reg = 0;

	inputs[reg++] = pumice_input_source(0, PUMICE_PDS_SOURCE_RAY_X);
	inputs[reg++] = pumice_input_source(1, PUMICE_PDS_SOURCE_RAY_Y);
	for (n = 0; n < RAY_REGS; n++, reg++)
		inputs[reg] = pumice_input_source(reg, PUMICE_PDS_SOURCE_RAY_ORIGIN_X + n);
	for (n = 0; n < RESULT_REGS; n++, reg++)
		inputs[reg] = pumice_input_source(reg, PUMICE_PDS_SOURCE_RAY_T + n);
	inputs[reg] = pumice_input_uniforms(0, uniforms, UNIFORMS);
}

/* Build in a compute job, then launch the rays from the eye. */
static void run_launch(struct scene *s)
{
	struct pumice_kernel *eye = demo_kernel(&s->demo, rays_eye_program,
						sizeof(rays_eye_program));
	struct pumice_kernel *hit = demo_kernel(&s->demo, rays_hit_program,
						sizeof(rays_hit_program));
	struct pumice_input inputs[HIT_INPUTS], eye_inputs[3];
	const struct pumice_stage_desc shade = { hit, inputs, HIT_INPUTS };
	const struct pumice_stage_desc generate = { eye, eye_inputs, 3 };
	struct pumice_context *compute = s->demo.context;
	struct pumice_ray_launch launch;
	uint32_t uniforms[UNIFORMS];

	set_uniforms(s, uniforms);
	set_inputs(uniforms, inputs);
	memcpy(eye_inputs, inputs, 2 * sizeof(*inputs));
	eye_inputs[2] = inputs[HIT_INPUTS - 1];
	demo_begin(&s->demo);
	build(s);
	demo_end(&s->demo);
	pumice_ray_launch_init(&launch, pumice_ray_structure_va(s->top), s->view.width,
			       s->view.height);
	launch.generate = &generate;
	launch.hit = launch.miss = &shade;
	check(s, pumice_context_create_type(s->demo.vm, PUMICE_CONTEXT_RAYS, PUMICE_PRIORITY_NORMAL,
					    &s->demo.context));
	demo_begin(&s->demo);
	check(s, pumice_stream_rays_launch(s->demo.stream, &launch));
	demo_end(&s->demo);
	demo_report(&s->demo);
	pumice_context_destroy(s->demo.context);
	s->demo.context = compute;
	demo_kernel_free(hit);
	demo_kernel_free(eye);
}

/* --------------------------------------------------------- the CPU's picture */

/* Return the t at which a ray hits a triangle, or INFINITY. */
static double hit_triangle(const struct mesh *mesh, uint32_t first, const double *o,
			   const double *d)
{
	const float *a = mesh->vertex[mesh->index[first]].position;
	const float *b = mesh->vertex[mesh->index[first + 1]].position;
	const float *c = mesh->vertex[mesh->index[first + 2]].position;
	double e[3], f[3], r[3], p[3], q[3], det, u, v;

	for (unsigned int i = 0; i < 3; i++) {
		e[i] = (double)b[i] - a[i];
		f[i] = (double)c[i] - a[i];
		r[i] = o[i] - a[i];
	}
	vector_cross_f64(d, f, p);
	vector_cross_f64(r, e, q);
	det = vector_dot_f64(e, p);
	u = vector_dot_f64(r, p) / det;
	v = vector_dot_f64(d, q) / det;
	if (!(u >= 0 && v >= 0 && u + v <= 1))
		return INFINITY;
	return vector_dot_f64(f, q) / det >= 0 ? vector_dot_f64(f, q) / det : INFINITY;
}

/* Return whether a ray passes a ball of radius 1 about 0, which includes the mesh of a ball. */
static bool passes_ball(const double *o, const double *d)
{
	const double along = vector_dot_f64(o, d) / vector_dot_f64(d, d);
	const double near[3] = { o[0] - along * d[0], o[1] - along * d[1], o[2] - along * d[2] };

	return vector_dot_f64(near, near) > 1.0001;
}

static double hit_instance(const struct scene *s, uint32_t n, const double *o, const double *d)
{
	const struct mesh *mesh = n ? &s->ball.mesh : &s->floor.mesh;
	const double scale = n ? (double)materials[n].inverse_radius : 1;
	double lo[3], ld[3], best = INFINITY;

	for (unsigned int i = 0; i < 3; i++) {
		lo[i] = (o[i] - materials[n].centre[i]) * scale;
		ld[i] = d[i] * scale;
	}
	if (n && passes_ball(lo, ld))
		return INFINITY;
	for (uint32_t k = 0; k < mesh->indices; k += 3)
		best = fmin(best, hit_triangle(mesh, k, lo, ld));
	return best;
}

/* Return the instance that a ray hits first, or INSTANCES; *t: the place on the ray. */
static uint32_t trace(const struct scene *s, const double *o, const double *d, double *t)
{
	uint32_t found = INSTANCES;

	*t = INFINITY;
	for (uint32_t n = 0; n < INSTANCES; n++) {
		const double at = hit_instance(s, n, o, d);

		if (at < *t) {
			*t = at;
			found = n;
		}
	}
	return found;
}

static void add_sky(const double *d, double weight, double *rgb)
{
	const double up = fmax(d[1], 0) / sqrt(vector_dot_f64(d, d));

	rgb[0] += weight * (0.7 - 0.4 * up);
	rgb[1] += weight * (0.8 - 0.3 * up);
	rgb[2] += weight * 0.9;
}

/* Add the light that a point sends back, and continue with its reflection. */
static void add_point(const struct scene *s, uint32_t n, double t, double *o, double *d,
		      double *weight, double *rgb)
{
	const struct material *m = &materials[n];
	const double light[3] = { s->view.light[0], s->view.light[1], s->view.light[2] };
	double p[3], normal[3] = { 0, 1, 0 }, shade, far;
	bool dark;

	for (unsigned int i = 0; i < 3; i++) {
		p[i] = o[i] + t * d[i];
		if (n)
			normal[i] = (p[i] - m->centre[i]) * m->inverse_radius;
	}
	dark = !n && ((int)floor(p[0]) + (int)floor(p[2])) & 1;
	for (unsigned int i = 0; i < 3; i++)
		o[i] = p[i] + OFFSET * normal[i];
	shade = fmax(vector_dot_f64(normal, light), 0);
	if (shade > 0 && trace(s, o, light, &far) != INSTANCES)
		shade = 0;
	shade = (0.15 + 0.85 * shade) * (1 - m->reflectance) * *weight;
	for (unsigned int i = 0; i < 3; i++)
		rgb[i] += shade * (dark ? 0.25 : (double)m->colour[i]);
	*weight *= m->reflectance;
	shade = 2 * vector_dot_f64(d, normal);
	for (unsigned int i = 0; i < 3; i++)
		d[i] -= shade * normal[i];
}

static void draw_pixel(const struct scene *s, uint32_t x, uint32_t y, double *rgb)
{
	const struct view *view = &s->view;
	double o[3], d[3], weight = 1;

	for (unsigned int i = 0; i < 3; i++) {
		o[i] = view->eye[i];
		d[i] = (double)view->first[i] + (double)x * view->column[i] +
		       (double)y * view->row[i];
		rgb[i] = 0;
	}
	for (uint32_t bounce = 0; bounce < BOUNCES; bounce++) {
		double t;
		const uint32_t n = trace(s, o, d, &t);

		if (n == INSTANCES) {
			add_sky(d, weight, rgb);
			return;
		}
		add_point(s, n, t, o, d, &weight, rgb);
	}
}

/* Compare pixels; returns how many differ, of *compared. */
static uint32_t count_wrong(const struct scene *s, uint32_t *compared)
{
	const uint32_t *image = s->image.cpu;
	uint32_t wrong = 0;

	*compared = 0;
	for (uint32_t y = 0; y < s->view.height; y += STEP) {
		for (uint32_t x = 0; x < s->view.width; x += STEP) {
			const uint32_t word = image[y * s->view.width + x];
			bool same = true;
			double rgb[3];

			draw_pixel(s, x, y, rgb);
			for (unsigned int i = 0; i < 3; i++) {
				const int want = (int)(fmin(rgb[i], 1) * 255 + 0.5);

				same &= abs(want - (int)(word >> 8 * i & 255)) <= TOLERANCE;
			}
			wrong += !same;
			++*compared;
		}
	}
	return wrong;
}

static void write_picture(const struct scene *s, const char *path)
{
	const uint32_t pixels = s->view.width * s->view.height, *image = s->image.cpu;
	uint8_t *rgb = malloc((size_t)pixels * 3);

	if (!rgb)
		demo_fail(NAME, "out of memory");
	for (uint32_t n = 0; n < pixels; n++) {
		for (unsigned int i = 0; i < 3; i++)
			rgb[n * 3 + i] = (uint8_t)(image[n] >> 8 * i);
	}
	demo_write_picture(NAME, path, s->view.width, s->view.height, rgb);
	free(rgb);
}

static void free_shape(struct shape *shape)
{
	pumice_ray_structure_destroy(shape->structure);
	pumice_buffer_destroy(&shape->indices);
	pumice_buffer_destroy(&shape->vertices);
	mesh_free(&shape->mesh);
}

static void destroy(struct scene *s)
{
	pumice_ray_structure_destroy(s->top);
	pumice_buffer_destroy(&s->image);
	pumice_buffer_destroy(&s->materials);
	pumice_buffer_destroy(&s->instances);
	free_shape(&s->ball);
	free_shape(&s->floor);
	pumice_rays_destroy(s->rays);
	demo_close(&s->demo);
}

int main(int argc, char **argv)
{
	static struct scene s = { .view = { .width = 640, .height = 480 } };
	const char *device, *path = "rays.png";
	uint32_t wrong, compared;
	bool by_launch = false;
	int status;
	const struct command_option own[] = {
		{ 'l', "launch", NULL, "launch the rays from the eye, on the ray-tracing data\nmaster",
		  .flag = &by_launch },
		{ 'o', "output", "FILE", "picture to write (default rays.png)", .text = &path },
		{ 'x', "width", "PIXELS", "columns, 16 to 4096 (default 640)",
		  .number = &s.view.width, .min = 16, .max = 4096 },
		{ 'y', "height", "PIXELS", "rows, 16 to 4096 (default 480)",
		  .number = &s.view.height, .min = 16, .max = 4096 },
		{ 0 }
	};

	device = demo_arguments(NAME, "Draws shiny balls on a floor by ray tracing.\n",
				own, argc, argv);
	make(&s, device);
	if (by_launch)
		run_launch(&s);
	else
		run(&s);
	write_picture(&s, path);
	wrong = count_wrong(&s, &compared);
	status = demo_result(NAME, wrong <= compared / 100,
			     "%u of %u pixels equal the CPU's within %u of 255; 1%% may not",
			     compared - wrong, compared, TOLERANCE);
	destroy(&s);
	return status;
}
