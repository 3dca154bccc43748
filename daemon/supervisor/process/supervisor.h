/* The composition root: makes the parts of the service, runs the loop, and takes the parts down. */
#ifndef SYCLD_SUPERVISOR_PROCESS_SUPERVISOR_H
#define SYCLD_SUPERVISOR_PROCESS_SUPERVISOR_H

#include "service/supervisor.h"

/*
 * Takes over what main() has prepared: options, configuration, folder (locked), listener. Runs
 * until a stop is requested, or the service is idle. Returns the exit status.
 */
int supervisor_run(const struct options *options, const struct configuration *configuration,
		   const struct runtime_directory *directory, const struct listener *listener);

#endif
