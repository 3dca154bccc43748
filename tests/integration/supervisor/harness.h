/* Starts services in separate folders, connects to them, and runs syclctl. Failures of the harness
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
	char log[HARNESS_PATH_BYTES];     /* its output on stderr */
	char engine[HARNESS_PATH_BYTES];  /* the engine's program, in folder */
	char notify[HARNESS_PATH_BYTES];  /* the fake service manager's socket */
	struct manager *manager;          /* reads that socket */
	uid_t run_as;                     /* 0: do not change */
	bool as_unit;      /* root with the few capabilities that the system unit leaves it */
	bool without_kill; /* with as_unit: also without the right to signal other users' processes
			    */
	bool in_namespace; /* in a user namespace that has no uid at all */
};

/* Makes a folder with the stand-in engine of that manner ("double", "exits" ...) in it. */
void service_prepare(struct service *service, const char *manner);

/* Starts sycld with its runtime folder and engine, and these further arguments (NULL at the end).
 * Does not wait. */
void service_launch(struct service *service, const char *const *arguments);

/* As above, then waits until it is ready. */
void service_start(struct service *service, const char *const *arguments);

/* As service_start, with a user database (the library). It answers about `uid` only when a process
 * has opened the FIFO `gate` to write. */
void service_start_slow(struct service *service, const char *const *arguments, const char *library,
			uid_t uid, const char *gate);

/* Waits for READY=1. Returns false if the service ended or the deadline passed. */
bool service_wait_ready(struct service *service);

/* Waits for a notification that contains `text` and is later than the last one that was waited for.
 * False: not within the deadline. */
bool service_wait_notify(struct service *service, const char *text);

/* Waits for its end. Returns the wait status; aborts past the deadline. */
int service_wait(struct service *service);

/* Sends SIGTERM and waits. Returns the wait status. */
int service_stop(struct service *service);

/* Ends it if it runs, ends engines, and removes the folder. */
void service_free(struct service *service);

void write_file(const char *path, const char *text);

/* Returns how often `text` is in its log. */
unsigned service_log_count(const struct service *service, const char *text);

/* Waits until `condition(context)` is true. Returns false if it is not within the deadline. */
bool wait_until(bool (*condition)(void *context), void *context);

/* Connects and sends the hello. Returns the socket. */
int client_connect(const struct service *service);

/* The two steps of that. */
int client_connect_silently(const struct service *service);
void client_send_hello(int socket);

/* Returns one packet of the service; NULL: it hung up. Aborts past the deadline. Free it with
 * packet_free. */
Sycl__V1__Packet *client_receive(int socket);
void packet_free(Sycl__V1__Packet *packet);

/* Connects, sends the hello and gets the welcome. Returns the engine's facts ("pid=.. uid=.. env=..
 * fds=.."). NULL: refused. */
char *client_open(const struct service *service, int *socket_out);

/* Connects and expects a refusal. Returns its text, which the caller frees; NULL if it was welcomed
 * or closed. */
char *client_refused(const struct service *service);

/* Returns the number behind `name` ("pid=") in an engine's facts; -1: none. */
long fact(const char *facts, const char *name);

/* Returns the user who runs the test, as syclctl writes it: "root(0)". */
const char *own_user_text(void);

struct outcome {
	int status;  /* exit status; 128 + signal */
	char *out;   /* allocated */
	char *error; /* allocated */
};

/* Runs a program (NULL at the end of its arguments) as `uid` (0: unchanged); both outputs are
 * kept. */
struct outcome run_program(uid_t uid, const char *const *arguments);
/* The same as `uid`, with `group` as its only further group. */
struct outcome run_program_in_group(uid_t uid, gid_t group, const char *const *arguments);
void outcome_free(struct outcome *outcome);

/* Runs syclctl VERB --json for that service and parses the output; NULL: it failed. Free it with
 * json_decref. */
json_t *ctl_json(const struct service *service, const char *verb);

/* Returns how many sessions `syclctl status` shows; -1: it failed. */
int ctl_session_count(const struct service *service);

#endif
