#include "gpu/load_kernels.h"

#include <assert.h>
#include <stddef.h>

enum { FACTOR = 1664525, ADDEND = 1013904223 };

static_assert(offsetof(struct load_words, sums) == 64 && LOAD_SUMS == 4096, "the text says so");
static_assert(offsetof(struct load_words, ends_ns) == 16448 && LOAD_ENDS == 65536,
	      "the text says so");
static_assert(LOAD_STEPS == 16 && LOAD_BLOCK == 128 && LOAD_FOUND == 1024, "the text says so");

#define STEP   "	mad.lo.u32 %r7, %r7, 1664525, 1013904223;\n"
#define STEP4  STEP STEP STEP STEP
#define STEP16 STEP4 STEP4 STEP4 STEP4

/* %r6: the thread's index; %r8: how many there are. */
#define REGISTERS                                                                                  \
	"{\n"                                                                                      \
	"	.reg .pred %p<4>;\n"                                                                     \
	"	.reg .b32 %r<20>;\n"                                                                     \
	"	.reg .b64 %rd<12>;\n"                                                                    \
	"	mov.u32 %r1, %ctaid.x;\n"                                                                \
	"	mov.u32 %r2, %ntid.x;\n"                                                                 \
	"	mov.u32 %r3, %tid.x;\n"                                                                  \
	"	mov.u32 %r9, %nctaid.x;\n"                                                               \
	"	mad.lo.u32 %r6, %r1, %r2, %r3;\n"                                                        \
	"	mul.lo.u32 %r8, %r9, %r2;\n"

/* %rd1: the buffer; %r10: seed; %r11: count; %r12: stride. For each word: %rd4 its address, %r13
 * its index. */
#define EACH_WORD(name, before, parameters, each, after)                                           \
	".visible .entry " name "(" parameters                                                     \
	".param .u64 .ptr .global .align 4 data, .param .u32 seed, .param .u32 count, "            \
	".param .u32 stride)\n" REGISTERS "	ld.param.u64 %rd1, [data];\n"                          \
	"	ld.param.u32 %r10, [seed];\n"                                                            \
	"	ld.param.u32 %r11, [count];\n"                                                           \
	"	ld.param.u32 %r12, [stride];\n"                                                          \
	"	cvta.to.global.u64 %rd1, %rd1;\n"                                                        \
	"	mul.lo.u32 %r13, %r6, %r12;\n"                                                           \
	"	mul.lo.u32 %r14, %r8, %r12;\n" before "AGAIN:\n"                                   \
	"	setp.ge.u32 %p1, %r13, %r11;\n"                                                          \
	"	@%p1 bra DONE;\n"                                                                        \
	"	mul.wide.u32 %rd3, %r13, 4;\n"                                                           \
	"	add.s64 %rd4, %rd1, %rd3;\n"                                                             \
	"	add.u32 %r16, %r13, %r10;\n" each "	add.u32 %r13, %r13, %r14;\n"                   \
	"	bra AGAIN;\n"                                                                            \
	"DONE:\n" after "	ret;\n"                                                                  \
	"}\n"

