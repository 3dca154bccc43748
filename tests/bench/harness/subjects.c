#include "harness/subjects.h"

#include "harness/client.h"
#include "harness/direct.h"

#include <errno.h>
#include <stdlib.h>

int subject_client_open(const char *endpoint, void **state_out)
{
	struct client *client = calloc(1, sizeof(*client));
	if (!client)
		return -ENOMEM;
	*state_out = client;
	return client_open(client, endpoint, EMPTY_PORTABLE, EMPTY_KERNEL) ? 0 : -EIO;
}

void subject_client_close(void *state)
{
	client_close(state);
	free(state);
}

int subject_direct_open(const char *cache, void **state_out)
{
	struct direct *direct = calloc(1, sizeof(*direct));
	if (!direct)
		return -ENOMEM;
	*state_out = direct;
	direct_use_cache(cache);
	return direct_open(direct, EMPTY_OPENCL, EMPTY_KERNEL) ? 0 : -EIO;
}

void subject_direct_close(void *state)
{
	direct_close(state);
	free(state);
}
