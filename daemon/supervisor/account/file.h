/*
 * The accounts by control group and device, and the control groups of sessions that go on, in a
 * file for the next service. It is a file of its own: without it nothing else is lost.
 */
#ifndef SYCLD_SUPERVISOR_ACCOUNT_FILE_H
#define SYCLD_SUPERVISOR_ACCOUNT_FILE_H

#include "base/cgroup.h"

#include <stdbool.h>
#include <stdint.h>

struct peer;
struct supervisor;

/* Accounts of sessions of an earlier service that have not come back yet. */
struct account_group {
	uint64_t session;
	char cgroup[CGROUP_BYTES];
};

struct account_groups {
	uint32_t count;
	struct account_group *groups; /* allocated */
};

/* The supervisor's part. */
struct account_file {
	struct account_groups groups;
	bool has_failed; /* the file could not be written: logged once, and tried again */
};

/* 0, also when there is no file or none that can be used, which is logged. A negative errno: it
 * cannot be read now. */
int account_file_load(struct supervisor *supervisor);

/* 0 or a negative errno, which is logged once. */
int account_file_save(struct supervisor *supervisor);

/* A session of an earlier service is back: restore its control group, if known. */
void account_file_recall(struct supervisor *supervisor, uint64_t session, struct peer *peer);

/* Free what is known of the groups of sessions that have not come back. */
void account_file_forget(struct supervisor *supervisor);

#endif
