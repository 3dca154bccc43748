/* Keys are sorted by four bits at a time: counted, the counts summed, and moved. */
#include "real/suite/suite.h"

#include <stdlib.h>

enum { GROUP = 256, DIGITS = 16, BITS = 4, COUNT = 0, SUM, MOVE };
enum { SOURCE, FIRST, SECOND, COUNTS, BUFFERS };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void count(SYCL_GLOBAL(const uint) keys, SYCL_GLOBAL(uint) counts, uint shift, uint groups)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(uint, t, 256);\n"
	"	uint l = (uint)sycl_local_id(0), sum = 0u;\n"
	"	t[l] = keys[(uint)sycl_global_id(0)] >> shift & 15u;\n"
	"	sycl_group_barrier();\n"
	"	if (l >= 16u)\n		return;\n"
	"	for (uint i = 0u; i < 256u; i++)\n		sum += t[i] == l ? 1u : 0u;\n"
	"	counts[l * groups + (uint)sycl_group_id(0)] = sum;\n"
	"}\n"
	"SYCL_KERNEL void sum(SYCL_GLOBAL(uint) counts, uint each, uint all)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(uint, t, 256);\n"
	"	uint l = (uint)sycl_local_id(0), first = l * each, own = 0u;\n"
	"	for (uint i = first; i < first + each && i < all; i++)\n		own += counts[i];\n"
	"	t[l] = own;\n"
	"	sycl_group_barrier();\n"
	"	for (uint step = 1u; step < 256u; step *= 2u) {\n"
	"		uint before = l >= step ? t[l - step] : 0u;\n"
	"		sycl_group_barrier();\n"
	"		t[l] += before;\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	uint at = t[l] - own;\n"
	"	for (uint i = first; i < first + each && i < all; i++) {\n"
	"		uint here = counts[i];\n"
	"		counts[i] = at;\n"
	"		at += here;\n"
	"	}\n"
	"}\n"
	"SYCL_KERNEL void move(SYCL_GLOBAL(const uint) keys, SYCL_GLOBAL(uint) out, SYCL_GLOBAL(const uint) counts,\n"
	"	uint shift, uint groups)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(uint, t, 256);\n"
	"	uint l = (uint)sycl_local_id(0), key = keys[(uint)sycl_global_id(0)], digit = key >> shift & 15u, rank = 0u;\n"
	"	t[l] = digit;\n"
	"	sycl_group_barrier();\n"
	"	for (uint i = 0u; i < l; i++)\n		rank += t[i] == digit ? 1u : 0u;\n"
	"	out[counts[digit * groups + (uint)sycl_group_id(0)] + rank] = key;\n"
	"}\n";
/* clang-format on */

struct sort {
	uint32_t count, passes;
	unsigned buffers[BUFFERS];
	uint32_t *expected, *sorted;
};

static int order_of_words(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static bool open_sort(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = GROUP, [REAL_PROCESSOR] = 1 << 13, [REAL_GPU] = 1 << 18};
	struct sort *sort = real->own;
	const uint32_t bytes = sizes[real->scale] * sizeof(uint32_t);
	sort->count = sizes[real->scale];
	sort->passes = real->scale == REAL_TINY ? 2 : 8;
	sort->expected = malloc(bytes);
	sort->sorted = real->body->host(real->layer, bytes);
	if (!sort->expected || !sort->sorted)
		return false;
	suite_words(sort->expected, sort->count, 2);
	for (uint32_t i = 0; i < sort->count; i++)
		sort->expected[i] &= UINT32_MAX >> (32 - BITS * sort->passes);
	bool good = suite_alloc(real, bytes, sort->expected, &sort->buffers[SOURCE]) &&
		    suite_alloc(real, bytes, NULL, &sort->buffers[FIRST]) &&
		    suite_alloc(real, bytes, NULL, &sort->buffers[SECOND]) &&
		    suite_alloc(real, bytes / GROUP * DIGITS, NULL, &sort->buffers[COUNTS]);
	qsort(sort->expected, sort->count, sizeof(uint32_t), order_of_words);
	return good;
}

static bool sort_step(struct real *real, const struct real_variant *variant)
{
	const struct sort *sort = real->own;
	const unsigned *b = sort->buffers;
	const uint32_t groups = sort->count / GROUP, all = groups * DIGITS;
	bool good = true;
	(void)variant;
	for (uint32_t pass = 0; pass < sort->passes && good; pass++) {
		const unsigned in = b[pass == 0  ? SOURCE
				      : pass % 2 ? FIRST
						 : SECOND],
			       out = b[pass % 2 ? SECOND : FIRST];
		good = suite_launch(real, COUNT, sort->count, GROUP, 2, BUFFERS_OF(in, b[COUNTS]),
				    WORDS_OF(pass * BITS, groups)) &&
		       suite_launch(real, SUM, GROUP, GROUP, 1, BUFFERS_OF(b[COUNTS]),
				    WORDS_OF((all + GROUP - 1) / GROUP, all)) &&
		       suite_launch(real, MOVE, sort->count, GROUP, 2,
				    BUFFERS_OF(in, out, b[COUNTS]), WORDS_OF(pass * BITS, groups));
	}
	return good && real->body->read(real->layer, b[SECOND], sort->sorted,
					sort->count * sizeof(uint32_t));
}

static bool sort_verify(struct real *real)
{
	const struct sort *sort = real->own;
	for (uint32_t i = 0; i < sort->count; i++)
		if (sort->sorted[i] != sort->expected[i])
			return real_wrong("key %u is %u instead of %u", i, sort->sorted[i],
					  sort->expected[i]);
	return true;
}

const struct real_program suite_sort = {
	.source = {text, {"count", "sum", "move"}},
	.own_bytes = sizeof(struct sort),
	.variants = suite_variant,
	.open = open_sort,
	.step = sort_step,
	.verify = sort_verify,
};
