/* Look-ups of users and groups. The user database may be on a server, so a result may take long,
 * and be long. */
#ifndef SYCLD_SUPERVISOR_USER_DATABASE_H
#define SYCLD_SUPERVISOR_USER_DATABASE_H

#include <stddef.h>
#include <sys/types.h>

enum { USER_DATABASE_BYTES_MOST = 16777216 }; /* enough for a group of some million members */

/* -ENOENT: there is no such user or group. -E2BIG: the entry is longer than
 * USER_DATABASE_BYTES_MOST. Other errors: the database failed. */
int user_database_group(const char *name, gid_t *gid_out);
int user_database_uid(const char *name, uid_t *uid_out);
/* -ENAMETOOLONG: the buffer is too small for the name. */
int user_database_user(uid_t uid, char *name_out, size_t name_bytes, gid_t *gid_out);

#endif
