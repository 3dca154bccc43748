/* The file by which the next service knows the jobs. It does not exist while there are none. Only
 * the service's user can read or write it. */
#ifndef SYCLD_SUPERVISOR_JOBS_FILE_H
#define SYCLD_SUPERVISOR_JOBS_FILE_H

struct engine;
struct supervisor;

/* 0 or a negative errno; on failure the previous file still exists. Does not block. */
int jobs_file_save(const struct supervisor *supervisor);

/* Called at the start, before the last service's engines are looked for. Jobs whose control group
 * is gone are dropped. 0, or a negative errno: the file cannot be read now, and may be intact. */
int jobs_file_load(struct supervisor *supervisor);

/* Called when an engine is ready: its job finds it again after a restart. */
void jobs_file_engine_ready(const struct engine *engine);

#endif
