#include "memory/own_pages.h"

#include "access_mode.h"
#include "memory/page_copy.h"

#include <stdlib.h>

/* The contents of one buffer while they are copied in. */
struct incoming {
	struct buffer *buffer; /* a reference */
	struct page_copy copy;
	struct host_access accesses[PAGE_COPY_PARTS_MAX];
};

struct own_pages {
	uint32_t count;
	struct incoming incoming[];
};

bool own_pages_may_wait(const struct buffer *buffer)
{
	/* With a mutex the memory is read while that is held, which is during creation. */
	return buffer->kind == SYCL_HOST_BORROWED && !buffer->use_mutex &&
	       buffer->share == SYCL_SHARE_NONE && !buffer->image_format &&
	       buffer->size_bytes >= PAGE_COPY_LARGE_BYTES;
}

static enum own_pages_state own_pages_state(const struct buffer *buffer)
{
	return atomic_load_explicit(&buffer->pages, memory_order_acquire);
}

/* With the state lock. */
static void own_pages_set_state(struct buffer *buffer, enum own_pages_state state)
{
	atomic_store_explicit(&buffer->pages, state, memory_order_release);
	(void)pthread_cond_broadcast(&buffer->object.connection->pages_changed);
}

static void own_pages_change_state(struct buffer *buffer, enum own_pages_state state)
{
	struct connection *c = buffer->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	own_pages_set_state(buffer, state);
	(void)pthread_mutex_unlock(&c->state_lock);
}

/* With the state lock. Returns true if this thread is to bring the contents. */
static bool own_pages_take(struct buffer *buffer)
{
	if (own_pages_state(buffer) != OWN_PAGES_OUTSIDE)
		return false;
	own_pages_set_state(buffer, OWN_PAGES_TAKEN);
	return true;
}

/* Copies all contents, as at the buffer's creation. */
static void own_pages_bring_whole(struct buffer *buffer)
{
	page_copy_now(buffer->object.connection, buffer->address, buffer->host, buffer->size_bytes);
	own_pages_change_state(buffer, OWN_PAGES_HERE);
}

/* Waits until the state is none of those from TAKEN up to `last`. With the state lock. */
static void own_pages_await(struct buffer *buffer, enum own_pages_state last)
{
	struct connection *c = buffer->object.connection;
	while (own_pages_state(buffer) >= OWN_PAGES_TAKEN && own_pages_state(buffer) <= last)
		(void)pthread_cond_wait(&c->pages_changed, &c->state_lock);
}

static void own_pages_settle_until(struct buffer *buffer, enum own_pages_state last)
{
	struct connection *c = buffer->object.connection;
	if (own_pages_state(buffer) == OWN_PAGES_HERE)
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	bool mine = own_pages_take(buffer);
	if (!mine)
		own_pages_await(buffer, last);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (mine)
		own_pages_bring_whole(buffer);
}

void own_pages_settle(struct buffer *buffer)
{
	own_pages_settle_until(buffer, OWN_PAGES_TAKEN);
}

sycl_result own_pages_request_host_access(struct buffer *buffer, uint32_t mode,
					  uint64_t offset_bytes, uint64_t size_bytes,
					  struct host_access *access)
{
	own_pages_settle(buffer_root(buffer));
	return host_access_request(buffer, mode, offset_bytes, size_bytes, access);
}

void own_pages_end(struct buffer *buffer)
{
	own_pages_settle_until(buffer, OWN_PAGES_COMING);
}

/* An access that was not requested has no id, and its end does nothing. */
static void end_accesses(struct page_copy *copy)
{
	for (uint32_t i = 0; i < copy->count; i++)
		host_access_end(copy->connection, &copy->accesses[i]);
}

/* Checks that the engine has refused no part so far. A refusal comes before the answer. */
static sycl_result check_parts(struct page_copy *copy)
{
	sycl_result result = host_access_answered(copy->connection);
	for (uint32_t i = 0; i < copy->count && !result; i++)
		result = remote_check(&copy->accesses[i].remote);
	return result;
}

/* Requests an access for each part. On success none is refused so far. On failure the caller ends
 * the requested accesses. */
static sycl_result request_parts(struct page_copy *copy, uint32_t mode)
{
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < copy->count && !result; i++) {
		struct arena_range part = page_copy_part(copy, i);
		result = host_access_request_part(copy->buffer, mode, &part, &copy->accesses[i]);
	}
	return result ? result : check_parts(copy);
}

/* Requests the parts of a buffer that this thread has taken. No group uses the buffer yet, so an
 * access that is not refused holds. */
static void request_taken_parts(struct incoming *incoming)
{
	struct buffer *buffer = incoming->buffer;
	incoming->copy = page_copy_plan(buffer->object.connection, buffer->address, buffer->host,
					buffer->size_bytes);
	incoming->copy.buffer = buffer;
	incoming->copy.accesses = incoming->accesses;
	if (request_parts(&incoming->copy, ACCESS_MODE_WRITE_NO_INIT) == SYCL_SUCCESS) {
		own_pages_change_state(buffer, OWN_PAGES_COMING);
		return;
	}
	/*
	 * There is no room for so many accesses; or the service has gone, which the group will
	 * report. The accesses that were made count against the session's limits until they are
	 * granted, also when they have ended, and the group needs the room. The wait runs no host
	 * tasks: one of them may use this buffer, and would wait for this thread.
	 */
	(void)host_access_answered(buffer->object.connection);
	end_accesses(&incoming->copy);
	incoming->copy.accesses = NULL;
	own_pages_bring_whole(buffer);
}

