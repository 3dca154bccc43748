#include "connection/handles.h"

#include "connection/connection.h"
#include "base/fork_guard.h"
#include "base/lone_thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(void *) == 8, "a handle's parts need 64 bits");

/* A chunk is small, because most programs have few handles. The allocator may clear a whole chunk,
 * which touches its pages. */
#define CHUNK_ENTRIES 256u
#define CHUNKS        65536u

/* An entry's word: references (20 bits), user references (20), generation (24; never 0). */
#define COUNT_BITS 20
#define COUNT_MAX  ((1u << COUNT_BITS) - 2)
#define REF_ONE    1ull
#define USER_ONE   (1ull << COUNT_BITS)

struct handle_entry {
	_Atomic uint64_t word;
	struct object *object; /* written before the word makes it visible */
	uint32_t next_free;    /* the object's type; written as `object` is */
	_Atomic uint32_t type; /* the object's; as `object` */
};

struct handle_table {
	pthread_mutex_t lock; /* taking entries: the free list and growing */
	_Atomic(struct handle_entry *) chunks[CHUNKS];
	uint32_t entries; /* entries used so far */
	/* Index + 1; first in, first out, so that a stale handle is refused as long as possible. */
	uint32_t free_first, free_last;
	/* Index + 1 of the entry freed last, without the lock. The free list takes these entries
	 * when it is empty. */
	_Atomic uint32_t freed;
	struct handle_table *inherited; /* table of the parent process, kept reachable */
};

static struct handle_table first_table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic(struct handle_table *) table = &first_table;

static uint32_t word_refs(uint64_t word)
{
	return (uint32_t)word & ((1u << COUNT_BITS) - 1);
}

static uint32_t word_users(uint64_t word)
{
	return (uint32_t)(word >> COUNT_BITS) & ((1u << COUNT_BITS) - 1);
}

static uint32_t word_generation(uint64_t word)
{
	return (uint32_t)(word >> (2 * COUNT_BITS));
}

static uint64_t word_make(uint32_t generation, uint64_t users, uint64_t refs)
{
	return (uint64_t)generation << (2 * COUNT_BITS) | users << COUNT_BITS | refs;
}

static struct handle_entry *handles_entry_at(uint32_t index)
{
	if (index >= CHUNK_ENTRIES * CHUNKS)
		return NULL;
	struct handle_table *t = atomic_load_explicit(&table, memory_order_acquire);
	struct handle_entry *chunk =
		atomic_load_explicit(&t->chunks[index / CHUNK_ENTRIES], memory_order_acquire);
	return chunk ? &chunk[index % CHUNK_ENTRIES] : NULL;
}

/* "queue", "buffer" ... */
static const char *handle_type_name(enum handle_type type)
{
	static const char *const names[HANDLE_TYPE_COUNT] = {
		[HANDLE_NONE] = "object",
		[HANDLE_PLATFORM] = "platform",
		[HANDLE_DEVICE] = "device",
		[HANDLE_CONTEXT] = "context",
		[HANDLE_QUEUE] = "queue",
		[HANDLE_BUFFER] = "buffer",
		[HANDLE_HOST_ACCESSOR] = "host accessor",
		[HANDLE_BUNDLE] = "kernel bundle",
		[HANDLE_KERNEL] = "kernel",
		[HANDLE_HANDLER] = "handler",
		[HANDLE_EVENT] = "event",
		[HANDLE_SHARED_EVENT] = "shared event",
		[HANDLE_COMMAND_GROUP] = "command group",
		[HANDLE_IMAGE] = "image",
		[HANDLE_HOST_IMAGE] = "host image",
		[HANDLE_HOST_BLOCK] = "host block",
		[HANDLE_GRAPH] = "graph",
		[HANDLE_EXECUTABLE_GRAPH] = "executable graph",
	};
	return type < HANDLE_TYPE_COUNT && names[type] ? names[type] : names[HANDLE_NONE];
}

/* Moves entries that were freed meanwhile to the free list, oldest first. With the table's lock. */
static void table_refill_free_list(struct handle_table *t)
{
	uint32_t last = atomic_exchange_explicit(&t->freed, 0, memory_order_acquire), next = 0;
	for (uint32_t at = last; at;) {
		struct handle_entry *entry = handles_entry_at(at - 1);
		uint32_t before = entry->next_free;
		entry->next_free = next;
		next = at;
		at = before;
	}
	if (!next)
		return;
	if (t->free_last)
		handles_entry_at(t->free_last - 1)->next_free = next;
	else
		t->free_first = next;
	t->free_last = last;
}

