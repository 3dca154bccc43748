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

bool configuration_owner_parse(const char *name, char sign, struct configuration_owner *owner_out)
{
	static const char *const kinds[] = {
		[SHARE_OF_UID] = "uid", [SHARE_OF_USER] = "user", [SHARE_OF_GROUP] = "group"};
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(kinds[i]);
		uint64_t uid = 0;
		if (strncmp(name, kinds[i], length) != 0 || name[length] != sign)
			continue;
		const char *rest = name + length + 1;
		if (i == SHARE_OF_UID && !configuration_number(rest, false, UINT32_MAX - 1, &uid))
			return false;
		if (*rest == '\0' || strlen(rest) >= sizeof(owner_out->name))
			return false;
		*owner_out = (struct configuration_owner){
			.whose = (enum configuration_share_whose)i, .uid = (uint32_t)uid};
		memcpy(owner_out->name, rest, strlen(rest) + 1);
		return true;
	}
	return false;
}

bool configuration_owners_are_equal(const struct configuration_owner *a,
				    const struct configuration_owner *b)
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

/* Returns the owner's entry, which is added if it is missing. NULL: there is no room. */
static struct configuration_share_entry *share_entry_of(struct configuration_shares *shares,
							const struct configuration_owner *owner)
{
	for (unsigned i = 0; i < shares->count; i++)
		if (configuration_owners_are_equal(&shares->entries[i].owner, owner))
			return &shares->entries[i];
	if (shares->count == CONFIGURATION_SHARES)
		return NULL;
	shares->entries[shares->count] = (struct configuration_share_entry){.owner = *owner};
	return &shares->entries[shares->count];
}

const char *configuration_shares_set(struct configuration_shares *shares, const char *name,
				     const char *value, struct configuration_origin origin,
				     bool *wrong_name_out)
{
	struct configuration_owner owner;
	struct configuration_share share, *place = &shares->everybody;
	struct configuration_share_entry *entry = NULL;
	if (!strcmp(name, "mode"))
		return set_share_mode(shares, value, wrong_name_out);
	*wrong_name_out = true;
	if (strcmp(name, "default") != 0) {
		if (!configuration_owner_parse(name, '.', &owner))
			return "is none of mode, default, uid.NUMBER, user.NAME, group.NAME";
		entry = share_entry_of(shares, &owner);
		if (!entry)
			return "is one more than the limit";
		place = &entry->share;
	}
	if (place->given && place->origin.file == origin.file)
		return "is given twice";
	*wrong_name_out = false;
	if (!parse_share_range(value, &share))
		return wants_share;
	share.origin = origin;
	*place = share;
	if (entry == &shares->entries[shares->count])
		shares->count++;
	return NULL;
}
