/* The process that connected, as the kernel reports it. */
#ifndef SYCLD_SUPERVISOR_PEER_H
#define SYCLD_SUPERVISOR_PEER_H

#include "base/cgroup.h"

#include <stdbool.h>
#include <sys/types.h>

enum { PEER_COMMAND_BYTES = 64 };

struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	int pidfd;                        /* owned by the caller; CLOEXEC */
	bool is_operator;                 /* root or an administrator; not set by peer_identify */
	char command[PEER_COMMAND_BYTES]; /* The process' name, printable; "": it cannot be read. */
	char cgroup[CGROUP_BYTES]; /* the client's control group when it connected; "": unknown */
	/* The same, or, if its path is too long, the path of a group around it. */
	char cgroup_outer[CGROUP_BYTES];
};

/* 0, or a negative errno. -ESRCH: the process that connected has ended or cannot be identified.
 * Does not block. */
int peer_identify(int socket, struct peer *peer_out);

#endif
