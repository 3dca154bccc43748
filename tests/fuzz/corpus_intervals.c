/* Seeds of interval_map: all relative positions of two ranges, and long mixtures of everything. */
#include "corpus.h"

enum { CUT = 0, JOIN = 1, SET = 2, SET_AND_JOIN = 3, BACKWARD = 4 };

#define STEPS(name, ...)                                                                           \
	do {                                                                                       \
		static const uint8_t bytes[] = {__VA_ARGS__};                                      \
		seed("interval_map", name, bytes, sizeof(bytes));                                  \
	} while (0)

static void save_mixture(const char *name, uint32_t random, uint32_t longest)
{
	uint8_t bytes[4 * 500];
	for (size_t i = 0; i < sizeof(bytes); i += 4) {
		random = random * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(random >> 13 & 7);
		bytes[i + 1] = (uint8_t)((random >> 16) % 210);
		bytes[i + 2] = (uint8_t)((random >> 9) % longest);
		bytes[i + 3] = (uint8_t)(random >> 24);
	}
	seed("interval_map", name, bytes, sizeof(bytes));
}

void make_interval_seeds(void)
{
	STEPS("equal", SET_AND_JOIN, 10, 10, 1, SET_AND_JOIN, 10, 10, 2, SET_AND_JOIN, 10, 10, 0,
	      JOIN, 0, 0, 0);
	STEPS("contained", SET_AND_JOIN, 10, 30, 1, SET_AND_JOIN, 20, 5, 2, SET_AND_JOIN, 20, 5, 1,
	      JOIN, 0, 0, 0);
	STEPS("containing", SET, 20, 5, 2, SET, 30, 5, 3, SET_AND_JOIN, 10, 40, 1, JOIN, 0, 0, 0);
	STEPS("touching", SET_AND_JOIN, 10, 10, 1, SET_AND_JOIN, 20, 10, 1, SET_AND_JOIN, 0, 10, 1,
	      JOIN, 0, 0, 0);
	STEPS("overlapping", SET, 0, 10, 1, SET, 10, 10, 2, SET, 5, 10, 3, JOIN, 0, 0, 0);
	STEPS("empty", SET, 10, 0, 1, SET_AND_JOIN | BACKWARD, 10, 10, 2, SET, 0, 0, 3, SET, 200, 0,
	      3, JOIN, 0, 0, 0);
	STEPS("beyond_the_end", SET, 190, 100, 1, SET, 200, 50, 2, SET_AND_JOIN, 250, 5, 3, CUT,
	      200, 0, 0);
	STEPS("whole", CUT, 100, 0, 0, SET, 0, 255, 1, SET_AND_JOIN, 0, 200, 2, SET, 0, 100, 3,
	      SET_AND_JOIN, 100, 100, 3);
	STEPS("ends", SET, 0, 1, 1, SET, 199, 1, 1, SET_AND_JOIN, 1, 198, 1, CUT, 1, 0, 0, CUT, 199,
	      0, 0, JOIN, 0, 0, 0);
	save_mixture("mixture_short", 1, 8);
	save_mixture("mixture_long", 2, 200);
	save_mixture("mixture_any", 3, 60);
}
