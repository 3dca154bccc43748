#include "memory/page_copy.h"

#include "connection/copy_threads.h"
#include "connection/helpers.h"
#include "base/page_stream.h"
#include "processors.h"

#include <string.h>

#define PART_GRANULE_BYTES ((uint64_t)64 << 10)

struct page_copy page_copy_plan(struct connection *c, void *destination, const void *source,
				uint64_t size_bytes)
{
	struct page_copy copy = {.connection = c,
				 .destination = destination,
				 .source = source,
				 .size_bytes = size_bytes,
				 .part_bytes = size_bytes,
				 .count = 1,
				 .end = 1,
				 .granted = 1};
	if (size_bytes < PAGE_COPY_LARGE_BYTES)
		return copy;
	uint64_t part = (size_bytes - 1) / PAGE_COPY_PARTS_MAX + 1;
	part = (part + PART_GRANULE_BYTES - 1) & ~(PART_GRANULE_BYTES - 1);
	copy.part_bytes = part > PAGE_COPY_PART_BYTES ? part : PAGE_COPY_PART_BYTES;
	copy.count = copy.end = copy.granted = (uint32_t)((size_bytes - 1) / copy.part_bytes + 1);
	return copy;
}

struct arena_range page_copy_part(const struct page_copy *copy, uint32_t part)
{
	uint64_t offset = part * copy->part_bytes, rest = copy->size_bytes - offset;
	return (struct arena_range){.offset_bytes = offset,
				    .size_bytes =
					    rest < copy->part_bytes ? rest : copy->part_bytes};
}

/* With the state lock: the next parts whose accesses have been granted meanwhile. A refused one
 * stays the next. */
static void copy_count_granted(struct page_copy *copy)
{
	while (copy->granted < copy->end &&
	       host_access_granted(copy->buffer, &copy->accesses[copy->granted]))
		copy->granted++;
}

/* With the state lock. The thread that takes a part copies it, and ends its access. */
static bool copy_take_part(struct page_copy *copy, uint32_t *part_out)
{
	copy_count_granted(copy);
	if (copy->begun == copy->granted)
		return false;
	*part_out = copy->begun++;
	/* Copy threads wait for no grant themselves. */
	copiers_wake(&copy->connection->copiers, copy->granted - copy->begun);
	return true;
}

static void page_copy_run_part(struct page_copy *copy, uint32_t part)
{
	struct arena_range range = page_copy_part(copy, part);
	connection_observe(copy->connection);
	uint8_t *to = copy->destination + range.offset_bytes;
	const uint8_t *from = copy->source + range.offset_bytes;
	if (copy->count > 1)
		page_stream(to, from, (size_t)range.size_bytes);
	else
		memcpy(to, from, (size_t)range.size_bytes);
	if (copy->accesses)
		host_access_end(copy->connection, &copy->accesses[part]);
}

/* With the state lock, after copy_count_granted. True if no grant is outstanding: all parts are
 * granted, or the next one was refused. */
static bool copy_is_settled(const struct page_copy *copy)
{
	return copy->granted == copy->end ||
	       host_access_settled(copy->buffer, &copy->accesses[copy->granted]);
}

/* With the state lock. Finds a copy with a part to be copied; NULL: none. *waits_out: a copy will
 * have such a part. */
static struct page_copy *copies_find_work(const struct connection *c, bool *waits_out)
{
	*waits_out = false;
	for (struct page_copy *copy = c->page_copies; copy; copy = copy->next) {
		copy_count_granted(copy);
		if (copy->begun < copy->granted)
			return copy;
		*waits_out = *waits_out || !copy_is_settled(copy);
	}
	return NULL;
}

bool page_copies_pending(struct connection *c)
{
	bool waits = false;
	return copies_find_work(c, &waits) || waits;
}

/* If no copy waits for a grant any more, the engine's reply has just come. The thread that sleeps
 * on the socket handles that reply. */
static bool copies_are_for_helper(struct connection *c, void *context)
{
	bool waits = false;
	(void)context;
	return copies_find_work(c, &waits) || !waits;
}

/* With the state lock, which is released while a part is copied. */
static void copy_available_parts(struct page_copy *copy)
{
	struct connection *c = copy->connection;
	uint32_t part = 0;
	copy->helping++; /* the copy stays in the list */
	while (copy_take_part(copy, &part)) {
		(void)pthread_mutex_unlock(&c->state_lock);
		page_copy_run_part(copy, part);
		(void)pthread_mutex_lock(&c->state_lock);
	}
	if (--copy->helping == 0)
		(void)pthread_cond_broadcast(&c->pages_changed);
}

void page_copies_help(struct connection *c)
{
	sycl_result result = SYCL_SUCCESS;
	while (!result) {
		bool waits = false;
		(void)pthread_mutex_lock(&c->state_lock);
		struct page_copy *copy = copies_find_work(c, &waits);
		if (copy)
			copy_available_parts(copy);
		(void)pthread_mutex_unlock(&c->state_lock);
		if (!copy && !waits)
			return;
		if (!copy)
			result = connection_wait(c, copies_are_for_helper, NULL, WAIT_RUNS,
						 UINT64_MAX);
	}
}

