/* Points are assigned to sixteen centres, which move to the mean of their points. All numbers are
 * integers. */
#include "real/suite/suite.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 256, AXES = 4, CENTRES = 16, SUMS = CENTRES * (AXES + 1) };
enum { BEGIN, ASSIGN, SUM, MOVE };
enum { POINTS, FIRST, CENTRE, LABELS, PARTS, BUFFERS };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void begin(SYCL_GLOBAL(const uint) first, SYCL_GLOBAL(uint) centres)\n"
	"{\n"
	"	centres[(uint)sycl_global_id(0)] = first[(uint)sycl_global_id(0)];\n"
	"}\n"
	"SYCL_KERNEL void assign(SYCL_GLOBAL(const uint) points, SYCL_GLOBAL(const uint) centres, SYCL_GLOBAL(uint) labels)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), best = 0u, nearest = 0xffffffffu;\n"
	"	for (uint c = 0u; c < 16u; c++) {\n"
	"		uint square = 0u;\n"
	"		for (uint axis = 0u; axis < 4u; axis++) {\n"
	"			uint d = points[4u * i + axis] - centres[4u * c + axis];\n"
	"			square += d * d;\n"
	"		}\n"
	"		if (square < nearest) {\n"
	"			nearest = square;\n"
	"			best = c;\n"
	"		}\n"
	"	}\n"
	"	labels[i] = best;\n"
	"}\n"
	"SYCL_KERNEL void sum(SYCL_GLOBAL(const uint) points, SYCL_GLOBAL(const uint) labels, SYCL_GLOBAL(uint) parts)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(uint, t, 256);\n"
	"	uint l = (uint)sycl_local_id(0), c = l / 5u, axis = l % 5u, first = (uint)sycl_group_id(0) * 256u, own = 0u;\n"
	"	t[l] = labels[first + l];\n"
	"	sycl_group_barrier();\n"
	"	if (l >= 80u)\n		return;\n"
	"	for (uint k = 0u; k < 256u; k++)\n"
	"		if (t[k] == c)\n"
	"			own += axis < 4u ? points[4u * (first + k) + axis] : 1u;\n"
	"	parts[(uint)sycl_group_id(0) * 80u + l] = own;\n"
	"}\n"
	"SYCL_KERNEL void move(SYCL_GLOBAL(const uint) parts, SYCL_GLOBAL(uint) centres, uint groups)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(uint, t, 80);\n"
	"	uint l = (uint)sycl_local_id(0), c = l / 5u, axis = l % 5u, own = 0u;\n"
	"	for (uint g = 0u; g < groups; g++)\n		own += parts[g * 80u + l];\n"
	"	t[l] = own;\n"
	"	sycl_group_barrier();\n"
	"	if (axis < 4u && t[c * 5u + 4u] > 0u)\n"
	"		centres[4u * c + axis] = own / t[c * 5u + 4u];\n"
	"}\n";
/* clang-format on */

struct kmeans {
	uint32_t count, turns;
	unsigned buffers[BUFFERS];
	uint32_t expected[CENTRES * AXES], *read;
};

static unsigned nearest_centre(const uint32_t *point, const uint32_t *centres)
{
	uint32_t nearest = UINT32_MAX;
	unsigned best = 0;
	for (unsigned c = 0; c < CENTRES; c++) {
		uint32_t square = 0;
		for (unsigned axis = 0; axis < AXES; axis++) {
			const uint32_t d = point[axis] - centres[c * AXES + axis];
			square += d * d;
		}
		if (square < nearest) {
			nearest = square;
			best = c;
		}
	}
	return best;
}

static void host_turn(const uint32_t *points, uint32_t *centres, uint32_t count)
{
	uint32_t sums[CENTRES][AXES] = {{0}}, counts[CENTRES] = {0};
	for (uint32_t i = 0; i < count; i++) {
		const unsigned c = nearest_centre(&points[i * AXES], centres);
		counts[c]++;
		for (unsigned axis = 0; axis < AXES; axis++)
			sums[c][axis] += points[i * AXES + axis];
	}
	for (unsigned i = 0; i < CENTRES * AXES; i++)
		if (counts[i / AXES] > 0)
			centres[i] = sums[i / AXES][i % AXES] / counts[i / AXES];
}

static bool open_kmeans(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = GROUP, [REAL_PROCESSOR] = 1 << 12, [REAL_GPU] = 1 << 16};
	struct kmeans *kmeans = real->own;
	const uint32_t count = sizes[real->scale], bytes = count * AXES * sizeof(uint32_t);
	unsigned *b = kmeans->buffers;
	uint32_t *points = malloc(bytes);
	kmeans->count = count;
	kmeans->turns = real->scale == REAL_GPU ? 5 : 2;
	kmeans->read = real->body->host(real->layer, sizeof(kmeans->expected));
	if (!points || !kmeans->read) {
		free(points);
		return false;
	}
	suite_words(points, count * AXES, 8);
	for (uint32_t i = 0; i < count * AXES; i++)
		points[i] %= 1024;
	memcpy(kmeans->expected, points, sizeof(kmeans->expected));
	bool good = suite_alloc(real, bytes, points, &b[POINTS]) &&
		    suite_alloc(real, sizeof(kmeans->expected), points, &b[FIRST]) &&
		    suite_alloc(real, sizeof(kmeans->expected), NULL, &b[CENTRE]) &&
		    suite_alloc(real, count * sizeof(uint32_t), NULL, &b[LABELS]) &&
		    suite_alloc(real, count / GROUP * SUMS * sizeof(uint32_t), NULL, &b[PARTS]);
	for (uint32_t turn = 0; turn < kmeans->turns; turn++)
		host_turn(points, kmeans->expected, count);
	free(points);
	return good;
}

static bool kmeans_step(struct real *real, const struct real_variant *variant)
{
	const struct kmeans *kmeans = real->own;
	const unsigned *b = kmeans->buffers;
	bool good = suite_launch(real, BEGIN, CENTRES * AXES, CENTRES * AXES, 2,
				 BUFFERS_OF(b[FIRST], b[CENTRE]), NO_WORDS);
	(void)variant;
	for (uint32_t turn = 0; turn < kmeans->turns && good; turn++)
		good = suite_launch(real, ASSIGN, kmeans->count, GROUP, 4,
				    BUFFERS_OF(b[POINTS], b[CENTRE], b[LABELS]), NO_WORDS) &&
		       suite_launch(real, SUM, kmeans->count, GROUP, 4,
				    BUFFERS_OF(b[POINTS], b[LABELS], b[PARTS]), NO_WORDS) &&
		       suite_launch(real, MOVE, SUMS, SUMS, 2, BUFFERS_OF(b[PARTS], b[CENTRE]),
				    WORDS_OF(kmeans->count / GROUP));
	return good &&
	       real->body->read(real->layer, b[CENTRE], kmeans->read, sizeof(kmeans->expected));
}

static bool kmeans_check(struct real *real, const struct real_variant *variant)
{
	const struct kmeans *kmeans = real->own;
	(void)variant;
	for (uint32_t i = 0; i < CENTRES * AXES; i++)
		if (kmeans->read[i] != kmeans->expected[i])
			return real_wrong("centre %u, axis %u: %u instead of %u", i / AXES,
					  i % AXES, kmeans->read[i], kmeans->expected[i]);
	return true;
}

const struct real_program suite_kmeans = {
	.source = {text, {"begin", "assign", "sum", "move"}},
	.own_bytes = sizeof(struct kmeans),
	.variants = suite_variant,
	.open = open_kmeans,
	.step = kmeans_step,
	.check = kmeans_check,
};
