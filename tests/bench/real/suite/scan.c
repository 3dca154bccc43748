/* Prefix sums of words: first those of groups, then those of the groups' sums, and of the sums of
 * those. */
#include "real/suite/suite.h"

#include <stdlib.h>

enum { GROUP = 256, LEVELS = 3, SCAN = 0, ADD };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void scan(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(uint) out, SYCL_GLOBAL(uint) sums, uint count)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(uint, t, 256);\n"
	"	uint i = (uint)sycl_global_id(0), l = (uint)sycl_local_id(0), own = i < count ? in[i] : 0u;\n"
	"	t[l] = own;\n"
	"	sycl_group_barrier();\n"
	"	for (uint step = 1u; step < 256u; step *= 2u) {\n"
	"		uint before = l >= step ? t[l - step] : 0u;\n"
	"		sycl_group_barrier();\n"
	"		t[l] += before;\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	if (i < count)\n		out[i] = t[l] - own;\n"
	"	if (l == 255u)\n		sums[(uint)sycl_group_id(0)] = t[l];\n"
	"}\n"
	"SYCL_KERNEL void add(SYCL_GLOBAL(const uint) sums, SYCL_GLOBAL(uint) out, uint count)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	if (i < count)\n		out[i] += sums[i / 256u];\n"
	"}\n";
/* clang-format on */

/* The words of a level are the sums of the groups of the level before. */
struct scan {
	uint32_t counts[LEVELS + 1];
	unsigned words[LEVELS + 1], sums[LEVELS];
	uint32_t *expected, *total;
};

static bool open_scan(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = 300, [REAL_PROCESSOR] = 1 << 16, [REAL_GPU] = 1 << 22};
	struct scan *scan = real->own;
	const uint32_t count = sizes[real->scale];
	uint32_t *in = malloc(count * sizeof(*in));
	scan->expected = malloc(count * sizeof(*in));
	scan->total = real->body->host(real->layer, sizeof(*scan->total));
	if (!in || !scan->expected || !scan->total) {
		free(in);
		return false;
	}
	suite_words(in, count, 1);
	for (uint32_t i = 0, sum = 0; i < count; sum += in[i++])
		scan->expected[i] = sum;
	scan->counts[0] = count;
	bool good = suite_alloc(real, count * sizeof(*in), in, &scan->words[0]);
	for (int i = 0; i < LEVELS && good; i++) {
		scan->counts[i + 1] = (scan->counts[i] + GROUP - 1) / GROUP;
		good = suite_alloc(real, scan->counts[i] * sizeof(*in), NULL, &scan->sums[i]) &&
		       suite_alloc(real, scan->counts[i + 1] * sizeof(*in), NULL,
				   &scan->words[i + 1]);
	}
	free(in);
	return good;
}

static bool scan_step(struct real *real, const struct real_variant *variant)
{
	const struct scan *scan = real->own;
	bool good = true;
	(void)variant;
	for (int i = 0; i < LEVELS && good; i++)
		good = suite_launch(real, SCAN, scan->counts[i], GROUP, 2 | 4,
				    BUFFERS_OF(scan->words[i], scan->sums[i], scan->words[i + 1]),
				    WORDS_OF(scan->counts[i]));
	for (int i = LEVELS - 2; i >= 0 && good; i--)
		good = suite_launch(real, ADD, scan->counts[i], GROUP, 2,
				    BUFFERS_OF(scan->sums[i + 1], scan->sums[i]),
				    WORDS_OF(scan->counts[i]));
	return good && real->body->read(real->layer, scan->words[LEVELS], scan->total,
					sizeof(*scan->total));
}

static bool scan_verify(struct real *real)
{
	const struct scan *scan = real->own;
	return suite_compare_words(real, scan->sums[0], scan->expected, scan->counts[0]);
}

const struct real_program suite_scan = {
	.source = {text, {"scan", "add"}},
	.own_bytes = sizeof(struct scan),
	.variants = suite_variant,
	.open = open_scan,
	.step = scan_step,
	.verify = scan_verify,
};
