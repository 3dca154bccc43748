/* One service with doubles of engines, for the tests of the supervisor's engines. */
#ifndef SYCL_TESTS_ENGINES_FIXTURE_H
#define SYCL_TESTS_ENGINES_FIXTURE_H

#include "supervisor/harness.h"

extern struct service service;

void start_engines_with(const char *manner, const char *configuration);
void must_be_refused_with(const char *why);
/* Returns a field of the only tenant in `syclctl status`. */
json_t *tenant_field(json_t *status, const char *name);
void lose_engine(int socket);
bool process_is_gone(void *pid);
bool devices_in(const char *verb, size_t count);
void engine_send(int socket, const char *order);
/* Waits for the answer: by then the engine has sent the ordered messages. */
void engine_open_device(int socket);
long standby_pid(void);
void await_log(const char *text, unsigned times);
void crash_and_check(const char *how, const char *logged, const char *shown);

#endif
