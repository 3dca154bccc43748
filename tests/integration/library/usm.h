/* Common parts of the files of client_usm. */
#ifndef SYCL_TESTS_CLIENT_USM_H
#define SYCL_TESTS_CLIENT_USM_H

#include "library/portable.h"
#include "library/usm_engine.h"

/* For .init and .fini: as portable_begin and portable_end, with the queue's context, and a device
 * with USM. */
extern sycl_context context;
extern sycl_device device;
void usm_test_begin(void);
void usm_test_end(void);

/* Returns another device of the same platform, or the same one if there is no other. The caller
 * releases it. */
sycl_device usm_other_device(void);

bool usm_has(sycl_aspect aspect);
/* Allocated on `queue`, with room for WORDS words unless stated otherwise; all words are 0. */
uint32_t *usm_words(sycl_usm_kind kind);
uint32_t *usm_bytes(sycl_usm_kind kind, uint64_t size_bytes);
void usm_give(void *pointer);
/* Uses copies, so it works for any kind, and waits for them. */
void usm_set(sycl_queue on, void *pointer, uint32_t value);
bool usm_are(sycl_queue on, const void *pointer, uint32_t value);

/* A kernel over USM, behind `after` (NULL: nothing). `from` or `value` are used if the kernel takes
 * them. */
struct usm_run {
	sycl_queue on;
	sycl_kernel kernel;
	const void *to, *from; /* from NULL: no second pointer */
	const uint32_t *value; /* NULL: none */
	sycl_event after;
	uint64_t items; /* 0: WORDS */
};
void usm_run(const struct usm_run *run, sycl_event *event_out);

#endif
