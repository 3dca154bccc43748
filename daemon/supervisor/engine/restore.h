/*
 * What the last service left in the folder (service/service_state.h): engines that still run,
 * open sessions, session numbers and accounts. The next step is the succession
 * (engine/succession.h).
 */
#ifndef SYCLD_SUPERVISOR_RESTORE_H
#define SYCLD_SUPERVISOR_RESTORE_H

struct supervisor;

/*
 * Reads the files, restores the accounts, and expects the engines that still run (engine/return.h).
 * A file that is damaged, of another user or of another release is set aside, which is logged.
 * Returns 0, or a negative errno: the files cannot be read now and are left as they are, so this
 * service must not begin.
 */
int restore_last_service(struct supervisor *supervisor);

#endif
