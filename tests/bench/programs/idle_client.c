/*
 * A client that does almost nothing. It is a separate program, so that its memory is that of any
 * program. Prints its memory (bytes) as "memory N" at the start and after each line of its input.
 * At the first line it connects and runs an empty kernel.
 */
#include "harness/client.h"
#include "harness/processes.h"
#include "harness/subjects.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void say_memory(void)
{
	/* It is read twice: the first reading touches the pages that reading and printing need. */
	(void)process_memory_bytes(getpid());
	(void)printf("memory %" PRId64 "\n", process_memory_bytes(getpid()));
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	struct client client = {.platform = NULL};
	char line[64];
	if (argc != 2)
		return 2;
	(void)printf("started\n");
	say_memory();
	while (fgets(line, sizeof(line), stdin)) {
		if (!client.platform &&
		    !(client_open(&client, argv[1], EMPTY_PORTABLE, EMPTY_KERNEL) &&
		      client_submit(&client) && client_wait(&client)))
			return 1;
		say_memory();
	}
	client_close(&client);
	return 0;
}