static uint32_t count_outside(const struct buffer_list *buffers)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < buffers->count; i++)
		count += own_pages_state(buffers->root_at(buffers->owner, i)) == OWN_PAGES_OUTSIDE;
	return count;
}

/* There is nothing to bring or to wait for. */
static bool own_pages_are_all_settled(const struct buffer_list *buffers)
{
	for (uint32_t i = 0; i < buffers->count; i++) {
		if (!own_pages_are_settled(buffers->root_at(buffers->owner, i)))
			return false;
	}
	return true;
}

/* Takes all buffers of the list that no other thread has taken. */
static void own_pages_take_all(const struct buffer_list *buffers, struct own_pages *pages,
			       uint32_t most)
{
	struct connection *c = buffers->connection;
	(void)pthread_mutex_lock(&c->state_lock);
	for (uint32_t i = 0; i < buffers->count && pages->count < most; i++) {
		struct buffer *buffer = buffers->root_at(buffers->owner, i);
		if (!own_pages_take(buffer))
			continue;
		object_ref(&buffer->object);
		pages->incoming[pages->count++].buffer = buffer;
	}
	(void)pthread_mutex_unlock(&c->state_lock);
}

static void own_pages_bring(const struct buffer_list *buffers, struct own_pages **pages_out)
{
	uint32_t most = count_outside(buffers);
	struct own_pages *pages = calloc(1, sizeof(*pages) + most * sizeof(pages->incoming[0]));
	if (pages) {
		own_pages_take_all(buffers, pages, most);
		for (uint32_t i = 0; i < pages->count; i++)
			request_taken_parts(&pages->incoming[i]);
		*pages_out = pages;
	}
	/* The wait comes last: two groups may each have taken a buffer for which the other group
	 * waits. So each must have requested its own parts first. */
	for (uint32_t i = 0; i < buffers->count; i++)
		own_pages_settle(buffers->root_at(buffers->owner, i));
}

void own_pages_begin(const struct buffer_list *buffers, struct own_pages **pages_out)
{
	*pages_out = NULL;
	if (!own_pages_are_all_settled(buffers))
		own_pages_bring(buffers, pages_out);
}

void own_pages_finish(struct own_pages *pages)
{
	if (!pages)
		return;
	struct failure why;
	error_get(&why);
	for (uint32_t i = 0; i < pages->count; i++) {
		struct incoming *incoming = &pages->incoming[i];
		if (incoming->copy.accesses) {
			(void)page_copy_run(&incoming->copy); /* all its parts are granted */
			own_pages_change_state(incoming->buffer, OWN_PAGES_HERE);
		}
		object_unref(&incoming->buffer->object);
	}
	free(pages);
	(void)error_set_failure(&why);
}

/*
 * Writes back by one access to the whole buffer: its contents are brought to the host, then copied.
 */
static sycl_result own_pages_write_back_whole(struct buffer *buffer, void *target)
{
	struct connection *c = buffer->object.connection;
	struct host_access access = {.slot = 0};
	sycl_result result = own_pages_request_host_access(buffer, ACCESS_MODE_READ, 0,
							   buffer->size_bytes, &access);
	if (result)
		return result;
	result = host_access_wait(buffer, &access, UINT64_MAX);
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	else
		page_copy_now(c, target, buffer->address, buffer->size_bytes);
	host_access_end(c, &access);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

/* As in request_taken_parts, but the accesses may wait for groups. Their names can be used again
 * afterwards. */
static void give_up_parts(struct page_copy *copy)
{
	for (uint32_t i = 0; i < copy->count; i++)
		if (copy->accesses[i].remote.id)
			(void)host_access_wait(copy->buffer, &copy->accesses[i], UINT64_MAX);
	end_accesses(copy);
	(void)host_access_answered(copy->connection);
}

/*
 * When an access of no bytes is granted, all groups that were submitted before it have written. So
 * the losses of such groups are known, and nothing has been copied. It ends before any part is
 * waited for. A group that comes between the two, from another thread or a host task, waits for it.
 * Parts behind that group wait for the group.
 */
static sycl_result await_writers(struct page_copy *copy, struct host_access *writers,
				 bool has_parts)
{
	sycl_result result = host_access_wait(copy->buffer, writers, UINT64_MAX);
	if (!result && has_parts)
		result = check_parts(copy);
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	host_access_end(copy->connection, writers);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

sycl_result own_pages_write_back(struct buffer *buffer, void *target)
{
	struct host_access writers = {.slot = 0}, accesses[PAGE_COPY_PARTS_MAX] = {{.slot = 0}};
	struct page_copy copy = page_copy_plan(buffer->object.connection, target, buffer->address,
					       buffer->size_bytes);
	copy.buffer = buffer;
	copy.accesses = accesses;
	copy.granted = 0;
	sycl_result result =
		own_pages_request_host_access(buffer, ACCESS_MODE_READ, 0, 0, &writers);
	if (result)
		return result;
	/* The parts are requested at once: groups that other threads submit from now on are not
	 * written back. */
	bool has_parts = request_parts(&copy, ACCESS_MODE_READ) == SYCL_SUCCESS;
	result = await_writers(&copy, &writers, has_parts);
	if (!result && has_parts)
		return page_copy_run(&copy);
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	if (has_parts)
		end_accesses(&copy);
	else
		give_up_parts(&copy);
	/* There is no room for so many accesses; or a part is lost, and one access to the whole
	 * buffer fails with the same reason. */
	return result ? error_set_failure(&why) : own_pages_write_back_whole(buffer, target);
}
