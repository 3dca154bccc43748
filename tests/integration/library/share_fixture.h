/* Two connections to one service on fake devices, for tests of what they share. */
#ifndef SYCL_TESTS_SHARE_FIXTURE_H
#define SYCL_TESTS_SHARE_FIXTURE_H

#include "library/test.h"

/* The second connection, and objects of it. */
extern sycl_platform share_second;
extern sycl_queue share_other_queue;
extern sycl_device share_device, share_other_device;
extern const sycl_share_kind share_kinds[2];

/* Ends the second connection as a signal would: none of its objects are released before. */
void share_end_second(void);
sycl_buffer share_exportable(sycl_share_kind kind, uint32_t value);
struct sycl_shared_memory share_exported(sycl_buffer buffer);
sycl_buffer share_imported(sycl_device where, const struct sycl_shared_memory *shared);
void share_close(struct sycl_shared_memory *shared);
bool share_holds(sycl_buffer buffer, uint32_t value);
void share_write_words(sycl_buffer buffer, uint32_t value);
/* Waits for an empty group that requires the buffer: written data are then on the device. */
void share_settle(sycl_queue on, sycl_buffer buffer);
void share_fill_and_wait(sycl_queue on, sycl_buffer buffer, uint32_t value);
unsigned share_open_descriptors(void);
/* The devices free unused memory a moment after the answer. */
void share_expect_memories(uint32_t count);

#endif
