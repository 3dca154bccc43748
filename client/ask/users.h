/*
 * Names of users, from the user database of this machine. A name that was looked up once is kept.
 * For one thread; a look-up may block for as long as the database takes.
 */
#ifndef SYCL_ASK_USERS_H
#define SYCL_ASK_USERS_H

#include <stdbool.h>
#include <stdint.h>

enum { USER_TEXT_BYTES = 64 };

/* NULL: the uid has no name. Valid until the next call. */
const char *user_name(uint32_t uid);

/* "alice(1000)", or the number alone. Returns `text`. */
const char *user_text(uint32_t uid, char text[USER_TEXT_BYTES]);

/* The uid of a name or a number. False: there is no such user. */
bool user_find(const char *text, uint32_t *uid_out);

/* Is the user in that group, by its first group or by the group's list? */
bool user_is_in_group(uint32_t uid, uint32_t gid);

/* The gid of a name or a number. False: there is no such group. */
bool group_find(const char *text, uint32_t *gid_out);

/* From now on names come from there instead of the database. For tests. */
void user_names_from(const char *(*name_of)(uint32_t uid));

#endif