const char gpu_load_ptx[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry " LOAD_KERNEL_WORK
	"(.param .u64 .ptr .global .align 8 words, .param .u32 value, .param .u32 rounds)\n" REGISTERS
	"	ld.param.u64 %rd1, [words];\n"
	"	ld.param.u32 %r5, [rounds];\n"
	"	cvta.to.global.u64 %rd1, %rd1;\n"
	"	add.u32 %r7, %r6, 1;\n"
	"AGAIN:\n"
	"	setp.eq.u32 %p1, %r5, 0;\n"
	"	@%p1 bra SUM;\n" STEP16 "	sub.u32 %r5, %r5, 1;\n"
	"	bra AGAIN;\n"
	"SUM:\n"
	"	and.b32 %r10, %r6, 4095;\n"
	"	mul.wide.u32 %rd3, %r10, 4;\n"
	"	add.s64 %rd4, %rd1, %rd3;\n"
	"	red.global.add.u32 [%rd4+64], %r7;\n"
	/* The block's first thread counts the block when all have arrived here. */
	"	bar.sync 0;\n"
	"	setp.ne.u32 %p2, %r3, 0;\n"
	"	@%p2 bra DONE;\n"
	"	atom.global.add.u32 %r11, [%rd1], 1;\n"
	"	div.u32 %r12, %r11, %r9;\n"
	"	add.u32 %r13, %r11, 1;\n"
	"	rem.u32 %r14, %r13, %r9;\n"
	"	setp.ne.u32 %p3, %r14, 0;\n"
	"	@%p3 bra DONE;\n"
	"	and.b32 %r15, %r12, 65535;\n"
	"	mul.wide.u32 %rd5, %r15, 8;\n"
	"	add.s64 %rd6, %rd1, %rd5;\n"
	"	mov.u64 %rd7, %globaltimer;\n"
	"	st.global.u64 [%rd6+16448], %rd7;\n"
	"DONE:\n"
	"	ret;\n"
	"}\n"
	".visible .entry " LOAD_KERNEL_RUNAWAY
	"(.param .u64 .ptr .global .align 4 word, .param .u32 value, .param .u32 seconds)\n" REGISTERS
	"	ld.param.u64 %rd1, [word];\n"
	"	ld.param.u32 %r5, [seconds];\n"
	"	cvta.to.global.u64 %rd1, %rd1;\n"
	"	mul.wide.u32 %rd2, %r5, 1000000000;\n"
	"	mov.u64 %rd3, %globaltimer;\n"
	"AGAIN:\n"
	"	mov.u64 %rd4, %globaltimer;\n"
	"	sub.s64 %rd5, %rd4, %rd3;\n"
	"	setp.lt.u64 %p1, %rd5, %rd2;\n"
	"	@%p1 bra AGAIN;\n"
	"	red.global.add.u32 [%rd1], 1;\n"
	"	ret;\n"
	"}\n" EACH_WORD(LOAD_KERNEL_BEGIN, "", "", "	st.global.u32 [%rd4], %r16;\n", "")
		EACH_WORD(LOAD_KERNEL_SWEEP, "", "",
			  "	ld.global.u32 %r17, [%rd4];\n"
			  "	add.u32 %r17, %r17, 1;\n"
			  "	st.global.u32 [%rd4], %r17;\n",
			  "") EACH_WORD(LOAD_KERNEL_CHECK,
					"	ld.param.u64 %rd2, [found];\n"
					"	cvta.to.global.u64 %rd2, %rd2;\n"
					"	mov.u32 %r15, 0;\n",
					".param .u64 .ptr .global .align 4 found, ",
					"	ld.global.u32 %r17, [%rd4];\n"
					"	setp.eq.u32 %p2, %r17, %r16;\n"
					"	selp.u32 %r18, 1, 0, %p2;\n"
					"	add.u32 %r15, %r15, %r18;\n",
					"	and.b32 %r19, %r6, 1023;\n"
					"	mul.wide.u32 %rd5, %r19, 4;\n"
					"	add.s64 %rd6, %rd2, %rd5;\n"
					"	red.global.add.u32 [%rd6], %r15;\n");

uint32_t load_sum(unsigned blocks, uint32_t rounds)
{
	/* That many steps as one: x * factor + addend. */
	uint32_t factor = 1, addend = 0, step_factor = FACTOR, step_addend = ADDEND, sum = 0;
	for (uint64_t left = (uint64_t)rounds * LOAD_STEPS; left > 0; left >>= 1) {
		if (left & 1) {
			factor *= step_factor;
			addend = addend * step_factor + step_addend;
		}
		step_addend *= step_factor + 1;
		step_factor *= step_factor;
	}
	for (uint64_t i = 0; i < (uint64_t)blocks * LOAD_BLOCK; i += LOAD_SUMS)
		sum += ((uint32_t)i + 1) * factor + addend;
	return sum;
}
