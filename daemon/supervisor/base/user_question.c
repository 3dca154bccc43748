#include "base/user_question.h"

#include "base/user_database.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

enum { GROUPS_MAX = 2048, NAME_BYTES = 512, GID_NOGROUP = 65534 };

/* The result of a query so far. */
struct asked {
	const struct user_question *question;
	struct user_answer *answer;
	char name[NAME_BYTES]; /* "": there is no name */
	gid_t groups[GROUPS_MAX];
	int group_count; /* -1: not queried yet */
	bool is_cut;     /* the user has more groups */
	int user_error;  /* error of the user's look-up, other than -ENOENT; 0: none */
};

bool user_question_has_names(const struct user_question *question)
{
	for (unsigned i = 0; i < question->shares.count; i++)
		if (question->shares.entries[i].owner.whose != SHARE_OF_UID)
			return true;
	for (unsigned i = 0; i < question->owners.count; i++)
		if (question->owners.list[i].whose != SHARE_OF_UID)
			return true;
	return false;
}

bool user_question_needs_database(const struct user_question *question)
{
	return !question->is_own || user_question_has_names(question);
}

/* Keeps the first failed look-up for the log, because the user may lack configured settings. */
static void answer_set_trouble(struct asked *asked, const char *what, const char *name, int error)
{
	if (error < 0 && error != -ENOENT && !asked->answer->trouble[0])
		(void)snprintf(
			asked->answer->trouble, sizeof(asked->answer->trouble),
			"%s%s cannot be looked up for uid %lu, and gives it no share or settings: %s",
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
	if (r == 0 && strlen(asked->name) < sizeof(answer->name))
		memcpy(answer->name, asked->name, strlen(asked->name) + 1);
	answer->is_known = question->is_own || r == 0;
	asked->user_error = r == -ENOENT ? 0 : r;
	answer->has_failed = !question->is_own && asked->user_error < 0;
	answer->gid = question->is_own ? question->own_gid : gid;
}

static void question_query_groups(struct asked *asked)
{
	if (asked->group_count >= 0)
		return;
	asked->group_count = asked->name[0] ? GROUPS_MAX : 0;
	/* The groups that fit are used; a longer list is cut. */
	if (asked->name[0] &&
	    getgrouplist(asked->name, asked->answer->gid, asked->groups, &asked->group_count) < 0) {
		asked->group_count = GROUPS_MAX;
		asked->is_cut = true;
	}
}

/* 1: the user is in the group; 0: the user is not, or there is no such group; or a negative
 * errno. */
static int user_has_group(struct asked *asked, const char *name)
{
	gid_t gid = 0;
	int r = user_database_group(name, &gid);
	answer_set_trouble(asked, "group ", name, r);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (gid == asked->answer->gid)
		return 1;
	if (asked->user_error < 0)
		return asked->user_error;
	question_query_groups(asked);
	for (int i = 0; i < asked->group_count; i++)
		if (asked->groups[i] == gid)
			return 1;
	if (!asked->is_cut)
		return 0;
	answer_set_trouble(asked, "group ", name, -E2BIG);
	return -E2BIG;
}

/* 1: the line or section applies to the user; 0: it does not; or a negative errno. */
static int owner_applies(struct asked *asked, const struct configuration_owner *owner)
{
	if (owner->whose == SHARE_OF_UID)
		return owner->uid == asked->question->uid;
	if (owner->whose == SHARE_OF_GROUP)
		return user_has_group(asked, owner->name);
	if (asked->user_error < 0)
		return asked->user_error;
	return asked->name[0] && strcmp(owner->name, asked->name) == 0;
}

static void question_query_sections(struct asked *asked)
{
	const struct configuration_owners *owners = &asked->question->owners;
	for (unsigned i = 0; i < owners->count; i++) {
		int r = owner_applies(asked, &owners->list[i]);
		if (r > 0)
			asked->answer->sections |= 1ull << i;
		if (r < 0)
			asked->answer->sections_failed = true;
	}
}

static bool owner_is_missing(const struct configuration_owner *owner)
{
	gid_t gid = 0;
	uid_t uid = 0;
	if (owner->whose == SHARE_OF_UID)
		return false; /* a uid may have a share without a name */
	return (owner->whose == SHARE_OF_USER ? user_database_uid(owner->name, &uid)
					      : user_database_group(owner->name, &gid)) == -ENOENT;
}

/* A list of missing names, as far as the text has room. */
struct missing_names {
	char *text;
	size_t bytes, used;
	unsigned count;
};

static void missing_names_review(struct missing_names *missing,
				 const struct configuration_owner *owner)
{
	if (!owner_is_missing(owner))
		return;
	size_t room = missing->bytes - missing->used;
	int length =
		snprintf(missing->text + missing->used, room, "%s%s%s", missing->count ? ", " : "",
			 owner->whose == SHARE_OF_USER ? "user." : "group.", owner->name);
	missing->count++;
	if (length > 0 && (size_t)length < room)
		missing->used += (size_t)length;
	else
		missing->text[missing->used] = '\0';
}

static bool owners_are_equal(const struct configuration_owner *one,
			     const struct configuration_owner *other)
{
	return one->whose == other->whose && strcmp(one->name, other->name) == 0;
}

/* A section with a share is in both lists. */
static bool shares_have_owner(const struct configuration_shares *shares,
			      const struct configuration_owner *owner)
{
	for (unsigned i = 0; i < shares->count; i++)
		if (owners_are_equal(&shares->entries[i].owner, owner))
			return true;
	return false;
}

unsigned share_names_missing(const struct configuration_shares *shares,
			     const struct configuration_owners *owners, char *text_out,
			     size_t text_bytes)
{
	struct missing_names missing = {.text = text_out, .bytes = text_bytes};
	text_out[0] = '\0';
	for (unsigned i = 0; i < shares->count; i++)
		missing_names_review(&missing, &shares->entries[i].owner);
	for (unsigned i = 0; i < owners->count; i++)
		if (!shares_have_owner(shares, &owners->list[i]))
			missing_names_review(&missing, &owners->list[i]);
	return missing.count;
}

void user_question_answer(const struct user_question *question, struct user_answer *answer_out)
{
	const struct configuration_shares *shares = &question->shares;
	struct asked asked = {.question = question, .answer = answer_out, .group_count = -1};
	*answer_out = (struct user_answer){.gid = GID_NOGROUP};
	if (question->is_of_names) {
		answer_out->missing =
			share_names_missing(shares, &question->owners, answer_out->trouble,
					    sizeof(answer_out->trouble));
		return;
	}
	question_query_user(&asked);
	/* A line of the user precedes lines of groups, whatever their order in the file. */
	for (int of_group = 0; of_group <= 1 && !answer_out->share.given; of_group++)
		for (unsigned i = 0; i < shares->count && !answer_out->share.given; i++)
			if ((shares->entries[i].owner.whose == SHARE_OF_GROUP) == of_group &&
			    owner_applies(&asked, &shares->entries[i].owner) > 0)
				answer_out->share = shares->entries[i].share;
	question_query_sections(&asked);
}
