/*
 * Fills as nodes. The driver's memset nodes take no memory of a pool, so it is a kernel: it writes
 * 16 bytes at once where they lie inside, and single ones at the two ends.
 */
#include "cuda/graph/graph.h"

#include <string.h>

#define UNIT_BYTES  16u /* that a work-item writes at once */
#define GROUP_ITEMS 256u
#define GROUPS_MAX  16384u /* each work-item goes on from there */

/* For the lowest architecture that a driver of today still compiles for; with the kernel that
 * chains are made of. */
const char cuda_own_ptx[] =
	".version 6.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry sycl_blank()\n"
	"{\n"
	"\tret;\n"
	"}\n"
	".visible .entry sycl_fill(.param .u64 aligned, .param .u64 first, .param .u64 last,\n"
	"\t.param .u64 units, .param .u32 period, .param .align 4 .b8 pattern[512])\n"
	"{\n"
	"\t.reg .pred %p<8>;\n"
	"\t.reg .b32 %r<24>;\n"
	"\t.reg .b64 %d<24>;\n"
	"\tld.param.u64 %d1, [aligned];\n"
	"\tld.param.u64 %d2, [first];\n"
	"\tld.param.u64 %d3, [last];\n"
	"\tld.param.u64 %d4, [units];\n"
	"\tld.param.u32 %r1, [period];\n"
	"\tmov.b64 %d9, pattern;\n"
	"\tmov.u32 %r2, %ctaid.x;\n"
	"\tmov.u32 %r3, %ntid.x;\n"
	"\tmov.u32 %r4, %tid.x;\n"
	"\tmov.u32 %r5, %nctaid.x;\n"
	"\tmul.wide.u32 %d5, %r2, %r3;\n"
	"\tcvt.u64.u32 %d6, %r4;\n"
	"\tadd.u64 %d5, %d5, %d6;\n"      /* the unit of this work-item */
	"\tmul.wide.u32 %d7, %r5, %r3;\n" /* the distance to its next one */
	"\tcvt.u64.u32 %d8, %r1;\n"
	"\tshl.b64 %d10, %d5, 2;\n"
	"\trem.u64 %d10, %d10, %d8;\n"
	"\tcvt.u32.u64 %r6, %d10;\n" /* where in the pattern the unit begins */
	"\tshl.b64 %d10, %d7, 2;\n"
	"\trem.u64 %d10, %d10, %d8;\n"
	"\tcvt.u32.u64 %r7, %d10;\n"
	"NEXT:\n"
	"\tsetp.ge.u64 %p1, %d5, %d4;\n"
	"\t@%p1 bra END;\n"
	"\tmul.wide.u32 %d10, %r6, 4;\n"
	"\tadd.u64 %d10, %d9, %d10;\n"
	"\tld.param.u32 %r8, [%d10];\n"
	"\tadd.u32 %r12, %r6, 1;\n"
	"\tsetp.ge.u32 %p2, %r12, %r1;\n"
	"\t@%p2 mov.u32 %r12, 0;\n"
	"\tmul.wide.u32 %d10, %r12, 4;\n"
	"\tadd.u64 %d10, %d9, %d10;\n"
	"\tld.param.u32 %r9, [%d10];\n"
	"\tadd.u32 %r13, %r12, 1;\n"
	"\tsetp.ge.u32 %p2, %r13, %r1;\n"
	"\t@%p2 mov.u32 %r13, 0;\n"
	"\tmul.wide.u32 %d10, %r13, 4;\n"
	"\tadd.u64 %d10, %d9, %d10;\n"
	"\tld.param.u32 %r10, [%d10];\n"
	"\tadd.u32 %r14, %r13, 1;\n"
	"\tsetp.ge.u32 %p2, %r14, %r1;\n"
	"\t@%p2 mov.u32 %r14, 0;\n"
	"\tmul.wide.u32 %d10, %r14, 4;\n"
	"\tadd.u64 %d10, %d9, %d10;\n"
	"\tld.param.u32 %r11, [%d10];\n"
	"\tshl.b64 %d11, %d5, 4;\n"
	"\tadd.u64 %d11, %d1, %d11;\n"
	"\tadd.u64 %d12, %d11, 16;\n"
	"\tadd.u64 %d5, %d5, %d7;\n"
	"\tadd.u32 %r6, %r6, %r7;\n"
	"\tsetp.ge.u32 %p2, %r6, %r1;\n"
	"\t@%p2 sub.u32 %r6, %r6, %r1;\n"
	"\tsetp.lt.u64 %p3, %d11, %d2;\n"
	"\t@%p3 bra BYTE;\n"
	"\tsetp.gt.u64 %p3, %d12, %d3;\n"
	"\t@%p3 bra BYTE;\n"
	"\tst.global.v4.u32 [%d11], {%r8, %r9, %r10, %r11};\n"
	"\tbra NEXT;\n"
	"BYTE:\n" /* of a unit that is not all inside: each that is */
	"\tmov.u32 %r15, 0;\n"
	"BITS:\n"
	"\tsetp.lt.u64 %p4, %d11, %d2;\n"
	"\t@%p4 bra SKIP;\n"
	"\tsetp.ge.u64 %p5, %d11, %d3;\n"
	"\t@%p5 bra SKIP;\n"
	"\tst.global.u8 [%d11], %r8;\n"
	"SKIP:\n"
	"\tadd.u64 %d11, %d11, 1;\n"
	"\tadd.u32 %r15, %r15, 1;\n"
	"\tshr.u32 %r8, %r8, 8;\n"
	"\tand.b32 %r16, %r15, 3;\n"
	"\tsetp.ne.u32 %p6, %r16, 0;\n"
	"\t@%p6 bra BITS;\n"
	"\tmov.u32 %r8, %r9;\n"
	"\tmov.u32 %r9, %r10;\n"
	"\tmov.u32 %r10, %r11;\n"
	"\tsetp.lt.u64 %p4, %d11, %d12;\n"
	"\t@%p4 bra BITS;\n"
	"\tbra NEXT;\n"
	"END:\n"
	"\tret;\n"
	"}\n";

