/* A small program as a user would write it, on a GPU. It connects, takes a kernel and runs it, and
 * prints when that was complete (ns). */
#include "gpu/client.h"

#include "clock.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct gpu_client client;
	if (argc != 2)
		return 2;
	if (!gpu_client_open_small(&client, argv[1]) ||
	    !gpu_client_submit(&client, client.add, 1, GPU_DATA_WORDS) || !gpu_client_wait(&client))
		return 1;
	uint64_t done = clock_now_ns();
	bool good = gpu_client_verify(&client);
	(void)printf("done %" PRIu64 "\n", done);
	(void)fflush(stdout);
	gpu_client_close(&client);
	return good ? 0 : 1;
}
