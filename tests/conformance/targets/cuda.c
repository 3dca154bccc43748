/*
 * CUDA, with the double of its driver, or with the machine's driver if SYCLD_TEST_CUDA=real
 * (tests/gpu). The kernels are PTX, so nothing is compiled; cuda_portable.c has them in the
 * portable form.
 */
#include "targets/cuda.h"

/* The place of this work-item, row-major with x fastest, times 4, in %at. */
#define PLACE                                                                                                  \
	"\t.reg .b32 %r<8>, %v<4>;\n"                                                                          \
	"\t.reg .b64 %at, %to, %from;\n"                                                                       \
	"\tmov.u32 %r1, %ctaid.z; mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z; mad.lo.u32 %r4, %r1, %r2, %r3;\n" \
	"\tmov.u32 %r1, %nctaid.y; mov.u32 %r2, %ntid.y; mul.lo.u32 %r5, %r1, %r2;\n"                          \
	"\tmov.u32 %r1, %ctaid.y; mov.u32 %r3, %tid.y; mad.lo.u32 %r6, %r1, %r2, %r3;\n"                       \
	"\tmad.lo.u32 %r4, %r4, %r5, %r6;\n"                                                                   \
	"\tmov.u32 %r1, %nctaid.x; mov.u32 %r2, %ntid.x; mul.lo.u32 %r5, %r1, %r2;\n"                          \
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r6, %r1, %r2, %r3;\n"                       \
	"\tmad.lo.u32 %r4, %r4, %r5, %r6;\n"                                                                   \
	"\tmul.wide.u32 %at, %r4, 4;\n"                                                                        \
	"\tld.param.u64 %to, [dst]; add.u64 %to, %to, %at;\n"
#define SOURCE "\tld.param.u64 %from, [src]; add.u64 %from, %from, %at;\n"
#define DST    ".param .u64 .ptr .global .align 4 dst"
#define SRC    ".param .u64 .ptr .global .align 4 src"

static const char source[] =
	".version 8.0\n.target sm_52\n.address_size 64\n"
	".visible .entry fill_u32(" DST ", .param .u32 value)\n{\n" PLACE
	"\tld.param.u32 %v1, [value]; st.global.u32 [%to], %v1;\n\tret;\n}\n"
	".visible .entry linear_id_u32(" DST ")\n{\n" PLACE
	"\tst.global.u32 [%to], %r4;\n\tret;\n}\n"
	".visible .entry increment_u32(" DST ")\n{\n" PLACE
	"\tld.global.u32 %v1, [%to]; add.u32 %v1, %v1, 1; st.global.u32 [%to], %v1;\n\tret;\n}\n"
	".visible .entry add_u32(" DST ", " SRC ")\n{\n" PLACE SOURCE
	"\tld.global.u32 %v1, [%to]; ld.global.u32 %v2, [%from]; add.u32 %v1, %v1, %v2;\n"
	"\tst.global.u32 [%to], %v1;\n\tret;\n}\n"
	".visible .entry copy_u32(" DST ", " SRC ")\n{\n" PLACE SOURCE
	"\tld.global.u32 %v1, [%from]; st.global.u32 [%to], %v1;\n\tret;\n}\n"
	".visible .entry mix_u32(" DST ", " SRC ", .param .u32 value)\n{\n" PLACE SOURCE
	"\tld.param.u32 %v3, [value];\n"
	"\tld.global.u32 %v1, [%to]; ld.global.u32 %v2, [%from]; mad.lo.u32 %v1, %v1, 31, %v2; add.u32 %v1, %v1, %v3;\n"
	"\tst.global.u32 [%to], %v1;\n\tret;\n}\n";

const struct conformance_target conformance_target = {
	.ops = &backend_cuda_ops,
	.options = target_cuda_options,
	.prepare = target_cuda_prepare,
	.source_kind = BACKEND_SOURCE_PTX,
	.source = source,
	.native_set = target_cuda_native_set,
	.has_offsets = false,
};
