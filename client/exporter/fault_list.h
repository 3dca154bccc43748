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

/* Starts as zeros. A full list drops the oldest fault of the user with the most, so that a user
 * with many faults does not hide those of others. Uids above 65,535 count by blocks of 65,536. */
struct fault_list {
	uint64_t after; /* of the next query for events */
	uint64_t service_since;
	uint32_t service_pid;
	bool is_filtered; /* events are counted for one user */
	unsigned count;
	struct fault list[FAULTS_KEPT]; /* the oldest first */
};

/* Notes the service that answers. Another one counts its events from 1 on. */
void fault_list_note_service(struct fault_list *faults, const Sycl__V1__ServiceFacts *service);
/* Takes an answer to a query for events. Returns true if another query may bring more. */
bool fault_list_take(struct fault_list *faults, const Sycl__V1__AdminReply *reply);
/* Returns the fault before the `age` latest ones; NULL: there is none. */
const struct fault *fault_list_at(const struct fault_list *faults, unsigned age);

#endif
