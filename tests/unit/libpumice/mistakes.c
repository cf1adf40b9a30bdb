// SPDX-License-Identifier: MIT
/* Mistakes and their texts: see mistakes.h. */
#include "mistakes.h"

#include <errno.h>
#include <stdint.h>

#include "pumice/pumice_capture.h"
#include "pumice/pumice_gfx.h"
#include "pumice/pumice_perf.h"
#include "pumice_formats.h"

#define PAGE	4096u
#define AT	0x40000000ull	/* an address that nothing is bound to */

/* ------------------------------------------------------- buffers and binds */

static int bo_of_no_bytes(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_bo *bo;

	return pumice_bo_create(dev, 0, vm, &bo);
}

static int bo_advice(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_bo *bo;
	int err = pumice_bo_create(dev, PAGE, vm, &bo);

	if (err)
		return err;
	err = pumice_bo_madvise(bo, 7, NULL);
	pumice_bo_destroy(bo);
	return err;
}

static int bind(struct pumice_device *dev, struct pumice_vm *vm, struct pumice_bind op, bool has_bo)
{
	int err = has_bo ? pumice_bo_create(dev, PAGE, vm, &op.bo) : 0;

	if (err)
		return err;
	err = pumice_vm_bind(vm, &op, 1, NULL);
	pumice_bo_destroy(op.bo);
	return err;
}

static int bind_half_a_page(struct pumice_device *dev, struct pumice_vm *vm)
{
	return bind(dev, vm, (struct pumice_bind){ .va = AT, .size = 100 }, true);
}

static int bind_flags(struct pumice_device *dev, struct pumice_vm *vm)
{
	return bind(dev, vm, (struct pumice_bind){ .va = AT, .size = PAGE, .flags = 0x52 }, true);
}

static int bind_past_the_bo(struct pumice_device *dev, struct pumice_vm *vm)
{
	return bind(dev, vm, (struct pumice_bind){ .va = AT, .size = 2 * PAGE }, true);
}

static int unmap_with_flags(struct pumice_device *dev, struct pumice_vm *vm)
{
	return bind(dev, vm, (struct pumice_bind){ .va = AT, .size = PAGE,
						   .flags = PUMICE_BIND_READONLY }, false);
}

/* ----------------------------------------------------- contexts, syncs, jobs */

static int context_priority(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_context *context;

	(void)dev;
	return pumice_context_create(vm, 9, &context);
}

static int context_type(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_context *context;

	(void)dev;
	return pumice_context_create_type(vm, 9, PUMICE_PRIORITY_NORMAL, &context);
}

static int sync_flags(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_sync *sync;

	(void)vm;
	return pumice_sync_create(dev, 6, &sync);
}

static int wait_for_new_sync(struct pumice_device *dev, uint32_t flags)
{
	struct pumice_wait wait = { 0 };
	int err = pumice_sync_create(dev, 0, &wait.sync);

	if (err)
		return err;
	err = pumice_sync_wait(&wait, 1, flags, 0);
	pumice_sync_destroy(wait.sync);
	return err;
}

static int wait_flags(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)vm;
	return wait_for_new_sync(dev, 5);
}

static int wait_without_signal(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)vm;
	return wait_for_new_sync(dev, 0);
}

static int wait_timed_out(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)vm;
	return wait_for_new_sync(dev, PUMICE_WAIT_SUBMIT);
}

static int wait_without_sync(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_wait waits[2] = { { 0 } };
	int err = pumice_sync_create(dev, 0, &waits[0].sync);

	(void)vm;
	if (err)
		return err;
	err = pumice_sync_wait(waits, 2, 0, 0);
	pumice_sync_destroy(waits[0].sync);
	return err;
}

static int jobs_without_array(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)vm;
	return pumice_submit(dev, NULL, 1, NULL);
}

static int bind_exclusive_elsewhere(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_bind op = { .va = AT, .size = PAGE };
	struct pumice_vm *other;
	int err = pumice_vm_create(dev, &other);

	if (err)
		return err;
	err = pumice_bo_create(dev, PAGE, vm, &op.bo);
	if (!err) {
		err = pumice_vm_bind(other, &op, 1, NULL);
		pumice_bo_destroy(op.bo);
	}
	pumice_vm_destroy(other);
	return err;
}

static int binds_without_array(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return pumice_vm_bind(vm, NULL, 1, NULL);
}

