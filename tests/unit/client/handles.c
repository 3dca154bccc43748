/* The handle table, which must accept any value. */
#include "connection/handles.h"

#include "base/fork_guard.h"
#include "syclclient.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_handles, .timeout = 20);

static int destroyed;

static void count_destroy(struct object *object)
{
	(void)object;
	destroyed++;
}

static void free_destroy(struct object *object)
{
	destroyed++;
	free(object);
}

static struct object *pinned(const void *handle, enum handle_type type)
{
	struct object *object = NULL;
	return handle_pin(handle, type, &object) == SYCL_SUCCESS ? object : NULL;
}

Test(client_handles, N1_ends_with_its_last_reference)
{
	struct object object = {0};
	cr_assert(eq(int, handle_create(&object, HANDLE_QUEUE, count_destroy), 0));
	void *handle = handle_of(&object);
	cr_assert(eq(int, handle_retain(handle, HANDLE_QUEUE), 0));
	cr_assert(eq(u32, object_users(&object), 2));
	cr_assert(eq(int, handle_release(handle, HANDLE_QUEUE), 0));
	cr_assert(eq(int, destroyed, 0));
	cr_assert(eq(int, handle_release(handle, HANDLE_QUEUE), 0));
	cr_assert(eq(int, destroyed, 1));
	cr_assert(eq(int, handle_release(handle, HANDLE_QUEUE), SYCL_ERROR_INVALID_HANDLE));
	cr_assert(eq(int, destroyed, 1));
}

Test(client_handles, N3_a_revived_handle_is_the_same_one)
{
	struct object object = {0};
	(void)handle_create(&object, HANDLE_CONTEXT, count_destroy);
	void *handle = handle_of(&object);
	object_ref(&object); /* a child's */
	cr_assert(eq(int, handle_release(handle, HANDLE_CONTEXT), 0));
	cr_assert(eq(int, destroyed, 0), "the child keeps it");
	cr_assert(eq(int, handle_retain(handle, HANDLE_CONTEXT), SYCL_ERROR_INVALID_HANDLE),
		  "the caller has none");
	cr_assert(eq(int, object_give(&object), 0));
	cr_assert(eq(ptr, handle_of(&object), handle));
	cr_assert(eq(int, handle_release(handle, HANDLE_CONTEXT), 0));
	object_unref(&object);
	cr_assert(eq(int, destroyed, 1));
}

Test(client_handles, M12_mistyped_values_are_refused)
{
	struct object object = {0};
	(void)handle_create(&object, HANDLE_BUFFER, count_destroy);
	uint64_t bits = (uintptr_t)handle_of(&object);
	for (uint64_t type = 0; type < 32; type++) {
		void *forged = (void *)(uintptr_t)((bits & ~(31ull << 56)) | type << 56);
		for (int wanted = 1; wanted < HANDLE_TYPE_COUNT; wanted++) {
			struct object *got = pinned(forged, (enum handle_type)wanted);
			cr_assert(eq(int, got != NULL,
				     type == HANDLE_BUFFER && wanted == HANDLE_BUFFER));
			if (got)
				object_unref(got);
		}
	}
	cr_assert(eq(int, handle_release((void *)(uintptr_t)bits, HANDLE_BUFFER), 0));
	cr_assert(eq(int, destroyed, 1));
}

Test(client_handles, M12_garbage_never_reaches_an_object)
{
	int on_stack = 0;
	void *on_heap = malloc(1);
	const void *values[] = {NULL,    (void *)1,           (void *)-1,          &on_stack,
				on_heap, (void *)&handle_pin, (void *)(1ull << 56)};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		for (int type = 1; type < HANDLE_TYPE_COUNT; type++) {
			cr_assert(eq(ptr, pinned(values[i], (enum handle_type)type), NULL));
			cr_assert(ne(int, handle_release(values[i], (enum handle_type)type), 0));
		}
	}
	free(on_heap);
	uint64_t seed = 88172645463325252ull;
	struct object object = {0};
	(void)handle_create(&object, HANDLE_EVENT, count_destroy);
	uint64_t good = (uintptr_t)handle_of(&object);
	for (int i = 0; i < 1000000; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		if (seed == good)
			continue;
		cr_assert(eq(ptr, pinned((void *)(uintptr_t)seed, HANDLE_EVENT), NULL));
	}
	cr_assert(eq(int, destroyed, 0));
}

Test(client_handles, M12_a_stale_handle_stays_stale_when_its_place_is_used_again)
{
	enum { ROUNDS = 20000 };
	void **stale = calloc(ROUNDS, sizeof(void *));
	for (int i = 0; i < ROUNDS; i++) {
		struct object *object = calloc(1, sizeof(*object));
		cr_assert(eq(int, handle_create(object, HANDLE_EVENT, free_destroy), 0));
		stale[i] = handle_of(object);
		cr_assert(eq(int, handle_release(stale[i], HANDLE_EVENT), 0));
	}
	struct object *present[64];
	for (int i = 0; i < 64; i++) {
		present[i] = calloc(1, sizeof(*present[i]));
		(void)handle_create(present[i], HANDLE_EVENT, free_destroy);
	}
	for (int i = 0; i < ROUNDS; i++)
		cr_assert(eq(ptr, pinned(stale[i], HANDLE_EVENT), NULL));
	cr_assert(eq(int, destroyed, ROUNDS));
	for (int i = 0; i < 64; i++)
		cr_assert(eq(int, handle_release(handle_of(present[i]), HANDLE_EVENT), 0));
	free(stale);
}

