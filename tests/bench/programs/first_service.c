/* A small program as a user would write it. It connects, builds and runs one kernel, and prints
 * when that was complete (ns). */
#include "harness/client.h"
#include "harness/subjects.h"

#include "clock.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct client client;
	if (argc != 2)
		return 2;
	if (!client_open(&client, argv[1], EMPTY_PORTABLE, EMPTY_KERNEL) ||
	    !client_submit(&client) || !client_wait(&client))
		return 1;
	(void)printf("done %" PRIu64 "\n", clock_now_ns());
	(void)fflush(stdout);
	client_close(&client);
	return 0;
}
