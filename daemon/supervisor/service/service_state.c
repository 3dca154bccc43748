#include "service/service_state.h"

#include "cleanup.h"
#include "base/kept_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_NAME     "engines"
#define STATE_BAD_NAME "engines.bad"
#define STATE_MAGIC    0x6574617473637973ull /* "sycstate" */
#define STATE_FORMAT   3u

/* The head of the file; engines follow, then accounts. In this machine's byte order, because the
 * file never leaves the machine. */
struct head {
	uint64_t magic;
	uint32_t format;
	uint32_t sessions_mark; /* 0 before format 3 */
	/*
	 * Checksum of the whole file with 0 here. It reveals damage, and does not prevent forgery.
	 */
	uint64_t checksum;
	uint64_t sessions_before;
	uint8_t secret[SERVICE_SECRET_BYTES];
	uint32_t engine_count;
	uint32_t account_count;
};

static_assert(sizeof(struct head) == 56, "part of the layout");

/* Earlier formats have the first members of each engine. */
static size_t engine_size(uint32_t format)
{
	static const size_t sizes[STATE_FORMAT + 1] = {
		[1] = SERVICE_STATE_ENGINE_1_BYTES,
		[2] = SERVICE_STATE_ENGINE_2_BYTES,
		[3] = sizeof(struct service_state_engine),
	};
	return sizes[format];
}

static size_t state_size(uint32_t format, uint32_t engines, uint32_t accounts)
{
	return sizeof(struct head) + engines * engine_size(format) +
	       accounts * sizeof(struct service_state_account);
}

void service_state_fini(struct service_state *state)
{
	free(state->engines);
	free(state->accounts);
	*state = (struct service_state){.engines = NULL};
}

static int state_check(uint8_t *bytes, size_t size, struct head *head_out)
{
	struct head head = {.magic = 0};
	memcpy(&head, bytes, sizeof(head));
	uint64_t checksum = head.checksum;
	if (head.magic != STATE_MAGIC)
		return -EBADMSG;
	if (head.format == 0 || head.format > STATE_FORMAT)
		return -EPROTONOSUPPORT;
	if (head.engine_count > SERVICE_STATE_ENTRIES_MAX ||
	    head.account_count > SERVICE_STATE_ENTRIES_MAX ||
	    size != state_size(head.format, head.engine_count, head.account_count))
		return -EBADMSG;
	memset(bytes + offsetof(struct head, checksum), 0, sizeof(checksum));
	if (kept_file_checksum(bytes, size) != checksum)
		return -EBADMSG;
	*head_out = head;
	return 0;
}

/* Copies `count` entries of `kept` bytes into larger ones, whose rest is 0. Allocates some memory
 * for an empty array, too. */
static void *entries_copy(const uint8_t *bytes, uint32_t count, size_t kept, size_t each)
{
	uint8_t *entries = calloc(count + 1u, each);
	for (uint32_t i = 0; entries && i < count; i++)
		memcpy(entries + i * each, bytes + i * kept, kept);
	return entries;
}

int service_state_load(int folder, struct service_state *state_out)
{
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	size_t size = 0;
	struct head head = {.magic = 0};
	int r = kept_file_read(
		folder, STATE_NAME, sizeof(head),
		state_size(STATE_FORMAT, SERVICE_STATE_ENTRIES_MAX, SERVICE_STATE_ENTRIES_MAX),
		&bytes, &size);
	if (r < 0 || !bytes)
		return r < 0 ? r : -EBADMSG;
	r = state_check(bytes, size, &head);
	if (r < 0)
		return r;
	struct service_state state = {
		.sessions_before = head.sessions_before,
		.sessions_mark = head.format < 3 ? 0 : head.sessions_mark,
		.engine_count = head.engine_count,
		.account_count = head.account_count,
	};
	memcpy(state.secret, head.secret, sizeof(state.secret));
	state.engines = entries_copy(bytes + state_size(head.format, 0, 0), head.engine_count,
				     engine_size(head.format), sizeof(*state.engines));
	state.accounts =
		entries_copy(bytes + state_size(head.format, head.engine_count, 0),
			     head.account_count, sizeof(*state.accounts), sizeof(*state.accounts));
	if (!state.engines || !state.accounts) {
		service_state_fini(&state);
		return -ENOMEM;
	}
	*state_out = state;
	return 0;
}

int service_state_save(int folder, const struct service_state *state)
{
	size_t size = state_size(STATE_FORMAT, state->engine_count, state->account_count);
	CLEANUP(free_pointer) uint8_t *bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	struct head head = {
		.magic = STATE_MAGIC,
		.format = STATE_FORMAT,
		.sessions_mark = state->sessions_mark,
		.sessions_before = state->sessions_before,
		.engine_count = state->engine_count,
		.account_count = state->account_count,
	};
	memcpy(head.secret, state->secret, sizeof(head.secret));
	memcpy(bytes, &head, sizeof(head));
	if (state->engine_count)
		memcpy(bytes + state_size(STATE_FORMAT, 0, 0), state->engines,
		       state->engine_count * sizeof(*state->engines));
	if (state->account_count)
		memcpy(bytes + state_size(STATE_FORMAT, state->engine_count, 0), state->accounts,
		       state->account_count * sizeof(*state->accounts));
	head.checksum = kept_file_checksum(bytes, size);
	memcpy(bytes, &head, sizeof(head));
	return kept_file_replace(folder, STATE_NAME, bytes, size);
}

int service_state_set_aside(int folder)
{
	(void)unlinkat(folder, STATE_BAD_NAME, 0);
	return renameat(folder, STATE_NAME, folder, STATE_BAD_NAME) < 0 ? -errno : 0;
}
