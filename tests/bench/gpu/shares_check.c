/* Checks shares.h with kernels whose ends are invented. */
#include "gpu/shares.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { MS = 1000000 };

static struct shares_log logs[2];

/* Invents kernels one after the other, of `times[i]` each, for that long. `order` lists their
 * owners. */
static void invent(const char *order, const uint64_t *each_ns, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t now = from_ns;
	for (unsigned i = 0; now < until_ns; i++) {
		unsigned who = (unsigned)(order[i % 4] - 'a');
		now += each_ns[who];
		logs[who].ends_ns[logs[who].count++] = now;
	}
}

static void clear_logs(void)
{
	logs[0] = logs[1] = (struct shares_log){.count = 0};
}

static bool near(const char *what, double value, double wanted, double off)
{
	bool good = fabs(value - wanted) <= off;
	if (!good)
		(void)fprintf(stderr, "%s: %g, not %g\n", what, value, wanted);
	return good;
}

int main(void)
{
	const uint64_t each_ns[] = {1 * MS, 1 * MS}, unequal_ns[] = {1 * MS, 3 * MS};
	struct shares_client clients[] = {{&logs[0], 0.75, 1 * MS}, {&logs[1], 0.25, 1 * MS}};
	struct shares_error error;
	bool good = true;

	clear_logs();
	invent("aaab", each_ns, 1000 * MS, 4000ull * MS);
	shares_measure(clients, 2, 100 * MS, 1000ull * MS, &error);
	good = near("windows", error.windows, 19, 1) && near("worst", error.worst, 0, 0.11) && good;
	good = near("busy", error.busy, 1, 0.01) && near("part", error.parts[0], 0.75, 0.01) &&
	       near("part", error.parts[1], 0.25, 0.01) && good;

	/* The same number of kernels, but three times as long. */
	clear_logs();
	clients[1].each_ns = 3 * MS;
	invent("aaab", unequal_ns, 1000 * MS, 4000ull * MS);
	shares_measure(clients, 2, 100 * MS, 1000ull * MS, &error);
	good = near("worst", error.worst, 25, 0.5) && near("mean", error.mean, 25, 0.5) && good;
	clients[1].each_ns = 1 * MS;

	/* The second client has all for a second. The first begins then, and has its part 5 ms
	 * later. */
	clear_logs();
	invent("bbbb", each_ns, 1000 * MS, 2005ull * MS);
	logs[0].begin_ns = 1900ull * MS;
	logs[0].clock_ns = 100 * MS;
	invent("aaab", each_ns, 2005ull * MS, 2500ull * MS);
	good = near("back", shares_back(&clients[0], &clients[1], 20 * MS), 5 * MS, 0.01 * MS) &&
	       good;
	good = near("first", shares_first(&clients[0]), 5 * MS, 0.01 * MS) && good;
	good = near("part after", shares_part_after(&clients[0], &clients[1], 0, 20 * MS),
		    0.75 * 0.75, 0.06) &&
	       good;
	good = near("part after", shares_part_after(&clients[0], &clients[1], 5 * MS, 20 * MS),
		    0.75, 0.01) &&
	       good;
	good = near("had", shares_had(&clients[1], 2000ull * MS, 500ull * MS), 1, 0.01) && good;
	good = near("had", shares_had(&clients[0], 2500ull * MS, 400ull * MS), 0.75, 0.01) && good;

	/* Without a single kernel, or with too few for a window, there is an answer, too. */
	clear_logs();
	good = isinf(shares_back(&clients[0], &clients[1], 20 * MS)) &&
	       isinf(shares_first(&clients[0])) && good;
	good = near("part after", shares_part_after(&clients[0], &clients[1], 0, 20 * MS), 0, 0) &&
	       good;
	invent("abab", each_ns, 1000 * MS, 1004 * MS);
	shares_measure(clients, 2, 100 * MS, 1000ull * MS, &error);
	good = near("windows", error.windows, 1, 0) && good;
	return good ? 0 : 1;
}
