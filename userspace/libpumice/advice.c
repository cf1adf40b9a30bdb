// SPDX-License-Identifier: MIT
/*
 * Advice about a failed job: a sentence after the description of its fault.
 *
 * Limits: only for faults that usually have one cause; the descriptions are those of
 * hw/registers.xml.
 */
#include <stddef.h>

#include "advice.h"
#include "pumice_isa.h"
#include "pumice_regs.h"

#define LOW_BYTES	(1ull << 20)	/* addresses that are offsets from 0 */

static const char *const by_fault[] = {
	[PUMICE_FAULT_CDM_COMMAND] =
		"End the stream with pumice_stream_end(), and submit draws and transfers to contexts of their type.",
	[PUMICE_FAULT_CDM_RESERVED] =
		"Record commands with the functions pumice_stream_*(), for the type of the context.",
	[PUMICE_FAULT_CDM_STATE] = "Launch with pumice_stream_dispatch(), which records the state.",
	[PUMICE_FAULT_CDM_DEPTH] = "Call a sub-list from at most 4 others, or link to it.",
	[PUMICE_FAULT_CDM_RETURN] = "Submit the stream that calls the sub-list, not the sub-list.",
	[PUMICE_FAULT_CDM_GROUP_SIZE] =
		"Declare 1 to 1024 instances: .group X, Y, Z; submit streams of rays to a context of PUMICE_CONTEXT_RAYS.",
	[PUMICE_FAULT_CDM_GRID] =
		"Dispatch the grid in parts; submit streams of rays to a context of PUMICE_CONTEXT_RAYS.",
	[PUMICE_FAULT_PDS_RESERVED] =
		"Assemble the program with pumice-as, and do not write to its memory or the stream's.",
	[PUMICE_FAULT_PDS_SOURCE] =
		"If the fragment stage reads a varying, set vdm.varyings to more than its number.",
	[PUMICE_FAULT_PDS_RESOURCE] =
		"Use fewer registers, less local memory or a smaller work-group.",
	[PUMICE_FAULT_USC_RESERVED] =
		"Assemble the program with pumice-as, use a device that is not older than the assembler, and do not write to the program's memory.",
	[PUMICE_FAULT_USC_OPCODE] =
		"Use a device that is not older than the assembler, and do not write to the program's memory.",
	[PUMICE_FAULT_USC_REGISTER] =
		"For sl, use numbers below the device's property slot-registers, for i below 8 minus it; for an output of a vertex program, set vdm.varyings to the outputs from vo4 on; for one of a fragment program, pdm.outputs, of which a canvas has 4.",
	[PUMICE_FAULT_USC_BANK] =
		"Use each program in its own stage: o are of fragments and tiles, vo of vertices and generated rays, SH and V of all.",
	[PUMICE_FAULT_USC_STAGE] =
		"Use each program in its own stage: textures are read by fragments, work-groups are of compute.",
	[PUMICE_FAULT_USC_BRANCH] = "Branch to a label of the program.",
	[PUMICE_FAULT_USC_BARRIER] =
		"Move the barrier or work-group copy out of the branch, so that every wave reaches it.",
	[PUMICE_FAULT_USC_INDEX] =
		"Keep the index below the registers of the program, or the words of its dc_window.",
	[PUMICE_FAULT_USC_LATE] =
		"Wait for the signal before: sig_wait, sig_waitall, or mem_fence for all of them; after sig_waitany only the signals of its result are done.",
	[PUMICE_FAULT_USC_UNIFORM] =
		"Programs of vertices, fragments and rays have a uniform stream: store all words with pumice_stream_uniforms(), and set uniforms and uniform_words of the state or launch.",
	[PUMICE_FAULT_VDM_COMMAND] =
		"End the stream with pumice_stream_vdm_end(), and submit launches and transfers to contexts of their type.",
	[PUMICE_FAULT_VDM_RESERVED] =
		"Begin a draw with pumice_vdm_draw_defaults(), and its state with pumice_draw_state_init().",
	[PUMICE_FAULT_VDM_DEPTH] = "Call a sub-list from at most 4 others, or link to it.",
	[PUMICE_FAULT_VDM_RETURN] = "Submit the stream that calls the sub-list, not the sub-list.",
	[PUMICE_FAULT_VDM_STATE] =
		"Begin with pumice_draw_state_init(), and record pumice_stream_stages() before the draw.",
	[PUMICE_FAULT_VDM_ALIGN] =
		"Use addresses of streams and of indirect draws that are multiples of 4, and of indices that are multiples of their size.",
	[PUMICE_FAULT_PM_MEMORY] =
		"Give the free list more pages: max_pages of struct pumice_freelist_desc.",
	[PUMICE_FAULT_PM_NO_SCENE] =
		"Submit the scene's geometry job first; pumice_render() submits both.",
	[PUMICE_FAULT_PDM_RENDER] =
		"Record it with pumice_stream_render(), with strides that hold a row of the data set; a render control list begins with pumice_stream_pdm_mode().",
	[PUMICE_FAULT_PDM_RESERVED] = "Record the list with the functions pumice_stream_pdm_*().",
	[PUMICE_FAULT_PDM_COMMAND] =
		"End the list with pumice_stream_pdm_end(), or with a store that ends the frame.",
	[PUMICE_FAULT_PDM_ALIGN] =
		"Use addresses of lists that are multiples of 4, and of records that are multiples of 16.",
	[PUMICE_FAULT_PDM_DEPTH] = "Call a sub-list from at most 4 others, or link to it.",
	[PUMICE_FAULT_PDM_RETURN] = "Submit the list that calls the sub-list, not the sub-list.",
	[PUMICE_FAULT_PDM_MODE] =
		"Call pumice_stream_pdm_mode() once, before all other commands of the list.",
	[PUMICE_FAULT_PDM_TILE_TWICE] =
		"Add pumice_stream_pdm_tile() once for each tile, and one branch to it.",
	[PUMICE_FAULT_PDM_ENDLESS] =
		"End the list with pumice_stream_pdm_end(); one that links back without a store never ends.",
	[PUMICE_FAULT_PDM_TILE] =
		"Count columns and rows in tiles of the data set's tile_size, from 0.",
	[PUMICE_FAULT_PDM_TILE_OPEN] = "End each tile with pumice_stream_pdm_store().",
	[PUMICE_FAULT_PDM_NO_TILE] = "Begin each tile with pumice_stream_pdm_tile().",
	[PUMICE_FAULT_PDM_OUTPUTS] =
		"Use tiles of fewer pixels (tile_size), fewer samples or fewer outputs, or a device with larger stores.",
	[PUMICE_FAULT_ISP_STATE] =
		"Begin with pumice_draw_state_init(), and call pumice_render_desc_mask() for objects that use the mask.",
	[PUMICE_FAULT_TSP_STATE] = "Begin with pumice_draw_state_init().",
	[PUMICE_FAULT_PBE_STATE] =
		"Build it with pumice_stream_render(), and set pdm.outputs to those of the targets.",
	[PUMICE_FAULT_TAG_STATE] =
		"Bind the texture with pumice_input_texture(), at the register that the instruction names, and begin its sampler with pumice_sampler_init().",
	[PUMICE_FAULT_RTU_ALIGN] = "Pass pumice_ray_structure_va(), low word first.",
	[PUMICE_FAULT_RTU_HEADER] =
		"Build the structure before rays use it, and instances of structures of the bottom level only.",
	[PUMICE_FAULT_RTU_NODE] = "Keep the structure's buffers unchanged after its build.",
	[PUMICE_FAULT_RTU_LEAF] = "Keep the structure's buffers unchanged after its build.",
	[PUMICE_FAULT_RDM_COMMAND] =
		"End the stream with pumice_stream_end(), and submit dispatches and builds to compute contexts.",
	[PUMICE_FAULT_RDM_RESERVED] =
		"Record commands with the functions pumice_stream_*(), for the type of the context.",
	[PUMICE_FAULT_RDM_DEPTH] = "Call a sub-list from at most 4 others, or link to it.",
	[PUMICE_FAULT_RDM_RETURN] = "Submit the stream that calls the sub-list, not the sub-list.",
	[PUMICE_FAULT_RDM_STATE] =
		"Launch with pumice_stream_rays_launch(), with either a program or a buffer of rays.",
	[PUMICE_FAULT_RDM_RAYS] = "Launch the rays in parts.",
	[PUMICE_FAULT_TDM_COMMAND] =
		"End the stream with pumice_stream_tdm_end(), and submit launches and draws to contexts of their type.",
	[PUMICE_FAULT_TDM_RESERVED] =
		"Record transfers with the functions pumice_stream_*(), and begin their structures with the _init or _defaults function.",
	[PUMICE_FAULT_TDM_SURFACE] =
		"Describe it with pumice_image_texture(), and use formats that the transfer supports.",
	[PUMICE_FAULT_TDM_FILTER] =
		"Use the nearest filter for integers and stencil, and box for the same size or the half.",
	[PUMICE_FAULT_TDM_RECT] = "Keep the rectangle within the width and height of the surface.",
};

