/* A file for the next service. It has the accounts by control group and device, and the control
 * groups of running sessions. It is a separate file, so that its loss affects nothing else. */
#ifndef SYCLD_SUPERVISOR_ACCOUNT_FILE_H
#define SYCLD_SUPERVISOR_ACCOUNT_FILE_H

#include "base/cgroup.h"

#include <stdbool.h>
#include <stdint.h>

struct peer;
struct supervisor;

/* Accounts of sessions of an earlier service that have not returned yet. */
struct account_group {
	uint64_t session;
	char cgroup[CGROUP_BYTES];
};

struct account_groups {
	uint32_t count;
	struct account_group *groups; /* allocated, in the order of their sessions */
};

/* The supervisor's part. */
struct account_file {
	struct account_groups groups;
	bool has_failed; /* the file could not be written; logged once, and tried again */
};

/* 0, also if there is no usable file, which is logged. A negative errno: the file cannot be read
 * now. */
int account_file_load(struct supervisor *supervisor);

/* 0 or a negative errno, which is logged once. */
int account_file_save(struct supervisor *supervisor);

/* Restores the control group of a session that has returned from an earlier service, if known. */
void account_file_recall(struct supervisor *supervisor, uint64_t session, struct peer *peer);

/* Frees the control groups of sessions that have not returned. */
void account_file_forget(struct supervisor *supervisor);

#endif
