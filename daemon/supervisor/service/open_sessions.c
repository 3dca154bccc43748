#include "service/open_sessions.h"

#include "base/kept_file.h"
#include "cleanup.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define FILE_NAME  "sessions"
#define FILE_MAGIC 0x0001736573637973ull /* "sycses", and the version of its format */

enum { ROOM_FIRST = 64 };

struct head {
	uint64_t magic;
	uint32_t mark;
	uint32_t reserved;
};

struct entry {
	uint64_t session; /* 0: free */
	uint32_t engine;  /* its process */
	uint32_t reserved;
};

static_assert(sizeof(struct head) == 16 && sizeof(struct entry) == 16, "part of the layout");

struct open_session {
	uint64_t session;
	uint32_t engine;
	uint32_t next; /* the next place of its list, + 1; 0: none */
};

/* Numbers are the service's own, in order, so no user can fill one list. */
static uint32_t *open_sessions_head(const struct open_sessions *sessions, uint64_t session)
{
	return &sessions->heads[session % sessions->room];
}

static uint32_t open_sessions_place(const struct open_sessions *sessions, uint64_t session)
{
	if (sessions->room == 0)
		return 0;
	uint32_t at = *open_sessions_head(sessions, session);
	while (at && sessions->places[at - 1].session != session)
		at = sessions->places[at - 1].next;
	return at;
}

static int open_sessions_write(const struct open_sessions *sessions, uint32_t place,
			       uint64_t session, uint32_t engine)
{
	const struct entry entry = {.session = session, .engine = engine};
	off_t at = (off_t)(sizeof(struct head) + (size_t)place * sizeof(entry));
	ssize_t count;
	do
		count = pwrite(sessions->file, &entry, sizeof(entry), at);
	while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	return count == sizeof(entry) ? 0 : -ENOSPC;
}

static void open_sessions_link(struct open_sessions *sessions, uint32_t place)
{
	uint32_t *head = open_sessions_head(sessions, sessions->places[place].session);
	sessions->places[place].next = *head;
	*head = place + 1;
}

static int open_sessions_set_room(struct open_sessions *sessions, uint32_t room)
{
	if (room > OPEN_SESSIONS_MAX)
		return -ENOSPC;
	struct open_session *places = realloc(sessions->places, room * sizeof(struct open_session));
	if (places)
		sessions->places = places;
	uint32_t *free_places = realloc(sessions->free_places, room * sizeof(uint32_t));
	if (free_places)
		sessions->free_places = free_places;
	uint32_t *heads = calloc(room, sizeof(uint32_t));
	if (!places || !free_places || !heads) {
		free(heads);
		return -ENOMEM;
	}
	free(sessions->heads);
	sessions->heads = heads;
	uint32_t before = sessions->room;
	sessions->room = room;
	memset(places + before, 0, (room - before) * sizeof(*places));
	for (uint32_t i = 0; i < before; i++)
		if (places[i].session)
			open_sessions_link(sessions, i);
	for (uint32_t i = room; i > before; i--)
		free_places[sessions->free_count++] = i - 1;
	return 0;
}

void open_sessions_close(struct open_sessions *sessions)
{
	if (sessions->is_open)
		(void)close(sessions->file);
	free(sessions->places);
	free(sessions->heads);
	free(sessions->free_places);
	*sessions = (struct open_sessions){.file = -1};
}

/* Takes what the file has. */
static int open_sessions_fill(struct open_sessions *sessions, const struct entry *entries,
			      uint32_t count)
{
	uint32_t room = ROOM_FIRST;
	while (room < count)
		room *= 2;
	int r = open_sessions_set_room(sessions, room);
	if (r < 0)
		return r;
	sessions->free_count = 0;
	for (uint32_t i = room; i > 0; i--) {
		uint64_t session = i <= count ? entries[i - 1].session : 0;
		if (session && open_sessions_place(sessions, session))
			return -EBADMSG;
		if (session == 0) {
			sessions->free_places[sessions->free_count++] = i - 1;
			continue;
		}
		sessions->places[i - 1] =
			(struct open_session){.session = session, .engine = entries[i - 1].engine};
		open_sessions_link(sessions, i - 1);
	}
	return 0;
}