const char *advice_fault(uint32_t fault)
{
	const char *text = fault < sizeof(by_fault) / sizeof(by_fault[0]) ? by_fault[fault] : NULL;

	return text ? text : "";
}

const char *advice_access(uint32_t fault, uint32_t unit, bool found)
{
	switch (fault) {
	case PUMICE_FAULT_MMU_READ_ONLY:
		return "The page is read only: bind the buffer without PUMICE_BIND_READONLY.";
	case PUMICE_FAULT_MMU_NO_EXEC:
		return "The page holds data: a program's address is that of pumice_kernel_code_va().";
	case PUMICE_FAULT_MMU_PM_OWNED:
		return "The page belongs to a free list: no program can access it.";
	case PUMICE_FAULT_MMU_ADDRESS:
	case PUMICE_FAULT_MMU_PC_INVALID:
	case PUMICE_FAULT_MMU_PD_INVALID:
	case PUMICE_FAULT_MMU_PT_INVALID:
		break;
	default:
		return "The translation tables are damaged, or memory was removed.";
	}
	switch (unit) {
	case PUMICE_UNIT_CDM:
	case PUMICE_UNIT_VDM:
	case PUMICE_UNIT_PTLA:
	case PUMICE_UNIT_RDM:
		return "Nothing is bound at this address of a stream or of its state.";
	case PUMICE_UNIT_PDS:
		return "Nothing is bound at this address of an input: an attribute, uniforms, or a program.";
	case PUMICE_UNIT_TAG:
		return "Nothing is bound at this address of a texture.";
	case PUMICE_UNIT_RTU:
		return "Nothing is bound at this address of an acceleration structure.";
	case PUMICE_UNIT_PBE:
		return "Nothing is bound at this address of a target.";
	default:
		return found ? "" : "Nothing is bound at this address.";
	}
}

