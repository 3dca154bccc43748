/* The distance of each vertex of a graph: a kernel and a read of four bytes for each level. */
#include "real/suite/suite.h"

#include <stdlib.h>

enum { GROUP = 128, DEGREE = 4, LEVELS_MOST = 1000, BEGIN = 0, EXPAND };
#define UNSEEN UINT32_MAX

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void begin(SYCL_GLOBAL(uint) levels, SYCL_GLOBAL(uint) reached)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	levels[i] = i == 0u ? 0u : 0xffffffffu;\n"
	"	if (i == 0u)\n		reached[0] = 0u;\n"
	"}\n"
	"SYCL_KERNEL void expand(SYCL_GLOBAL(const uint) edges, SYCL_GLOBAL(uint) levels, SYCL_GLOBAL(uint) reached,\n"
	"	uint level)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	if (levels[i] != level)\n		return;\n"
	"	for (uint k = 0u; k < 4u; k++) {\n"
	"		uint to = edges[i * 4u + k];\n"
	"		if (levels[to] == 0xffffffffu) {\n"
	"			levels[to] = level + 1u;\n"
	"			reached[0] = level + 1u;\n"
	"		}\n"
	"	}\n"
	"}\n";
/* clang-format on */

struct bfs {
	uint32_t count;
	unsigned edges, levels, reached;
	uint32_t *expected, *read;
};

/* Each vertex has an edge to the next one, and random ones. */
static void make_edges(uint32_t *edges, uint32_t count)
{
	suite_words(edges, count * DEGREE, 4);
	for (uint32_t i = 0; i < count * DEGREE; i++)
		edges[i] = i % DEGREE ? edges[i] % count : (i / DEGREE + 1) % count;
}

static bool host_search(const uint32_t *edges, uint32_t *levels, uint32_t count)
{
	uint32_t *found = malloc(count * sizeof(*found)), end = 1;
	if (!found)
		return false;
	for (uint32_t i = 0; i < count; i++)
		levels[i] = UNSEEN;
	levels[0] = found[0] = 0;
	for (uint32_t at = 0; at < end; at++)
		for (uint32_t k = 0; k < DEGREE; k++) {
			const uint32_t to = edges[found[at] * DEGREE + k];
			if (levels[to] != UNSEEN)
				continue;
			levels[to] = levels[found[at]] + 1;
			found[end++] = to;
		}
	free(found);
	return true;
}

static bool open_bfs(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = GROUP, [REAL_PROCESSOR] = 1 << 13, [REAL_GPU] = 1 << 19};
	struct bfs *bfs = real->own;
	const uint32_t count = sizes[real->scale], bytes = count * sizeof(uint32_t);
	uint32_t *edges = malloc((size_t)bytes * DEGREE);
	bfs->count = count;
	bfs->expected = malloc(bytes);
	bfs->read = real->body->host(real->layer, sizeof(*bfs->read));
	bool good = edges && bfs->expected && bfs->read;
	if (good) {
		make_edges(edges, count);
		good = host_search(edges, bfs->expected, count) &&
		       suite_alloc(real, (uint64_t)bytes * DEGREE, edges, &bfs->edges) &&
		       suite_alloc(real, bytes, NULL, &bfs->levels) &&
		       suite_alloc(real, sizeof(uint32_t), NULL, &bfs->reached);
	}
	free(edges);
	return good;
}

static bool bfs_step(struct real *real, const struct real_variant *variant)
{
	const struct bfs *bfs = real->own;
	bool good = suite_launch(real, BEGIN, bfs->count, GROUP, 1 | 2,
				 BUFFERS_OF(bfs->levels, bfs->reached), NO_WORDS);
	(void)variant;
	for (uint32_t level = 0; good && level < LEVELS_MOST; level++) {
		good = suite_launch(real, EXPAND, bfs->count, GROUP, 2 | 4,
				    BUFFERS_OF(bfs->edges, bfs->levels, bfs->reached),
				    WORDS_OF(level)) &&
		       real->body->read(real->layer, bfs->reached, bfs->read, sizeof(uint32_t));
		if (*bfs->read == level)
			break;
	}
	return good;
}

static bool bfs_verify(struct real *real)
{
	const struct bfs *bfs = real->own;
	return suite_compare_words(real, bfs->levels, bfs->expected, bfs->count);
}

const struct real_program suite_bfs = {
	.source = {text, {"begin", "expand"}},
	.own_bytes = sizeof(struct bfs),
	.variants = suite_variant,
	.open = open_bfs,
	.step = bfs_step,
	.verify = bfs_verify,
};
