/* The last faults, from the service's events. A restart of the service does not remove them. */
#ifndef SYCLD_EXPORTER_FAULT_LIST_H
#define SYCLD_EXPORTER_FAULT_LIST_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

enum { FAULTS_KEPT = 32, FAULT_TEXT_BYTES = 320 };

struct fault {
	uint64_t unix_ms;
	uint32_t uid;
	char text[FAULT_TEXT_BYTES]; /* the line of the log */
};

/* Starts as zeros. */
struct fault_list {
	uint64_t after; /* of the next query for events */
	uint64_t count; /* counts up; modulo FAULTS_KEPT */
	struct fault list[FAULTS_KEPT];
};

/* Takes an answer to a query for events. Returns true if another query may bring more. */
bool fault_list_take(struct fault_list *faults, const Sycl__V1__AdminReply *reply);
/* Returns the fault before the `age` latest ones; NULL: there is none. */
const struct fault *fault_list_at(const struct fault_list *faults, unsigned age);

#endif
