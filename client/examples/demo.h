/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of the three demonstration programs: options, progress lines, the report, and the
 * end on an error. */
#ifndef DEMO_H
#define DEMO_H

#include <syclclient.h>

#include <stdbool.h>
#include <stdint.h>

struct demo {
	const char *name;     /* name of the program */
	const char *endpoint; /* --endpoint; NULL: the library finds or starts a service */
	const char *report;   /* --report FILE; NULL: none */
	const char *output;   /* --output FILE; NULL: the program's own choice */
	uint32_t size;        /* --size N; 0: the program's own choice */
	sycl_platform platform;
	sycl_queue queue;
	char device[256];
};

/* Reads the options and connects: one queue on the default device. On failure prints the reason and
 * exits with 1; with 2 for invalid options. */
void demo_begin(struct demo *demo, const char *name, int argc, char **argv);

/* Prints the progress as one line "NAME: PERCENT % TEXT" on stdout. */
void demo_progress(const struct demo *demo, unsigned percent, const char *text);

/* Writes the report, releases what demo_begin made, and returns the exit status: 0 only if
 * verified. `picture` may be NULL. */
int demo_end(struct demo *demo, bool verified, const char *picture);

/* Prints the library's sentence and exits with 1 unless `result` is 0. */
void demo_check(const struct demo *demo, sycl_result result, const char *what);

/* malloc or exit. */
void *demo_allocate(const struct demo *demo, size_t count, size_t element_bytes);

#endif
