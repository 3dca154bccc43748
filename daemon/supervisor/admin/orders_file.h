/* Orders for the next service: the users that are drained. A small file in the service's folder. */
#ifndef SYCLD_SUPERVISOR_ORDERS_FILE_H
#define SYCLD_SUPERVISOR_ORDERS_FILE_H

struct supervisor;

/* Called before any client is accepted. 0, or a negative errno, logged: the file may be there, and
 * cannot be read now. */
int orders_file_load(struct supervisor *supervisor);

/* Without drained users the file is removed. 0 or a negative errno; on failure the previous file is
 * still there. */
int orders_file_save(const struct supervisor *supervisor);

#endif
