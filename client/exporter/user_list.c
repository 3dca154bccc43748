#include "user_list.h"

#include "users.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_BYTES = 16384 };

int users_init(struct users *users)
{
	*users = (struct users){.list = calloc(USERS_MOST, sizeof(*users->list))};
	return users->list ? 0 : -ENOMEM;
}

void users_fini(struct users *users)
{
	free(users->list);
	users->list = NULL;
}

/* Returns the place of the first user whose uid is not below `uid`. */
static unsigned users_place(const struct users *users, uint32_t uid)
{
	unsigned low = 0, high = users->count;
	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		if (users->list[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct users *given;

static const char *users_given_name(uint32_t uid)
{
	unsigned place = users_place(given, uid);
	bool is_there = place < given->count && given->list[place].uid == uid;
	return is_there && !given->list[place].is_number ? given->list[place].name : NULL;
}

void users_give_names(const struct users *users)
{
	given = users;
	user_names_from(users ? users_given_name : NULL);
}

static struct user user_look_up(uint32_t uid)
{
	struct user user = {.uid = uid, .is_number = true};
	struct passwd entry, *found = NULL;
	char text[ENTRY_BYTES];
	(void)snprintf(user.name, sizeof(user.name), "%" PRIu32, uid);
	int error = getpwuid_r(uid, &entry, text, sizeof(text), &found);
	if (error == 0 && found) {
		(void)snprintf(user.name, sizeof(user.name), "%s", entry.pw_name);
		user.is_number = false;
	}
	user.is_unsure = error != 0 && !found;
	return user;
}

void users_learn(struct users *users, uint32_t uid)
{
	unsigned place = users_place(users, uid);
	bool is_there = place < users->count && users->list[place].uid == uid;
	if (is_there && !users->list[place].is_unsure)
		return;
	if (!is_there && users->count == USERS_MOST)
		place = users->count = 0;
	struct user user = user_look_up(uid);
	if (is_there) {
		users->list[place] = user;
		return;
	}
	memmove(&users->list[place + 1], &users->list[place],
		(users->count - place) * sizeof(*users->list));
	users->list[place] = user;
	users->count++;
}

const char *users_name(const struct users *users, uint32_t uid, char *name_out)
{
	unsigned place = users_place(users, uid);
	if (place < users->count && users->list[place].uid == uid)
		memcpy(name_out, users->list[place].name, USER_NAME_BYTES);
	else
		(void)snprintf(name_out, USER_NAME_BYTES, "%" PRIu32, uid);
	return name_out;
}
