/* The sections that apply to a user, with an invented user database that fails. */
#include "base/user_question.h"

#include "base/user_database.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

enum { UID = 1000, GID = 500, STUDENTS = 501 };

static int user_error, group_error;
static bool has_many_groups;

int user_database_user(uid_t uid, char *name_out, size_t name_bytes, gid_t *gid_out)
{
	(void)uid;
	if (user_error < 0)
		return user_error;
	(void)snprintf(name_out, name_bytes, "jane");
	*gid_out = GID;
	return 0;
}

int user_database_uid(const char *name, uid_t *uid_out)
{
	(void)name;
	*uid_out = UID;
	return 0;
}

int user_database_group(const char *name, gid_t *gid_out)
{
	(void)name;
	*gid_out = STUDENTS;
	return group_error;
}

/* The linker replaces the C library's function by it. */
int __wrap_getgrouplist(const char *user, gid_t gid, gid_t *groups, int *count);

int __wrap_getgrouplist(const char *user, gid_t gid, gid_t *groups, int *count)
{
	int room = *count;
	(void)user;
	*count = has_many_groups ? room + 1 : 2;
	for (int i = 0; i < room && i < *count; i++)
		groups[i] = i == 0 || has_many_groups ? gid : STUDENTS;
	return has_many_groups ? -1 : 2;
}

TestSuite(user_question, .timeout = 20);

static struct user_answer answer_for(enum configuration_share_whose whose, const char *name)
{
	static struct user_question question;
	struct user_answer answer;
	question = (struct user_question){.uid = UID};
	question.owners.count = 1;
	question.owners.list[0].whose = whose;
	question.owners.list[0].uid = UID;
	(void)snprintf(question.owners.list[0].name, sizeof(question.owners.list[0].name), "%s",
		       name);
	user_question_answer(&question, &answer);
	return answer;
}

Test(user_question, a_section_of_a_group_is_found)
{
	struct user_answer answer = answer_for(SHARE_OF_GROUP, "students");
	cr_expect(eq(u64, answer.sections, 1));
	cr_expect(not(answer.sections_failed));
	group_error = -ENOENT;
	answer = answer_for(SHARE_OF_GROUP, "students");
	cr_expect(zero(u64, answer.sections));
	cr_expect(not(answer.sections_failed), "there is no such group");
	group_error = 0;
}

Test(user_question, a_group_that_cannot_be_looked_up_is_a_failure)
{
	group_error = -EIO;
	struct user_answer answer = answer_for(SHARE_OF_GROUP, "students");
	cr_expect(answer.sections_failed);
	cr_expect(ne(ptr, strstr(answer.trouble, "students"), NULL), "%s", answer.trouble);
	group_error = 0;
}

Test(user_question, a_user_that_cannot_be_looked_up_is_a_failure)
{
	user_error = -EIO;
	struct user_answer answer = answer_for(SHARE_OF_USER, "jane");
	cr_expect(answer.has_failed);
	cr_expect(answer.sections_failed);
	cr_expect(answer_for(SHARE_OF_GROUP, "students").sections_failed);
	answer = answer_for(SHARE_OF_UID, "");
	cr_expect(eq(u64, answer.sections, 1), "a number needs no database");
	cr_expect(not(answer.sections_failed));
	user_error = 0;
}

Test(user_question, a_group_behind_the_end_of_a_cut_list_is_a_failure)
{
	has_many_groups = true;
	cr_expect(answer_for(SHARE_OF_GROUP, "students").sections_failed);
	has_many_groups = false;
}
