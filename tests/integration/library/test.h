/* Common parts of the files of client_basic: a service, a platform and a queue for each test. */
#ifndef SYCL_TESTS_CLIENT_TEST_H
#define SYCL_TESTS_CLIENT_TEST_H

#include "library/service.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { N = 1000, BYTES = N * (int)sizeof(uint32_t) };

extern struct client_service service;
extern sycl_platform platform;
extern sycl_queue queue; /* out of order, with profiling */

/* For .init and .fini. A test releases everything that it made itself. */
void with_service(void);
void without_service(void);

/* Returns true if every word of memory has this value. */
int all_are(const uint32_t *words, uint32_t value);

#endif
