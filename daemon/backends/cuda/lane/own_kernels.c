/* Kernels of the backend: the empty kernel, of which chains are made, and the kernels for fills,
 * copies and signals. */
#include "cuda/lane/chain.h"

#define HEAD(version, target)                                                                      \
	".version " version "\n"                                                                   \
	".target " target "\n"                                                                     \
	".address_size 64\n"

#define BLANK                                                                                      \
	".visible .entry sycl_blank()\n"                                                           \
	"{\n"                                                                                      \
	"\tret;\n"                                                                                 \
	"}\n"

/* `wait`: the instructions before the first access to memory. */
#define FILL(wait)                                                                                 \
	".visible .entry sycl_fill(.param .u64 aligned, .param .u64 first, .param .u64 last,\n"    \
	"\t.param .u64 units, .param .u32 period, .param .align 4 .b8 pattern[512])\n"             \
	"{\n"                                                                                      \
	"\t.reg .pred %p<8>;\n"                                                                    \
	"\t.reg .b32 %r<24>;\n"                                                                    \
	"\t.reg .b64 %d<24>;\n"                                                                    \
	"\tld.param.u64 %d1, [aligned];\n"                                                         \
	"\tld.param.u64 %d2, [first];\n"                                                           \
	"\tld.param.u64 %d3, [last];\n"                                                            \
	"\tld.param.u64 %d4, [units];\n"                                                           \
	"\tld.param.u32 %r1, [period];\n"                                                          \
	"\tmov.b64 %d9, pattern;\n"                                                                \
	"\tmov.u32 %r2, %ctaid.x;\n"                                                               \
	"\tmov.u32 %r3, %ntid.x;\n"                                                                \
	"\tmov.u32 %r4, %tid.x;\n"                                                                 \
	"\tmov.u32 %r5, %nctaid.x;\n"                                                              \
	"\tmul.wide.u32 %d5, %r2, %r3;\n"                                                          \
	"\tcvt.u64.u32 %d6, %r4;\n"                                                                \
	"\tadd.u64 %d5, %d5, %d6;\n"      /* the unit of this work-item */                         \
	"\tmul.wide.u32 %d7, %r5, %r3;\n" /* the distance to the work-item's next unit */          \
	"\tcvt.u64.u32 %d8, %r1;\n"                                                                \
	"\tshl.b64 %d10, %d5, 2;\n"                                                                \
	"\trem.u64 %d10, %d10, %d8;\n"                                                             \
	"\tcvt.u32.u64 %r6, %d10;\n" /* the unit's first word in the pattern */                    \
	"\tshl.b64 %d10, %d7, 2;\n"                                                                \
	"\trem.u64 %d10, %d10, %d8;\n"                                                             \
	"\tcvt.u32.u64 %r7, %d10;\n" wait "NEXT:\n"                                                \
	"\tsetp.ge.u64 %p1, %d5, %d4;\n"                                                           \
	"\t@%p1 bra END;\n"                                                                        \
	"\tmul.wide.u32 %d10, %r6, 4;\n"                                                           \
	"\tadd.u64 %d10, %d9, %d10;\n"                                                             \
	"\tld.param.u32 %r8, [%d10];\n"                                                            \
	"\tadd.u32 %r12, %r6, 1;\n"                                                                \
	"\tsetp.ge.u32 %p2, %r12, %r1;\n"                                                          \
	"\t@%p2 mov.u32 %r12, 0;\n"                                                                \
	"\tmul.wide.u32 %d10, %r12, 4;\n"                                                          \
	"\tadd.u64 %d10, %d9, %d10;\n"                                                             \
	"\tld.param.u32 %r9, [%d10];\n"                                                            \
	"\tadd.u32 %r13, %r12, 1;\n"                                                               \
	"\tsetp.ge.u32 %p2, %r13, %r1;\n"                                                          \
	"\t@%p2 mov.u32 %r13, 0;\n"                                                                \
	"\tmul.wide.u32 %d10, %r13, 4;\n"                                                          \
	"\tadd.u64 %d10, %d9, %d10;\n"                                                             \
	"\tld.param.u32 %r10, [%d10];\n"                                                           \
	"\tadd.u32 %r14, %r13, 1;\n"                                                               \
	"\tsetp.ge.u32 %p2, %r14, %r1;\n"                                                          \
	"\t@%p2 mov.u32 %r14, 0;\n"                                                                \
	"\tmul.wide.u32 %d10, %r14, 4;\n"                                                          \
	"\tadd.u64 %d10, %d9, %d10;\n"                                                             \
	"\tld.param.u32 %r11, [%d10];\n"                                                           \
	"\tshl.b64 %d11, %d5, 4;\n"                                                                \
	"\tadd.u64 %d11, %d1, %d11;\n"                                                             \
	"\tadd.u64 %d12, %d11, 16;\n"                                                              \
	"\tadd.u64 %d5, %d5, %d7;\n"                                                               \
	"\tadd.u32 %r6, %r6, %r7;\n"                                                               \
	"\tsetp.ge.u32 %p2, %r6, %r1;\n"                                                           \
	"\t@%p2 sub.u32 %r6, %r6, %r1;\n"                                                          \
	"\tsetp.lt.u64 %p3, %d11, %d2;\n"                                                          \
	"\t@%p3 bra BYTE;\n"                                                                       \
	"\tsetp.gt.u64 %p3, %d12, %d3;\n"                                                          \
	"\t@%p3 bra BYTE;\n"                                                                       \
	"\tst.global.v4.u32 [%d11], {%r8, %r9, %r10, %r11};\n"                                     \
	"\tbra NEXT;\n"                                                                            \
	"BYTE:\n" /* a unit partly outside: its bytes singly */                                    \
	"\tmov.u32 %r15, 0;\n"                                                                     \
	"BITS:\n"                                                                                  \
	"\tsetp.lt.u64 %p4, %d11, %d2;\n"                                                          \
	"\t@%p4 bra SKIP;\n"                                                                       \
	"\tsetp.ge.u64 %p5, %d11, %d3;\n"                                                          \
	"\t@%p5 bra SKIP;\n"                                                                       \
	"\tst.global.u8 [%d11], %r8;\n"                                                            \
	"SKIP:\n"                                                                                  \
	"\tadd.u64 %d11, %d11, 1;\n"                                                               \
	"\tadd.u32 %r15, %r15, 1;\n"                                                               \
	"\tshr.u32 %r8, %r8, 8;\n"                                                                 \
	"\tand.b32 %r16, %r15, 3;\n"                                                               \
	"\tsetp.ne.u32 %p6, %r16, 0;\n"                                                            \
	"\t@%p6 bra BITS;\n"                                                                       \
	"\tmov.u32 %r8, %r9;\n"                                                                    \
	"\tmov.u32 %r9, %r10;\n"                                                                   \
	"\tmov.u32 %r10, %r11;\n"                                                                  \
	"\tsetp.lt.u64 %p4, %d11, %d12;\n"                                                         \
	"\t@%p4 bra BITS;\n"                                                                       \
	"\tbra NEXT;\n"                                                                            \
	"END:\n"                                                                                   \
	"\tret;\n"                                                                                 \
	"}\n"

