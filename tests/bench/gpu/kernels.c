#include "gpu/kernels.h"

#include <assert.h>

#define GPU_DATA_WORDS_TEXT "8448"
static_assert(GPU_DATA_WORDS == 8448, "the text says so");

/* %rd2: the thread's word; %r4: value; %r5: number; %r6: the thread's index. */
/* clang-format off */
#define ENTRY(name, body) \
	".visible .entry " name "(.param .u64 .ptr .global .align 4 data, .param .u32 value, .param .u32 number)\n" \
	"{\n" \
	"	.reg .pred %p<3>;\n" \
	"	.reg .b32 %r<10>;\n" \
	"	.reg .b64 %rd<10>;\n" \
	"	ld.param.u64 %rd1, [data];\n" \
	"	ld.param.u32 %r4, [value];\n" \
	"	ld.param.u32 %r5, [number];\n" \
	"	cvta.to.global.u64 %rd1, %rd1;\n" \
	"	mov.u32 %r1, %ctaid.x;\n" \
	"	mov.u32 %r2, %ntid.x;\n" \
	"	mov.u32 %r3, %tid.x;\n" \
	"	mad.lo.s32 %r6, %r1, %r2, %r3;\n" \
	"	mul.wide.u32 %rd3, %r6, 4;\n" \
	"	add.s64 %rd2, %rd1, %rd3;\n" \
	body \
	"	ld.global.u32 %r7, [%rd2];\n" \
	"	add.s32 %r7, %r7, %r4;\n" \
	"	st.global.u32 [%rd2], %r7;\n" \
	"DONE:\n" \
	"	ret;\n" \
	"}\n"
/* clang-format on */

const char gpu_add_portable[] =
	"SYCL_KERNEL void " GPU_KERNEL_ADD "(SYCL_GLOBAL(uint) data, uint value, uint number)\n"
	"{ uint i = (uint)sycl_global_id(0); if (i < number) data[i] += value; }\n";

/* clang-format off */
const char gpu_kernels_ptx[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	ENTRY(GPU_KERNEL_ADD,
	      "	setp.ge.u32 %p1, %r6, %r5;\n"
	      "	@%p1 bra DONE;\n")
	ENTRY(GPU_KERNEL_SPIN,
	      "	cvt.u64.u32 %rd4, %r5;\n"
	      "	mov.u64 %rd5, %clock64;\n"
	      "AGAIN:\n"
	      "	mov.u64 %rd6, %clock64;\n"
	      "	sub.s64 %rd7, %rd6, %rd5;\n"
	      "	setp.lt.u64 %p1, %rd7, %rd4;\n"
	      "	@%p1 bra AGAIN;\n")
	ENTRY(GPU_KERNEL_CROWD,
	      "	cvt.u64.u32 %rd4, %r5;\n"
	      "	mov.u64 %rd5, %clock64;\n"
	      "AGAIN:\n"
	      "	mov.u64 %rd6, %clock64;\n"
	      "	sub.s64 %rd7, %rd6, %rd5;\n"
	      "	setp.lt.u64 %p1, %rd7, %rd4;\n"
	      "	@%p1 bra AGAIN;\n"
	      "	setp.ge.u32 %p1, %r6, " GPU_DATA_WORDS_TEXT ";\n"
	      "	@%p1 bra DONE;\n")
	ENTRY(GPU_KERNEL_FAULT,
	      "	mov.u64 %rd4, 16;\n"
	      "	st.global.u32 [%rd4], %r4;\n");
/* clang-format on */
