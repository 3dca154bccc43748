/*
 * The sessions that engines have, by number, in a file for the next service. An engine keeps the
 * proof of each session that it ever got (base/session_proof.h). This file shows which of them are
 * still open, so that one that was closed does not return.
 *
 * The file is changed in place, 16 bytes at a time. A process that is killed leaves the old or the
 * new ones. A crash of the machine may leave others, but it leaves no engines either.
 */
#ifndef SYCLD_SUPERVISOR_OPEN_SESSIONS_H
#define SYCLD_SUPERVISOR_OPEN_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { OPEN_SESSIONS_MAX = 1 << 20 }; /* 16 MiB */

struct open_session;

struct open_sessions {
	bool is_open, is_void; /* is_void: the file has no mark (open_sessions_set_valid) */
	int file;
	uint32_t mark; /* names this file in the state (service_state.h); never 0 */
	/* Allocated. Place i is at 16 * (i + 1) in the file. */
	uint32_t room, free_count;
	struct open_session *places;
	uint32_t *heads; /* lists of places by the number of their session */
	uint32_t *free_places;
};

/*
 * Reads the file that the state names by this mark. 0 or a negative errno. -ENOENT: there is none.
 * -EPERM: another user owns it or may use it. -EBADMSG: it is another file, or damaged. Other
 * errors: it could not be read, and may be intact.
 */
int open_sessions_load(int folder, uint32_t mark, struct open_sessions *sessions_out);

/* Makes an empty file with a new mark, in place of an older one. 0 or a negative errno. */
int open_sessions_create(int folder, struct open_sessions *sessions_out);

/* Accepts one that is not open. The file stays. */
void open_sessions_close(struct open_sessions *sessions);

/* Writes that this engine has the session now, instead of another one if need be. 0 or a negative
 * errno: then the file does not have it. Does not wait for a disk. */
int open_sessions_add(struct open_sessions *sessions, uint64_t session, uint32_t engine);

/* Does nothing for a session that is not in the file. 0 or a negative errno: it may return. */
int open_sessions_remove(struct open_sessions *sessions, uint64_t session);

/* False: no later service uses the file, as long as it is not valid again. That needs no room in
 * its file system. 0 or a negative errno. */
int open_sessions_set_valid(struct open_sessions *sessions, bool is_valid);

bool open_sessions_has(const struct open_sessions *sessions, uint64_t session, uint32_t engine);

/* Removes those that `is_kept` does not want. 0 or the last error. */
int open_sessions_filter(struct open_sessions *sessions,
			 bool (*is_kept)(void *context, uint64_t session, uint32_t engine),
			 void *context);

#endif
