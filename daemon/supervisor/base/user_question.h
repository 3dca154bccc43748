/*
 * A query of the user database about a user: whether the user exists, in which group, and which
 * line of [shares] applies. The database may be on a slow server, so user_lookup's threads run the
 * query.
 */
#ifndef SYCLD_SUPERVISOR_USER_QUESTION_H
#define SYCLD_SUPERVISOR_USER_QUESTION_H

#include "base/configuration.h"
#include "base/user_names.h"

#include <stdbool.h>
#include <sys/types.h>

enum { USER_TROUBLE_BYTES = 192 };

struct user_question {
	uid_t uid;
	bool is_own; /* the service's own user, which is known and has the group `own_gid` */
	gid_t own_gid;
	bool was_found; /* an earlier look-up has found this user */
	/* Another query: which names are not in the database (share_names.h). */
	bool is_of_names;
	struct configuration_shares shares;
	struct configuration_owners owners; /* owners of the sections of users and groups */
};

struct user_answer {
	bool is_known;
	bool has_failed;            /* the database did not report whether the user exists */
	gid_t gid;                  /* group of 'nobody' for an unknown user */
	char name[USER_NAME_BYTES]; /* "": the user has none, a longer one, or it was not needed */
	/* Not set: the configuration has no line for this user. */
	struct configuration_share share;
	uint64_t sections; /* bit n: the section of owner n of the question applies to this user */
	bool sections_failed; /* for some section the database gave no answer */
	unsigned missing;     /* is_of_names: the number of missing names; `trouble` lists them */
	char trouble[USER_TROUBLE_BYTES]; /* the failed look-up, and its consequence; "": none */
};

/* True if the question has names of users or groups. */
bool user_question_has_names(const struct user_question *question);

/* True if the query needs the database. Otherwise its result is known at once. */
bool user_question_needs_database(const struct user_question *question);

/* Blocks for as long as the user database takes. Any thread; logs nothing. */
void user_question_answer(const struct user_question *question, struct user_answer *answer_out);

/*
 * Returns the number of names, in [shares] and of sections, that are not in the user database. The
 * text lists them, "user.one, group.two", as far as it has room. It omits names whose look-up
 * failed. Blocks for as long as the user database takes.
 */
unsigned share_names_missing(const struct configuration_shares *shares,
			     const struct configuration_owners *owners, char *text_out,
			     size_t text_bytes);

#endif
