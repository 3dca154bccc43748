/*
 * The programs of TR7 and TR8, one file each: kernels in the portable form, steps on the layer, and
 * the same computation on the host. This header also has what they share.
 */
#ifndef SYCL_BENCH_REAL_SUITE_H
#define SYCL_BENCH_REAL_SUITE_H

#include "real/program.h"

enum { SUITE_PROGRAMS = 14 };

struct suite_entry {
	const char *name;
	const struct real_program *program;
};

extern const struct suite_entry suite_programs[SUITE_PROGRAMS];

extern const struct real_program suite_multigrid, suite_fft, suite_sort, suite_scan, suite_bfs,
	suite_gemm, suite_lu, suite_nbody, suite_histogram, suite_kmeans, suite_convnet,
	suite_taskgraph;
/* Not one of these programs: a request that fills a GPU for milliseconds. */
extern const struct real_program suite_heavy;

/* All of them have only one variant. */
extern const struct real_variant suite_variant[];

/* Pseudo-random numbers from -1 to 1, and words. */
void suite_numbers(float *numbers, uint32_t count, uint32_t seed);
void suite_words(uint32_t *words, uint32_t count, uint32_t seed);

/* Memory of the device; contents may be NULL. Waits until they are copied. */
bool suite_alloc(struct real *real, uint64_t bytes, const void *contents, unsigned *buffer_out);

/* As struct layer_launch; `global` is rounded up to whole groups. */
bool suite_launch(struct real *real, unsigned kernel, uint32_t global, uint32_t local,
		  unsigned writes, unsigned pointers, const unsigned *buffers, unsigned values,
		  const uint32_t *words);
#define BUFFERS_OF(...)                                                                            \
	sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned), (const unsigned[])                   \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define WORDS_OF(...)                                                                              \
	sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[])                   \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define NO_WORDS 0, NULL

/* Reads `count` of them and compares. `error`: the largest difference that rounding may make. */
bool suite_compare_numbers(struct real *real, unsigned buffer, const double *expected,
			   uint32_t count, double error);
bool suite_compare_words(struct real *real, unsigned buffer, const uint32_t *expected,
			 uint32_t count);

#endif