static int bind_without_syncs(struct pumice_device *dev, struct pumice_vm *vm)
{
	const struct pumice_bind op = { .va = AT, .size = PAGE };

	(void)dev;
	return pumice_vm_bind_async(vm, &op, 1, NULL, 1);
}

/* Submit a job in a new context. @type: of the context */
static int submit(struct pumice_device *dev, struct pumice_vm *vm, enum pumice_context_type type,
		  struct pumice_gfx_job job)
{
	int err = pumice_context_create_type(vm, type, PUMICE_PRIORITY_NORMAL, &job.context);

	if (err)
		return err;
	err = pumice_submit_gfx(dev, &job, 1, NULL);
	pumice_context_destroy(job.context);
	return err;
}

static int job_without_syncs(struct pumice_device *dev, struct pumice_vm *vm)
{
	return submit(dev, vm, PUMICE_CONTEXT_COMPUTE,
		      (struct pumice_gfx_job){ .stream = AT, .sync_count = 1 });
}

static int job_alignment(struct pumice_device *dev, struct pumice_vm *vm)
{
	return submit(dev, vm, PUMICE_CONTEXT_COMPUTE, (struct pumice_gfx_job){ .stream = AT + 2 });
}

static int job_type(struct pumice_device *dev, struct pumice_vm *vm)
{
	return submit(dev, vm, PUMICE_CONTEXT_COMPUTE,
		      (struct pumice_gfx_job){ .type = PUMICE_JOB_FRAGMENT });
}

static int job_type_of_render(struct pumice_device *dev, struct pumice_vm *vm)
{
	return submit(dev, vm, PUMICE_CONTEXT_RENDER, (struct pumice_gfx_job){ .type = 5 });
}

static int job_without_data_set(struct pumice_device *dev, struct pumice_vm *vm)
{
	return submit(dev, vm, PUMICE_CONTEXT_RENDER,
		      (struct pumice_gfx_job){ .type = PUMICE_JOB_GEOMETRY });
}

static int job_perfmon(struct pumice_device *dev, struct pumice_vm *vm)
{
	return submit(dev, vm, PUMICE_CONTEXT_COMPUTE,
		      (struct pumice_gfx_job){ .stream = AT, .perfmon = 4321 });
}

static int job_wait_without_signal(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_job_sync syncs[2] = { { .signal = true } };
	int err = pumice_sync_create(dev, 0, &syncs[0].sync);

	if (!err)
		err = pumice_sync_create(dev, 0, &syncs[1].sync);
	if (!err)
		err = submit(dev, vm, PUMICE_CONTEXT_COMPUTE,
			     (struct pumice_gfx_job){ .stream = AT, .syncs = syncs,
						      .sync_count = 2 });
	pumice_sync_destroy(syncs[0].sync);
	pumice_sync_destroy(syncs[1].sync);
	return err;
}

static int bind_wait_without_signal(struct pumice_device *dev, struct pumice_vm *vm)
{
	const struct pumice_bind op = { .va = AT, .size = PAGE };
	struct pumice_job_sync wait = { 0 };
	int err = pumice_sync_create(dev, 0, &wait.sync);

	if (err)
		return err;
	err = pumice_vm_bind_async(vm, &op, 1, &wait, 1);
	pumice_sync_destroy(wait.sync);
	return err;
}

static int result_of(struct pumice_vm *vm, uint64_t job)
{
	struct pumice_job_result result;
	struct pumice_context *context;
	int err = pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context);

	if (err)
		return err;
	err = pumice_context_get_job_result(context, job, &result, sizeof(result));
	pumice_context_destroy(context);
	return err;
}

static int result_of_a_later_job(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return result_of(vm, 7);
}

static int result_of_no_job(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return result_of(vm, 0);
}

/* ----------------------------------------------------- rendering, observing */

static int free_list_of_no_pages(struct pumice_device *dev, struct pumice_vm *vm)
{
	const struct pumice_freelist_desc desc = { .max_pages = 8 };
	struct pumice_freelist *list;

	(void)dev;
	return pumice_freelist_create(vm, &desc, &list);
}

static int free_list_threshold(struct pumice_device *dev, struct pumice_vm *vm)
{
	const struct pumice_freelist_desc desc = { .initial_pages = 8, .max_pages = 8,
						   .threshold = 100 };
	struct pumice_freelist *list;

	(void)dev;
	return pumice_freelist_create(vm, &desc, &list);
}

