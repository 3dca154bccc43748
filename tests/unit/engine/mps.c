/* The MPS servers that an engine may join. */
#include "process/mps.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "CUDA_MPS_PIPE_DIRECTORY"

enum { SOMEBODY = 54321 };

static char parent[] = "/tmp/sycld-unit-mps-XXXXXX", folder[sizeof(parent) + 16];

static void make_pipe_folder(void)
{
	cr_assert(ne(ptr, mkdtemp(parent), NULL));
	(void)snprintf(folder, sizeof(folder), "%s/pipe", parent);
	(void)unsetenv(VARIABLE);
}

static void mps_remove_folders(void)
{
	(void)rmdir(folder);
	(void)unlink(folder);
	(void)rmdir(parent);
}

TestSuite(engine_mps, .init = make_pipe_folder, .fini = mps_remove_folders, .timeout = 20);

static bool is_kept_away(void)
{
	cr_assert(eq(int, engine_mps_guard(folder), 0));
	const char *value = getenv(VARIABLE);
	struct stat facts;
	return value && stat(value, &facts) < 0 && mkdir(value, 0700) < 0;
}

Test(engine_mps, a_folder_of_its_own_user_is_joined)
{
	cr_assert(eq(int, mkdir(folder, 0755), 0));
	cr_assert(not(is_kept_away()));
	cr_assert(eq(ptr, getenv(VARIABLE), NULL));
}

Test(engine_mps, a_folder_of_another_user_is_not_joined)
{
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: only root can give a folder to somebody else");
	cr_assert(eq(int, mkdir(folder, 0755), 0));
	cr_assert(eq(int, chown(folder, SOMEBODY, SOMEBODY), 0));
	cr_assert(is_kept_away());
}

/* Another user could make it a moment later. */
Test(engine_mps, a_folder_that_is_not_there_yet_is_not_joined)
{
	cr_assert(is_kept_away());
}

Test(engine_mps, a_link_is_not_followed)
{
	cr_assert(eq(int, symlink(parent, folder), 0));
	cr_assert(is_kept_away());
}

Test(engine_mps, what_the_service_was_told_stays)
{
	(void)setenv(VARIABLE, "/somewhere", 1);
	cr_assert(eq(int, engine_mps_guard(folder), 0));
	cr_assert(eq(str, getenv(VARIABLE), "/somewhere"));
}
