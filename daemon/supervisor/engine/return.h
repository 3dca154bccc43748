/*
 * The return of an earlier service's engine. It connects, and presents its token, its flight page
 * and its sessions. The kernel identifies it: only the process in the last service's file, alive
 * since then, is accepted. Everything that it presents is checked, because its tenant's code may
 * have invented it.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_RETURN_H
#define SYCLD_SUPERVISOR_ENGINE_RETURN_H

#include "control.pb-c.h"
#include "packet_socket.h"

#include <stdbool.h>
#include <sys/types.h>

struct engine;
struct supervisor;

/* Returns the expected engine with that pid, of any tenant, or NULL. */
struct engine *engine_return_find(struct supervisor *supervisor, pid_t pid);

/*
 * True if the engine sends its flight page, which it does only to a service of its own user. No
 * descriptor is taken from another user's process, because closing it may block for ever. Then only
 * the clients' libraries, which have the page, name the offender.
 */
bool engine_return_has_page(const struct engine *engine);

/* Callbacks of the listener: a process has connected; `context` is the supervisor. They take the
 * socket. */
void engine_return_connected(void *context, int connection);
void engine_return_starved(void *context, int connection);

/* Handles the message of a RETURNING engine. It may detach the engine, which is not freed. */
void engine_return_receive(struct engine *engine, const Sycl__V1__EngineReturn *message,
			   struct packet_fds *fds);

/*
 * Called when the engine has hung up before its return was complete. It may try again, a few times.
 */
void engine_return_lost(struct engine *engine);

#endif
