/* The uids of a process, as the kernel reports them. */
#ifndef SYCL_SHARED_PROCESS_UIDS_H
#define SYCL_SHARED_PROCESS_UIDS_H

#include <sys/types.h>

/*
 * Checks whether `uid` is one of the process' uids (real, effective, saved, filesystem). 0: it is;
 * -ESRCH: none of them; -ENOENT and the like: there is no such process here; -EPROTO. Reads a file
 * of /proc. A process that /proc hides is another user's if the caller, whose uid is requested, may
 * not signal it. Any thread.
 */
int process_has_uid(pid_t pid, uid_t uid);

#endif
