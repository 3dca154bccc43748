/* Common parts of the tests of whole processes: a private service, workers (worker.h), the
 * footprint of an engine. */
#ifndef SYCL_TESTS_PROCESSES_H
#define SYCL_TESTS_PROCESSES_H

#include "private_service.h"
#include "sanitized.h"

#include <criterion/criterion.h>

/* Far longer than anything here takes, also with a cold cache and a sanitizer: only an error
 * reaches it. */
#define SOON SECONDS_NS(100)

enum { LINE_BYTES = 1024, WORKER_ARGUMENTS_MAX = 16, ANSWER_BYTES = 4096, ORDER_WORDS_MAX = 12 };

/* `configuration`: text of sycld.conf or NULL. `system`: a service for all users. An error fails
 * the test. */
struct private_service *processes_service(const char *configuration, bool system);

/* Starts `worker COMMAND ARGUMENTS...` (the arguments end with NULL). `environment` is as for
 * child_start. An error fails the test. */
void worker_start_with(struct child *worker, const char *const *environment, const char *endpoint,
		       const char *command, const char *const *arguments);
/* The same with the service's endpoint and at most one option. */
void worker_start(struct child *worker, const struct private_service *service, const char *command,
		  const char *option, const char *value);

/* Waits for a line that begins with this text; it stays in `line`. An error fails the test. */
void worker_expect(struct child *worker, const char *start_of_line, char line[LINE_BYTES]);
/* Waits for "ok" and exit status 0; ends the worker. */
void worker_finish(struct child *worker);
/* Runs `worker mix` once: the service works. */
void worker_mix_once(const struct private_service *service, uint32_t seed);

/* Runs `syclctl WORDS...`. Returns its exit status and its output. Fails the test if it does not
 * end. */
int processes_order(const struct private_service *service, const char *const words[ORDER_WORDS_MAX],
		    char answer[ANSWER_BYTES]);

/* Returns the only engine. Fails the test if there is none. */
pid_t processes_engine(const struct private_service *service);
/* Returns a number in `syclctl status --json` of the only current engine, or of a user's. Fails the
 * test if there is none. */
json_int_t processes_claimed(const struct private_service *service, const char *what);
json_int_t processes_claimed_by(const struct private_service *service, int64_t uid,
				const char *what);

struct footprint {
	pid_t pid;
	int descriptors, mappings;
	int64_t resident_bytes;
};

struct footprint footprint_take(pid_t pid);
/*
 * Repeats `act` until the engine has as many descriptors as after the time before, and returns its
 * footprint then. NVIDIA's libraries open some of their own: the driver at the first use of a
 * feature, NVML on a thread of its own after the first report.
 */
struct footprint footprint_settle(const struct private_service *service,
				  void (*act)(const struct private_service *service));
/*
 * Waits until the process is back at `base`: no more descriptors than then, and mappings and
 * resident memory within what allocators and a thread pool keep. Otherwise the test fails.
 */
void footprint_expect(const struct footprint *base);
/* The same after that many clients that all did the same: one client may leave less than half a
 * kilobyte. */
void footprint_expect_flat(const struct footprint *base, uint64_t clients);

bool processes_gone(void *pid); /* condition of wait_until */

/* Copies a program or library to where other users can read it: they may not be able to enter the
 * build folder. An error fails the test. */
void processes_copy(const char *from_path, const char *to_path);

#endif