static int hwrt(struct pumice_vm *vm, struct pumice_hwrt_desc desc)
{
	struct pumice_hwrt *set;

	return pumice_hwrt_create(vm, &desc, &set);
}

static int data_set_width(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return hwrt(vm, (struct pumice_hwrt_desc){ .width = 20000, .height = 64, .samples = 1 });
}

static int data_set_samples(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return hwrt(vm, (struct pumice_hwrt_desc){ .width = 64, .height = 64, .samples = 3 });
}

static int data_set_without_list(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return hwrt(vm, (struct pumice_hwrt_desc){ .width = 64, .height = 64, .samples = 1 });
}

static int image_height(struct pumice_device *dev, struct pumice_vm *vm)
{
	const struct pumice_image_desc desc = { .format = PUMICE_FORMAT_RGBA8_UNORM,
						.dim = PUMICE_TEXTURE_DIM_2D, .width = 64,
						.height = 8193 };
	struct pumice_image *image;

	(void)dev;
	return pumice_image_create(vm, &desc, &image);
}

static int perfmon_without_counters(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_perfmon *perfmon;

	(void)vm;
	return pumice_perfmon_create(dev, NULL, 0, &perfmon);
}

static int perfmon_without_array(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_perfmon *perfmon;

	(void)vm;
	return pumice_perfmon_create(dev, NULL, 1, &perfmon);
}

static int trace_of_no_events(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_trace *trace;

	(void)vm;
	return pumice_trace_open(dev, 1, 100, &trace);
}

/* ------------------------------------------------------------- NULL arguments */

static int null_bo(struct pumice_device *dev, struct pumice_vm *vm)
{
	uint64_t va;

	(void)dev;
	return pumice_vm_place(vm, NULL, 0, &va);
}

static int null_text(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_kernel *kernel;

	(void)dev;
	return pumice_kernel_assemble(vm, "x", NULL, &kernel);
}

static int null_program(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_kernel *kernel;

	(void)dev;
	return pumice_kernel_create(vm, NULL, &kernel);
}

static int null_image_desc(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_image *image;

	(void)dev;
	return pumice_image_create(vm, NULL, &image);
}

static int null_canvas_desc(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_canvas *canvas;

	(void)dev;
	return pumice_canvas_create(vm, NULL, &canvas);
}

static int null_free_list_desc(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_freelist *list;

	(void)dev;
	return pumice_freelist_create(vm, NULL, &list);
}

static int null_data_set_desc(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_hwrt *set;

	(void)dev;
	return pumice_hwrt_create(vm, NULL, &set);
}

static int canvas_of_depth(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_canvas_desc desc;
	struct pumice_canvas *canvas;

	(void)dev;
	pumice_canvas_desc_init(&desc, 8, 8);
	desc.format = PUMICE_FORMAT_D24_UNORM;
	return pumice_canvas_create(vm, &desc, &canvas);
}

static int draw_state_of_unknown_function(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_draw_state state;
	struct pumice_stream *stream;
	int err = pumice_stream_create(vm, 65536, &stream);

	(void)dev;
	if (err)
		return err;
	pumice_draw_state_init(&state, 8, 8);
	state.isp.depth_func = 99;
	err = pumice_stream_draw_state(stream, &state, NULL);
	pumice_stream_destroy(stream);
	return err;
}

/* Record stages with an input that is for the other stage. */
static int stages_with(struct pumice_vm *vm, u32 vertex, u32 fragment)
{
	const struct pumice_input inputs[2] = { { .kind = vertex }, { .kind = fragment } };
	struct pumice_stage_desc stages[2];
	struct pumice_draw_state state;
	struct pumice_stream *stream;
	int err = pumice_stream_create(vm, 65536, &stream);
	int i;

	if (err)
		return err;
	for (i = 0; i < 2; i++) {
		pumice_stage_desc_init(&stages[i], NULL);
		stages[i].inputs = &inputs[i];
		stages[i].input_count = 1;
	}
	pumice_draw_state_init(&state, 8, 8);
	err = pumice_stream_stages(stream, &state, &stages[0], &stages[1]);
	pumice_stream_destroy(stream);
	return err;
}

static int varying_of_vertices(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return stages_with(vm, PUMICE_INPUT_VARYING, PUMICE_INPUT_VARYING);
}

static int attribute_of_fragments(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return stages_with(vm, PUMICE_INPUT_ATTRIBUTE, PUMICE_INPUT_ATTRIBUTE);
}

