/* Random tasks, each over three parts of one buffer. Parts have two sizes, and overlap. */
#include "real/suite/suite.h"

#include <stdlib.h>

enum { GROUP = 64, SMALL = 16, LARGE = 8, PARTS = SMALL + LARGE, TASKS = 60, SET = 0, BLEND };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void set(SYCL_GLOBAL(uint) a)\n"
	"{\n"
	"	a[(uint)sycl_global_id(0)] = (uint)sycl_global_id(0) * 2654435761u;\n"
	"}\n"
	"SYCL_KERNEL void blend(SYCL_GLOBAL(const uint) a, SYCL_GLOBAL(const uint) b, SYCL_GLOBAL(uint) c)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	c[i] = c[i] * 1664525u + (a[i] ^ b[i]);\n"
	"}\n";
/* clang-format on */

struct taskgraph {
	uint32_t words;
	unsigned whole, parts[PARTS];
	unsigned tasks[TASKS][3]; /* parts: two are read, the last one is written */
	uint32_t *expected, *read;
};

static uint32_t words_of(const struct taskgraph *graph, unsigned part)
{
	return graph->words / (part < SMALL ? SMALL : LARGE);
}

static uint32_t offset_of(const struct taskgraph *graph, unsigned part)
{
	return (part < SMALL ? part : part - SMALL) * words_of(graph, part);
}

/* The three parts of a task have one size, and differ. */
static void choose_tasks(struct taskgraph *graph)
{
	uint32_t chances[TASKS * 4];
	suite_words(chances, TASKS * 4, 30);
	for (unsigned i = 0; i < TASKS; i++) {
		const uint32_t *chance = &chances[i * 4];
		const unsigned first = chance[0] % 2 ? 0 : SMALL, count = first ? LARGE : SMALL;
		const unsigned a = chance[1] % count, b = (a + 1 + chance[2] % (count - 2)) % count;
		unsigned c = chance[3] % count;
		while (c == a || c == b)
			c = (c + 1) % count;
		graph->tasks[i][0] = first + a;
		graph->tasks[i][1] = first + b;
		graph->tasks[i][2] = first + c;
	}
}

static void host_tasks(const struct taskgraph *graph)
{
	for (uint32_t i = 0; i < graph->words; i++)
		graph->expected[i] = i * 2654435761u;
	for (unsigned task = 0; task < TASKS; task++) {
		const unsigned *parts = graph->tasks[task];
		const uint32_t *a = &graph->expected[offset_of(graph, parts[0])],
			       *b = &graph->expected[offset_of(graph, parts[1])];
		uint32_t *c = &graph->expected[offset_of(graph, parts[2])];
		for (uint32_t i = 0; i < words_of(graph, parts[0]); i++)
			c[i] = c[i] * 1664525u + (a[i] ^ b[i]);
	}
}

static bool open_taskgraph(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = GROUP * SMALL, [REAL_PROCESSOR] = 1 << 14, [REAL_GPU] = 1 << 18};
	struct taskgraph *graph = real->own;
	const uint32_t bytes = sizes[real->scale] * sizeof(uint32_t);
	graph->words = sizes[real->scale];
	graph->expected = malloc(bytes);
	graph->read = real->body->host(real->layer, sizeof(uint32_t));
	if (!graph->expected || !graph->read)
		return false;
	choose_tasks(graph);
	host_tasks(graph);
	bool good = suite_alloc(real, bytes, NULL, &graph->whole);
	for (unsigned part = 0; part < PARTS && good; part++)
		good = real->body->part(
			real->layer, graph->whole, offset_of(graph, part) * sizeof(uint32_t),
			words_of(graph, part) * sizeof(uint32_t), &graph->parts[part]);
	return good;
}

static bool taskgraph_step(struct real *real, const struct real_variant *variant)
{
	const struct taskgraph *graph = real->own;
	bool good =
		suite_launch(real, SET, graph->words, GROUP, 1, BUFFERS_OF(graph->whole), NO_WORDS);
	(void)variant;
	for (unsigned i = 0; i < TASKS && good; i++) {
		const unsigned *parts = graph->tasks[i];
		good = suite_launch(real, BLEND, words_of(graph, parts[0]), GROUP, 4,
				    BUFFERS_OF(graph->parts[parts[0]], graph->parts[parts[1]],
					       graph->parts[parts[2]]),
				    NO_WORDS);
	}
	return good && real->body->read(real->layer, graph->whole, graph->read, sizeof(uint32_t));
}

static bool taskgraph_verify(struct real *real)
{
	const struct taskgraph *graph = real->own;
	return suite_compare_words(real, graph->whole, graph->expected, graph->words);
}

const struct real_program suite_taskgraph = {
	.source = {text, {"set", "blend"}},
	.own_bytes = sizeof(struct taskgraph),
	.variants = suite_variant,
	.open = open_taskgraph,
	.step = taskgraph_step,
	.verify = taskgraph_verify,
};