static int open_sessions_open_file(int folder, struct open_sessions *sessions)
{
	int file = openat(folder, FILE_NAME, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (file < 0)
		return -errno;
	sessions->file = file;
	sessions->is_open = true;
	return 0;
}

/* Hands the list over with its file. With an error so far (`r`), or one here, the list is freed. */
static int open_sessions_finish(int folder, int r, struct open_sessions *sessions,
				struct open_sessions *sessions_out)
{
	if (r == 0)
		r = open_sessions_open_file(folder, sessions);
	if (r < 0) {
		open_sessions_close(sessions);
		return r;
	}
	*sessions_out = *sessions;
	return 0;
}

int open_sessions_load(int folder, uint32_t mark, struct open_sessions *sessions_out)
{
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	size_t size = 0;
	struct head head;
	int r = kept_file_read(folder, FILE_NAME, sizeof(head),
			       sizeof(head) + OPEN_SESSIONS_MAX * sizeof(struct entry), &bytes,
			       &size);
	if (r < 0 || !bytes)
		return r < 0 ? r : -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != FILE_MAGIC || head.mark != mark || mark == 0 ||
	    size % sizeof(struct entry) != 0)
		return -EBADMSG;
	struct open_sessions sessions = {.file = -1, .mark = mark};
	/* It was allocated, and its head is as long as an entry. */
	const struct entry *entries = (const struct entry *)(const void *)bytes + 1;
	r = open_sessions_fill(&sessions, entries,
			       (uint32_t)((size - sizeof(head)) / sizeof(struct entry)));
	return open_sessions_finish(folder, r, &sessions, sessions_out);
}

int open_sessions_create(int folder, struct open_sessions *sessions_out)
{
	struct open_sessions sessions = {.file = -1};
	struct head head = {.magic = FILE_MAGIC};
	while (head.mark == 0)
		if (getrandom(&head.mark, sizeof(head.mark), 0) != (ssize_t)sizeof(head.mark))
			return -EIO;
	sessions.mark = head.mark;
	int r = kept_file_replace(folder, FILE_NAME, (const uint8_t *)&head, sizeof(head));
	if (r == 0)
		r = open_sessions_set_room(&sessions, ROOM_FIRST);
	return open_sessions_finish(folder, r, &sessions, sessions_out);
}

int open_sessions_add(struct open_sessions *sessions, uint64_t session, uint32_t engine)
{
	if (!sessions->is_open)
		return -EBADF;
	uint32_t at = open_sessions_place(sessions, session);
	if (at == 0 && sessions->free_count == 0) {
		int r = open_sessions_set_room(sessions,
					       sessions->room ? sessions->room * 2 : ROOM_FIRST);
		if (r < 0)
			return r;
	}
	uint32_t place = at ? at - 1 : sessions->free_places[sessions->free_count - 1];
	int r = open_sessions_write(sessions, place, session, engine);
	if (r < 0)
		return r;
	sessions->places[place].engine = engine;
	if (at)
		return 0;
	sessions->free_count--;
	sessions->places[place].session = session;
	open_sessions_link(sessions, place);
	return 0;
}

static int open_sessions_free_place(struct open_sessions *sessions, uint32_t place)
{
	int r = open_sessions_write(sessions, place, 0, 0);
	/* It stays in the table as in the file, and is removed with its engine. */
	if (r < 0)
		return r;
	uint32_t *link = open_sessions_head(sessions, sessions->places[place].session);
	while (*link != place + 1)
		link = &sessions->places[*link - 1].next;
	*link = sessions->places[place].next;
	sessions->places[place] = (struct open_session){.session = 0};
	sessions->free_places[sessions->free_count++] = place;
	return 0;
}

int open_sessions_remove(struct open_sessions *sessions, uint64_t session)
{
	uint32_t at = open_sessions_place(sessions, session);
	return at ? open_sessions_free_place(sessions, at - 1) : 0;
}

int open_sessions_set_valid(struct open_sessions *sessions, bool is_valid)
{
	const struct head head = {.magic = FILE_MAGIC, .mark = is_valid ? sessions->mark : 0};
	ssize_t count;
	if (!sessions->is_open || sessions->is_void == !is_valid)
		return 0;
	do
		count = pwrite(sessions->file, &head, sizeof(head), 0);
	while (count < 0 && errno == EINTR);
	if (count != sizeof(head))
		return count < 0 ? -errno : -EIO;
	sessions->is_void = !is_valid;
	return 0;
}

bool open_sessions_has(const struct open_sessions *sessions, uint64_t session, uint32_t engine)
{
	uint32_t at = open_sessions_place(sessions, session);
	return at && sessions->places[at - 1].engine == engine;
}

int open_sessions_filter(struct open_sessions *sessions,
			 bool (*is_kept)(void *context, uint64_t session, uint32_t engine),
			 void *context)
{
	int r = 0;
	for (uint32_t i = 0; i < sessions->room; i++) {
		const struct open_session *place = &sessions->places[i];
		if (place->session == 0 || is_kept(context, place->session, place->engine))
			continue;
		int failed = open_sessions_free_place(sessions, i);
		r = failed < 0 ? failed : r;
	}
	return r;
}