static int transfer_null(struct pumice_vm *vm, bool upload)
{
	const struct pumice_image_part part = { 0 };
	struct pumice_image_desc desc;
	struct pumice_image *image;
	int err;

	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_UNORM, 8, 8);
	err = pumice_image_create(vm, &desc, &image);
	if (err)
		return err;
	err = upload ? pumice_image_upload(image, part, NULL, 0) :
		       pumice_image_download(image, part, NULL, 0);
	pumice_image_destroy(image);
	return err;
}

static int null_texels(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return transfer_null(vm, true);
}

static int null_texels_to_read(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return transfer_null(vm, false);
}

static int null_frame(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_context *context;
	int err = pumice_context_create_type(vm, PUMICE_CONTEXT_RENDER, PUMICE_PRIORITY_NORMAL,
					     &context);

	(void)dev;
	if (err)
		return err;
	err = pumice_render(context, NULL, 0, NULL);
	pumice_context_destroy(context);
	return err;
}

static int stage_null(struct pumice_stream *s)
{
	uint32_t words[4];

	return pumice_stream_stage(s, NULL, words);
}

static int state_null(struct pumice_stream *s)
{
	return pumice_stream_stages(s, NULL, NULL, NULL);
}

static int draw_state_null(struct pumice_stream *s)
{
	return pumice_stream_draw_state(s, NULL, NULL);
}

static int draw_null(struct pumice_stream *s)
{
	return pumice_stream_draw(s, NULL);
}

static int draw_indexed_null(struct pumice_stream *s)
{
	return pumice_stream_draw_indexed(s, NULL);
}

static int render_null(struct pumice_stream *s)
{
	uint64_t va;

	return pumice_stream_render(s, NULL, &va);
}

/* A frame with a mask plane at @va, if it is not 1, and these uses of it. */
static int render_mask(struct pumice_stream *s, uint64_t va, bool load, bool store, bool clear)
{
	struct pumice_render_desc render;
	uint64_t record;

	pumice_render_desc_init(&render, NULL);
	if (va != 1)
		pumice_render_desc_mask(&render, va, 64, 64, 1);
	render.pdm.mask_load = load;
	render.pdm.mask_store = store;
	render.pdm.clear_mask = clear;
	return pumice_stream_render(s, &render, &record);
}

static int mask_load_without_plane(struct pumice_stream *s)
{
	return render_mask(s, 1, true, false, false);
}

static int mask_store_without_plane(struct pumice_stream *s)
{
	return render_mask(s, 1, false, true, false);
}

static int mask_clear_without_plane(struct pumice_stream *s)
{
	return render_mask(s, 1, false, false, true);
}

static int mask_load_without_buffer(struct pumice_stream *s)
{
	return render_mask(s, 0, true, false, false);
}

static int mask_store_without_buffer(struct pumice_stream *s)
{
	return render_mask(s, 0, false, true, false);
}

static int mask_misaligned(struct pumice_stream *s)
{
	return render_mask(s, 0x10008, false, true, false);
}

static int depth_stride_too_large(struct pumice_stream *s)
{
	struct pumice_render_desc render;
	uint64_t record;

	pumice_render_desc_init(&render, NULL);
	render.pdm.depth_store = true;
	render.pdm.depth_addr = 0x10000;
	render.pdm.depth_stride = 1u << 24;
	return pumice_stream_render(s, &render, &record);
}

static int stats_beyond_the_address_space(struct pumice_stream *s)
{
	struct pumice_render_desc render;
	uint64_t record;

	pumice_render_desc_init(&render, NULL);
	render.pdm.stats_addr = 1ull << 40;
	return pumice_stream_render(s, &render, &record);
}

static int words_null(struct pumice_stream *s)
{
	return pumice_stream_emit(s, NULL, 1);
}

static int dispatch_null(struct pumice_stream *s)
{
	return pumice_stream_dispatch(s, NULL);
}

static int draw_indirect_null(struct pumice_stream *s)
{
	return pumice_stream_draw_indirect(s, NULL);
}

static int draw_indexed_indirect_null(struct pumice_stream *s)
{
	return pumice_stream_draw_indexed_indirect(s, NULL);
}

static int null_cpu(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_bo *bo;
	int err = pumice_bo_create(dev, 4096, vm, &bo);

	if (err)
		return err;
	err = pumice_bo_map(bo, NULL);
	pumice_bo_destroy(bo);
	return err;
}

