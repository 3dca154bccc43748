/* The service's answers summed for metrics: by user, by device, by user and device. All three
 * numbers are bounded. Users beyond the bound are one row, "(others)". */
#ifndef SYCLD_EXPORTER_TALLY_H
#define SYCLD_EXPORTER_TALLY_H

#include "user_list.h"

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TALLY_USERS_MOST = 1000, /* --users may lower it */
	TALLY_DEVICES = 64,
	TALLY_USES = 8192,
	TALLY_DEVICE_BYTES = 24,
	TALLY_STATES = 7,
};

/* The users with a separate row: the first ones, as long as they exist. So the counters of a user
 * never move to another row and back. */
struct tally_users {
	unsigned count, most;
	uint32_t uids[TALLY_USERS_MOST];
};

/* Called with an answer for a viewer that may see all data. */
void tally_users_follow(struct tally_users *known, const Sycl__V1__AdminReply *status);

struct tally_user {
	bool is_others;
	uint32_t uid;
	char name[USER_NAME_BYTES];
	double engines, engines_answering, resident_bytes, waiting, spilled_bytes, drained;
	double sessions_ended, engines_failed, faults, submitted, completed, failed;
	double held_bytes, shared_bytes;
	double recent_commands; /* of the last minute */
	/* The largest of the sessions' quantiles. Those of several sessions have no sum. */
	double recent_wait_p50, recent_wait_p99;
	double sessions[TALLY_STATES];
};

struct tally_device {
	uint32_t backend, index;
	char name[TALLY_DEVICE_BYTES]; /* "cuda:0" */
	/* NULL: the device was used, and no engine has it now. */
	const Sycl__V1__DevicePresent *present; /* NULL: this viewer may not see it */
	const Sycl__V1__KnownDevice *known;
};

struct tally_use {
	unsigned user, device;
	bool has_use, has_wait, has_share;
	double device_seconds, commands, failed, to_device, to_host, spills, spilled;
	double waits, wait_p50, wait_p99; /* not summed for "(others)" */
	double least, most, granted, wants;
};

struct tally {
	unsigned user_count, device_count, use_count;
	struct tally_user users[TALLY_USERS_MOST + 1];
	struct tally_device devices[TALLY_DEVICES];
	struct tally_use uses[TALLY_USES];
	double left_out; /* rows without a place */
};

extern const char *const tally_state_names[TALLY_STATES];

/* `known` NULL: each user has a row. NULL: no memory. The answers must outlive the result. */
struct tally *tally_make(const Sycl__V1__AdminReply *status, const Sycl__V1__AdminReply *by_user,
			 const struct tally_users *known, const struct users *names);
struct tally *tally_free(struct tally *tally);

#endif
