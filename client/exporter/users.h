/* Names of users, looked up once each. Of the sampling thread, as a user database may wait. */
#ifndef SYCLD_EXPORTER_USERS_H
#define SYCLD_EXPORTER_USERS_H

#include <stdint.h>

enum { USER_NAME_BYTES = 64, USERS_MOST = 4096 };

struct users {
	unsigned count;
	struct user {
		uint32_t uid;
		char name[USER_NAME_BYTES]; /* the number, where there is no name */
	} * list;                           /* ordered by uid; USERS_MOST */
};

int users_init(struct users *users); /* 0 or -ENOMEM */
void users_fini(struct users *users);
/* Look up, unless it is known. Where there are too many, all are forgotten. */
void users_learn(struct users *users, uint32_t uid);
/* Into `name_out` (USER_NAME_BYTES); the number if it was not learnt. Returns that. */
const char *users_name(const struct users *users, uint32_t uid, char *name_out);

#endif
