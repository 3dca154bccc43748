/* Seeds of fair_queue: actions of sessions and groups, one after the other and mixed. */
#include "corpus.h"

enum { SESSION = 0, ARRIVE = 2, CANCEL = 7, END = 8, TIME = 11, STEP = 12, GRANT = 13 };

/* Sixteen bits of detail. */
#define D(detail) (detail) & 0xff, (detail) >> 8

#define STEPS(name, ...)                                                                           \
	do {                                                                                       \
		static const uint8_t bytes[] = {__VA_ARGS__};                                      \
		seed("fair_queue", name, bytes, sizeof(bytes));                                    \
	} while (0)

/* A byte for a session: the class, and a fifth of the weight times four. */
enum {
	LATENCY_100 = 80,
	NORMAL_100 = 81,
	BEST_EFFORT_100 = 82,
	NORMAL_5 = 5,
	BEST_EFFORT_1000 = 802
};

static void save_mixture(const char *name, uint32_t random, uint32_t kinds)
{
	uint8_t bytes[4 * 600];
	for (size_t i = 0; i < sizeof(bytes); i += 4) {
		random = random * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)((random >> 13) % kinds);
		bytes[i + 1] = (uint8_t)(random >> 17);
		bytes[i + 2] = (uint8_t)(random >> 7);
		bytes[i + 3] = (uint8_t)(random >> 24 & 3);
	}
	seed("fair_queue", name, bytes, sizeof(bytes));
}

void make_fair_queue_seeds(void)
{
	STEPS("nothing", STEP, 0, D(0));
	STEPS("one_group", SESSION, 0, D(NORMAL_100), ARRIVE, 0, D(50), STEP, 0, D(0), TIME, 4,
	      D(1000), END, 0, D(1));
	STEPS("never_ends", SESSION, 1, D(NORMAL_100), ARRIVE, 1, D(60), ARRIVE, 1, D(60), STEP, 0,
	      D(0), TIME, 15, D(9000), STEP, 0, D(0));
	STEPS("three_classes", SESSION, 1, D(LATENCY_100), SESSION, 2, D(NORMAL_5), SESSION, 3,
	      D(BEST_EFFORT_1000), ARRIVE, 3, D(200), ARRIVE, 2, D(200), ARRIVE, 1, D(20), STEP, 0,
	      D(0), SESSION, 2, D(BEST_EFFORT_100), ARRIVE, 2, D(90), STEP, 0, D(0), END, 0, D(0),
	      END, 1, D(2), STEP, 0, D(0));
	STEPS("memory", SESSION, 1, D(NORMAL_100), SESSION, 2, D(NORMAL_100), ARRIVE, 1, D(0x3f20),
	      ARRIVE, 1, D(0x3f20), ARRIVE, 2, D(0x1120), STEP, 0, D(0), CANCEL, 1, D(0), STEP, 0,
	      D(0), END, 0, D(1), STEP, 0, D(0));
	STEPS("too_large", SESSION, 1, D(NORMAL_100), ARRIVE, 1, D(0x4210), ARRIVE, 1, D(64), STEP,
	      0, D(0));
	STEPS("granted", SESSION, 1, D(NORMAL_100), GRANT, 0, D(250), ARRIVE, 1, D(90), ARRIVE, 1,
	      D(90), TIME, 0, D(100), STEP, 0, D(0), TIME, 4, D(1000), END, 0, D(1), STEP, 0, D(0),
	      GRANT, 0, D(0), ARRIVE, 1, D(20), STEP, 0, D(0), GRANT, 0, D(1), STEP, 0, D(0));
	save_mixture("mixture_few_ends", 1, 8);
	save_mixture("mixture_any", 2, 16);
	save_mixture("mixture_other", 3, 16);
	save_mixture("mixture_third", 77, 13);
}
