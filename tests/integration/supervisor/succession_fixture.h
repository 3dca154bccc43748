/* One service with doubles of engines, which another service follows. */
#ifndef SYCL_TESTS_SUCCESSION_FIXTURE_H
#define SYCL_TESTS_SUCCESSION_FIXTURE_H

#include "supervisor/harness.h"

#include <stdbool.h>

enum { PATH_MOST = HARNESS_PATH_BYTES * 2 };

extern struct service service;

struct client {
	int socket;
	long engine;
};

/* A suite's last step: ends the service, and removes its folder. */
void clean_succession(void);
struct client open_known_client(void);
void must_answer(const struct client *client);
/* Waits until the service has ended by this signal, as it should. */
void end_service(int signal);
void file_path(const char *name, char path[PATH_MOST]);

/* For wait_until. */
bool has_one_session(void *unused);
bool has_two_sessions(void *unused);
bool log_says(void *text);

#endif