const char *advice_address(uint64_t va, uint64_t va_end)
{
	if (va < LOW_BYTES)
		return "A base address is 0, or its register was not loaded.";
	if (va >= va_end)
		return "It is not a GPU address: pass pumice_buffer.va, not .cpu, in two words, the lower first.";
	return "";
}

const char *advice_alignment(uint32_t opcode)
{
	switch (opcode) {
	case PUMICE_USC_OP_GLOBAL_LOAD16:
	case PUMICE_USC_OP_GLOBAL_STORE16:
	case PUMICE_USC_OP_LOCAL_LOAD16:
	case PUMICE_USC_OP_LOCAL_STORE16:
		return "A 16-bit access needs a multiple of 2: shift the index left by 1.";
	case PUMICE_USC_OP_GLOBAL_LOAD32:
	case PUMICE_USC_OP_GLOBAL_STORE32:
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
	case PUMICE_USC_OP_LOCAL_LOAD32:
	case PUMICE_USC_OP_LOCAL_STORE32:
	case PUMICE_USC_OP_LOCAL_ATOMIC:
		return "A 32-bit access needs a multiple of 4: shift the index left by 2.";
	case PUMICE_USC_OP_GLOBAL_LOAD64:
	case PUMICE_USC_OP_GLOBAL_STORE64:
	case PUMICE_USC_OP_LOCAL_LOAD64:
	case PUMICE_USC_OP_LOCAL_STORE64:
		return "A 64-bit access needs a multiple of 4: shift the index left by 3.";
	case PUMICE_USC_OP_GLOBAL_LOAD128:
	case PUMICE_USC_OP_GLOBAL_STORE128:
	case PUMICE_USC_OP_LOCAL_LOAD128:
	case PUMICE_USC_OP_LOCAL_STORE128:
		return "A 128-bit access needs a multiple of 4: shift the index left by 4.";
	case PUMICE_USC_OP_GROUP_LOAD:
	case PUMICE_USC_OP_GROUP_STORE:
		return "The address in memory and that in local memory must be multiples of 4.";
	default:
		return "The address must be a multiple of 4.";
	}
}
