/*
 * A service of the test's own, in a temporary runtime folder. It and its engines end with
 * private_service_free, and sycld also when the test dies.
 */
#ifndef SYCL_TESTS_PRIVATE_SERVICE_H
#define SYCL_TESTS_PRIVATE_SERVICE_H

#include "cleanup.h"
#include "process.h"

#include <jansson.h>

struct private_service {
	char directory[64];     /* temporary; holds everything below */
	char runtime[80];       /* sockets */
	char endpoint[112];     /* for sycl_platform_open */
	char configuration[80]; /* "" if none */
	bool user;
	bool faults; /* the test makes an engine crash: what a sanitizer says of that is no
			complaint */
	struct child sycld;
};

/*
 * `configuration`: text of sycld.conf, NULL for none. `options`: more arguments, ends with NULL;
 * NULL: none. Without "--system" among them it is a --user service; with "--fake-engine" its
 * engines have the fake devices. Waits until it answers.
 */
int private_service_start(const char *configuration, const char *const *options,
			  struct private_service **service_out);
/* Ends it and its engines. Aborts when sycld does not end well, or a sanitizer found something in
 * it or an engine. */
struct private_service *private_service_free(struct private_service *service);
DEFINE_CLEANUP(private_service)

/* Run sycld again in the same folder, after it died. */
int private_service_restart(struct private_service *service);

/* Print what sycld and its engines have said to stderr: before a test fails, whose cleanup does not
 * come then. */
void private_service_print_log(const struct private_service *service);

/* Stands this in a line of it, in its first half kilobyte? */
bool private_service_has_logged(const struct private_service *service, const char *text);

/* `syclctl status --json` of it; the caller's; NULL when it does not answer. */
json_t *private_service_status(const struct private_service *service);
/* How many sessions status shows, or -1. */
int private_service_sessions(const struct private_service *service);
/* The pid of the first engine that status shows for `uid` (or any: -1), and that is not about to
 * end; 0 if none. */
pid_t private_service_engine(const struct private_service *service, int64_t uid);

/* The pid of the standby engine when it is ready, 0 if there is none or it is not. */
pid_t private_service_standby(const struct private_service *service);
/* The same, waited for: as a node is some time after somebody has used a device. 0: it does not
 * come. */
pid_t private_service_wait_standby(const struct private_service *service, uint64_t timeout_ns);

/* Status shows this many sessions within timeout_ns. */
bool private_service_wait_sessions(const struct private_service *service, int count,
				   uint64_t timeout_ns);

#endif
