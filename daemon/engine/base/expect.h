/*
 * Predicts the end of a large transfer by its size and the speed of recent ones. The thread of a
 * polled device sleeps until shortly before that and then polls without a pause. Otherwise it would
 * be late by a fraction of the transfer. Pure: times come in, times go out.
 */
#ifndef SYCL_ENGINE_SCHED_EXPECT_H
#define SYCL_ENGINE_SCHED_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

#define SCHED_EXPECT_BYTES_MIN (1u << 20) /* smaller transfers end before a prediction pays */
#define SCHED_EXPECT_MARGIN_NS                                                                     \
	80000u /* polled without a pause from so long before, until twice as long after */

enum sched_expect_way { SCHED_EXPECT_IN, SCHED_EXPECT_OUT, SCHED_EXPECT_WAYS };

struct sched_expect {
	uint64_t ps_per_byte[SCHED_EXPECT_WAYS]; /* picoseconds; 0: not measured yet */
};

/* 0: not known, or too small. */
uint64_t sched_expect_end(const struct sched_expect *expect, enum sched_expect_way way,
			  uint64_t begin_ns, uint64_t size_bytes);
/* Adds the time of a transfer. Transfers slower than the fastest one count little, as they may have
 * waited. */
void sched_expect_update(struct sched_expect *expect, enum sched_expect_way way,
			 uint64_t size_bytes, uint64_t took_ns);
/* Returns how long to sleep; 0: poll again at once. The time is `rest_ns`, or less if the next
 * transfer is expected to end at `end_ns` (0: unknown). */
uint64_t sched_expect_sleep_ns(uint64_t rest_ns, uint64_t now_ns, uint64_t end_ns, bool may_spin);

#endif