/* The table's lock is held. */
static struct handle_entry *handles_take_free_entry(struct handle_table *t, uint32_t *index_out)
{
	struct handle_entry *entry = NULL;
	/* The list keeps a few entries, so that an index that was just freed is not used again at
	 * once. */
	if (t->free_first == t->free_last)
		table_refill_free_list(t);
	if (t->free_first && t->free_first != t->free_last) {
		*index_out = t->free_first - 1;
		entry = handles_entry_at(*index_out);
		if (entry)
			t->free_first = entry->next_free;
		return entry;
	}
	if (t->entries == CHUNK_ENTRIES * CHUNKS)
		return NULL;
	uint32_t chunk = t->entries / CHUNK_ENTRIES;
	struct handle_entry *memory = atomic_load_explicit(&t->chunks[chunk], memory_order_relaxed);
	if (!memory) {
		memory = calloc(CHUNK_ENTRIES, sizeof(*memory));
		if (!memory)
			return NULL;
		atomic_store_explicit(&t->chunks[chunk], memory, memory_order_release);
	}
	*index_out = t->entries++;
	entry = &memory[*index_out % CHUNK_ENTRIES];
	atomic_store_explicit(&entry->word, word_make(1, 0, 0), memory_order_relaxed);
	return entry;
}

/* Counts a handle that the program received or released. Objects in tests have no connection. */
static void count_handle(const struct object *object, bool comes)
{
	if (!object->connection)
		return;
	if (comes)
		(void)count_add(&object->connection->handles, 1, memory_order_relaxed);
	else
		(void)count_add(&object->connection->handles, -1u, memory_order_acq_rel);
}

int handle_create(struct object *object, enum handle_type type, void (*destroy)(struct object *))
{
	fork_check();
	struct handle_table *t = atomic_load_explicit(&table, memory_order_acquire);
	(void)pthread_mutex_lock(&t->lock);
	uint32_t index = 0;
	struct handle_entry *entry = handles_take_free_entry(t, &index);
	(void)pthread_mutex_unlock(&t->lock);
	if (!entry)
		return -ENOMEM;
	object->type = type;
	object->index = index;
	object->entry = entry;
	object->destroy = destroy;
	entry->object = object;
	atomic_store_explicit(&entry->type, type, memory_order_relaxed);
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed);
	atomic_store_explicit(&entry->word, word_make(word_generation(word), 1, 1),
			      memory_order_release);
	count_handle(object, true);
	return 0;
}

void object_keep(struct object *object)
{
	(void)word_add(&object->entry->word, -USER_ONE, memory_order_relaxed);
	count_handle(object, false);
}

void *handle_of(const struct object *object)
{
	uint64_t word = atomic_load_explicit(&object->entry->word, memory_order_relaxed);
	uint64_t bits = (uint64_t)fork_depth() << 61 | (uint64_t)object->type << 56 |
			(uint64_t)word_generation(word) << 32 | object->index;
	return (void *)(uintptr_t)bits;
}

static uint32_t generation_of(const void *handle)
{
	return (uint32_t)((uintptr_t)handle >> 32) & 0xffffff;
}

/* Finds the entry by the handle's bits. NULL: the handle is not of that type, or of another
 * process. */
static struct handle_entry *entry_of_handle(const void *handle, enum handle_type type)
{
	uint64_t bits = (uintptr_t)handle;
	if (bits >> 56 != ((uint64_t)fork_depth() << 5 | (uint64_t)type) ||
	    generation_of(handle) == 0)
		return NULL;
	return handles_entry_at((uint32_t)bits);
}

/* Sets the error for a value that has no entry. */
static sycl_result handle_refused(const void *handle, enum handle_type type)
{
	uint64_t bits = (uintptr_t)handle;
	enum handle_type stated = (enum handle_type)((bits >> 56) & 31);
	const char *name = handle_type_name(type);
	if (!handle)
		return error_set(SYCL_ERROR_INVALID_HANDLE, "the %s is NULL", name);
	if (stated == HANDLE_NONE || stated >= HANDLE_TYPE_COUNT || generation_of(handle) == 0)
		return error_set(SYCL_ERROR_INVALID_HANDLE,
				 "this value is no handle; a %s was expected", name);
	if ((uint32_t)(bits >> 61) != fork_depth())
		return error_set(
			SYCL_ERROR_FORKED,
			"this %s belongs to the parent process: open a connection in the child",
			handle_type_name(stated));
	if (stated != type)
		return error_set(SYCL_ERROR_INVALID_HANDLE,
				 "this handle is a %s; a %s was expected", handle_type_name(stated),
				 name);
	return error_set(SYCL_ERROR_INVALID_HANDLE, "this value is no handle; a %s was expected",
			 name);
}

