#include "users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer name is cut. Uids that are equal modulo PLACES replace each other. */
enum { NAME_BYTES = 48, PLACES = 1024, ENTRY_BYTES = 16384, GROUPS_MOST = 1024 };

static struct kept_name {
	bool is_known;
	uint32_t uid;
	char name[NAME_BYTES]; /* "": the uid has no name */
} kept[PLACES];

static const char *(*name_source)(uint32_t uid);

void user_names_from(const char *(*name_of)(uint32_t uid))
{
	name_source = name_of;
}

/* Replaces control characters: a name may come from a foreign directory, and must not control a
 * terminal. */
static void kept_name_set(struct kept_name *place, const char *name)
{
	(void)snprintf(place->name, sizeof(place->name), "%s", name);
	for (char *at = place->name; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
}

static void kept_name_look_up(struct kept_name *place, uint32_t uid)
{
	struct passwd entry, *found = NULL;
	char buffer[ENTRY_BYTES];
	*place = (struct kept_name){.is_known = true, .uid = uid};
	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		kept_name_set(place, found->pw_name);
}

const char *user_name(uint32_t uid)
{
	if (name_source)
		return name_source(uid);
	if (uid == UINT32_MAX)
		return NULL;
	struct kept_name *place = &kept[uid % PLACES];
	if (!place->is_known || place->uid != uid)
		kept_name_look_up(place, uid);
	return place->name[0] ? place->name : NULL;
}

const char *user_text(uint32_t uid, char text[USER_TEXT_BYTES])
{
	const char *name = user_name(uid);
	if (uid == UINT32_MAX)
		(void)snprintf(text, USER_TEXT_BYTES, "(others)");
	else if (name)
		(void)snprintf(text, USER_TEXT_BYTES, "%s(%u)", name, uid);
	else
		(void)snprintf(text, USER_TEXT_BYTES, "%u", uid);
	return text;
}

static bool parse_id(const char *text, uint32_t *id_out)
{
	char *end;
	errno = 0;
	unsigned long id = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || id >= UINT32_MAX)
		return false;
	*id_out = (uint32_t)id;
	return true;
}

bool user_find(const char *text, uint32_t *uid_out)
{
	struct passwd entry, *found = NULL;
	char buffer[ENTRY_BYTES];
	if (parse_id(text, uid_out))
		return true;
	if (getpwnam_r(text, &entry, buffer, sizeof(buffer), &found) != 0 || !found)
		return false;
	*uid_out = found->pw_uid;
	return true;
}

bool group_find(const char *text, uint32_t *gid_out)
{
	struct group entry, *found = NULL;
	char buffer[ENTRY_BYTES];
	if (parse_id(text, gid_out))
		return true;
	if (getgrnam_r(text, &entry, buffer, sizeof(buffer), &found) != 0 || !found)
		return false;
	*gid_out = found->gr_gid;
	return true;
}

bool user_is_in_group(uint32_t uid, uint32_t gid)
{
	struct passwd entry, *found = NULL;
	char buffer[ENTRY_BYTES];
	gid_t groups[GROUPS_MOST];
	int count = GROUPS_MOST;
	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) != 0 || !found)
		return false;
	(void)getgrouplist(found->pw_name, found->pw_gid, groups, &count);
	for (int i = 0; i < count && i < GROUPS_MOST; i++)
		if (groups[i] == gid)
			return true;
	return false;
}
