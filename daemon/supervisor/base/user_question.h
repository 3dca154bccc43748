/*
 * What the service wants to know of a user, from the user database: whether there is such a user,
 * of which group, and which line of [shares] is about them. The database may be a server's that
 * takes long to answer, so this is for user_lookup's threads.
 */
#ifndef SYCLD_SUPERVISOR_USER_QUESTION_H
#define SYCLD_SUPERVISOR_USER_QUESTION_H

#include "base/configuration.h"

#include <stdbool.h>
#include <sys/types.h>

enum { USER_TROUBLE_BYTES = 192 };

struct user_question {
	uid_t uid;
	bool is_own; /* the service's own user: is known, and of group `own_gid` */
	gid_t own_gid;
	bool is_of_names; /* instead: which names in `shares` does the database not know?
			     (share_names.h) */
	struct configuration_shares shares;
};

struct user_answer {
	bool is_known;
	bool has_failed; /* the database did not say whether there is such a user */
	gid_t gid;       /* of nobody, for a user who is not known */
	struct configuration_share share; /* not given: no line is about this user */
	unsigned missing;                 /* is_of_names: so many, and `trouble` has them */
	char trouble[USER_TROUBLE_BYTES]; /* what could not be looked up, and what follows from
					     that; "": nothing */
};

/* Are there names in it, of users or groups? */
bool user_question_has_names(const struct configuration_shares *shares);

/* Must the database be asked? Otherwise the answer is there at once. */
bool user_question_needs_database(const struct user_question *question);

/* Blocks for as long as the user database takes. From any thread; logs nothing. */
void user_question_answer(const struct user_question *question, struct user_answer *answer_out);

/*
 * How many names in [shares] the user database does not know; the text is "user.one, group.two", as
 * far as they find room. What cannot be looked up is not told. Blocks for as long as the user
 * database takes.
 */
unsigned share_names_missing(const struct configuration_shares *shares, char *text_out,
			     size_t text_bytes);

#endif
