/*
 * Several threads of one program submit at once. One order of all their steps must explain their
 * results (threads_history.h). SYCLD_RANDOM_SEED=N runs only that seed, and SYCLD_RANDOM_FIRST=N
 * begins with that one. SYCLD_RANDOM_GROUPS=N sets the number of groups, and SYCLD_RANDOM_SEEDS=N
 * that of seeds. SYCLD_LONG=1 runs more and longer ones.
 */
#include "library/random_threads.h"

#include "library/portable_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static uint64_t random_groups_threads_number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text ? strtoull(text, NULL, 10) : otherwise;
}

TestSuite(random_threads, .init = portable_engine_start, .fini = portable_engine_stop);

Test(random_threads, B7_B18_B19_B26_C12_M9_threads_at_once_are_as_one_order_of_all, .timeout = 3600)
{
	const bool is_long = getenv("SYCLD_LONG") != NULL;
	const uint64_t seed = random_groups_threads_number_of("SYCLD_RANDOM_SEED", 0),
		       groups = random_groups_threads_number_of("SYCLD_RANDOM_GROUPS",
								is_long ? 100000 : 3000);
	const uint64_t first =
		seed ? seed : random_groups_threads_number_of("SYCLD_RANDOM_FIRST", 1);
	const uint64_t seeds =
		is_long ? 20 : random_groups_threads_number_of("SYCLD_RANDOM_SEEDS", 4);
	const uint64_t last = seed ? seed : first + seeds - 1;
	cr_assert(ge(u64, last, first));
	for (uint64_t at = first; at <= last; at++) {
		struct random_threads_result done;
		(void)fprintf(stderr, "random threads: seed %lu, %lu groups\n", at,
			      groups); /* printed when it fails */
		/* Without helper threads, the threads that wait run the host tasks. */
		random_threads_run(at, groups, at % 2 ? 0 : 2, &done);
		cr_assert(gt(u64, done.failures, groups / 1000), "seed %lu: hardly anything failed",
			  at);
		cr_assert(lt(u64, done.failures, groups / 2), "seed %lu: most groups failed", at);
		cr_log_info("seed %lu: %lu groups, %lu of them failed, %lu checks", at, done.groups,
			    done.failures, done.checks);
	}
}
