#include "base/user_question.h"

#include "base/user_database.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

enum { GROUPS_MAX = 256, NAME_BYTES = 512, GID_NOGROUP = 65534 };

/* The result of a query so far. */
struct asked {
	const struct user_question *question;
	struct user_answer *answer;
	char name[NAME_BYTES]; /* "": there is no name */
	gid_t groups[GROUPS_MAX];
	int group_count; /* -1: not queried yet */
};

bool user_question_has_names(const struct configuration_shares *shares)
{
	for (unsigned i = 0; i < shares->count; i++)
		if (shares->entries[i].whose != SHARE_OF_UID)
			return true;
	return false;
}

bool user_question_needs_database(const struct user_question *question)
{
	return !question->is_own || user_question_has_names(&question->shares);
}

/* Records a failed look-up. Such a user has no share by name, which differs from the configuration,
 * so it is logged. Only the first failure is kept. */
static void answer_set_trouble(struct asked *asked, const char *what, const char *name, int error)
{
	if (error < 0 && error != -ENOENT && !asked->answer->trouble[0])
		(void)snprintf(asked->answer->trouble, sizeof(asked->answer->trouble),
			       "%s%s cannot be looked up for uid %lu, and gives it no share: %s",
			       what, name, (unsigned long)asked->question->uid, strerror(-error));
}

static void question_query_user(struct asked *asked)
{
	const struct user_question *question = asked->question;
	struct user_answer *answer = asked->answer;
	gid_t gid = GID_NOGROUP;
	int r = 0;
	if (user_question_needs_database(question))
		r = user_database_user(question->uid, asked->name, sizeof(asked->name), &gid);
	answer_set_trouble(asked, "the user", "", r);
	answer->is_known = question->is_own || r == 0;
	answer->has_failed = !question->is_own && r < 0 && r != -ENOENT;
	answer->gid = question->is_own ? question->own_gid : gid;
}

static void question_query_groups(struct asked *asked)
{
	if (asked->group_count >= 0)
		return;
	asked->group_count = asked->name[0] ? GROUPS_MAX : 0;
	/* The groups that fit are used; a longer list is cut. */
	if (asked->name[0] &&
	    getgrouplist(asked->name, asked->answer->gid, asked->groups, &asked->group_count) < 0)
		asked->group_count = GROUPS_MAX;
}

static bool user_has_group(struct asked *asked, const char *name)
{
	gid_t gid = 0;
	int r = user_database_group(name, &gid);
	if (r < 0) {
		answer_set_trouble(asked, "group ", name, r);
		return false;
	}
	if (gid == asked->answer->gid)
		return true;
	question_query_groups(asked);
	for (int i = 0; i < asked->group_count; i++)
		if (asked->groups[i] == gid)
			return true;
	return false;
}

static bool share_entry_applies(struct asked *asked, const struct configuration_share_entry *entry)
{
	if (entry->whose == SHARE_OF_UID)
		return entry->uid == asked->question->uid;
	if (entry->whose == SHARE_OF_USER)
		return asked->name[0] && strcmp(entry->name, asked->name) == 0;
	return user_has_group(asked, entry->name);
}

static bool share_name_is_missing(const struct configuration_share_entry *entry)
{
	gid_t gid = 0;
	uid_t uid = 0;
	if (entry->whose == SHARE_OF_UID)
		return false; /* a uid may have a share without a name */
	return (entry->whose == SHARE_OF_USER ? user_database_uid(entry->name, &uid)
					      : user_database_group(entry->name, &gid)) == -ENOENT;
}

unsigned share_names_missing(const struct configuration_shares *shares, char *text_out,
			     size_t text_bytes)
{
	unsigned count = 0;
	size_t used = 0;
	text_out[0] = '\0';
	for (unsigned i = 0; i < shares->count; i++) {
		const struct configuration_share_entry *entry = &shares->entries[i];
		if (!share_name_is_missing(entry))
			continue;
		int length =
			snprintf(text_out + used, text_bytes - used, "%s%s%s", count ? ", " : "",
				 entry->whose == SHARE_OF_USER ? "user." : "group.", entry->name);
		count++;
		if (length > 0 && (size_t)length < text_bytes - used)
			used += (size_t)length;
		else
			text_out[used] = '\0'; /* the text has no room for this name */
	}
	return count;
}

void user_question_answer(const struct user_question *question, struct user_answer *answer_out)
{
	const struct configuration_shares *shares = &question->shares;
	struct asked asked = {.question = question, .answer = answer_out, .group_count = -1};
	*answer_out = (struct user_answer){.gid = GID_NOGROUP};
	if (question->is_of_names) {
		answer_out->missing = share_names_missing(shares, answer_out->trouble,
							  sizeof(answer_out->trouble));
		return;
	}
	question_query_user(&asked);
	/* A line of the user precedes lines of groups, whatever their order in the file. */
	for (int of_group = 0; of_group <= 1 && !answer_out->share.given; of_group++)
		for (unsigned i = 0; i < shares->count && !answer_out->share.given; i++)
			if ((shares->entries[i].whose == SHARE_OF_GROUP) == of_group &&
			    share_entry_applies(&asked, &shares->entries[i]))
				answer_out->share = shares->entries[i].share;
}