#define COPY(wait)                                                                                 \
	".visible .entry sycl_copy(.param .u64 to, .param .u64 from, .param .u64 bytes,\n"         \
	"\t.param .u32 fence)\n"                                                                   \
	"{\n"                                                                                      \
	"\t.reg .pred %p<8>;\n"                                                                    \
	"\t.reg .b32 %r<16>;\n"                                                                    \
	"\t.reg .b64 %d<24>;\n"                                                                    \
	"\tld.param.u64 %d1, [to];\n"                                                              \
	"\tld.param.u64 %d2, [from];\n"                                                            \
	"\tld.param.u64 %d3, [bytes];\n"                                                           \
	"\tld.param.u32 %r1, [fence];\n"                                                           \
	"\tmov.u32 %r2, %ctaid.x;\n"                                                               \
	"\tmov.u32 %r3, %ntid.x;\n"                                                                \
	"\tmov.u32 %r4, %tid.x;\n"                                                                 \
	"\tmov.u32 %r5, %nctaid.x;\n"                                                              \
	"\tmul.wide.u32 %d5, %r2, %r3;\n"                                                          \
	"\tcvt.u64.u32 %d6, %r4;\n"                                                                \
	"\tadd.u64 %d5, %d5, %d6;\n"      /* the unit of this work-item */                         \
	"\tmul.wide.u32 %d7, %r5, %r3;\n" /* the distance to the work-item's next unit */          \
	"\txor.b64 %d8, %d1, %d2;\n"                                                               \
	"\tmov.u64 %d9, 15;\n" /* a unit less one byte */                                          \
	"\tmov.u32 %r6, 4;\n"  /* the logarithm of a unit */                                       \
	"\tand.b64 %d10, %d8, 15;\n"                                                               \
	"\tsetp.eq.u64 %p1, %d10, 0;\n"                                                            \
	"\t@%p1 bra ALIKE;\n"                                                                      \
	"\tmov.u64 %d9, 3;\n"                                                                      \
	"\tmov.u32 %r6, 2;\n"                                                                      \
	"\tand.b64 %d10, %d8, 3;\n"                                                                \
	"\tsetp.eq.u64 %p2, %d10, 0;\n"                                                            \
	"\t@%p2 bra ALIKE;\n"                                                                      \
	"\tmov.u64 %d9, 0;\n"                                                                      \
	"\tmov.u32 %r6, 0;\n"                                                                      \
	"ALIKE:\n"                                                                                 \
	"\tneg.s64 %d11, %d1;\n"                                                                   \
	"\tand.b64 %d11, %d11, %d9;\n"                                                             \
	"\tmin.u64 %d11, %d11, %d3;\n" /* bytes before the first unit */                           \
	"\tsub.u64 %d12, %d3, %d11;\n"                                                             \
	"\tshr.u64 %d12, %d12, %r6;\n" /* number of units */                                       \
	"\tshl.b64 %d13, %d12, %r6;\n"                                                             \
	"\tadd.u64 %d13, %d13, %d11;\n" /* the first byte behind the last unit */                  \
		wait "\tadd.u64 %d14, %d1, %d11;\n"                                                \
	"\tadd.u64 %d15, %d2, %d11;\n"                                                             \
	"\tmov.u64 %d16, %d5;\n"                                                                   \
	"NEXT:\n"                                                                                  \
	"\tsetp.ge.u64 %p3, %d16, %d12;\n"                                                         \
	"\t@%p3 bra ENDS;\n"                                                                       \
	"\tshl.b64 %d17, %d16, %r6;\n"                                                             \
	"\tadd.u64 %d18, %d14, %d17;\n"                                                            \
	"\tadd.u64 %d19, %d15, %d17;\n"                                                            \
	"\tadd.u64 %d16, %d16, %d7;\n"                                                             \
	"\t@%p1 bra WIDE;\n"                                                                       \
	"\t@%p2 bra WORD;\n"                                                                       \
	"\tld.global.u8 %r8, [%d19];\n"                                                            \
	"\tst.global.u8 [%d18], %r8;\n"                                                            \
	"\tbra NEXT;\n"                                                                            \
	"WORD:\n"                                                                                  \
	"\tld.global.u32 %r8, [%d19];\n"                                                           \
	"\tst.global.u32 [%d18], %r8;\n"                                                           \
	"\tbra NEXT;\n"                                                                            \
	"WIDE:\n"                                                                                  \
	"\tld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d19];\n"                                     \
	"\tst.global.v4.u32 [%d18], {%r8, %r9, %r10, %r11};\n"                                     \
	"\tbra NEXT;\n"                                                                            \
	"ENDS:\n" /* fewer bytes than work-items at each end */                                    \
	"\tsetp.ge.u64 %p4, %d5, %d11;\n"                                                          \
	"\t@%p4 bra LAST;\n"                                                                       \
	"\tadd.u64 %d18, %d1, %d5;\n"                                                              \
	"\tadd.u64 %d19, %d2, %d5;\n"                                                              \
	"\tld.global.u8 %r8, [%d19];\n"                                                            \
	"\tst.global.u8 [%d18], %r8;\n"                                                            \
	"LAST:\n"                                                                                  \
	"\tadd.u64 %d13, %d13, %d5;\n"                                                             \
	"\tsetp.ge.u64 %p4, %d13, %d3;\n"                                                          \
	"\t@%p4 bra DONE;\n"                                                                       \
	"\tadd.u64 %d18, %d1, %d13;\n"                                                             \
	"\tadd.u64 %d19, %d2, %d13;\n"                                                             \
	"\tld.global.u8 %r8, [%d19];\n"                                                            \
	"\tst.global.u8 [%d18], %r8;\n"                                                            \
	"DONE:\n"                                                                                  \
	"\tsetp.eq.u32 %p5, %r1, 0;\n"                                                             \
	"\t@%p5 ret;\n"                                                                            \
	"\tmembar.sys;\n" /* the host reads the bytes as soon as it has read the mark */           \
	"\tret;\n"                                                                                 \
	"}\n"

