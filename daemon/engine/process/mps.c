#include "process/mps.h"

#include "mps_folder.h"

#include <errno.h>
#include <stdlib.h>

int engine_mps_guard(const char *folder)
{
	if (getenv(MPS_FOLDER_VARIABLE) || mps_folder_is_trusted(folder))
		return 0;
	return setenv(MPS_FOLDER_VARIABLE, MPS_FOLDER_NONE, 1) < 0 ? -errno : 0;
}
