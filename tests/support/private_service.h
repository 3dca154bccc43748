/*
 * A service for one test, in a temporary runtime folder. private_service_free ends it and its
 * engines. If the test dies, sycld ends, too.
 */
#ifndef SYCL_TESTS_PRIVATE_SERVICE_H
#define SYCL_TESTS_PRIVATE_SERVICE_H

#include "cleanup.h"
#include "process.h"

#include <jansson.h>

struct private_service {
	char directory[64];     /* temporary; contains all other files */
	char runtime[80];       /* sockets */
	char endpoint[112];     /* for sycl_platform_open */
	char configuration[80]; /* "" if none */
	bool user;
	bool faults; /* the test makes an engine crash: a sanitizer's report about that is no
			failure */
	struct child sycld;
};

/*
 * `configuration`: text of sycld.conf, NULL for none. `options`: more arguments, a list that ends
 * with NULL; NULL: none. Without "--system" it is a --user service. With "--fake-engine" its
 * engines have the fake devices. Waits until the service answers.
 */
int private_service_start(const char *configuration, const char *const *options,
			  struct private_service **service_out);
/* Ends it and its engines. Aborts if sycld does not end well, or if a sanitizer reported anything
 * about it or an engine. */
struct private_service *private_service_free(struct private_service *service);
DEFINE_CLEANUP(private_service)

/* Runs sycld again in the same folder, after it died. */
int private_service_restart(struct private_service *service);

/* Prints what sycld and its engines have written to stderr. Call it before a test fails, because
 * the cleanup does not run then. */
void private_service_print_log(const struct private_service *service);

/* Returns true if the first half kilobyte of a line of the log contains this text. */
bool private_service_has_logged(const struct private_service *service, const char *text);

/* Returns the output of `syclctl status --json`; the caller frees it. NULL: the service does not
 * answer. */
json_t *private_service_status(const struct private_service *service);
/* How many sessions status shows, or -1. */
int private_service_sessions(const struct private_service *service);
/* Returns the pid of the first engine that status shows for `uid` (-1: any) and that is not about
 * to end. 0: there is none. */
pid_t private_service_engine(const struct private_service *service, int64_t uid);

/* Returns the pid of the standby engine if it is ready, otherwise 0. */
pid_t private_service_standby(const struct private_service *service);
/* As above, but waits: a standby starts some time after a device was used. 0: it does not come. */
pid_t private_service_wait_standby(const struct private_service *service, uint64_t timeout_ns);

/* Waits until status shows this many sessions. Returns false if it does not within timeout_ns. */
bool private_service_wait_sessions(const struct private_service *service, int count,
				   uint64_t timeout_ns);

#endif
