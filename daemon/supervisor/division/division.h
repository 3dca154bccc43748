/*
 * The division of one device's time among users. Pure: it takes the claims of engines and the time,
 * and returns grants. It calls no other module, allocates no memory and reads no clock.
 *
 * A user has a share: a minimum that the user gets when it needs time, and a maximum. Remaining
 * time is lent equally to users that need more. A claim is accepted only as far as a false one
 * harms its own user. A user that claims to need the device is granted no more than its own share.
 * A user without a new claim for a while needs nothing. Commands that were claimed to run count as
 * running until the engine claims otherwise. So other users lose at most the wait for these
 * commands, and a user that stops its own engine pays too.
 */
#ifndef SYCLD_SUPERVISOR_DIVISION_H
#define SYCLD_SUPERVISOR_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

#define DIVISION_WHOLE 1000u
#define DIVISION_LEAST 10u /* each user that needs time gets at least this */
#define DIVISION_SLICE_NS                                                                          \
	10000000ull /* DIVISION_EXCLUSIVE: the shortest time for which one user has the device */
#define DIVISION_OVERRUN_NS                                                                        \
	500000000ull /* and the longest wait of others for commands that the owner has left on the \
			device */
#define DIVISION_OWED_NS                                                                           \
	3600000000000ull /* and the largest debt of a user: longer than any command, else a long   \
			    command would not be paid for */

enum division_mode {
	DIVISION_CONCURRENT, /* users run at the same time, each as much as it is granted */
	/* One user at a time: the owner is granted all time, other users none. */
	DIVISION_EXCLUSIVE,
};

/* An engine's claim on a device, read once. */
struct division_claim {
	uint64_t busy_ns; /* as in share_claim, including running commands so far */
	uint64_t beat;
	bool wants, running;
};

/* An engine. The engines of one user are adjacent. */
struct division_party {
	uint64_t user;
	uint32_t least, most; /* permille; least <= most, 1 <= most <= DIVISION_WHOLE */
	struct division_claim claim;
	/* Owned by the division; zeroed for a new party. */
	uint64_t seen_ns; /* when its claim was last read */
	uint64_t busy_ns; /* as claimed at that time */
	uint64_t beat;
	uint64_t beat_ns; /* when that beat was first read */
	/* Permille of recent time in which it had work; 0 at once when the claim is stale. */
	uint32_t demand;
	/* Exclusive: time that the user has still to get for its share; the same in all its
	 * engines. */
	int64_t credit_ns;
	uint32_t granted; /* the result, permille */
};

/* The division of one device. */
struct division {
	enum division_mode mode;
	uint64_t now_ns;
	/* exclusive */
	bool is_owned; /* `owner` has the device since `since_ns` */
	/* The owner is granted no more time, and the others wait for its running commands, since
	 * `ending_ns`. */
	bool is_ending;
	uint64_t owner, since_ns, ending_ns;
};

/* Times must not decrease. `stale_ns`: an engine without a beat for so long needs no time. */
void division_step(struct division *division, struct division_party *parties, uint32_t count,
		   uint64_t now_ns, uint64_t stale_ns);

#endif