static int draw_of_no_topology(struct pumice_stream *s)
{
	struct pumice_vdm_draw draw = { .topology = 77, .instances = 1 };

	return pumice_stream_draw(s, &draw);
}

static int draw_of_no_index_size(struct pumice_stream *s)
{
	struct pumice_vdm_draw_indexed draw = { .index_size = 3, .instances = 1, .indices = AT };

	return pumice_stream_draw_indexed(s, &draw);
}

/* A pointer of the CPU, with bits that no address of the GPU has. */
#define CPU_POINTER	0x7f0000001000

static int draw_cpu_indices(struct pumice_stream *s)
{
	struct pumice_vdm_draw_indexed draw = { .indices = CPU_POINTER, .instances = 1 };

	return pumice_stream_draw_indexed(s, &draw);
}

static int draw_indirect_cpu(struct pumice_stream *s)
{
	struct pumice_vdm_draw_indirect draw = { .addr = CPU_POINTER };

	return pumice_stream_draw_indirect(s, &draw);
}

static int draw_indexed_indirect_cpu(struct pumice_stream *s)
{
	struct pumice_vdm_draw_indexed_indirect draw = { .addr = CPU_POINTER };

	return pumice_stream_draw_indexed_indirect(s, &draw);
}

static int draw_indexed_indirect_cpu_indices(struct pumice_stream *s)
{
	struct pumice_vdm_draw_indexed_indirect draw = { .indices = CPU_POINTER };

	return pumice_stream_draw_indexed_indirect(s, &draw);
}

static int copy_from_cpu(struct pumice_stream *s)
{
	struct pumice_tdm_copy copy = { .src = CPU_POINTER, .bytes = 4 };

	return pumice_stream_copy(s, &copy);
}

static int copy_to_cpu(struct pumice_stream *s)
{
	struct pumice_tdm_copy copy = { .dst = CPU_POINTER, .bytes = 4 };

	return pumice_stream_copy(s, &copy);
}

static int fill_cpu(struct pumice_stream *s)
{
	struct pumice_tdm_fill fill = { .dst = CPU_POINTER, .words = 1 };

	return pumice_stream_fill(s, &fill);
}

static int call_cpu(struct pumice_stream *s)
{
	return pumice_stream_vdm_call(s, CPU_POINTER);
}

static int dispatch_indirect_null(struct pumice_stream *s)
{
	return pumice_stream_dispatch_indirect(s, NULL, AT);
}

static int copy_null(struct pumice_stream *s)
{
	return pumice_stream_copy(s, NULL);
}

static int fill_null(struct pumice_stream *s)
{
	return pumice_stream_fill(s, NULL);
}

static int blit_null(struct pumice_stream *s)
{
	return pumice_stream_blit(s, NULL, NULL, NULL);
}

static int scale_null(struct pumice_stream *s)
{
	return pumice_stream_scale(s, NULL, NULL, NULL);
}

static int clear_null(struct pumice_stream *s)
{
	return pumice_stream_clear(s, NULL, NULL);
}

static int mipmaps_null(struct pumice_stream *s)
{
	return pumice_stream_mipmaps(s, NULL);
}

static int list_null(struct pumice_stream *s)
{
	uint64_t va;

	return pumice_stream_render_list(s, NULL, AT, &va);
}

/* Make a mistake in a stream. */
static int in_stream(struct pumice_vm *vm, int (*make)(struct pumice_stream *s))
{
	struct pumice_stream *stream;
	int err = pumice_stream_create(vm, 65536, &stream);

	if (err)
		return err;
	err = make(stream);
	pumice_stream_destroy(stream);
	return err;
}

#define IN_STREAM(name, make) \
	static int name(struct pumice_device *dev, struct pumice_vm *vm) \
	{ \
		(void)dev; \
		return in_stream(vm, make); \
	}

