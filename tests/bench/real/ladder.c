/*
 * TR4, one operation at a time: chains of kernels over one or three buffers each, graphs, writes,
 * and reads of the results of kernels. All words of a buffer are the same, so the host can compute
 * them.
 */
#include "real/program.h"

#include <stdlib.h>
#include <string.h>

enum {
	GROUP = 256,
	WORDS = 64 * GROUP, /* of a buffer of chains and graphs */
	WORDS_TINY = GROUP,
	BUFFERS = 6,
	COPY_BYTES = 4 << 20,
	ADD = 0,
	GATHER
};

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void add(SYCL_GLOBAL(uint) a, uint words)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	if (i < words)\n"
	"		a[i] += 1u;\n"
	"}\n"
	"SYCL_KERNEL void gather(SYCL_GLOBAL(const uint) a, SYCL_GLOBAL(const uint) b, SYCL_GLOBAL(uint) c, uint words)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	if (i < words)\n"
	"		c[i] += a[i] + b[i];\n"
	"}\n";
/* clang-format on */

enum kind { CHAIN, GRAPH, WRITE, READ, BOTH };
#define VARIANT(variant_name, kind, number)                                                        \
	{                                                                                          \
		.name = (variant_name), .a = (kind), .b = (number), .target_p50 = 1.0              \
	}
/* Of chains and graphs: the number of kernels, and of the buffers of each; of copies: bytes. */
#define KERNELS(count, buffers) ((count) << 4 | (buffers))

static const struct real_variant variants[] = {
	VARIANT("chain1x1", CHAIN, KERNELS(1, 1)),   VARIANT("chain8x1", CHAIN, KERNELS(8, 1)),
	VARIANT("chain16x1", CHAIN, KERNELS(16, 1)), VARIANT("chain32x1", CHAIN, KERNELS(32, 1)),
	VARIANT("chain1x3", CHAIN, KERNELS(1, 3)),   VARIANT("chain8x3", CHAIN, KERNELS(8, 3)),
	VARIANT("chain16x3", CHAIN, KERNELS(16, 3)), VARIANT("chain32x3", CHAIN, KERNELS(32, 3)),
	VARIANT("graph1", GRAPH, KERNELS(1, 3)),     VARIANT("graph4", GRAPH, KERNELS(4, 3)),
	VARIANT("graph8", GRAPH, KERNELS(8, 3)),     VARIANT("graph16", GRAPH, KERNELS(16, 3)),
	VARIANT("graph32", GRAPH, KERNELS(32, 3)),   VARIANT("write.4B", WRITE, 4),
	VARIANT("write.64KiB", WRITE, 65536),        VARIANT("write.1MiB", WRITE, 1 << 20),
	VARIANT("write.4MiB", WRITE, COPY_BYTES),    VARIANT("read.4B", READ, 4),
	VARIANT("read.64KiB", READ, 65536),          VARIANT("read.1MiB", READ, 1 << 20),
	VARIANT("read.4MiB", READ, COPY_BYTES),      VARIANT("both.4KiB", BOTH, 4096),
	VARIANT("both.1MiB", BOTH, 1 << 20),         {.name = NULL},
};
enum { GRAPHS = 5, FIRST_GRAPH = 8 };

struct ladder {
	uint32_t words;
	unsigned buffers[BUFFERS], copies[2]; /* of writes; of reads */
	unsigned graphs[GRAPHS];
	uint32_t values[BUFFERS]; /* the expected value of each word */
	uint32_t counts[2];       /* the value of each word of the copies */
	uint32_t *from, *to;      /* of the host */
};

static bool launch_add(struct real *real, unsigned buffer, uint32_t words)
{
	const uint32_t global = (words + GROUP - 1) / GROUP * GROUP;
	const struct layer_launch launch = {ADD, global, GROUP, 1, 1, {buffer}, 1, {words}};
	return real->body->launch(real->layer, &launch);
}

static bool launch_chain(struct real *real, unsigned number)
{
	const struct ladder *ladder = real->own;
	const unsigned *b = ladder->buffers;
	bool good = true;
	for (unsigned i = 0; i < number >> 4 && good; i++) {
		const struct layer_launch gather = {
			GATHER, ladder->words,
			GROUP,  3,
			1,      {b[i % BUFFERS], b[(i + 1) % BUFFERS], b[(i + 2) % BUFFERS]},
			4,      {ladder->words}};
		good = (number & 15) == 1 ? launch_add(real, b[0], ladder->words)
					  : real->body->launch(real->layer, &gather);
	}
	return good;
}

static void follow_chain(struct ladder *ladder, unsigned number)
{
	uint32_t *v = ladder->values;
	for (unsigned i = 0; i < number >> 4; i++)
		if ((number & 15) == 1)
			v[0]++;
		else
			v[(i + 2) % BUFFERS] += v[i % BUFFERS] + v[(i + 1) % BUFFERS];
}

static bool write_words(struct real *real, unsigned buffer, uint32_t value, uint64_t bytes)
{
	struct ladder *ladder = real->own;
	for (uint64_t i = 0; i < bytes / 4; i++)
		ladder->from[i] = value;
	return real->body->write(real->layer, buffer, ladder->from, bytes) &&
	       real->body->sync(real->layer);
}

