#include "mps_folder.h"

#include <sys/stat.h>
#include <unistd.h>

bool mps_folder_is_trusted(const char *folder)
{
	struct stat facts;
	return lstat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) &&
	       (facts.st_uid == 0 || facts.st_uid == geteuid());
}
