#include "base/user_names.h"

#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct user_name {
	bool is_known;
	uid_t uid;
	char name[USER_NAME_BYTES]; /* printable; "": the uid has none */
} names[USER_NAME_PLACES];

void user_names_keep(uid_t uid, const char *name)
{
	struct user_name *place = &names[uid % USER_NAME_PLACES];
	*place = (struct user_name){.is_known = true, .uid = uid};
	if (strlen(name) < sizeof(place->name))
		text_copy_printable(place->name, sizeof(place->name), name);
}

const char *user_names_find(uid_t uid)
{
	const struct user_name *place = &names[uid % USER_NAME_PLACES];
	return place->is_known && place->uid == uid && place->name[0] ? place->name : NULL;
}

/* Reads the number of "uid NUMBER" at a word's begin. Returns its end; NULL: there is none. */
static const char *uid_read(const char *text, const char *at, uid_t *uid_out)
{
	static const char sign[] = "uid ";
	char *end;
	if (strncmp(at, sign, strlen(sign)) != 0 || !isdigit((unsigned char)at[strlen(sign)]) ||
	    (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '-')))
		return NULL;
	unsigned long uid = strtoul(at + strlen(sign), &end, 10);
	if (uid >= UINT32_MAX)
		return NULL;
	*uid_out = (uid_t)uid;
	return end;
}

void user_names_add(const char *text, char *text_out, size_t text_bytes)
{
	size_t used = 0;
	for (const char *at = text; *at && used + 1 < text_bytes;) {
		uid_t uid = 0;
		const char *end = uid_read(text, at, &uid);
		const char *name = end ? user_names_find(uid) : NULL;
		if (!name) {
			text_out[used++] = *at++;
			continue;
		}
		int length = snprintf(text_out + used, text_bytes - used, "%.*s (%s)",
				      (int)(end - at), at, name);
		used += length < 0 ? 0 : (size_t)length;
		if (used >= text_bytes)
			used = text_bytes - 1;
		at = end;
	}
	text_out[used] = '\0';
}