static bool open_ladder(struct real *real)
{
	struct ladder *ladder = real->own;
	ladder->words = real->scale == REAL_TINY ? WORDS_TINY : WORDS;
	ladder->from = real->body->host(real->layer, COPY_BYTES);
	ladder->to = real->body->host(real->layer, COPY_BYTES);
	bool good = ladder->from && ladder->to;
	for (unsigned i = 0; i < BUFFERS && good; i++) {
		ladder->values[i] = i + 1;
		good = real->body->alloc(real->layer, ladder->words * 4, &ladder->buffers[i]) &&
		       write_words(real, ladder->buffers[i], i + 1, ladder->words * 4);
	}
	for (unsigned i = 0; i < 2 && good; i++)
		good = real->body->alloc(real->layer, COPY_BYTES, &ladder->copies[i]) &&
		       write_words(real, ladder->copies[i], 0, COPY_BYTES);
	for (unsigned i = 0; i < GRAPHS && good; i++)
		good = real->body->record_begin(real->layer) &&
		       launch_chain(real, variants[FIRST_GRAPH + i].b) &&
		       real->body->record_end(real->layer, &ladder->graphs[i]);
	return good;
}

/* The double's interpreter would take minutes for large kernels. */
static uint64_t bytes_of(const struct real *real, const struct real_variant *variant)
{
	return real->scale == REAL_TINY && variant->b > 1024 ? 1024 : variant->b;
}

static bool ladder_prepare(struct real *real, const struct real_variant *variant)
{
	struct ladder *ladder = real->own;
	const uint64_t bytes = bytes_of(real, variant);
	if (variant->a == READ)
		return write_words(real, ladder->copies[1], ++ladder->counts[1], bytes);
	if (variant->a == WRITE || variant->a == BOTH)
		ladder->counts[0]++;
	for (uint64_t i = 0; (variant->a == WRITE || variant->a == BOTH) && i < bytes / 4; i++)
		ladder->from[i] = ladder->counts[0];
	return true;
}

static bool ladder_step(struct real *real, const struct real_variant *variant)
{
	struct ladder *ladder = real->own;
	const uint64_t bytes = bytes_of(real, variant);
	bool good = true;
	switch (variant->a) {
	case CHAIN:
		return launch_chain(real, variant->b) && real->body->sync(real->layer);
	case GRAPH:
		return real->body->graph(real->layer,
					 ladder->graphs[variant - &variants[FIRST_GRAPH]]) &&
		       real->body->sync(real->layer);
	case WRITE:
		return real->body->write(real->layer, ladder->copies[0], ladder->from, bytes) &&
		       real->body->sync(real->layer);
	case READ:
		return launch_add(real, ladder->copies[1], (uint32_t)bytes / 4) &&
		       real->body->read(real->layer, ladder->copies[1], ladder->to, bytes);
	default:
		good = real->body->write(real->layer, ladder->copies[0], ladder->from, bytes);
		for (int i = 0; i < 4 && good; i++)
			good = launch_add(real, ladder->copies[0], (uint32_t)bytes / 4);
		return good && real->body->read(real->layer, ladder->copies[0], ladder->to, bytes);
	}
}

static bool all_are(const uint32_t *words, uint64_t bytes, uint32_t value, const char *name)
{
	for (uint64_t i = 0; i < bytes / 4; i++)
		if (words[i] != value)
			return real_wrong("%s: word %llu is %u instead of %u", name,
					  (unsigned long long)i, words[i], value);
	return true;
}

static bool ladder_check(struct real *real, const struct real_variant *variant)
{
	struct ladder *ladder = real->own;
	const uint64_t bytes = bytes_of(real, variant);
	if (variant->a == CHAIN || variant->a == GRAPH)
		follow_chain(ladder, variant->b);
	if (variant->a == READ)
		return all_are(ladder->to, bytes, ladder->counts[1] + 1, variant->name);
	if (variant->a == BOTH)
		return all_are(ladder->to, bytes, ladder->counts[0] + 4, variant->name);
	return variant->a != WRITE ||
	       (real->body->read(real->layer, ladder->copies[0], ladder->to, bytes) &&
		all_are(ladder->to, bytes, ladder->counts[0], variant->name));
}

static bool ladder_verify(struct real *real)
{
	struct ladder *ladder = real->own;
	bool good = true;
	for (unsigned i = 0; i < BUFFERS && good; i++)
		good = real->body->read(real->layer, ladder->buffers[i], ladder->to,
					ladder->words * 4) &&
		       all_are(ladder->to, ladder->words * 4, ladder->values[i], "a buffer");
	return good;
}

const struct real_program real_ladder = {
	.source = {text, {"add", "gather"}},
	.own_bytes = sizeof(struct ladder),
	.variants = variants,
	.open = open_ladder,
	.prepare = ladder_prepare,
	.check = ladder_check,
	.step = ladder_step,
	.verify = ladder_verify,
};
