/* `syclctl events`: prints events of the service when they occur. */
#ifndef SYCLCTL_EVENTS_H
#define SYCLCTL_EVENTS_H

#include "words/filter.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define EVENT_KINDS "fault engine-started engine-ended order session-opened session-closed spill"

struct events_choice {
	uint64_t since_unix_seconds; /* 0: all */
	int kind;                    /* enum EventKind; 0: all */
	struct filter filter;        /* of users, groups and sessions */
	bool json;
	bool once; /* only the events that the service has kept */
};

/* Words of the command line, NULL: not given. `now`: the present. False: a word is invalid, and
 * `wrong_out` has the error. */
bool events_read(const char *since, const char *kind, time_t now, struct events_choice *choice_out,
		 const char **wrong_out);

/* Returns the exit status. Prints events until a signal, even if the service restarts. If the
 * service has no events from as far back as was chosen, standard error says where they are. */
int events_follow(const char *runtime_directory, const struct events_choice *choice);

#endif
