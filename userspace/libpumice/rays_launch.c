// SPDX-License-Identifier: MIT
/* Builder of ray control streams (hw/rdm.xml, stream rdm). */
#include <errno.h>

#include <pumice/pumice_rays.h>

#include "program.h"
#include "program_header.h"
#include "pumice_regs.h"

void pumice_ray_launch_init(struct pumice_ray_launch *launch, uint64_t structure, uint32_t width,
			    uint32_t height)
{
	*launch = (struct pumice_ray_launch){
		.structure = structure, .width = width, .height = height,
	};
}

/* Check the program of a stage, which writes this number of vertex outputs. */
static int check_stage(struct pumice_device *dev, const char *name,
		       const struct pumice_stage_desc *desc, u32 outputs)
{
	const struct pumice_program_header *header;

	if (!desc || !desc->kernel)
		return 0;	/* no stage, or refused by pumice_stream_stage() */
	header = &desc->kernel->program->header;
	if (pumice_program_stage_of(header) != PUMICE_PROGRAM_STAGE_RAYS)
		return fail(dev, EINVAL,
			    "launch of rays: the kernel of stage %s is not a program of stage rays; write .stage rays",
			    name);
	if (pumice_program_vo(header) > outputs)
		return fail(dev, EINVAL, "launch of rays: the program of stage %s writes vo%u; it has %u outputs",
			    name, pumice_program_vo(header) - 1, outputs);
	if (pumice_program_vo(header) < outputs)
		return fail(dev, EINVAL,
			    "launch of rays: the program of stage %s writes no vo%u, the greatest t of its rays: they hit nothing",
			    name, outputs - 1);
	return 0;
}

static int check_launch(struct pumice_stream *s, const struct pumice_ray_launch *l)
{
	struct pumice_device *dev = stream_vm(s)->dev;
	int err;

	if (!l)
		return fail_null(dev, "launch of rays", "launch");
	if (l->flags & ~PUMICE_RAYS_ANY)
		return fail(dev, EINVAL, "launch of rays: unknown flags %#x", l->flags);
	if ((u64)l->width * l->height > UINT32_MAX)
		return fail(dev, EINVAL, "launch of rays: %u x %u are 2^32 rays or more; launch them in parts",
			    l->width, l->height);
	if (!l->generate == !l->rays)
		return fail(dev, EINVAL, "launch of rays: set either generate or rays");
	if (l->uniform_words > PUMICE_USC_MAX_DC)
		return fail(dev, EINVAL, "launch of rays: uniform_words %u is not 0 to %u",
			    l->uniform_words, PUMICE_USC_MAX_DC);
	if (!l->structure)
		return fail(dev, EINVAL,
			    "launch of rays: structure is 0: set it to pumice_ray_structure_va() of a built structure");
	err = stream_check_rays(s);
	if (!err)
		err = stream_check_va(s, "launch of rays", l->structure,
				      PUMICE_RT_HEADER_WORDS * 4);
	if (!err && l->rays)
		err = stream_check_va(s, "launch of rays", l->rays, 4);
	if (!err && l->uniform_words)
		err = stream_check_va(s, "launch of rays", l->uniforms, 256);
	if (!err)
		err = check_stage(dev, "generate", l->generate, PUMICE_RT_RAY_REGS);
	if (!err)
		err = check_stage(dev, "hit", l->hit, 0);
	return err ? err : check_stage(dev, "miss", l->miss, 0);
}

/* Generate the PDS program of a stage; without one the words are 0. */
static int place(struct pumice_stream *s, const struct pumice_stage_desc *desc, u32 words[4])
{
	return desc ? pumice_stream_stage(s, desc, words) : 0;
}

int pumice_stream_rays_launch(struct pumice_stream *s, const struct pumice_ray_launch *l)
{
	struct pumice_rdm_launch launch;
	struct pumice_rdm_state state;
	u32 words[PUMICE_RDM_STATE_WORDS + PUMICE_RDM_LAUNCH_WORDS];
	int err = check_launch(s, l);

	if (err)
		return err;
	state = (struct pumice_rdm_state){
		.any = l->flags & PUMICE_RAYS_ANY, .structure = l->structure,
		.uniforms = l->uniform_words ? l->uniforms : 0,
		.uniform_words = (u16)l->uniform_words,
	};
	launch = (struct pumice_rdm_launch){
		.width = l->width, .height = l->height, .rays = l->rays,
	};
	err = place(s, l->generate, state.generate);
	if (!err)
		err = place(s, l->hit, state.hit);
	if (!err)
		err = place(s, l->miss, state.miss);
	if (err)
		return err;
	pumice_rdm_state_pack(words, &state);
	pumice_rdm_launch_pack(words + PUMICE_RDM_STATE_WORDS, &launch);
	err = pumice_stream_emit(s, words, PUMICE_RDM_STATE_WORDS + PUMICE_RDM_LAUNCH_WORDS);
	if (!err)
		stream_has_rays(s);
	return err;
}
