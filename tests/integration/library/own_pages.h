/* Much memory of the program. Some of it cannot be accessed at first. */
#ifndef TESTS_INTEGRATION_OWN_PAGES_H
#define TESTS_INTEGRATION_OWN_PAGES_H

#include "library/test.h"

#include <stdatomic.h>

/* Two whole parts and an odd rest. */
enum {
	OWN_PART = 4 << 20,
	OWN_SIZE = 2 * OWN_PART + 12345 * 4,
	OWN_WORDS = OWN_SIZE / 4,
	OWN_PARTS = 3
};

/* The program's memory, page-aligned. */
extern uint32_t *own_host;
/* The number of touches of guarded parts so far. */
extern _Atomic uint32_t own_touched;

void own_pages_make(void);
void own_pages_drop(void);
/* Makes a part inaccessible until it is touched. The function runs before that access. */
void own_pages_guard(uint32_t part, void (*touched_first)(uint32_t part));
sycl_buffer own_pages_borrow(sycl_platform of);
void own_pages_submit_increment(sycl_queue to, sycl_buffer buffer);
/* The first word that is not its index and `more`; OWN_WORDS: none. */
uint32_t own_pages_first_wrong(const uint32_t *words, uint32_t more);

#endif
