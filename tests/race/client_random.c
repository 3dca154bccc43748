/* Random groups of several threads at once, on fake devices
 * (tests/integration/library/random_threads.h). Options: --seed N, --groups N. */
#include "library/portable_engine.h"
#include "library/random_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *size = getenv("SYCLD_LONG");
	uint64_t first = 1, last = size ? 5 : 2, groups = size ? 100000 : 2000;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--seed") == 0)
			first = last = strtoull(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "--groups") == 0)
			groups = strtoull(argv[i + 1], NULL, 10);
	}
	portable_engine_start();
	for (uint64_t seed = first; seed <= last; seed++) {
		struct random_threads_result done;
		random_threads_run(seed, groups, seed % 2 ? 0 : 2, &done);
		(void)printf("seed %lu: %lu groups, %lu of them failed, %lu checks\n", seed,
			     done.groups, done.failures, done.checks);
	}
	portable_engine_stop();
	return 0;
}