IN_STREAM(null_stage, stage_null)
IN_STREAM(null_state, state_null)
IN_STREAM(null_draw_state, draw_state_null)
IN_STREAM(null_draw, draw_null)
IN_STREAM(null_draw_indexed, draw_indexed_null)
IN_STREAM(null_render, render_null)
IN_STREAM(no_mask_plane_to_load, mask_load_without_plane)
IN_STREAM(no_mask_plane_to_store, mask_store_without_plane)
IN_STREAM(no_mask_plane_to_clear, mask_clear_without_plane)
IN_STREAM(no_mask_buffer_to_load, mask_load_without_buffer)
IN_STREAM(no_mask_buffer_to_store, mask_store_without_buffer)
IN_STREAM(mask_address, mask_misaligned)
IN_STREAM(depth_stride, depth_stride_too_large)
IN_STREAM(stats_address, stats_beyond_the_address_space)
IN_STREAM(null_words, words_null)
IN_STREAM(null_dispatch, dispatch_null)
IN_STREAM(null_draw_indirect, draw_indirect_null)
IN_STREAM(null_draw_indexed_indirect, draw_indexed_indirect_null)
IN_STREAM(null_dispatch_indirect, dispatch_indirect_null)
IN_STREAM(no_topology, draw_of_no_topology)
IN_STREAM(no_index_size, draw_of_no_index_size)
IN_STREAM(cpu_indices, draw_cpu_indices)
IN_STREAM(cpu_indirect, draw_indirect_cpu)
IN_STREAM(cpu_indexed_indirect, draw_indexed_indirect_cpu)
IN_STREAM(cpu_indirect_indices, draw_indexed_indirect_cpu_indices)
IN_STREAM(cpu_source, copy_from_cpu)
IN_STREAM(cpu_destination, copy_to_cpu)
IN_STREAM(cpu_fill, fill_cpu)
IN_STREAM(cpu_call, call_cpu)
IN_STREAM(null_copy, copy_null)
IN_STREAM(null_fill, fill_null)
IN_STREAM(null_blit, blit_null)
IN_STREAM(null_scale, scale_null)
IN_STREAM(null_clear, clear_null)
IN_STREAM(null_mipmaps, mipmaps_null)
IN_STREAM(null_list, list_null)

static int null_capture(struct pumice_device *dev, struct pumice_vm *vm)
{
	(void)dev;
	return pumice_capture_write(vm, NULL, "x");
}

static int null_counter(struct pumice_device *dev, struct pumice_vm *vm)
{
	uint32_t counter;

	(void)vm;
	return pumice_perf_counter_find(dev, NULL, &counter);
}


static int stream_of_no_bytes(struct pumice_device *dev, struct pumice_vm *vm)
{
	struct pumice_stream *stream;

	(void)dev;
	return pumice_stream_create(vm, 0, &stream);
}

static int job_without_stream(struct pumice_device *dev, struct pumice_vm *vm)
{
	return submit(dev, vm, PUMICE_CONTEXT_COMPUTE, (struct pumice_gfx_job){ .stream = 0 });
}

