/*
 * An engine of an earlier service comes back: it connects, and shows the token that it was given,
 * its flight page and its sessions. Who it is says the kernel: only the process that the last
 * service has left in its file is listened to, the same one, alive since. What it shows is checked:
 * it may have been made up by its tenant's code.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_RETURN_H
#define SYCLD_SUPERVISOR_ENGINE_RETURN_H

#include "control.pb-c.h"
#include "packet_socket.h"

#include <stdbool.h>
#include <sys/types.h>

struct engine;
struct supervisor;

/* An engine that is waited for, whoever's, or NULL. */
struct engine *engine_return_find(struct supervisor *supervisor, pid_t pid);

/*
 * Does it show its flight page? Only to a service of its own user: from another user's process no
 * descriptor is taken, because to close what that user has opened may take for ever. Such an
 * engine's offender is named by its clients' libraries alone, which have the page.
 */
bool engine_return_has_page(const struct engine *engine);

/* For the listener: somebody has connected; `context` is the supervisor. They take the socket. */
void engine_return_connected(void *context, int connection);
void engine_return_starved(void *context, int connection);

/* The message of an engine that is RETURNING. It may end in its detachment; the engine itself
 * stays. */
void engine_return_receive(struct engine *engine, const Sycl__V1__EngineReturn *message,
			   struct packet_fds *fds);

/* It has hung up before it was back. It may try again, a few times. */
void engine_return_lost(struct engine *engine);

#endif
