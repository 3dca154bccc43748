#include "real/suite/suite.h"

#include <math.h>
#include <stdlib.h>

const struct suite_entry suite_programs[SUITE_PROGRAMS] = {
	{"solver", &real_solver_launches},
	{"multigrid", &suite_multigrid},
	{"fft", &suite_fft},
	{"sort", &suite_sort},
	{"scan", &suite_scan},
	{"bfs", &suite_bfs},
	{"gemm", &suite_gemm},
	{"lu", &suite_lu},
	{"nbody", &suite_nbody},
	{"histogram", &suite_histogram},
	{"kmeans", &suite_kmeans},
	{"convnet", &suite_convnet},
	{"transformer", &real_requests},
	{"taskgraph", &suite_taskgraph},
};

const struct real_variant suite_variant[] = {{.name = ""}, {.name = NULL}};

static uint32_t next_word(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state;
}

void suite_numbers(float *numbers, uint32_t count, uint32_t seed)
{
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = (float)(next_word(&seed) >> 8) / 8388608.0f - 1;
}

void suite_words(uint32_t *words, uint32_t count, uint32_t seed)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t high = next_word(&seed) & 0xffff0000u;
		words[i] = high | next_word(&seed) >> 16;
	}
}

bool suite_alloc(struct real *real, uint64_t bytes, const void *contents, unsigned *buffer_out)
{
	if (!real->body->alloc(real->layer, bytes, buffer_out))
		return false;
	return !contents || (real->body->write(real->layer, *buffer_out, contents, bytes) &&
			     real->body->sync(real->layer));
}

bool suite_launch(struct real *real, unsigned kernel, uint32_t global, uint32_t local,
		  unsigned writes, unsigned pointers, const unsigned *buffers, unsigned values,
		  const uint32_t *words)
{
	struct layer_launch launch = {.kernel = kernel,
				      .global = (global + local - 1) / local * local,
				      .local = local,
				      .pointers = pointers,
				      .values = values,
				      .writes = writes};
	for (unsigned i = 0; i < pointers && i < LAYER_POINTERS; i++)
		launch.buffers[i] = buffers[i];
	for (unsigned i = 0; i < values && i < LAYER_VALUES; i++)
		launch.words[i] = words[i];
	return real->body->launch(real->layer, &launch);
}

bool suite_compare_numbers(struct real *real, unsigned buffer, const double *expected,
			   uint32_t count, double error)
{
	float *numbers = malloc(count * sizeof(*numbers));
	bool good =
		numbers && real->body->read(real->layer, buffer, numbers, count * sizeof(*numbers));
	for (uint32_t i = 0; i < count && good; i++)
		good = fabs(numbers[i] - expected[i]) <= error ||
		       real_wrong("number %u is %g instead of %g", i, (double)numbers[i],
				  expected[i]);
	free(numbers);
	return good;
}

bool suite_compare_words(struct real *real, unsigned buffer, const uint32_t *expected,
			 uint32_t count)
{
	uint32_t *words = malloc(count * sizeof(*words));
	bool good = words && real->body->read(real->layer, buffer, words, count * sizeof(*words));
	for (uint32_t i = 0; i < count && good; i++)
		good = words[i] == expected[i] ||
		       real_wrong("word %u is %u instead of %u", i, words[i], expected[i]);
	free(words);
	return good;
}
