#include "stage_clock.h"

#include "cleanup.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct stage_times *mapped;

static void stage_clock_map_file(void)
{
	const char *path = secure_getenv("SYCLD_STAGES_FILE");
	CLEANUP(close_fd) int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct stat facts;
	if (file < 0 || fstat(file, &facts) < 0 ||
	    facts.st_size < (off_t)sizeof(struct stage_times))
		return;
	void *address =
		mmap(NULL, sizeof(struct stage_times), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (address != MAP_FAILED)
		mapped = address;
}

struct stage_times *stage_times(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, stage_clock_map_file);
	return mapped;
}
