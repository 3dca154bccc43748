/* A client of the service, which the rows measure. On an error the functions print a message and
 * return false. */
#ifndef SYCL_BENCH_CLIENT_H
#define SYCL_BENCH_CLIENT_H

#include <stdbool.h>
#include <syclclient.h>

struct client {
	sycl_platform platform;
	sycl_queue queue; /* in order, on the first processor */
	sycl_kernel kernel;
};

/* Connects, makes the queue, builds the portable source and takes one kernel of it. */
bool client_open(struct client *client, const char *endpoint, const char *source,
		 const char *kernel);
/* The same with that many copy threads, as in sycl_open_options.copy_threads. */
bool client_open_copying(struct client *client, const char *endpoint, uint32_t copy_threads,
			 const char *source, const char *kernel);
void client_close(struct client *client);

/* Submits one work-item of the kernel, without arguments and without an event. */
bool client_submit(struct client *client);
bool client_wait(struct client *client);

/* Returns false, and prints the library's sentence on stderr, unless `result` is 0. */
bool client_good(sycl_result result, const char *what);

#endif
