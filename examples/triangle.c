// SPDX-License-Identifier: MIT
/*
 * The first triangle: three coloured vertices, one program for vertices, one for pixels.
 *
 *     ./triangle [DEVICE [FILE]]
 *
 * FILE is a PPM; without it triangle.ppm.
 */
#include <string.h>

#include "gpu.h"
#include "picture.h"

#define SIZE	256u

/* Position in clip space, y up, and colour; linear light. */
static const float vertices[3][2][4] = {
	{ { -0.8f, -0.7f, 0, 1 }, { 1, 0, 0, 1 } },
	{ { 0.8f, -0.7f, 0, 1 }, { 0, 1, 0, 1 } },
	{ { 0, 0.8f, 0, 1 }, { 0, 0, 1, 1 } },
};

static const char vertex_text[] =
	PUMICE_LINE(uvsw vo0, v0)
	PUMICE_LINE(uvsw vo1, v1)
	PUMICE_LINE(uvsw vo2, v2)
	PUMICE_LINE(uvsw vo3, v3)
	PUMICE_LINE(uvsw vo4, v4)
	PUMICE_LINE(uvsw vo5, v5)
	PUMICE_LINE(uvsw vo6, v6)
	PUMICE_LINE(end);

static const char fragment_text[] =
	PUMICE_LINE(mov o0, [one], v0)
	PUMICE_LINE(mov o1, [one], v1)
	PUMICE_LINE(mov o2, [one], v2)
	PUMICE_LINE(mov o3, [one], 1.0)
	PUMICE_LINE(end);

int main(int argc, char **argv)
{
	const float black[4] = { 0, 0, 0, 1 };
	struct pumice_kernel *vertex, *fragment;
	struct pumice_canvas_desc desc;
	struct pumice_draw_state state;
	struct pumice_canvas *canvas;
	struct pumice_stream *stream;
	struct pumice_vdm_draw draw;
	struct gpu gpu;

	gpu_open(&gpu, argc, argv, sizeof(vertices));
	memcpy(gpu.cpu, vertices, sizeof(vertices));
	vertex = gpu_kernel(&gpu, vertex_text);
	fragment = gpu_kernel(&gpu, fragment_text);
	pumice_canvas_desc_init(&desc, SIZE, SIZE);
	gpu_check(&gpu, pumice_canvas_create(gpu.vm, &desc, &canvas), "canvas");

	const struct pumice_input attributes[] = {
		pumice_input_attribute(0, 4, gpu.va, sizeof(vertices[0]), 3),
		pumice_input_attribute(4, 4, gpu.va + 16, sizeof(vertices[0]), 3),
	};
	const struct pumice_input varying = pumice_input_varying(0, 0, 3);
	const struct pumice_stage_desc vertex_stage = { vertex, attributes, 2 };
	const struct pumice_stage_desc fragment_stage = { fragment, &varying, 1 };

	pumice_draw_state_init(&state, SIZE, SIZE);
	state.vdm.varyings = 3;
	pumice_vdm_draw_defaults(&draw);
	draw.count = 3;
	stream = pumice_canvas_begin(canvas);
	gpu_check(&gpu, pumice_stream_stages(stream, &state, &vertex_stage, &fragment_stage),
		  "state");
	gpu_check(&gpu, pumice_stream_draw(stream, &draw), "draw");
	gpu_check(&gpu, pumice_canvas_end(canvas, black, PUMICE_FOREVER), "frame");
	picture_write(&gpu, canvas, argc > 2 ? argv[2] : "triangle.ppm");

	pumice_canvas_destroy(canvas);
	pumice_kernel_destroy(fragment);
	pumice_kernel_destroy(vertex);
	gpu_close(&gpu);
	return 0;
}
