/*
 * One list of checks for a device of a running service, for any backend, through the public
 * functions. The list of tests/conformance checks a backend's table of operations in the same way.
 */
#ifndef SYCL_TESTS_GPU_LIST_H
#define SYCL_TESTS_GPU_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <syclclient.h>

struct list {
	sycl_platform connection;
	sycl_device device;
	sycl_queue in_order, queue; /* the second has no order of its own, and reports times */
	sycl_kernel_bundle bundle;
	char text[512]; /* why the last check failed */
};

/* Returns whether it holds; otherwise list->text has the reason. */
typedef bool list_check(struct list *list);

struct list_entry {
	const char *name;
	list_check *check;
};

/* Both end with an entry without a name. */
extern const struct list_entry list_kernels[], list_groups[];

/* Connects and takes a device; false: list->text has the reason. */
bool list_open(struct list *list, const char *endpoint, sycl_backend backend, const char *platform,
	       uint32_t device);
void list_close(struct list *list);
/* Runs all of it and prints a line for each check. Returns how many failed. */
unsigned list_run(struct list *list, FILE *out);

/* Returns false, with the sentence in list->text, unless `result` is 0. */
bool list_good(struct list *list, sycl_result result, const char *what);
/* Returns false, with the sentence, unless `holds`. */
__attribute__((format(printf, 3, 4))) bool list_holds(struct list *list, bool holds,
						      const char *format, ...);

/* Returns a kernel of the list's source, and a buffer of `words` words of `value`; NULL: it
 * failed. */
sycl_kernel list_kernel(struct list *list, const char *name);
sycl_buffer list_buffer(struct list *list, uint64_t words, uint32_t value);
/* Waits for the writers of the buffer and checks all its words: `words[i]` must be `first + i *
 * step`. */
bool list_words_are(struct list *list, sycl_buffer buffer, uint64_t words, uint32_t first,
		    uint32_t step);

/* One submission. list_begin begins it, and then arguments can be set. */
bool list_begin(struct list *list, sycl_queue queue, sycl_handler *handler_out);
bool list_accessor(struct list *list, sycl_handler handler, uint32_t index, sycl_buffer buffer,
		   sycl_access_mode mode);
bool list_value(struct list *list, sycl_handler handler, uint32_t index, uint32_t value);

#endif
