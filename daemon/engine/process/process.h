/* The kernel's numbers about this process. 0 where they cannot be read. May read files of /proc;
 * does not wait. */
#ifndef SYCL_ENGINE_ENGINE_PROCESS_H
#define SYCL_ENGINE_ENGINE_PROCESS_H

#include <stdint.h>

struct process_facts {
	uint64_t resident_bytes;
	uint32_t descriptors; /* open descriptors */
	uint32_t mappings;
};

void process_facts_read(struct process_facts *facts_out);

#endif