/* Counts in memory of the device, because reading the host's takes longer. The fence: what earlier
 * kernels wrote to the host is there before the count. */
#define SIGNAL(wait)                                                                               \
	".global .align 4 .b8 sycl_signals[4096];\n" /* CUDA_SIGNALS_BYTES */                      \
	".visible .entry sycl_signal(.param .u64 word, .param .u32 index)\n"                       \
	"{\n"                                                                                      \
	"\t.reg .b32 %r<4>;\n"                                                                     \
	"\t.reg .b64 %d<6>;\n"                                                                     \
	"\tld.param.u64 %d1, [word];\n"                                                            \
	"\tld.param.u32 %r1, [index];\n"                                                           \
	"\tmov.u64 %d2, sycl_signals;\n"                                                           \
	"\tmul.wide.u32 %d3, %r1, 4;\n"                                                            \
	"\tadd.u64 %d4, %d2, %d3;\n" wait "\tld.global.u32 %r2, [%d4];\n"                          \
	"\tadd.u32 %r3, %r2, 1;\n"                                                                 \
	"\tst.global.u32 [%d4], %r3;\n"                                                            \
	"\tmembar.sys;\n"                                                                          \
	"\tst.volatile.global.u32 [%d1], %r3;\n"                                                   \
	"\tret;\n"                                                                                 \
	"}\n"

/* For the lowest architecture that the driver compiles for. */
static const char plain[] = HEAD("6.0", "sm_50") BLANK FILL("") COPY("") SIGNAL("");
/* These kernels wait for earlier kernels, as kernels of programs do (program/ptx_wait.h). */
static const char waiting[] = HEAD("7.8", "sm_90") BLANK FILL("\tgriddepcontrol.wait;\n")
	COPY("\tgriddepcontrol.wait;\n") SIGNAL("\tgriddepcontrol.wait;\n");

const char *cuda_own_ptx(bool waits)
{
	return waits ? waiting : plain;
}