/* As handle_check_word, for a valid handle, which is the usual case. */
static inline bool word_is_good(const struct handle_entry *entry, uint64_t word, const void *handle,
				enum handle_type type)
{
	return word_generation(word) == generation_of(handle) && word_users(word) != 0 &&
	       word_refs(word) < COUNT_MAX &&
	       atomic_load_explicit(&entry->type, memory_order_relaxed) == (uint32_t)type;
}

/* Checks that the entry still belongs to the handle. The result holds as long as the word stays the
 * same, because the word has the generation. */
static sycl_result handle_check_word(struct handle_entry *entry, uint64_t word, const void *handle,
				     enum handle_type type)
{
	if (word_generation(word) != generation_of(handle) || word_users(word) == 0)
		return error_set(SYCL_ERROR_INVALID_HANDLE, "this %s has been released",
				 handle_type_name(type));
	/* The value has a forged type with a true index and generation. */
	if (atomic_load_explicit(&entry->type, memory_order_relaxed) != (uint32_t)type)
		return error_set(SYCL_ERROR_INVALID_HANDLE,
				 "this value is no handle; a %s was expected",
				 handle_type_name(type));
	if (word_refs(word) >= COUNT_MAX)
		return error_set(SYCL_ERROR_QUOTA, "this %s has too many references",
				 handle_type_name(type));
	return SYCL_SUCCESS;
}

/* The slow path makes all checks and sets their errors. */
static sycl_result handle_pin_any_type(const void *handle, enum handle_type type,
				       struct object **object_out)
{
	fork_check();
	struct handle_entry *entry = entry_of_handle(handle, type);
	if (!entry)
		return handle_refused(handle, type);
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_acquire);
	do {
		sycl_result result = handle_check_word(entry, word, handle, type);
		if (result)
			return result;
	} while (!word_replace(&entry->word, &word, word + REF_ONE, memory_order_acquire,
			       memory_order_acquire));
	*object_out = entry->object;
	return SYCL_SUCCESS;
}

/* The fast path runs several times for each command group. A valid handle needs no call. */
sycl_result handle_pin(const void *handle, enum handle_type type, struct object **object_out)
{
	struct handle_entry *entry = fork_is_settled() ? entry_of_handle(handle, type) : NULL;
	if (!entry)
		return handle_pin_any_type(handle, type, object_out);
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_acquire);
	if (!word_is_good(entry, word, handle, type) ||
	    !word_replace(&entry->word, &word, word + REF_ONE, memory_order_acquire,
			  memory_order_acquire))
		return handle_pin_any_type(handle, type, object_out);
	*object_out = entry->object;
	return SYCL_SUCCESS;
}

struct object *handle_look(const struct handle_entry *entry, const void *handle,
			   enum handle_type type)
{
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_acquire);
	return word_is_good(entry, word, handle, type) ? entry->object : NULL;
}

sycl_result handle_pin_taken(const void *handle, enum handle_type type, struct object **object_out,
			     bool *counted_out)
{
	fork_check();
	struct handle_entry *entry = entry_of_handle(handle, type);
	if (!entry)
		return handle_refused(handle, type);
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_acquire), wanted = 0;
	do {
		sycl_result result = word_is_good(entry, word, handle, type)
					     ? SYCL_SUCCESS
					     : handle_check_word(entry, word, handle, type);
		if (result)
			return result;
		/* The users' shared reference ends with the last user reference. That reference
		 * becomes the caller's. */
		wanted = word - USER_ONE + (word_users(word) == 1 ? 0 : REF_ONE);
	} while (!word_replace(&entry->word, &word, wanted, memory_order_acq_rel,
			       memory_order_acquire));
	*counted_out = word_users(word) == 1;
	*object_out = entry->object;
	return SYCL_SUCCESS;
}

void object_ref(struct object *object)
{
	(void)word_add(&object->entry->word, REF_ONE, memory_order_relaxed);
}

bool object_try_ref(struct object *object)
{
	struct handle_entry *entry = object->entry;
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed);
	do {
		if (word_refs(word) == 0 || word_refs(word) >= COUNT_MAX)
			return false;
	} while (!word_replace(&entry->word, &word, word + REF_ONE, memory_order_acquire,
			       memory_order_relaxed));
	return true;
}

static void entry_free(struct handle_entry *entry, uint32_t index)
{
	struct handle_table *t = atomic_load_explicit(&table, memory_order_acquire);
	uint32_t generation =
		(word_generation(atomic_load_explicit(&entry->word, memory_order_relaxed)) + 1) &
		0xffffff;
	atomic_store_explicit(&entry->word, word_make(generation ? generation : 1, 0, 0),
			      memory_order_relaxed);
	const struct handle_entry *present = handles_entry_at(index);
	if (!present || present != entry)
		return; /* The handle is the parent process's. A child has its own table. */
	entry->next_free = atomic_load_explicit(&t->freed, memory_order_relaxed);
	while (!count_replace(&t->freed, &entry->next_free, index + 1, memory_order_release,
			      memory_order_relaxed)) {
	}
}

