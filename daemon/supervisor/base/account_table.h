/* Sums of use by user, control group, device and session, in rows that are found by that key. Pure:
 * it does not refer to tenants. */
#ifndef SYCLD_SUPERVISOR_ACCOUNT_TABLE_H
#define SYCLD_SUPERVISOR_ACCOUNT_TABLE_H

#include "base/cgroup.h"
#include "base/siphash.h"
#include "delay_histogram.h"

#include <stdint.h>
#include <sys/types.h>

/* The group of rows that were merged because the table was full. It cannot be a path, because paths
 * begin with '/'. */
#define ACCOUNT_OTHERS "(others)"

struct account_key {
	uint32_t uid;
	uint32_t backend, index; /* backend 0: no device */
	uint64_t session;        /* 0: all sessions */
	uint64_t job;            /* 0: of no job */
	char cgroup[CGROUP_BYTES];
};

/* A sum stays at the largest number instead of overflowing, because the summands are claims. */
struct account_sums {
	uint64_t sessions, faults;
	uint64_t commands, failed;
	uint64_t device_ns, bytes_to_device, bytes_to_host;
	uint64_t spills, spilled_bytes;
	uint64_t memory_peak_bytes; /* the largest one instead of a sum */
	struct delay_histogram delays;
};

struct account_row {
	struct account_key key;
	struct account_sums sums;
	uint64_t used; /* value of account_table.uses at the last use */
	/* For a session's account; owned by the caller. */
	pid_t pid;
	const char *command;
};

/* Zeroed: empty. */
struct account_table {
	struct account_row *rows; /* allocated, as `hashes` and `slots` */
	uint64_t *hashes;         /* hashes of the rows' keys */
	uint32_t *slots;          /* open addressing by hash: a row's index + 1; 0: free */
	uint32_t count, capacity;
	uint64_t uses;
	uint64_t probes; /* number of rows with which a sought key was compared so far */
	/* Random: users choose parts of keys, and with a known hash they could choose keys that all
	 * begin at one slot. */
	uint8_t secret[SIPHASH_SECRET_BYTES];
};

void account_sum(uint64_t *sum, uint64_t more);
void account_sums_add(struct account_sums *sums, const struct account_sums *more);

/* Returns the row, valid until another one is made; NULL: there is none. */
struct account_row *account_table_find(struct account_table *table, const struct account_key *key);

/*
 * As account_table_find, but makes a missing row. If there are `most` rows already, the rows unused
 * for longest are merged into one row for each device, ACCOUNT_OTHERS, until there is room. NULL:
 * no memory, or only merged rows are left.
 */
struct account_row *account_table_get(struct account_table *table, const struct account_key *key,
				      uint32_t most);

void account_table_fini(struct account_table *table);

#endif
