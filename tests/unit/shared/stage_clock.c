/* Time stamps at hand-overs: where they are stored, and that they exist only on request. */
#include "stage_clock.h"

#include "cleanup.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(stage_clock, .timeout = 10);

#define VARIABLE "SYCLD_STAGES_FILE"

static char path[] = "/tmp/stage-clock.XXXXXX";

/* A file of that size, named in the environment. Returns its mapping, as another process has it. */
static const struct stage_times *name_file(size_t bytes)
{
	CLEANUP(close_fd) int file = mkstemp(path);
	cr_assert(ge(int, file, 0));
	cr_assert(eq(int, ftruncate(file, (off_t)bytes), 0));
	cr_assert(eq(int, setenv(VARIABLE, path, 1), 0));
	void *address = mmap(NULL, sizeof(struct stage_times), PROT_READ, MAP_SHARED, file, 0);
	cr_assert(address != MAP_FAILED);
	return address;
}

static uint64_t at(const struct stage_times *times, enum stage stage, uint64_t place)
{
	return atomic_load(&times->at_ns[stage][place]);
}

Test(stage_clock, nothing_is_kept_unless_a_file_is_named)
{
	cr_assert(eq(int, unsetenv(VARIABLE), 0));
	cr_assert(stage_times() == NULL);
	STAGE_MARK(1, STAGE_TAKEN);
}

Test(stage_clock, a_file_that_is_too_short_is_not_mapped)
{
	(void)name_file(sizeof(struct stage_times) - 1);
	cr_assert(stage_times() == NULL);
	STAGE_MARK(1, STAGE_TAKEN);
	(void)unlink(path);
}

Test(stage_clock, a_mark_is_the_time_of_its_group_and_stage_alone)
{
	const struct stage_times *times = name_file(sizeof(struct stage_times));
	uint64_t before = clock_now_ns();
	STAGE_MARK(7, STAGE_LAUNCHED);
	uint64_t after = clock_now_ns();
	cr_assert(ge(u64, at(times, STAGE_LAUNCHED, 7), before));
	cr_assert(le(u64, at(times, STAGE_LAUNCHED, 7), after));
	for (int stage = 0; stage < STAGES; stage++)
		for (uint64_t place = 0; place < STAGE_GROUPS; place++)
			if (stage != STAGE_LAUNCHED || place != 7)
				cr_assert(eq(u64, at(times, (enum stage)stage, place), 0));
	(void)unlink(path);
}

Test(stage_clock, a_late_group_takes_an_early_ones_place)
{
	const struct stage_times *times = name_file(sizeof(struct stage_times));
	STAGE_MARK(3, STAGE_REPORTED);
	uint64_t early = at(times, STAGE_REPORTED, 3);
	while (clock_now_ns() == early)
		;
	STAGE_MARK(3 + STAGE_GROUPS, STAGE_REPORTED);
	cr_assert(gt(u64, at(times, STAGE_REPORTED, 3), early));
	(void)unlink(path);
}

Test(stage_clock, two_processes_share_the_times)
{
	(void)name_file(sizeof(struct stage_times));
	pid_t child = fork();
	if (child == 0) {
		STAGE_MARK(5, STAGE_COMPLETED);
		_exit(0);
	}
	int status = -1;
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_assert(eq(int, status, 0));
	cr_assert(gt(u64, at(stage_times(), STAGE_COMPLETED, 5), 0));
	(void)unlink(path);
}
