/*
 * How the time of one device is divided among users. Pure: what engines claim and what time it is come in, grants go out; it
 * calls nobody, allocates nothing, knows no clock.
 *
 * A user has a share: a least part that is theirs when they want it, and a most. What those who want the device leave of it is
 * lent equally to those who would take more. What is claimed is believed as far as it costs only whoever claims it: who
 * says to want the device is granted their own share and no more, and who says nothing new for a while wants nothing. What such a one
 * said to have running it is taken to have: it costs nobody else more than the wait for it, and who stops itself pays, too.
 */
#ifndef SYCLD_SUPERVISOR_DIVISION_H
#define SYCLD_SUPERVISOR_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

#define DIVISION_WHOLE      1000u
#define DIVISION_LEAST      10u          /* whoever wants something gets so much in any case */
#define DIVISION_SLICE_NS   10000000ull  /* DIVISION_EXCLUSIVE: the shortest time for which one user has the device */
#define DIVISION_OVERRUN_NS 500000000ull /* and the longest that others wait for what that user has left there */
#define DIVISION_OWED_NS                                                                                               \
	3600000000000ull /* and the most that a user can owe: longer than any command, or who has it would have it unpaid */

enum division_mode {
	DIVISION_CONCURRENT, /* side by side, each as much as granted */
	DIVISION_EXCLUSIVE,  /* one user at a time: that one is granted all, the others nothing */
};

/* What one engine claims of one device, as it was read once. */
struct division_claim {
	uint64_t busy_ns; /* as share_claim, of the present time included */
	uint64_t beat;
	bool wants, running;
};

/* One engine. Those of a user stand side by side. */
struct division_party {
	uint64_t user;
	uint32_t least, most; /* permille; least <= most, 1 <= most <= DIVISION_WHOLE */
	struct division_claim claim;
	/* the division's, zeroed for a new one */
	uint64_t seen_ns; /* when it was looked at last */
	uint64_t busy_ns; /* as claimed then */
	uint64_t beat;
	uint64_t beat_ns;  /* since when that beat is known */
	uint32_t demand;   /* permille of the time that it lately had something to do; 0 at once when it is stale */
	int64_t credit_ns; /* exclusive: of the user, the same in all its engines: time that it has had too little */
	uint32_t granted;  /* the answer, permille */
};

/* Of one device. */
struct division {
	enum division_mode mode;
	uint64_t now_ns;
	/* exclusive */
	bool is_owned;  /* by `owner`, since `since_ns` */
	bool is_ending; /* it is granted nothing more, and others wait for what it has running, since `ending_ns` */
	uint64_t owner, since_ns, ending_ns;
};

/* Times go forward. `stale_ns`: who has not beaten for so long wants nothing. */
void division_step(struct division *division, struct division_party *parties, uint32_t count, uint64_t now_ns,
		   uint64_t stale_ns);

#endif
