/* The same small program with plain OpenCL. */
#include "harness/direct.h"
#include "harness/subjects.h"

#include "clock.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct direct direct;
	if (argc != 2)
		return 2;
	direct_use_cache(argv[1]);
	if (!direct_open(&direct, EMPTY_OPENCL, EMPTY_KERNEL) || !direct_enqueue(&direct) ||
	    !direct_finish(&direct))
		return 1;
	(void)printf("done %" PRIu64 "\n", clock_now_ns());
	(void)fflush(stdout);
	direct_close(&direct);
	return 0;
}