bool page_copies_work(void *context)
{
	bool waits = false;
	struct page_copy *copy = copies_find_work(context, &waits);
	if (copy)
		copy_available_parts(copy);
	return copy != NULL;
}

/* The number of copy threads. Helper threads are subtracted, as they copy as well. */
static uint32_t count_copiers(struct connection *c, uint32_t parts)
{
	uint32_t count = c->copy_threads, helpers = helpers_count(c->helpers);
	if (count == COPY_THREADS_BY_PROCESSORS) {
		uint32_t processors = processors_allowed();
		uint32_t quota = atomic_load_explicit(&c->copy_quota, memory_order_relaxed);
		if (quota == 0) {
			quota = processors_quota();
			atomic_store_explicit(&c->copy_quota, quota, memory_order_relaxed);
		}
		count = copy_threads_for(processors < quota ? processors : quota);
	}
	count = count > helpers ? count - helpers : 0;
	return count < parts - 1 ? count : parts - 1; /* the caller copies, too */
}

static void copy_list(struct page_copy *copy)
{
	struct connection *c = copy->connection;
	(void)pthread_mutex_lock(&c->state_lock);
	copy->next = c->page_copies;
	c->page_copies = copy;
	if (copy->count > 1) {
		helpers_wake_all(c->helpers);
		copiers_wake(&c->copiers, copy->granted);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	if (copy->count > 1)
		copiers_start(&c->copiers, count_copiers(c, copy->count));
}

/* Parts that were not begun stay uncopied. Afterwards no other thread uses the copy. */
static void copy_unlist(struct page_copy *copy)
{
	struct connection *c = copy->connection;
	(void)pthread_mutex_lock(&c->state_lock);
	struct page_copy **at = &c->page_copies;
	while (*at != copy)
		at = &(*at)->next;
	*at = copy->next;
	copy->granted = copy->end = copy->begun;
	while (copy->helping > 0)
		(void)pthread_cond_wait(&c->pages_changed, &c->state_lock);
	(void)pthread_mutex_unlock(&c->state_lock);
}

/* With the state lock. True if the thread that runs the copy can go on: a part can be copied, all
 * are granted, or the next one was refused. */
static bool copy_is_for_owner(struct connection *c, void *context)
{
	struct page_copy *copy = context;
	(void)c;
	copy_count_granted(copy);
	return copy->begun < copy->granted || copy_is_settled(copy);
}

/*
 * With the state lock. The access of the next part if it was refused, otherwise NULL. No other
 * thread waits for that access or takes that part. It may be granted between the two checks, so
 * "settled" is checked first.
 */
static struct host_access *page_copy_next_if_refused(const struct page_copy *copy)
{
	struct host_access *next = &copy->accesses[copy->granted];
	return host_access_settled(copy->buffer, next) && !host_access_granted(copy->buffer, next)
		       ? next
		       : NULL;
}

/* Until all parts are begun, by whomever. */
static sycl_result copy_parts(struct page_copy *copy)
{
	struct connection *c = copy->connection;
	for (;;) {
		uint32_t part = 0;
		(void)pthread_mutex_lock(&c->state_lock);
		bool taken = copy_take_part(copy, &part);
		bool over = copy->granted == copy->end;
		struct host_access *refused =
			taken || over ? NULL : page_copy_next_if_refused(copy);
		(void)pthread_mutex_unlock(&c->state_lock);
		sycl_result result = SYCL_SUCCESS;
		if (taken)
			page_copy_run_part(copy, part);
		else if (over)
			return SYCL_SUCCESS;
		else if (refused)
			result = host_access_wait(copy->buffer, refused, UINT64_MAX);
		else
			result = connection_wait(c, copy_is_for_owner, copy, WAIT_RUNS, UINT64_MAX);
		if (result)
			return result;
	}
}

sycl_result page_copy_run(struct page_copy *copy)
{
	/* The copy lies on this thread's stack and other threads use it. So this thread cannot be
	 * cancelled meanwhile. */
	int cancelling = 0;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	copy_list(copy);
	struct failure why = {.code = copy_parts(copy)};
	if (why.code)
		error_get(&why);
	copy_unlist(copy);
	(void)pthread_setcancelstate(cancelling, NULL);
	for (uint32_t i = copy->begun; copy->accesses && i < copy->count; i++)
		host_access_end(copy->connection, &copy->accesses[i]);
	return why.code ? error_set_failure(&why) : SYCL_SUCCESS;
}

void page_copy_now(struct connection *c, void *destination, const void *source, uint64_t size_bytes)
{
	struct page_copy copy = page_copy_plan(c, destination, source, size_bytes);
	(void)page_copy_run(&copy); /* no access, so there is nothing to wait for */
}
