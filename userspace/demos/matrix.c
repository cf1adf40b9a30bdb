// SPDX-License-Identifier: MIT
/* Matrices of 4x4 f32. */
#include "matrix.h"

#include <math.h>

struct matrix matrix_identity(void)
{
	return matrix_scale(1, 1, 1);
}

struct matrix matrix_multiply(const struct matrix *a, const struct matrix *b)
{
	struct matrix out;
	unsigned int c, r, i;

	for (c = 0; c < 4; c++) {
		for (r = 0; r < 4; r++) {
			float sum = 0;

			for (i = 0; i < 4; i++)
				sum += a->m[i * 4 + r] * b->m[c * 4 + i];
			out.m[c * 4 + r] = sum;
		}
	}
	return out;
}

struct matrix matrix_translate(float x, float y, float z)
{
	struct matrix out = matrix_identity();

	out.m[12] = x;
	out.m[13] = y;
	out.m[14] = z;
	return out;
}

struct matrix matrix_scale(float x, float y, float z)
{
	return (struct matrix){ .m = { [0] = x, [5] = y, [10] = z, [15] = 1 } };
}

struct matrix matrix_rotate(float angle, float x, float y, float z)
{
	const float c = cosf(angle), s = sinf(angle), k = 1 - c;

	return (struct matrix){ .m = {
		x * x * k + c, y * x * k + z * s, z * x * k - y * s, 0,
		x * y * k - z * s, y * y * k + c, z * y * k + x * s, 0,
		x * z * k + y * s, y * z * k - x * s, z * z * k + c, 0,
		0, 0, 0, 1,
	} };
}

struct matrix matrix_perspective(float fov, float aspect, float near, float far)
{
	const float f = 1 / tanf(fov / 2);

	return (struct matrix){ .m = {
		[0] = f / aspect, [5] = f, [10] = far / (near - far), [11] = -1,
		[14] = near * far / (near - far),
	} };
}

struct matrix matrix_orthographic(float x, float y, float near, float far)
{
	return (struct matrix){ .m = {
		[0] = 1 / x, [5] = 1 / y, [10] = 1 / (near - far), [14] = near / (near - far),
		[15] = 1,
	} };
}

float vector_dot(const float a[3], const float b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void vector_cross(const float a[3], const float b[3], float out[3])
{
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

void vector_normalise(float v[3])
{
	const float l = sqrtf(vector_dot(v, v));
	unsigned int i;

	for (i = 0; i < 3; i++)
		v[i] /= l;
}

struct matrix matrix_look_at(const float eye[3], const float at[3], const float up[3])
{
	float back[3] = { eye[0] - at[0], eye[1] - at[1], eye[2] - at[2] };
	float right[3], head[3];

	vector_normalise(back);
	vector_cross(up, back, right);
	vector_normalise(right);
	vector_cross(back, right, head);
	return (struct matrix){ .m = {
		right[0], head[0], back[0], 0,
		right[1], head[1], back[1], 0,
		right[2], head[2], back[2], 0,
		-vector_dot(right, eye), -vector_dot(head, eye), -vector_dot(back, eye), 1,
	} };
}

void matrix_apply(const struct matrix *m, const float v[3], float w, float out[4])
{
	unsigned int r;

	for (r = 0; r < 4; r++)
		out[r] = m->m[r] * v[0] + m->m[4 + r] * v[1] + m->m[8 + r] * v[2] +
			m->m[12 + r] * w;
}