void object_unref(struct object *object)
{
	uint32_t index = object->index;
	struct handle_entry *entry = object->entry;
	uint64_t before = atomic_load_explicit(&entry->word, memory_order_acquire);
	/* The last reference of a released handler needs no atomic operation. No thread can reach
	 * it, because no handle is valid and handlers have no weak pointers. */
	if (object->type != HANDLE_HANDLER || word_refs(before) != 1 || word_users(before) != 0)
		before = word_add(&entry->word, -REF_ONE, memory_order_acq_rel);
	if (word_refs(before) != 1)
		return;
	/* The object was made, but its maker failed before it returned the handle. */
	if (word_users(before))
		count_handle(object, false);
	/* destroy may search weak pointers to the object under their own lock. So the entry is
	 * freed afterwards. */
	object->destroy(object);
	entry_free(entry, index);
}

sycl_result object_give(struct object *object)
{
	struct handle_entry *entry = object->entry;
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed);
	uint64_t wanted = 0;
	do {
		if (word_users(word) >= COUNT_MAX || word_refs(word) >= COUNT_MAX)
			return error_set(SYCL_ERROR_QUOTA, "this %s has too many references",
					 handle_type_name((enum handle_type)object->type));
		wanted = word + USER_ONE + (word_users(word) == 0 ? REF_ONE : 0);
	} while (!word_replace(&entry->word, &word, wanted, memory_order_relaxed,
			       memory_order_relaxed));
	if (word_users(word) == 0)
		count_handle(object, true);
	return SYCL_SUCCESS;
}

static sycl_result object_take_user(struct object *object, bool also_last, bool *was_last_out)
{
	struct handle_entry *entry = object->entry;
	uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed);
	do {
		if (word_users(word) == 0)
			return error_set(SYCL_ERROR_INVALID_HANDLE, "this %s has been released",
					 handle_type_name((enum handle_type)object->type));
		if (word_users(word) == 1 && !also_last) {
			*was_last_out = true;
			return SYCL_SUCCESS;
		}
	} while (!word_replace(&entry->word, &word, word - USER_ONE, memory_order_acq_rel,
			       memory_order_relaxed));
	*was_last_out = word_users(word) == 1;
	if (*was_last_out)
		count_handle(object, false);
	return SYCL_SUCCESS;
}

sycl_result object_take(struct object *object)
{
	bool last = false;
	sycl_result result = object_take_user(object, true, &last);
	if (!result && last)
		object_unref(
			object); /* never the last reference: the caller has pinned the object */
	return result;
}

bool object_take_unless_last(struct object *object)
{
	bool last = false;
	return object_take_user(object, false, &last) == SYCL_SUCCESS && !last;
}

uint32_t object_users(const struct object *object)
{
	return word_users(atomic_load_explicit(&object->entry->word, memory_order_relaxed));
}

/* Called in a forked child: all handles of the parent are refused from now on. */
static void handles_forget_after_fork(void)
{
	/* The parent's objects stay in memory, unused. Threads that do not exist in the child may
	 * hold their locks. */
	struct handle_table *t = calloc(1, sizeof(*t));
	/* The depth of forks has changed, so the parent's handles are refused in any case. */
	if (!t)
		return;
	(void)pthread_mutex_init(&t->lock, NULL);
	t->inherited = atomic_load_explicit(&table, memory_order_relaxed);
	atomic_store_explicit(&table, t, memory_order_release);
}

__attribute__((constructor)) static void handles_register_forget(void)
{
	fork_guard_forget_with(handles_forget_after_fork);
}

sycl_result handle_retain(const void *handle, enum handle_type type)
{
	struct object *object = NULL;
	sycl_result result = handle_pin(handle, type, &object);
	if (result)
		return result;
	result = object_give(object);
	object_unref(object);
	return result;
}

sycl_result handle_release(const void *handle, enum handle_type type)
{
	struct object *object = NULL;
	sycl_result result = handle_pin(handle, type, &object);
	if (result)
		return result;
	result = object_take(object);
	if (!result && object->connection)
		connection_handle_released(object->connection);
	object_unref(object);
	return result;
}

sycl_result handle_get_reference_count(const void *handle, enum handle_type type,
				       uint32_t *count_out)
{
	if (!count_out)
		return error_set(SYCL_ERROR_INVALID, "count_out is NULL");
	struct object *object = NULL;
	sycl_result result = handle_pin(handle, type, &object);
	if (result)
		return result;
	*count_out = object_users(object);
	object_unref(object);
	return SYCL_SUCCESS;
}