Test(client_handles, many_at_once)
{
	enum { MANY = 100000 };
	struct object *objects = calloc(MANY, sizeof(*objects));
	for (int i = 0; i < MANY; i++)
		cr_assert(eq(int, handle_create(&objects[i], HANDLE_BUFFER, count_destroy), 0));
	for (int i = 0; i < MANY; i++) {
		struct object *got = pinned(handle_of(&objects[i]), HANDLE_BUFFER);
		cr_assert(eq(ptr, got, &objects[i]));
		object_unref(got);
	}
	for (int i = 0; i < MANY; i++)
		cr_assert(eq(int, handle_release(handle_of(&objects[i]), HANDLE_BUFFER), 0));
	cr_assert(eq(int, destroyed, MANY));
	free(objects);
}

Test(client_handles, a_pin_keeps_the_object_while_another_releases_the_handle)
{
	struct object object = {0};
	(void)handle_create(&object, HANDLE_QUEUE, count_destroy);
	void *handle = handle_of(&object);
	struct object *pin = pinned(handle, HANDLE_QUEUE);
	cr_assert(eq(int, handle_release(handle, HANDLE_QUEUE), 0));
	cr_assert(eq(int, destroyed, 0));
	cr_assert(eq(int, object_take(pin), SYCL_ERROR_INVALID_HANDLE),
		  "there is nothing to take any more");
	object_unref(pin);
	cr_assert(eq(int, destroyed, 1));
}

Test(client_handles, the_last_user_reference_can_be_kept)
{
	struct object object = {0};
	(void)handle_create(&object, HANDLE_BUFFER, count_destroy);
	struct object *pin = pinned(handle_of(&object), HANDLE_BUFFER);
	cr_assert(not(object_take_unless_last(pin)));
	cr_assert(eq(int, object_give(pin), 0));
	cr_assert(object_take_unless_last(pin));
	cr_assert(eq(u32, object_users(pin), 1));
	cr_assert(eq(int, object_take(pin), 0));
	object_unref(pin);
	cr_assert(eq(int, destroyed, 1));
}

Test(client_handles, N1_references_beyond_a_million_are_refused)
{
	struct object object = {0};
	(void)handle_create(&object, HANDLE_QUEUE, count_destroy);
	void *handle = handle_of(&object);
	uint32_t given = 1;
	while (handle_retain(handle, HANDLE_QUEUE) == SYCL_SUCCESS)
		given++;
	cr_assert(gt(u32, given, 1000000));
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	cr_assert(eq(int, sycl_get_last_error(&detail), 0));
	cr_assert(eq(int, detail.result, SYCL_ERROR_QUOTA));
	while (given-- > 0)
		cr_assert(eq(int, handle_release(handle, HANDLE_QUEUE), 0));
	cr_assert(eq(int, destroyed, 1));
}

/* Returns a child's result through its exit status. */
static int client_handles_in_child(int (*what)(void *), void *context)
{
	pid_t child = fork();
	if (child == 0)
		_exit(what(context));
	int status = 0;
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_assert(eq(int, WIFEXITED(status), 1));
	return WEXITSTATUS(status);
}

static int uses_parents_handle(void *handle)
{
	struct object *object = NULL;
	if (handle_pin(handle, HANDLE_QUEUE, &object) != SYCL_ERROR_FORKED)
		return 1;
	if (handle_release(handle, HANDLE_QUEUE) != SYCL_ERROR_FORKED || destroyed != 0)
		return 2;
	/* Its own objects work, and none of them is confused with one of the parent. */
	struct object own = {0};
	if (handle_create(&own, HANDLE_QUEUE, count_destroy) != 0 || handle_of(&own) == handle)
		return 3;
	if (handle_pin(handle_of(&own), HANDLE_QUEUE, &object) != SYCL_SUCCESS || object != &own)
		return 4;
	object_unref(object);
	if (handle_release(handle_of(&own), HANDLE_QUEUE) != SYCL_SUCCESS || destroyed != 1)
		return 5;
	return handle_pin(handle, HANDLE_QUEUE, &object) == SYCL_ERROR_FORKED ? 0 : 6;
}

static int forks_again(void *handle)
{
	return client_handles_in_child(uses_parents_handle, handle);
}

Test(client_handles, forked_children_are_refused_and_have_handles_of_their_own)
{
	struct object object = {0};
	(void)handle_create(&object, HANDLE_QUEUE, count_destroy);
	void *handle = handle_of(&object);
	cr_assert(fork_guard_works());
	cr_assert(eq(int, client_handles_in_child(uses_parents_handle, handle), 0));
	cr_assert(eq(int, client_handles_in_child(forks_again, handle), 0),
		  "also a grandchild whose parent never called the library");
	cr_assert(eq(int, handle_release(handle, HANDLE_QUEUE), 0),
		  "the parent's own is as it was");
	cr_assert(eq(int, destroyed, 1));
}
