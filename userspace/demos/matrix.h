/* SPDX-License-Identifier: MIT */
/*
 * Matrices of 4x4 f32 for the demos, column by column as in
 * uniform blocks: element (row, column) is m[column * 4 + row]; and vectors of 3 f32 or f64.
 */
#ifndef PUMICE_DEMO_MATRIX_H
#define PUMICE_DEMO_MATRIX_H

struct matrix {
	float m[16];
};

struct matrix matrix_identity(void);
/* Multiply matrices: a * b (b is applied first). */
struct matrix matrix_multiply(const struct matrix *a, const struct matrix *b);
struct matrix matrix_translate(float x, float y, float z);
struct matrix matrix_scale(float x, float y, float z);
/* Rotate right-handed about an axis of length 1, radians. */
struct matrix matrix_rotate(float angle, float x, float y, float z);
/*
 * Compute the perspective for the GPU's clip space: depth 0 at near to 1 at far. y goes up, as in
 * pumice_draw_state_init(). fov: of the height, radians; aspect: width over height.
 */
struct matrix matrix_perspective(float fov, float aspect, float near, float far);
/* Compute the same without perspective: the box from -x to x, -y to y, near to far. */
struct matrix matrix_orthographic(float x, float y, float near, float far);
/* From the world to an eye that looks at a point; up: direction of the top of the view. */
struct matrix matrix_look_at(const float eye[3], const float at[3], const float up[3]);
/* Compute out = m * (v, w). */
void matrix_apply(const struct matrix *m, const float v[3], float w, float out[4]);

float vector_dot(const float a[3], const float b[3]);
/* Compute out = a x b; out is neither of them. */
void vector_cross(const float a[3], const float b[3], float out[3]);
/* Divide v by its length, which is not 0. */
void vector_normalise(float v[3]);

/*
 * The first two in f64, for a reference of the GPU's results. Inline, since a reference calls them
 * for each ray and triangle.
 */
static inline double vector_dot_f64(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void vector_cross_f64(const double a[3], const double b[3], double out[3])
{
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

#endif
