/* Answers of a service with two users, a device, and names that are hard to print. */
#ifndef SYCL_TESTS_EXPORTER_ANSWERS_H
#define SYCL_TESTS_EXPORTER_ANSWERS_H

#include "sample.h"

enum { ALICE = 4000000001u, BOB = 4000000002u };

#define HOSTILE_NAME "</script><b>\"\\\n\x01\xff"

/* The sample is static and reset at each call. It must not be freed. */
struct sample *answers_sample(void);
/* Makes the sample of some time later: Alice's session and Bob have used that much more of the
 * device. */
void answers_later(struct sample *sample, uint64_t ns, uint64_t alice_ns, uint64_t bob_ns);

#endif
