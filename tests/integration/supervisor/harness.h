/* Starts services in folders of their own, connects to them, runs syclctl. Failures of the harness
 * itself abort. */
#ifndef SYCL_TESTS_SUPERVISOR_HARNESS_H
#define SYCL_TESTS_SUPERVISOR_HARNESS_H

#include "session.pb-c.h"

#include <jansson.h>

#include <stdbool.h>
#include <sys/types.h>

enum { HARNESS_PATH_BYTES = 256, HARNESS_DEADLINE_MS = 100000 };

struct service {
	pid_t pid;                        /* 0: not running, or reaped */
	char folder[HARNESS_PATH_BYTES];  /* made by service_prepare, removed by service_free */
	char runtime[HARNESS_PATH_BYTES]; /* folder/run */
	char session[HARNESS_PATH_BYTES]; /* runtime/session.sock */
	char log[HARNESS_PATH_BYTES];     /* what it wrote to stderr */
	char engine[HARNESS_PATH_BYTES];  /* the engine's program, in folder */
	char notify[HARNESS_PATH_BYTES];  /* the fake service manager's socket */
	struct manager *manager;          /* reads that socket */
	uid_t run_as;                     /* 0: do not change */
	bool as_unit;      /* root with the few capabilities that the system unit leaves it */
	bool in_namespace; /* in a user namespace that has no uid at all */
};

/* A folder with the stand-in engine of that manner ("double", "exits" ...) in it. */
void service_prepare(struct service *service, const char *manner);

/* Start sycld with its runtime folder and engine given, and these further arguments (NULL at the
 * end); do not wait. */
void service_launch(struct service *service, const char *const *arguments);

/* As above, then wait until it is ready. */
void service_start(struct service *service, const char *const *arguments);

/* As service_start, with a user database (the library) that answers about `uid` only when somebody
 * has opened the FIFO `gate` to write. */
void service_start_slow(struct service *service, const char *const *arguments, const char *library,
			uid_t uid, const char *gate);

/* Wait for READY=1. False: it ended, or the deadline passed. */
bool service_wait_ready(struct service *service);

/* A notification that contains `text` and is later than the one that was waited for last, within
 * the deadline. */
bool service_wait_notify(struct service *service, const char *text);

/* Wait for its end: the wait status; aborts past the deadline. */
int service_wait(struct service *service);

/* SIGTERM, then wait: the wait status. */
int service_stop(struct service *service);

/* End it if it runs, end engines, remove the folder. */
void service_free(struct service *service);

void write_file(const char *path, const char *text);

/* How often `text` stands in its log. */
unsigned service_log_count(const struct service *service, const char *text);

/* Is `condition(context)` true within the deadline? */
bool wait_until(bool (*condition)(void *context), void *context);

/* Connect and say hello. The socket. */
int client_connect(const struct service *service);

/* The two halves of that. */
int client_connect_silently(const struct service *service);
void client_send_hello(int socket);

/* One packet of the service, allocated; NULL: hang-up. Aborts past the deadline. Free with
 * packet_free. */
Sycl__V1__Packet *client_receive(int socket);
void packet_free(Sycl__V1__Packet *packet);

/* Connect, hello, welcome: what the engine says of itself ("pid=.. uid=.. env=.. fds=.."). NULL:
 * refused. */
char *client_open(const struct service *service, int *socket_out);

/* Connect and be refused: the text, to be freed; NULL if it was welcomed or hung up on. */
char *client_refused(const struct service *service);

/* The number behind `name` ("pid=") in an engine's words of itself; -1: none. */
long fact(const char *facts, const char *name);

struct outcome {
	int status;  /* exit status; 128 + signal */
	char *out;   /* allocated */
	char *error; /* allocated */
};

/* Run a program (NULL at the end of its arguments) as `uid` (0: as we are); both outputs are kept.
 */
struct outcome run_program(uid_t uid, const char *const *arguments);
/* The same as `uid`, whose one further group is `group`. */
struct outcome run_program_in_group(uid_t uid, gid_t group, const char *const *arguments);
void outcome_free(struct outcome *outcome);

/* syclctl VERB --json of that service, parsed; NULL: it failed. Free with json_decref. */
json_t *ctl_json(const struct service *service, const char *verb);

/* How many sessions `syclctl status` shows; -1: it failed. */
int ctl_session_count(const struct service *service);

#endif
