/* Answers of a service with two users, a device, and names that somebody chose with care. */
#ifndef SYCL_TESTS_EXPORTER_ANSWERS_H
#define SYCL_TESTS_EXPORTER_ANSWERS_H

#include "sample.h"

enum { ALICE = 4000000001u, BOB = 4000000002u };

#define HOSTILE_NAME "</script><b>\"\\\n\x01\xff"

/* Static, and as new at each call. Not to be freed. */
struct sample *answers_sample(void);
/* Some time later: Alice's session and Bob have used so much more of the device. */
void answers_later(struct sample *sample, uint64_t ns, uint64_t alice_ns, uint64_t bob_ns);

#endif
