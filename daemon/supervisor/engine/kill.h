/* The ends of processes by a kill. A kill that the kernel refuses is logged: the process goes on
 * then. Loop thread only; none of these functions waits. */
#ifndef SYCLD_SUPERVISOR_ENGINE_KILL_H
#define SYCLD_SUPERVISOR_ENGINE_KILL_H

#include <stdbool.h>
#include <sys/types.h>

struct engine;

/* Sends SIGKILL by the pidfd, which is borrowed. True: the process ends, or has ended. */
bool process_kill(pid_t pid, int pidfd);

/* The same for an engine, and for all that is in its control group. A group is ended without the
 * right to send signals (CAP_KILL). True: the engine ends, or has ended. */
bool engine_kill_process(const struct engine *engine);

#endif
