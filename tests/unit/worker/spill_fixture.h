/* A full device and its buffers, for the tests of spilling. */
#ifndef SYCL_TESTS_SPILL_FIXTURE_H
#define SYCL_TESTS_SPILL_FIXTURE_H

#include "scheduler/harness.h"

#include <unistd.h>

enum { WORDS = 256, BYTES = WORDS * 4, ROOM = 4 };

#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE)) /* spilled memory is allocated in pages */

extern struct harness spill_harness;
/* The clock stands still unless a test moves it, so a slow machine ends no wait. */
extern _Atomic uint64_t spill_time_ns;
uint64_t spill_clock(void);

/* Opens three devices with room for `room` buffers of BYTES; spilling is on. */
void spill_begin(uint32_t room, uint32_t features, const struct scheduler_config *given);
struct scheduler_spill spill_counts(uint32_t device);
void spill_expect_status(const struct probe *probe, int32_t status);
/* `lane`: from 1 on; 0: any. */
struct task *spill_increment_on(uint32_t device, struct words *words, uint32_t lane,
				struct probe *probe);
struct task *spill_increment(uint32_t device, struct words *words, struct probe *probe);
void spill_run_increment(uint32_t device, struct words *words);
/* Expects the contents `first`, `first` + 1 and so on. */
void spill_expect_counted(struct words *words, uint32_t first);
/* The contents of each begin with a thousand times its number. */
void spill_make_words(struct words *words, uint32_t count);
/* Makes `count` buffers, the first of which fill the device. */
void spill_begin_full(struct words *words, uint32_t count);
void spill_free_words(struct words *words, uint32_t count);
void spill_run_idle_turns(void);
/* Writes the whole buffer, so the task has no predecessors. `lane`: from 1 on. */
struct task *spill_write_all(struct words *words, uint32_t lane, uint64_t session,
			     struct probe *probe);
/* Fills the device with memory of commands that do not end until spill_release_held. */
void spill_hold_all(struct words *words, struct probe *held);
void spill_release_held(struct probe *held);
/* Returns how often the entry of device 0 was called. */
uint64_t spill_calls(enum fake_entry entry);
/* Waits until memory has been requested `count` times. */
void spill_wait_for_tries(uint64_t count);

#endif
