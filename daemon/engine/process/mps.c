#include "process/mps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_VARIABLE "CUDA_MPS_PIPE_DIRECTORY"
/* Nobody can make anything there. */
#define NOWHERE "/proc/self/no-mps"

/*
 * Who may write there speaks for the server. In a folder that is sticky, as /tmp is, nobody else
 * can put another one in place of it after this look; one that is not there now could be anybody's
 * later.
 */
static bool is_trusted(const char *folder)
{
	struct stat facts;
	return lstat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) &&
	       (facts.st_uid == 0 || facts.st_uid == geteuid());
}

int engine_mps_guard(const char *folder)
{
	if (getenv(PIPE_VARIABLE) || is_trusted(folder))
		return 0;
	return setenv(PIPE_VARIABLE, NOWHERE, 1) < 0 ? -errno : 0;
}
