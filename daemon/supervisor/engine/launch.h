/* The process of an engine, started for a tenant or as the standby. */
#ifndef SYCLD_ENGINE_LAUNCH_H
#define SYCLD_ENGINE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct engine;
struct engine_process;
struct supervisor;

/* Returns the per-uid folder for built kernels, made if missing. False: the engine keeps no built
 * kernels. */
bool engine_cache_directory(const struct supervisor *supervisor, uid_t uid, gid_t gid,
			    char *path_out, size_t size);

/* Reads the engine's tenant and job. 0 or a negative errno. */
int engine_launch_process(const struct engine *engine, struct engine_process *process_out);

/* Starts the process of a standby, which standby.c manages. 0 or a negative errno. */
int engine_launch_standby(struct supervisor *supervisor, struct engine_process *process_out);

#endif
