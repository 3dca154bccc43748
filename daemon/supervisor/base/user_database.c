#include "base/user_database.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_FIRST = 16384 };

/* Doubles the buffer after -ERANGE. */
static int user_database_buffer_grow(char **buffer, size_t *bytes)
{
	size_t more = *bytes > 0 ? *bytes * 2 : BYTES_FIRST;
	if (more > USER_DATABASE_BYTES_MOST)
		return -E2BIG;
	free(*buffer);
	*buffer = malloc(more);
	*bytes = more;
	return *buffer ? 0 : -ENOMEM;
}

int user_database_group(const char *name, gid_t *gid_out)
{
	struct group entry, *found = NULL;
	char *buffer = NULL;
	size_t bytes = 0;
	int r = -ERANGE;
	while (r == -ERANGE || r == -EINTR) {
		int grown = r == -ERANGE ? user_database_buffer_grow(&buffer, &bytes) : 0;
		r = grown < 0 ? grown : -getgrnam_r(name, &entry, buffer, bytes, &found);
	}
	if (r == 0 && !found)
		r = -ENOENT;
	if (r == 0)
		*gid_out = entry.gr_gid;
	free(buffer);
	return r;
}

int user_database_uid(const char *name, uid_t *uid_out)
{
	struct passwd entry, *found = NULL;
	char *buffer = NULL;
	size_t bytes = 0;
	int r = -ERANGE;
	while (r == -ERANGE || r == -EINTR) {
		int grown = r == -ERANGE ? user_database_buffer_grow(&buffer, &bytes) : 0;
		r = grown < 0 ? grown : -getpwnam_r(name, &entry, buffer, bytes, &found);
	}
	if (r == 0 && !found)
		r = -ENOENT;
	if (r == 0)
		*uid_out = entry.pw_uid;
	free(buffer);
	return r;
}

int user_database_user(uid_t uid, char *name_out, size_t name_bytes, gid_t *gid_out)
{
	struct passwd entry, *found = NULL;
	char *buffer = NULL;
	size_t bytes = 0;
	int r = -ERANGE;
	while (r == -ERANGE || r == -EINTR) {
		int grown = r == -ERANGE ? user_database_buffer_grow(&buffer, &bytes) : 0;
		r = grown < 0 ? grown : -getpwuid_r(uid, &entry, buffer, bytes, &found);
	}
	if (r == 0 && !found)
		r = -ENOENT;
	if (r == 0 && strlen(entry.pw_name) >= name_bytes)
		r = -ENAMETOOLONG;
	if (r == 0) {
		memcpy(name_out, entry.pw_name, strlen(entry.pw_name) + 1);
		*gid_out = entry.pw_gid;
	}
	free(buffer);
	return r;
}
