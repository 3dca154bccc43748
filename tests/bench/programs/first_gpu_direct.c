/* The same small program with its own CUDA context. */
#include "gpu/direct.h"

#include "clock.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct gpu_direct direct;
	if (argc != 2)
		return 2;
	if (!gpu_direct_open(&direct, argv[1]) ||
	    !gpu_direct_launch(&direct, direct.add, 1, GPU_DATA_WORDS) || !gpu_direct_wait(&direct))
		return 1;
	uint64_t done = clock_now_ns();
	bool good = gpu_direct_verify(&direct);
	(void)printf("done %" PRIu64 "\n", done);
	(void)fflush(stdout);
	gpu_direct_close(&direct);
	return good ? 0 : 1;
}
