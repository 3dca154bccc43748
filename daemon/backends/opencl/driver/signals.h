/*
 * Keeps a driver from changing the process's signal handlers. At the first query of its devices,
 * PoCL loads LLVM. LLVM replaces the handlers of TERM, INT, HUP, QUIT, USR1, USR2, SEGV, BUS, ILL,
 * ABRT and more. Then a daemon could not end cleanly, and an application with an embedded engine
 * would lose its own handlers.
 */
#ifndef SYCL_BACKENDS_OPENCL_SIGNALS_H
#define SYCL_BACKENDS_OPENCL_SIGNALS_H

#include <signal.h>

#define OPENCL_SIGNALS 32 /* the signals that are not real-time */

struct opencl_signals {
	struct sigaction actions[OPENCL_SIGNALS];
};

void opencl_signals_save(struct opencl_signals *saved_out);
/*
 * Restores the handlers that were changed since, except SIGFPE: PoCL's handler lets a kernel
 * continue after an integer division by zero. A change that another thread made meanwhile is lost,
 * too: the standard has no way to detect it.
 */
void opencl_signals_restore(const struct opencl_signals *saved);

#endif
