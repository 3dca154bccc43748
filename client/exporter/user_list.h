/* Names of users, looked up once each. Used by the sampling thread, because a user database may
 * block. */
#ifndef SYCLD_EXPORTER_USER_LIST_H
#define SYCLD_EXPORTER_USER_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { USER_NAME_BYTES = 64, USERS_MOST = 4096 };

struct users {
	unsigned count;
	struct user {
		uint32_t uid;
		bool is_number;
		bool is_unsure;             /* the database failed, and is queried again */
		char name[USER_NAME_BYTES]; /* the number, if there is no name */
	} * list;                           /* ordered by uid; USERS_MOST */
};

int users_init(struct users *users); /* 0 or -ENOMEM */
void users_fini(struct users *users);
/* Looks the user up, unless it is known. If there are too many users, all are forgotten. */
void users_learn(struct users *users, uint32_t uid);
/* Copies the name into `name_out` (USER_NAME_BYTES), or the number if it is unknown. Returns
 * name_out. */
const char *users_name(const struct users *users, uint32_t uid, char *name_out);

/* Makes ../ask take names from this list, so that it never waits for a user database. Call ../ask
 * only while the list does not change. NULL: names come from the database again. */
void users_give_names(const struct users *users);

#endif
