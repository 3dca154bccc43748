/* Users and groups with large entries in the database, which this program provides. */
#include "base/user_database.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

TestSuite(supervisor_user_database, .timeout = 20);

enum { GROUP = 4711, USER = 815 };

static size_t needed, most_asked;
static int interrupted;

static int answer_lookup(size_t bytes)
{
	most_asked = bytes > most_asked ? bytes : most_asked;
	if (interrupted-- > 0)
		return EINTR;
	return bytes < needed ? ERANGE : 0;
}

int getgrnam_r(const char *name, struct group *entry, char *buffer, size_t bytes,
	       struct group **found_out)
{
	int r = answer_lookup(bytes);
	*found_out = NULL;
	if (r == 0 && strcmp(name, "many") == 0) {
		buffer[bytes - 1] = '\0';
		*entry = (struct group){.gr_gid = GROUP};
		*found_out = entry;
	}
	return r;
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t bytes,
	       struct passwd **found_out)
{
	int r = answer_lookup(bytes);
	*found_out = NULL;
	if (r == 0 && uid == USER) {
		memcpy(buffer, "somebody", sizeof("somebody"));
		*entry = (struct passwd){.pw_name = buffer, .pw_gid = GROUP};
		*found_out = entry;
	}
	return r;
}

Test(supervisor_user_database, a_group_with_a_long_list_of_members_is_found)
{
	gid_t gid = 0;
	needed = 300000;
	interrupted = 2;
	cr_expect(zero(int, user_database_group("many", &gid)));
	cr_expect(eq(u32, gid, GROUP));
	cr_expect(eq(int, user_database_group("none", &gid), -ENOENT));
}

Test(supervisor_user_database, what_does_not_end_is_given_up)
{
	gid_t gid = 1;
	needed = SIZE_MAX;
	cr_expect(eq(int, user_database_group("many", &gid), -E2BIG));
	cr_expect(eq(u32, gid, 1), "untouched");
	cr_expect(le(sz, most_asked, (size_t)USER_DATABASE_BYTES_MOST));
}

Test(supervisor_user_database, a_user_is_found_and_a_name_that_is_too_long_is_not_cut)
{
	char name[16] = "", narrow[4] = "";
	gid_t gid = 0;
	needed = 100000;
	cr_expect(zero(int, user_database_user(USER, name, sizeof(name), &gid)));
	cr_expect(eq(str, name, "somebody"));
	cr_expect(eq(u32, gid, GROUP));
	cr_expect(eq(int, user_database_user(USER, narrow, sizeof(narrow), &gid), -ENAMETOOLONG));
	cr_expect(eq(int, user_database_user(USER + 1, name, sizeof(name), &gid), -ENOENT));
}
