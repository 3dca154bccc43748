/* How often each grey value of a picture occurs: copied in from the host, counted in local memory,
 * copied out. */
#include "real/suite/suite.h"

#include <stdlib.h>

enum { GROUP = 256, BINS = 256, GROUPS_MOST = 64, CLEAR = 0, COUNT };

/* A word has four pixels. */
/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void clear(SYCL_GLOBAL(uint) bins)\n"
	"{\n"
	"	bins[(uint)sycl_global_id(0)] = 0u;\n"
	"}\n"
	"SYCL_KERNEL void count(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(uint) bins, uint words, uint items)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(uint, t, 256);\n"
	"	uint l = (uint)sycl_local_id(0);\n"
	"	t[l] = 0u;\n"
	"	sycl_group_barrier();\n"
	"	for (uint i = (uint)sycl_global_id(0); i < words; i += items)\n"
	"		for (uint shift = 0u; shift < 32u; shift += 8u)\n"
	"			sycl_atomic_add(&t[in[i] >> shift & 255u], 1u);\n"
	"	sycl_group_barrier();\n"
	"	if (t[l] > 0u)\n		sycl_atomic_add(&bins[l], t[l]);\n"
	"}\n";
/* clang-format on */

struct histogram {
	uint32_t words;
	unsigned in, bins;
	uint32_t *picture, *read, expected[BINS];
};

static bool open_histogram(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = GROUP, [REAL_PROCESSOR] = 1 << 14, [REAL_GPU] = 1 << 18};
	struct histogram *histogram = real->own;
	const uint32_t words = sizes[real->scale];
	histogram->words = words;
	histogram->picture = real->body->host(real->layer, words * sizeof(uint32_t));
	histogram->read = real->body->host(real->layer, sizeof(histogram->expected));
	if (!histogram->picture || !histogram->read)
		return false;
	suite_words(histogram->picture, words, 7);
	for (uint32_t i = 0; i < words * 4; i++)
		histogram->expected[histogram->picture[i / 4] >> i % 4 * 8 & 255]++;
	return suite_alloc(real, words * sizeof(uint32_t), NULL, &histogram->in) &&
	       suite_alloc(real, sizeof(histogram->expected), NULL, &histogram->bins);
}

static bool histogram_step(struct real *real, const struct real_variant *variant)
{
	const struct histogram *histogram = real->own;
	const uint32_t most = GROUPS_MOST * GROUP,
		       items = histogram->words < most ? histogram->words : most;
	(void)variant;
	return real->body->write(real->layer, histogram->in, histogram->picture,
				 histogram->words * sizeof(uint32_t)) &&
	       suite_launch(real, CLEAR, BINS, GROUP, 1, BUFFERS_OF(histogram->bins), NO_WORDS) &&
	       suite_launch(real, COUNT, items, GROUP, 2,
			    BUFFERS_OF(histogram->in, histogram->bins),
			    WORDS_OF(histogram->words, items)) &&
	       real->body->read(real->layer, histogram->bins, histogram->read,
				sizeof(histogram->expected));
}

static bool histogram_check(struct real *real, const struct real_variant *variant)
{
	const struct histogram *histogram = real->own;
	(void)variant;
	for (uint32_t i = 0; i < BINS; i++)
		if (histogram->read[i] != histogram->expected[i])
			return real_wrong("grey %u occurs %u times instead of %u", i,
					  histogram->read[i], histogram->expected[i]);
	return true;
}

const struct real_program suite_histogram = {
	.source = {text, {"clear", "count"}},
	.own_bytes = sizeof(struct histogram),
	.variants = suite_variant,
	.open = open_histogram,
	.step = histogram_step,
	.check = histogram_check,
};
