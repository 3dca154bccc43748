/* Orders for the next service, in a small file in the service's folder: drained users, limits, and
 * orders for single sessions (orders_sessions.h). */
#ifndef SYCLD_SUPERVISOR_ORDERS_FILE_H
#define SYCLD_SUPERVISOR_ORDERS_FILE_H

struct supervisor;

/* Called before any client is accepted. 0, or a negative errno, logged: the file may exist but
 * cannot be read now. */
int orders_file_load(struct supervisor *supervisor);

/* Removes the file if there is nothing to keep. 0 or a negative errno; on failure the previous file
 * still exists. */
int orders_file_save(const struct supervisor *supervisor);

#endif
