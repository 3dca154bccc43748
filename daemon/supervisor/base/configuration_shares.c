/* Section [shares]: how devices' time is divided among users. Names are resolved when a user
 * connects, as a user may be made after the file was read. */
#include "base/configuration.h"

#include <stdio.h>
#include <string.h>

static const char wants_share[] = "needs MIN or MIN-MAX, percent from 0 to 100";

static bool parse_share_percent(const char *text, unsigned *percent_out)
{
	uint64_t number;
	if (!configuration_number(text, false, 100, &number))
		return false;
	*percent_out = (unsigned)number;
	return true;
}

static bool parse_share_range(const char *value, struct configuration_share *share_out)
{
	char least[8];
	struct configuration_share share = {.given = true, .most = 100};
	size_t length = strcspn(value, "-");
	if (length >= sizeof(least))
		return false;
	memcpy(least, value, length);
	least[length] = '\0';
	if (!parse_share_percent(least, &share.least) ||
	    (value[length] && !parse_share_percent(value + length + 1, &share.most)))
		return false;
	if (share.most == 0 || share.least > share.most)
		return false;
	*share_out = share;
	return true;
}

/* False: the key names no user or group. */
static bool parse_share_owner(const char *name, struct configuration_share_entry *entry)
{
	static const char *const kinds[] = {
		[SHARE_OF_UID] = "uid.", [SHARE_OF_USER] = "user.", [SHARE_OF_GROUP] = "group."};
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(kinds[i]);
		uint64_t uid = 0;
		if (strncmp(name, kinds[i], length) != 0)
			continue;
		const char *rest = name + length;
		entry->whose = (enum configuration_share_whose)i;
		if (i == SHARE_OF_UID && !configuration_number(rest, false, UINT32_MAX - 1, &uid))
			return false;
		entry->uid = (uint32_t)uid;
		if (*rest == '\0' || strlen(rest) >= sizeof(entry->name))
			return false;
		memcpy(entry->name, rest, strlen(rest) + 1);
		return true;
	}
	return false;
}

static bool share_owners_are_equal(const struct configuration_share_entry *a,
				   const struct configuration_share_entry *b)
{
	return a->whose == b->whose &&
	       (a->whose == SHARE_OF_UID ? a->uid == b->uid : strcmp(a->name, b->name) == 0);
}

static const char *set_share_mode(struct configuration_shares *shares, const char *value,
				  bool *wrong_name_out)
{
	*wrong_name_out = shares->mode_seen;
	if (shares->mode_seen)
		return "is given twice";
	if (strcmp(value, "concurrent") != 0 && strcmp(value, "exclusive") != 0)
		return "needs concurrent or exclusive";
	shares->mode_seen = true;
	shares->exclusive = !strcmp(value, "exclusive");
	return NULL;
}

const char *configuration_shares_set(struct configuration_shares *shares, const char *name,
				     const char *value, bool *wrong_name_out)
{
	struct configuration_share_entry entry = {.whose = SHARE_OF_UID};
	if (!strcmp(name, "mode"))
		return set_share_mode(shares, value, wrong_name_out);
	bool everybody = !strcmp(name, "default");
	*wrong_name_out = true;
	if (!everybody && !parse_share_owner(name, &entry))
		return "is none of mode, default, uid.NUMBER, user.NAME, group.NAME";
	if (everybody && shares->everybody.given)
		return "is given twice";
	for (unsigned i = 0; i < shares->count && !everybody; i++)
		if (share_owners_are_equal(&shares->entries[i], &entry))
			return "is given twice";
	if (!everybody && shares->count == CONFIGURATION_SHARES)
		return "is one more than there may be";
	*wrong_name_out = false;
	if (!parse_share_range(value, everybody ? &shares->everybody : &entry.share))
		return wants_share;
	if (!everybody)
		shares->entries[shares->count++] = entry;
	return NULL;
}
