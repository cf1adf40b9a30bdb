/* SPDX-License-Identifier: MIT */
/*
 * The peer's kernels: the computations of the .pasm files in this folder, in OpenCL C.
 */
#define TILE 8

/* The tiled product of document 002: 8 x 8 work-items, a tile of A and of B in local memory. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul_tile8(__global const float *a, __global const float *b, __global float *c, int n)
{
	__local float asub[TILE][TILE], bsub[TILE][TILE];
	const int row = get_global_id(1), col = get_global_id(0);
	const int y = get_local_id(1), x = get_local_id(0);
	float sum = 0.0f;

	for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
		const int a_col = t * TILE + x, b_row = t * TILE + y;

		asub[y][x] = row < n && a_col < n ? a[row * n + a_col] : 0.0f;
		bsub[y][x] = b_row < n && col < n ? b[b_row * n + col] : 0.0f;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < TILE; k++)
			sum += asub[y][k] * bsub[k][x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (row < n && col < n)
		c[row * n + col] = sum;
}

/*
 * The same product with register tiles: 32 work-items compute 8 rows of 64
 * columns, each work-item 8 x 2 sums. n must be a multiple of 64.
 */
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void matmul_regs(__global const float *a, __global const float *b, __global float *c, int n)
{
	const int row = get_group_id(1) * 8, col = get_group_id(0) * 64 + get_local_id(0);
	float left[8], right[8];

	for (int r = 0; r < 8; r++)
		left[r] = right[r] = 0.0f;
	for (int k = 0; k < n; k++) {
		const float b0 = b[k * n + col], b1 = b[k * n + col + 32];

		for (int r = 0; r < 8; r++) {
			const float v = a[(row + r) * n + k];

			left[r] += v * b0;
			right[r] += v * b1;
		}
	}
	for (int r = 0; r < 8; r++) {
		c[(row + r) * n + col] = left[r];
		c[(row + r) * n + col + 32] = right[r];
	}
}

/* Iterations of z = z^2 + c; every operation rounds, so that counts can be compared. */
__kernel void mandelbrot(__global uint *image, uint width, uint height, uint limit, float re,
			 float im, float step)
{
#pragma OPENCL FP_CONTRACT OFF
	const uint x = get_global_id(0), y = get_global_id(1);
	const float c_re = (float)x * step + re, c_im = (float)y * step + im;
	float z_re = 0.0f, z_im = 0.0f;
	uint count = 0;

	while (count < limit) {
		const float re2 = z_re * z_re, im2 = z_im * z_im;

		if (!(re2 + im2 <= 4.0f))
			break;
		z_im = z_im * z_re;
		z_im = z_im + z_im + c_im;
		z_re = re2 - im2 + c_re;
		count++;
	}
	image[y * width + x] = count;
}

__kernel void saxpy(__global const float *x, __global float *y, float a)
{
	const size_t i = get_global_id(0);

	y[i] = a * x[i] + y[i];
}

/* Each work-item writes its number: a launch that does next to nothing. */
__kernel void number(__global uint *out)
{
	out[get_global_id(0)] = get_global_id(0);
}
