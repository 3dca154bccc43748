/* A client of the service: what the rows measure. Functions print what is wrong and return false.
 */
#ifndef SYCL_BENCH_CLIENT_H
#define SYCL_BENCH_CLIENT_H

#include <stdbool.h>
#include <syclclient.h>

struct client {
	sycl_platform platform;
	sycl_queue queue; /* in order, on the first processor */
	sycl_kernel kernel;
};

/* Connect, make the queue, build the portable source and take one kernel of it. */
bool client_open(struct client *client, const char *endpoint, const char *source,
		 const char *kernel);
/* The same with so many copy threads, as sycl_open_options.copy_threads. */
bool client_open_copying(struct client *client, const char *endpoint, uint32_t copy_threads,
			 const char *source, const char *kernel);
void client_close(struct client *client);

/* One work-item of the kernel, without arguments and without an event. */
bool client_submit(struct client *client);
bool client_wait(struct client *client);

/* False, and the library's sentence on stderr, unless `result` is 0. */
bool client_good(sycl_result result, const char *what);

#endif
