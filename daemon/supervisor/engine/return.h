/*
 * An engine of an earlier service comes back: it connects, and shows the token that it was given,
 * its flight page and its sessions. The kernel identifies it: only the process in the last
 * service's file, alive since then, is accepted. Everything that it shows is checked, as its
 * tenant's code may have made it up.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_RETURN_H
#define SYCLD_SUPERVISOR_ENGINE_RETURN_H

#include "control.pb-c.h"
#include "packet_socket.h"

#include <stdbool.h>
#include <sys/types.h>

struct engine;
struct supervisor;

/* The engine with that pid that is expected back, of any tenant, or NULL. */
struct engine *engine_return_find(struct supervisor *supervisor, pid_t pid);

/*
 * Does it show its flight page? Only to a service of its own user. No descriptor is taken from
 * another user's process, because closing it may block for ever. In such an engine's case only its
 * clients' libraries, which have the page, name the offender.
 */
bool engine_return_has_page(const struct engine *engine);

/* For the listener: a process has connected; `context` is the supervisor. They take the socket. */
void engine_return_connected(void *context, int connection);
void engine_return_starved(void *context, int connection);

/* The message of an engine that is RETURNING. It may end in its detachment; the engine itself
 * stays. */
void engine_return_receive(struct engine *engine, const Sycl__V1__EngineReturn *message,
			   struct packet_fds *fds);

/* The engine has hung up before its return was complete. It may try again, a few times. */
void engine_return_lost(struct engine *engine);

#endif
