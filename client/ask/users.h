/*
 * Names of users, from the user database of this machine. A name is looked up once, and kept. Only
 * one thread may call these functions, which may block for as long as the database takes.
 */
#ifndef SYCL_ASK_USERS_H
#define SYCL_ASK_USERS_H

#include <stdbool.h>
#include <stdint.h>

enum { USER_TEXT_BYTES = 64 };

/* Returns the name; NULL: the uid has none. Valid until the next call. */
const char *user_name(uint32_t uid);

/* Writes "alice(1000)", or the number if there is no name. Returns `text`. */
const char *user_text(uint32_t uid, char text[USER_TEXT_BYTES]);

/* Finds the uid of a name or a number. False: there is no such user. */
bool user_find(const char *text, uint32_t *uid_out);

/* True if the group is the user's primary group, or the group's list has the user. */
bool user_is_in_group(uint32_t uid, uint32_t gid);

/* Finds the gid of a name or a number. False: there is no such group. */
bool group_find(const char *text, uint32_t *gid_out);

/* Replaces the database with a function. The exporter and tests use this. */
void user_names_from(const char *(*name_of)(uint32_t uid));

#endif
