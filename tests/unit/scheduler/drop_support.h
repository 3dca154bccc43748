/* Two sessions on two devices, one of which ends or is paused: for drop.c, drop_shared.c, pause.c.
 */
#ifndef TESTS_UNIT_SCHED_DROP_SUPPORT_H
#define TESTS_UNIT_SCHED_DROP_SUPPORT_H

#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

enum {
	DROP_MANY = 1000,
	DROP_WORDS = 64,
	DROP_BYTES = DROP_WORDS * 4,
	DROP_GATE = 1,
	DROP_LOG = 8192
};

struct drop_test {
	struct harness h;
	struct sched_account *victim, *other;
	struct probe probes[DROP_MANY], held, asked[8];
	struct fake_log_entry entries[DROP_LOG];
};

extern struct drop_test drop_test;

void drop_setup_with(const struct scheduler_config *config,
		     const struct fake_device_options *options);
void drop_setup(void);
/* Expects that all tasks of both were reported. */
void drop_expect_settled(void);
void drop_finish(void);
uint32_t drop_victim(enum scheduler_drop what);
struct task *drop_submit_as(struct sched_account *session, const struct launch *launch,
			    struct probe *probe);
/* Launches a kernel on all words of a buffer. */
struct task *drop_run_as(struct sched_account *session, uint32_t device, const char *kernel,
			 struct words *words, uint32_t mode, struct probe *probe);
/* The number of commands that have ended on the device. */
uint64_t drop_ended_on(uint32_t device);
/* Launches a kernel that ends when the gate is opened, and waits until it runs, alone. */
struct task *drop_hold_as(struct sched_account *session, uint32_t device, struct words *words,
			  uint32_t mode, struct probe *probe);
void drop_expect_status(const struct probe *probe, int32_t status);
void drop_expect_words(struct words *words, uint32_t first);
/* The number of entries of this name in the devices' log. */
uint32_t drop_logged(const char *what);

#endif
