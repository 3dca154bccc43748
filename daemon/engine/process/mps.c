#include "process/mps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_VARIABLE "CUDA_MPS_PIPE_DIRECTORY"
/* A path that no process can create. */
#define NOWHERE "/proc/self/no-mps"

/*
 * A user who may write there can pretend to be the server. In a sticky folder, as /tmp is, no other
 * user can replace the folder after this check. A folder that is missing now could be made by any
 * user later.
 */
static bool mps_folder_is_trusted(const char *folder)
{
	struct stat facts;
	return lstat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) &&
	       (facts.st_uid == 0 || facts.st_uid == geteuid());
}

int engine_mps_guard(const char *folder)
{
	if (getenv(PIPE_VARIABLE) || mps_folder_is_trusted(folder))
		return 0;
	return setenv(PIPE_VARIABLE, NOWHERE, 1) < 0 ? -errno : 0;
}
