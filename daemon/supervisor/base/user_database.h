/* What the user database says of users and groups. It may be asked of a server: an answer may take
 * long, and be long. */
#ifndef SYCLD_SUPERVISOR_USER_DATABASE_H
#define SYCLD_SUPERVISOR_USER_DATABASE_H

#include <stddef.h>
#include <sys/types.h>

enum { USER_DATABASE_BYTES_MOST = 16777216 }; /* a group of some million members */

/* -ENOENT: there is none; -E2BIG: it is longer than that; or whatever keeps it from answering. */
int user_database_group(const char *name, gid_t *gid_out);
int user_database_uid(const char *name, uid_t *uid_out);
/* -ENAMETOOLONG: the name has no room. */
int user_database_user(uid_t uid, char *name_out, size_t name_bytes, gid_t *gid_out);

#endif
