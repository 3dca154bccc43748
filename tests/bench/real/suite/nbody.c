/* Bodies that attract each other: two time steps. */
#include "real/suite/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 64, STEPS = 2, BEGIN = 0, KICK, DRIFT };
enum { PLACES_FIRST, SPEEDS_FIRST, PLACES, SPEEDS, BUFFERS };
#define STEP      0.01
#define SOFTENING 0.05

/* A body has x, y, z and its mass; its speed is in another buffer. */
/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void begin(SYCL_GLOBAL(const float) p0, SYCL_GLOBAL(const float) v0, SYCL_GLOBAL(float) p, SYCL_GLOBAL(float) v)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	p[i] = p0[i];\n"
	"	v[i] = v0[i];\n"
	"}\n"
	"SYCL_KERNEL void kick(SYCL_GLOBAL(const float) p, SYCL_GLOBAL(float) v, uint count)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(float, t, 256);\n"
	"	uint i = (uint)sycl_global_id(0), l = (uint)sycl_local_id(0);\n"
	"	float x = p[4u * i], y = p[4u * i + 1u], z = p[4u * i + 2u], ax = 0.0f, ay = 0.0f, az = 0.0f;\n"
	"	uint held = count < 64u ? count : 64u; /* no constant: unrolled, it takes long to compile */\n"
	"	for (uint first = 0u; first < count; first += 64u) {\n"
	"		for (uint k = 0u; k < 4u; k++)\n"
	"			t[64u * k + l] = p[4u * first + 64u * k + l];\n"
	"		sycl_group_barrier();\n"
	"		for (uint k = 0u; k < held; k++) {\n"
	"			float dx = t[4u * k] - x, dy = t[4u * k + 1u] - y, dz = t[4u * k + 2u] - z;\n"
	"			float square = dx * dx + dy * dy + dz * dz + 0.05f, pull = t[4u * k + 3u] / (square * sqrt(square));\n"
	"			ax += pull * dx;\n"
	"			ay += pull * dy;\n"
	"			az += pull * dz;\n"
	"		}\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	v[4u * i] += 0.01f * ax;\n"
	"	v[4u * i + 1u] += 0.01f * ay;\n"
	"	v[4u * i + 2u] += 0.01f * az;\n"
	"}\n"
	"SYCL_KERNEL void drift(SYCL_GLOBAL(const float) v, SYCL_GLOBAL(float) p)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	p[i] += 0.01f * v[i];\n"
	"}\n";
/* clang-format on */

struct nbody {
	uint32_t count;
	unsigned buffers[BUFFERS];
	double *places, *speeds; /* at the end */
	float *read;
};

static void host_step(double *p, double *v, uint32_t count)
{
	for (uint32_t i = 0; i < 4 * count; i += 4)
		for (uint32_t j = 0; j < 4 * count; j += 4) {
			const double dx = p[j] - p[i], dy = p[j + 1] - p[i + 1],
				     dz = p[j + 2] - p[i + 2];
			const double square = dx * dx + dy * dy + dz * dz + SOFTENING;
			const double pull = STEP * p[j + 3] / (square * sqrt(square));
			v[i] += pull * dx;
			v[i + 1] += pull * dy;
			v[i + 2] += pull * dz;
		}
	for (uint32_t i = 0; i < 4 * count; i++)
		p[i] += STEP * v[i];
}

static bool open_nbody(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = GROUP, [REAL_PROCESSOR] = 256, [REAL_GPU] = 2048};
	struct nbody *nbody = real->own;
	const uint32_t count = sizes[real->scale], bytes = count * 4 * sizeof(float);
	float *places = malloc(bytes), *speeds = calloc(1, bytes);
	nbody->count = count;
	nbody->places = calloc(count, 4 * sizeof(double));
	nbody->speeds = calloc(count, 4 * sizeof(double));
	nbody->read = real->body->host(real->layer, bytes);
	bool good = places && speeds && nbody->places && nbody->speeds && nbody->read;
	if (good) {
		suite_numbers(places, count * 4, 6);
		for (uint32_t i = 0; i < count * 4; i++) {
			if (i % 4 == 3) /* masses: about one for all together */
				places[i] = (1 + places[i]) / (float)count;
			nbody->places[i] = places[i];
		}
		for (int i = 0; i < STEPS; i++)
			host_step(nbody->places, nbody->speeds, count);
		good = suite_alloc(real, bytes, places, &nbody->buffers[PLACES_FIRST]) &&
		       suite_alloc(real, bytes, speeds, &nbody->buffers[SPEEDS_FIRST]) &&
		       suite_alloc(real, bytes, NULL, &nbody->buffers[PLACES]) &&
		       suite_alloc(real, bytes, NULL, &nbody->buffers[SPEEDS]);
	}
	free(places);
	free(speeds);
	return good;
}

static bool nbody_step(struct real *real, const struct real_variant *variant)
{
	const struct nbody *nbody = real->own;
	const unsigned *b = nbody->buffers;
	const uint32_t count = nbody->count;
	bool good = suite_launch(real, BEGIN, count * 4, GROUP, 4 | 8,
				 BUFFERS_OF(b[PLACES_FIRST], b[SPEEDS_FIRST], b[PLACES], b[SPEEDS]),
				 NO_WORDS);
	(void)variant;
	for (int i = 0; i < STEPS && good; i++)
		good = suite_launch(real, KICK, count, GROUP, 2, BUFFERS_OF(b[PLACES], b[SPEEDS]),
				    WORDS_OF(count)) &&
		       suite_launch(real, DRIFT, count * 4, GROUP, 2,
				    BUFFERS_OF(b[SPEEDS], b[PLACES]), NO_WORDS);
	return good &&
	       real->body->read(real->layer, b[PLACES], nbody->read, count * 4 * sizeof(float));
}

static bool nbody_verify(struct real *real)
{
	const struct nbody *nbody = real->own;
	return suite_compare_numbers(real, nbody->buffers[PLACES], nbody->places, nbody->count * 4,
				     1e-5) &&
	       suite_compare_numbers(real, nbody->buffers[SPEEDS], nbody->speeds, nbody->count * 4,
				     1e-4);
}

const struct real_program suite_nbody = {
	.source = {text, {"begin", "kick", "drift"}},
	.own_bytes = sizeof(struct nbody),
	.variants = suite_variant,
	.open = open_nbody,
	.step = nbody_step,
	.verify = nbody_verify,
};
