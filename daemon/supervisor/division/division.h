/*
 * How the time of one device is divided among users. Pure: it takes the claims of engines and the
 * time, and returns grants. It calls no other module, allocates nothing and reads no clock.
 *
 * A user has a share: a minimum that the user gets when it is wanted, and a maximum. Time that is
 * left over is lent equally to users that would take more. A claim is believed only as far as a
 * false one costs its own user. A user that claims to want the device is granted no more than its
 * own share. A user without a new claim for a while wants nothing. Commands that were claimed to
 * run count as running until the engine claims otherwise. That costs other users no more than the
 * wait for them, and a user that stops its own engine pays too.
 */
#ifndef SYCLD_SUPERVISOR_DIVISION_H
#define SYCLD_SUPERVISOR_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

#define DIVISION_WHOLE 1000u
#define DIVISION_LEAST 10u /* each user that wants something gets at least this */
#define DIVISION_SLICE_NS                                                                          \
	10000000ull /* DIVISION_EXCLUSIVE: the shortest time for which one user has the device */
#define DIVISION_OVERRUN_NS                                                                        \
	500000000ull /* and the longest wait of others for commands that the owner has left on the \
			device */
#define DIVISION_OWED_NS                                                                           \
	3600000000000ull /* and the largest debt of a user: longer than any command, else a long   \
			    command would not be paid for */

enum division_mode {
	DIVISION_CONCURRENT, /* side by side, each user as much as it is granted */
	/* One user at a time: the owner is granted all time, other users none. */
	DIVISION_EXCLUSIVE,
};

/* A claim of an engine on a device, as it was read once. */
struct division_claim {
	uint64_t busy_ns; /* as in share_claim, with the time of what runs now */
	uint64_t beat;
	bool wants, running;
};

/* An engine. The engines of a user stand side by side. */
struct division_party {
	uint64_t user;
	uint32_t least, most; /* permille; least <= most, 1 <= most <= DIVISION_WHOLE */
	struct division_claim claim;
	/* the division's, zeroed for a new one */
	uint64_t seen_ns; /* when its claim was read last */
	uint64_t busy_ns; /* as claimed at that time */
	uint64_t beat;
	uint64_t beat_ns; /* since when that beat is known */
	uint32_t demand;  /* permille of recent time in which it had something to do; 0 at once when
			     the claim is stale */
	int64_t credit_ns; /* exclusive: of the user, the same in all its engines: time that it is
			      behind its share */
	uint32_t granted;  /* the result, permille */
};

/* The division of one device. */
struct division {
	enum division_mode mode;
	uint64_t now_ns;
	/* exclusive */
	bool is_owned;  /* owned by `owner` since `since_ns` */
	bool is_ending; /* the owner is granted nothing more, and the others wait for its running
			   commands, since `ending_ns` */
	uint64_t owner, since_ns, ending_ns;
};

/* Times must not decrease. `stale_ns`: an engine without a beat for so long wants nothing. */
void division_step(struct division *division, struct division_party *parties, uint32_t count,
		   uint64_t now_ns, uint64_t stale_ns);

#endif