#define MISTAKE(function, errno_, words) \
	{ .name = #function, .make = function, .error = errno_, .text = words }

const struct mistake mistakes[] = {
	MISTAKE(bo_of_no_bytes, EINVAL, "bo: size is 0; set it to 1 or more"),
	MISTAKE(bo_advice, EINVAL, "bo: unknown advice 7; accepted: 0 (WILLNEED), 1 (DONTNEED)"),
	MISTAKE(bind_half_a_page, EINVAL,
		"bind 0: size 0x64 is not one or more pages of 0x1000"),
	MISTAKE(bind_flags, EINVAL,
		"bind 0: unknown flags 0x50; accepted: 0x1 (READONLY), 0x2 (NOEXEC), "
		"0x4 (UNMAP_ALL), 0x8 (NULL)"),
	MISTAKE(bind_past_the_bo, EINVAL,
		"bind 0: bo_offset 0, size 0x2000 is not within the bo's 0x1000 bytes"),
	MISTAKE(bind_exclusive_elsewhere, EINVAL,
		"bind 0: the bo is exclusive to another vm; create it with exclusive NULL"),
	MISTAKE(unmap_with_flags, EINVAL, "bind 0: flags 0x1 need a bo; unmapping takes no flags"),
	MISTAKE(context_priority, EINVAL,
		"context: unknown priority 9; accepted: 0 (low), 1 (normal), 2 (high)"),
	MISTAKE(context_type, EINVAL,
		"context: unknown type 9; accepted: 1 (compute), 2 (render), 3 (transfer), 4 (rays)"),
	MISTAKE(sync_flags, EINVAL, "sync: unknown flags 0x6; accepted: 0x1 (SIGNALED)"),
	MISTAKE(wait_flags, EINVAL, "wait: unknown flags 0x4; accepted: 0x1 (ANY), 0x2 (SUBMIT)"),
	MISTAKE(wait_without_signal, EINVAL,
		"wait 0: no job or bind signals the sync; submit it first, or wait with SUBMIT"),
	MISTAKE(wait_timed_out, ETIME, "wait: timed out after 0 ns"),
	MISTAKE(wait_without_sync, EINVAL, "wait 1: sync is NULL; set it"),
	MISTAKE(jobs_without_array, EINVAL, "submit: jobs is NULL; set it, or count to 0"),
	MISTAKE(binds_without_array, EINVAL, "bind: ops is NULL; set it, or count to 0"),
	MISTAKE(bind_without_syncs, EINVAL, "bind: syncs is NULL; set it, or sync_count to 0"),
	MISTAKE(job_without_syncs, EINVAL, "job 0: syncs is NULL; set it, or sync_count to 0"),
	MISTAKE(job_alignment, EINVAL, "job 0: stream 0x40000002 is not aligned to 4 bytes"),
	MISTAKE(job_type, EINVAL,
		"job 0: type 2 (fragment) is not a job of a compute context; accepted: 0 (default)"),
	MISTAKE(job_type_of_render, EINVAL,
		"job 0: type 5 (unknown) is not a job of a render context; "
		"accepted: 1 (geometry), 2 (fragment)"),
	MISTAKE(job_without_data_set, EINVAL, "job 0: hwrt is NULL; set it to a data set"),
	MISTAKE(job_perfmon, ENOENT,
		"job 0: unknown performance monitor 4321; use a number of pumice_perfmon_id()"),
	MISTAKE(job_wait_without_signal, EINVAL,
		"job 0: no job or bind signals sync 1; submit that first"),
	MISTAKE(bind_wait_without_signal, EINVAL,
		"bind: no job or bind signals sync 0; submit that first"),
	MISTAKE(result_of_a_later_job, ENOENT,
		"job result: job 7 was not submitted in this context"),
	MISTAKE(result_of_no_job, ENODATA, "job result: no job of the context has completed"),
	MISTAKE(free_list_of_no_pages, EINVAL,
		"free list: initial_pages is 0; set it to 1 or more"),
	MISTAKE(free_list_threshold, EINVAL, "free list: threshold 100 is not 0 to 99 percent"),
	MISTAKE(data_set_width, EINVAL, "data set: width 20000 is not 1 to 8192"),
	MISTAKE(data_set_samples, EINVAL, "data set: samples 3 is not 1, 2 or 4"),
	MISTAKE(data_set_without_list, EINVAL, "data set: local is NULL; set it to a free list"),
	MISTAKE(image_height, EINVAL, "image: height 8193 is not 1 to 8192"),
	MISTAKE(perfmon_without_counters, EINVAL, "perfmon: count is 0; name 1 to 32 counters"),
	MISTAKE(perfmon_without_array, EINVAL, "perfmon: counters is NULL; set it"),
	MISTAKE(trace_of_no_events, EINVAL,
		"trace: 100 events is not a power of two from 2 to 1048576"),
	MISTAKE(null_bo, EINVAL, "vm: bo is NULL; set it"),
	MISTAKE(null_text, EINVAL, "program: text is NULL; set it"),
	MISTAKE(null_program, EINVAL, "kernel: program is NULL; set it"),
	MISTAKE(null_image_desc, EINVAL, "image: desc is NULL; set it"),
	MISTAKE(canvas_of_depth, EINVAL,
		"canvas: format d24-unorm cannot be rendered to; choose a color format"),
	MISTAKE(draw_state_of_unknown_function, EINVAL,
		"draw state: isp.depth_func 99 is not one of enum pumice_compare, 0 to 7"),
	MISTAKE(varying_of_vertices, EINVAL,
		"stage: input 0 of the vertex stage is for the fragment stage; vertex inputs are attributes, uniforms, textures and sources"),
	MISTAKE(attribute_of_fragments, EINVAL,
		"stage: input 0 of the fragment stage is an attribute; attributes are for the vertex stage"),
	MISTAKE(null_canvas_desc, EINVAL, "canvas: desc is NULL; set it"),
	MISTAKE(null_free_list_desc, EINVAL, "free list: desc is NULL; set it"),
	MISTAKE(null_data_set_desc, EINVAL, "data set: desc is NULL; set it"),
	MISTAKE(null_texels, EINVAL, "image: texels is NULL; set it"),
	MISTAKE(null_texels_to_read, EINVAL, "image: texels is NULL; set it"),
	MISTAKE(null_frame, EINVAL, "render: frame is NULL; set it"),
	MISTAKE(null_stage, EINVAL, "stage: desc is NULL; set it"),
	MISTAKE(null_state, EINVAL, "stage: state is NULL; set it"),
	MISTAKE(null_draw_state, EINVAL, "draw state: state is NULL; set it"),
	MISTAKE(null_draw, EINVAL, "draw: draw is NULL; set it"),
	MISTAKE(null_draw_indexed, EINVAL, "draw: draw is NULL; set it"),
	MISTAKE(null_render, EINVAL, "render: desc is NULL; set it"),
	MISTAKE(no_mask_plane_to_load, EINVAL,
		"render: no mask plane to load, store or clear; call pumice_render_desc_mask()"),
	MISTAKE(no_mask_plane_to_store, EINVAL,
		"render: no mask plane to load, store or clear; call pumice_render_desc_mask()"),
	MISTAKE(no_mask_plane_to_clear, EINVAL,
		"render: no mask plane to load, store or clear; call pumice_render_desc_mask()"),
	MISTAKE(no_mask_buffer_to_load, EINVAL,
		"render: pdm.mask_addr is 0; call pumice_render_desc_mask() with that of a buffer"),
	MISTAKE(no_mask_buffer_to_store, EINVAL,
		"render: pdm.mask_addr is 0; call pumice_render_desc_mask() with that of a buffer"),
	MISTAKE(mask_address, EINVAL,
		"render: pdm.mask_addr 0x10008 does not fit its field of struct pdm_render"),
	MISTAKE(depth_stride, EINVAL,
		"render: pdm.depth_stride 0x1000000 does not fit its field of struct pdm_render"),
	MISTAKE(stats_address, EINVAL,
		"render: pdm.stats_addr 0x10000000000 does not fit its field of struct pdm_render"),
	MISTAKE(null_words, EINVAL, "stream: words is NULL; set it"),
	MISTAKE(null_dispatch, EINVAL, "dispatch: dispatch is NULL; set it"),
	MISTAKE(null_draw_indirect, EINVAL, "indirect draw: draw is NULL; set it"),
	MISTAKE(null_draw_indexed_indirect, EINVAL, "indirect draw: draw is NULL; set it"),
	MISTAKE(null_dispatch_indirect, EINVAL, "indirect dispatch: dispatch is NULL; set it"),
	MISTAKE(null_copy, EINVAL, "copy: copy is NULL; set it"),
	MISTAKE(null_fill, EINVAL, "fill: fill is NULL; set it"),
	MISTAKE(null_blit, EINVAL, "blit: blit is NULL; set it"),
	MISTAKE(null_scale, EINVAL, "scale: scale is NULL; set it"),
	MISTAKE(null_clear, EINVAL, "clear: clear is NULL; set it"),
	MISTAKE(null_mipmaps, EINVAL, "transfer: image is NULL; set it"),
	MISTAKE(null_list, EINVAL, "render list: hwrt is NULL; set it"),
	MISTAKE(null_capture, EINVAL, "capture: frame is NULL; set it"),
	MISTAKE(null_counter, EINVAL, "counter: name is NULL; set it"),
	MISTAKE(cpu_indices, EINVAL, "draw: indices: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(cpu_indirect, EINVAL, "indirect draw: addr: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(cpu_indexed_indirect, EINVAL, "indirect draw: addr: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(cpu_indirect_indices, EINVAL, "indirect draw: indices: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(cpu_source, EINVAL, "copy: src: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(cpu_destination, EINVAL, "copy: dst: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(cpu_fill, EINVAL, "fill: dst: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(cpu_call, EINVAL, "call: 0x7f0000001000 is not a GPU address: pass pumice_buffer.va, "
		"not .cpu"),
	MISTAKE(null_cpu, EINVAL, "bo: cpu is NULL; set it"),
	MISTAKE(no_topology, EINVAL, "draw: topology 77 is not one of enum pumice_topology; begin "
		"with pumice_vdm_draw_defaults()"),
	MISTAKE(no_index_size, EINVAL, "draw: index_size 3 is not one of enum pumice_index_size; "
		"begin with pumice_vdm_draw_indexed_defaults()"),
	MISTAKE(stream_of_no_bytes, EINVAL, "stream: bytes is 0; set it to 1 or more"),
	MISTAKE(job_without_stream, EINVAL,
		"job 0: stream is 0; set it to the address of pumice_stream_end()"),
};

const size_t mistake_count = sizeof(mistakes) / sizeof(mistakes[0]);