/* Words after which a pattern of so many bytes begins anew: the least multiple of both. */
static uint32_t words_of_period(size_t bytes)
{
	return (uint32_t)(bytes % 4 == 0 ? bytes / 4 : bytes % 2 == 0 ? bytes / 2 : bytes);
}

void cuda_fill_plan(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		    const void *pattern, size_t pattern_bytes, struct cuda_plan *plan_out)
{
	struct cuda_fill_kernel *fill = &plan_out->fill;
	const uint64_t lead = address % UNIT_BYTES;

	fill->aligned = address - lead;
	fill->first = address;
	fill->last = address + size_bytes;
	fill->units = (lead + size_bytes + UNIT_BYTES - 1) / UNIT_BYTES;
	fill->period = words_of_period(pattern_bytes);
	memset(fill->pattern, 0, sizeof(fill->pattern));
	/* The pattern begins at the first byte, and the first unit perhaps before it. */
	for (size_t i = 0; i < fill->period * (size_t)4; i++)
		((unsigned char *)fill->pattern)[i] =
			((const unsigned char *)
				 pattern)[(i + pattern_bytes * UNIT_BYTES - lead) % pattern_bytes];
	void *parameters[] = {&fill->aligned, &fill->first,  &fill->last,
			      &fill->units,   &fill->period, fill->pattern};
	memcpy(fill->parameters, parameters, sizeof(parameters));
	uint64_t groups = (fill->units + GROUP_ITEMS - 1) / GROUP_ITEMS;
	plan_out->form = CUDA_FORM_KERNEL;
	plan_out->launch = (struct cuda_launch){
		.function = device->lanes->fill,
		.grid = {(unsigned)(groups < GROUPS_MAX ? groups : GROUPS_MAX), 1, 1},
		.block = {GROUP_ITEMS, 1, 1},
		.parameters = fill->parameters,
		.parameter_count = 6,
	};
}
