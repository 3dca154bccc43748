/*
 * Names of users for the log, as look-ups have found them. The log never waits for the user
 * database: a line names a user whose name has been found before, else it has the uid alone. Loop
 * thread only.
 */
#ifndef SYCLD_SUPERVISOR_USER_NAMES_H
#define SYCLD_SUPERVISOR_USER_NAMES_H

#include <stddef.h>
#include <sys/types.h>

/* A longer name is not kept. Uids that are equal modulo PLACES replace each other. */
enum { USER_NAME_BYTES = 48, USER_NAME_PLACES = 1024 };

/* Keeps the name that a look-up has found; "": the uid has none. Never blocks. */
void user_names_keep(uid_t uid, const char *name);

/* NULL: the name is not known, or the uid has none. Never blocks. */
const char *user_names_find(uid_t uid);

/* Writes the text with " (NAME)" after each "uid NUMBER" whose name is known, as far as there is
 * room. */
void user_names_add(const char *text, char *text_out, size_t text_bytes);

#endif
