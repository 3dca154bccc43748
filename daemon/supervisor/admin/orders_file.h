/* What operators ordered that the service which follows must know: who is not let in. A small file
 * in the service's folder. */
#ifndef SYCLD_SUPERVISOR_ORDERS_FILE_H
#define SYCLD_SUPERVISOR_ORDERS_FILE_H

struct supervisor;

/* Before anybody is accepted. 0, or a negative errno, logged: it may be there, and cannot be read
 * now. */
int orders_file_load(struct supervisor *supervisor);

/* No file where nobody is drained. 0 or a negative errno; then what was written before is still
 * there. */
int orders_file_save(const struct supervisor *supervisor);

#endif
