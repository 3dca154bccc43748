/* The folder in which engines keep built kernels. */
#ifndef SYCLD_SUPERVISOR_PROCESS_CACHE_FOLDER_H
#define SYCLD_SUPERVISOR_PROCESS_CACHE_FOLDER_H

struct supervisor;

/* Sets supervisor.cache_path, and makes the folder if missing. Empty: there is none, which is no
 * error. */
void supervisor_find_cache(struct supervisor *supervisor);

#endif
