/*
 * How tests control the double of CUPTI (README.md): with dlsym(library, FAKE_CUPTI_SYMBOL). Any
 * thread.
 */
#ifndef SYCL_TESTS_FAKE_CUPTI_H
#define SYCL_TESTS_FAKE_CUPTI_H

#include <stdint.h>

#define FAKE_CUPTI_SYMBOL "fake_cupti_control"

struct fake_cupti_control {
	/* The process has another tool: nobody can subscribe. */
	void (*set_taken)(int is_taken);
	/* Only a forced flush reports records, as if something in the buffer still ran. */
	void (*set_slow)(int is_slow);
	/* Records that were reported; clocks that were registered; subscribers now; kinds of
	 * records that are enabled now. */
	uint64_t (*reported)(void);
	uint64_t (*clocks)(void);
	uint64_t (*subscribers)(void);
	uint64_t (*kinds)(void);
	/* The times of the record that was reported last. */
	void (*last)(uint64_t *start_ns_out, uint64_t *end_ns_out);
};

typedef const struct fake_cupti_control *fake_cupti_control_function(void);

#endif
