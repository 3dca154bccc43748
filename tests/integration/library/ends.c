/*
 * The end of a buffer for every kind of host memory: which calls wait, copy back and free. A closed
 * gate holds a group on each buffer while it is released. A call that waits does not return then; a
 * call that does not wait returns.
 */
#include "library/portable.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(ends, .timeout = 120, .init = portable_begin, .fini = portable_end);

/* This has a helper thread, so that a host task can wait at the gate while the test goes on. */
struct scene {
	sycl_platform helped;
	sycl_queue on;
	sycl_kernel increment;
	struct gate gate;
};

static void scene_begin(struct scene *scene)
{
	*scene = (struct scene){.gate = GATE_INIT};
	scene->helped = portable_open(1);
	scene->on = portable_queue(scene->helped, 0, 0);
	scene->increment = portable_kernel(scene->on, "increment_u32");
}

static void scene_end(struct scene *scene)
{
	gate_open(&scene->gate);
	MUST(sycl_queue_wait_for(scene->on, LONG_NS));
	MUST(sycl_kernel_release(scene->increment));
	MUST(sycl_queue_release(scene->on));
	MUST(sycl_platform_release(scene->helped));
}

/* Holds the buffer at the gate. If the buffer is to be modified, a group behind the gate adds one
 * to every word. */
static void use_behind_gate(struct scene *scene, sycl_buffer buffer, bool modify)
{
	uint32_t before = scene->gate.entered;
	run_task(scene->on, gate_task, &scene->gate, buffer, SYCL_ACCESS_READ, NULL, NULL);
	gate_await(&scene->gate, before + 1);
	if (modify)
		run_increment(scene->on, scene->increment, buffer, NULL);
}

static void ends_set_words(uint32_t *words, uint32_t value)
{
	for (int i = 0; i < WORDS; i++)
		words[i] = value;
}

static bool all_words(const uint32_t *words, uint32_t value)
{
	for (int i = 0; i < WORDS; i++)
		if (words[i] != value)
			return false;
	return true;
}

static void count_free(void *memory, void *context)
{
	free(memory);
	(*(int *)context)++;
}

struct end_case {
	sycl_host_memory kind;
	bool modify, user_holds;
	bool waits, copies;
};

/* A buffer over the host memory of one case. */
struct end_state {
	struct scene scene;
	uint32_t *seen; /* the words that the test checks afterwards */
	sycl_buffer buffer;
	sycl_host_block block; /* NULL: the case has none */
	int freed;
};

static void begin_case(struct end_state *state, const struct end_case *one, uint32_t host[WORDS])
{
	struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
	const size_t bytes = WORDS * sizeof(*host);
	uint32_t *owned = malloc(bytes);

	*state = (struct end_state){.seen = host};
	scene_begin(&state->scene);
	ends_set_words(host, 1);
	ends_set_words(owned, 1);
	options.kind = one->kind;
	options.size_bytes = bytes;
	if (one->kind == SYCL_HOST_SHARED) {
		state->seen = owned;
		MUST(sycl_host_block_create(owned, bytes, count_free, &state->freed,
					    &state->block));
		options.block = state->block;
	} else if (one->kind == SYCL_HOST_OWNED) {
		options.host = owned;
		options.free_host = count_free;
		options.free_context = &state->freed;
	} else {
		free(owned);
		options.host = one->kind == SYCL_HOST_NONE ? NULL : host;
	}
	MUST(sycl_buffer_create_with(state->scene.helped, &options, &state->buffer));
	if (one->kind == SYCL_HOST_OWNED)
		cr_assert(eq(int, state->freed, 1), "as soon as it is not needed");
	if (state->block && !one->user_holds)
		MUST(sycl_host_block_release(state->block));
}

/* Releases the last handle of the buffer, while a group that the gate holds uses it. */
static void release_case(struct end_state *state, const struct end_case *one, size_t number)
{
	if (one->waits) {
		REFUSED(sycl_buffer_release_for(state->buffer, SHORT_NS), SYCL_ERROR_TIMEOUT);
		cr_assert(all_words(state->seen, 1), "case %zu: too early", number);
		gate_open(&state->scene.gate);
		MUST(sycl_buffer_release_for(state->buffer, LONG_NS));
	} else {
		/* The gate is closed: a release that waits never returns. */
		MUST(sycl_buffer_release(state->buffer));
		gate_open(&state->scene.gate);
		MUST(sycl_queue_wait_for(state->scene.on, LONG_NS));
	}
}

/* The whole table: kind of host memory x what was done x which side holds a block. */
Test(ends, D9_D10_D11_D12_D13_D14_who_waits_and_who_copies_back)
{
	static const struct end_case cases[] = {
		{SYCL_HOST_NONE, true, false, false, false},
		{SYCL_HOST_CONST, true, false, false, false},
		{SYCL_HOST_OWNED, true, false, false, false},
		{SYCL_HOST_BORROWED, true, false, true, true},
		{SYCL_HOST_BORROWED, false, false, true, false},
		{SYCL_HOST_SHARED, true, true, true, true},
		{SYCL_HOST_SHARED, false, true, true, false},
		{SYCL_HOST_SHARED, true, false, false, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static uint32_t host[WORDS];
		struct end_state state;
		begin_case(&state, &cases[i], host);
		use_behind_gate(&state.scene, state.buffer, cases[i].modify);
		release_case(&state, &cases[i], i);
		if (!state.block || cases[i].user_holds)
			cr_assert(all_words(state.seen, cases[i].copies ? 2 : 1), "case %zu", i);
		if (state.block && cases[i].user_holds) {
			cr_assert(eq(int, state.freed, 0), "it is the caller's");
			MUST(sycl_host_block_release(state.block));
		}
		scene_end(&state.scene);
		cr_assert(eq(int, state.freed,
			     cases[i].kind == SYCL_HOST_SHARED || cases[i].kind == SYCL_HOST_OWNED),
			  "case %zu: freed %d times", i, state.freed);
	}
}

Test(ends, D12_the_block_decides_at_the_moment_of_the_release)
{
	static uint32_t seen[WORDS];
	sycl_host_block block = NULL;
	sycl_buffer first = NULL, second = NULL;
	struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	void *memory = NULL;
	uint32_t count = 0;
	MUST(sycl_host_block_create(NULL, WORDS_BYTES, NULL, NULL, &block));
	MUST(sycl_host_block_get_pointer(block, &memory));
	cr_assert(all_words(memory, 0), "filled with 0");
	ends_set_words(memory, 5);
	options.kind = SYCL_HOST_SHARED;
	options.size_bytes = WORDS_BYTES;
	options.block = block;
	MUST(sycl_buffer_create_with(platform, &options, &first));
	MUST(sycl_buffer_create_with(platform, &options, &second));
	MUST(sycl_host_block_get_reference_count(block, &count));
	cr_assert(eq(u32, count, 1), "buffers are not users");
	run_increment(queue, increment, first, NULL);
	run_increment(queue, increment, second, NULL);
	run_increment(queue, increment, second, NULL);
	MUST(sycl_buffer_release(first));
	cr_assert(all_words(memory, 6));
	MUST(sycl_host_block_retain(block));
	MUST(sycl_host_block_release(block));
	MUST(sycl_buffer_set_final_data(second, seen));
	MUST(sycl_host_block_release(block)); /* the last handle: only final data are written now */
	MUST(sycl_buffer_release(second));
	cr_assert(all_words(seen, 7));
	REFUSED(sycl_host_block_get_pointer(block, &memory), SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_kernel_release(increment));
}

Test(ends, D14_write_back_and_final_data_of_every_kind)
{
	static uint32_t host[WORDS], elsewhere[WORDS];
	const sycl_host_memory kinds[] = {SYCL_HOST_NONE, SYCL_HOST_BORROWED, SYCL_HOST_CONST,
					  SYCL_HOST_OWNED};
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		for (int what = 0; what < 4; what++) {
			struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
			sycl_buffer buffer = NULL;
			ends_set_words(host, 1);
			ends_set_words(elsewhere, 9);
			options.kind = kinds[k];
			options.size_bytes = sizeof(host);
			options.host = kinds[k] == SYCL_HOST_NONE ? NULL
				       : kinds[k] == SYCL_HOST_OWNED
					       ? memcpy(malloc(sizeof(host)), host, sizeof(host))
					       : (void *)host;
			MUST(sycl_buffer_create_with(platform, &options, &buffer));
			run_fill(queue, fill, buffer, 3, NULL);
			if (what == 1)
				MUST(sycl_buffer_set_final_data(buffer, elsewhere));
			else if (what == 2)
				MUST(sycl_buffer_set_final_data(buffer, NULL));
			else if (what == 3)
				MUST(sycl_buffer_set_write_back(buffer, 0));
			MUST(sycl_buffer_release(buffer));
			bool back = what == 0 && kinds[k] == SYCL_HOST_BORROWED;
			cr_assert(all_words(host, back ? 3 : 1), "kind %zu, case %d", k, what);
			cr_assert(all_words(elsewhere, what == 1 ? 3 : 9), "kind %zu, case %d", k,
				  what);
		}
	}
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_kernel_release(fill));
}

Test(ends, D13_memory_that_was_given_away_is_freed_once_or_not_at_all)
{
	struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
	sycl_buffer buffer = NULL;
	int freed = 0;
	uint32_t *mine = malloc(WORDS_BYTES);
	ends_set_words(mine, 4);
	options.kind = SYCL_HOST_OWNED;
	options.host = mine;
	options.free_host = count_free;
	options.free_context = &freed;
	options.size_bytes = UINT64_MAX;
	REFUSED(sycl_buffer_create_with(platform, &options, &buffer), SYCL_ERROR_QUOTA);
	options.size_bytes = WORDS_BYTES;
	options.struct_bytes = 8;
	REFUSED(sycl_buffer_create_with(platform, &options, &buffer), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create_with(platform, NULL, &buffer), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create(platform, mine, WORDS_BYTES, SYCL_HOST_OWNED, &buffer),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create(platform, mine, WORDS_BYTES, SYCL_HOST_SHARED, &buffer),
		SYCL_ERROR_INVALID);
	cr_assert(eq(int, freed, 0), "a call that failed has taken nothing");
	options.struct_bytes = sizeof(options);
	MUST(sycl_buffer_create_with(platform, &options, &buffer));
	cr_assert(eq(int, freed, 1));
	cr_assert(words_are(buffer, 4));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(int, freed, 1));
	options.kind =
		SYCL_HOST_BORROWED; /* the function belongs to memory that is given to the buffer */
	REFUSED(sycl_buffer_create_with(platform, &options, &buffer), SYCL_ERROR_INVALID);
	options = (struct sycl_buffer_options)SYCL_BUFFER_OPTIONS_INIT;
	options.kind = SYCL_HOST_SHARED;
	options.size_bytes = 4;
	REFUSED(sycl_buffer_create_with(platform, &options, &buffer), SYCL_ERROR_INVALID_HANDLE);
	sycl_host_block block = NULL;
	REFUSED(sycl_host_block_create(NULL, 0, NULL, NULL, &block), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_block_create(NULL, 4, count_free, NULL, &block), SYCL_ERROR_INVALID);
	MUST(sycl_host_block_create(NULL, 3, NULL, NULL, &block));
	options.block = block;
	REFUSED(sycl_buffer_create_with(platform, &options, &buffer), SYCL_ERROR_INVALID);
	options.kind = SYCL_HOST_NONE;
	REFUSED(sycl_buffer_create_with(platform, &options, &buffer), SYCL_ERROR_INVALID);
	MUST(sycl_host_block_release(block));
}

Test(ends, D9_D16_detached_it_never_waits_and_nothing_comes_back)
{
	struct scene scene;
	static uint32_t host[WORDS], final[WORDS];
	sycl_buffer buffer = NULL;
	uint64_t size = 0;
	scene_begin(&scene);
	ends_set_words(host, 1);
	MUST(sycl_buffer_create(scene.helped, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_buffer_set_final_data(buffer, final));
	MUST(sycl_buffer_retain(buffer));
	use_behind_gate(&scene, buffer, true);
	MUST(sycl_buffer_detach(buffer)); /* other handles exist: this one only */
	MUST(sycl_buffer_get_size(buffer, &size));
	MUST(sycl_buffer_detach(buffer));
	REFUSED(sycl_buffer_get_size(buffer, &size), SYCL_ERROR_INVALID_HANDLE);
	gate_open(&scene.gate);
	MUST(sycl_queue_wait_for(scene.on, LONG_NS));
	cr_assert(all_words(host, 1));
	cr_assert(all_words(final, 0));
	scene_end(&scene);
}

/* Parts and views keep the buffer. The last one that is released writes back, whichever it is. */
Test(ends, D11_the_last_of_a_buffer_and_its_parts_writes_back)
{
	static uint32_t host[WORDS];
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	for (int order = 0; order < 6; order++) {
		static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
						 {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
		sycl_buffer all[3] = {NULL};
		ends_set_words(host, 1);
		MUST(sycl_buffer_create(platform, host, sizeof(host), SYCL_HOST_BORROWED, &all[0]));
		MUST(sycl_buffer_create_sub(all[0], 1024, 2048, &all[1]));
		MUST(sycl_buffer_reinterpret(all[0], 4, sycl_range2(32, 32), &all[2]));
		run_fill(queue, fill, all[2], 8, NULL);
		for (int i = 0; i < 3; i++) {
			cr_assert(all_words(host, 1), "order %d: too early", order);
			MUST(sycl_buffer_release(all[orders[order][i]]));
		}
		cr_assert(all_words(host, 8), "order %d", order);
	}
	MUST(sycl_kernel_release(fill));
}

/* A read-only use is waited for. A release that timed out must not have dropped the buffer's
 * contents. */
Test(ends, D11_a_release_that_gives_up_loses_nothing)
{
	struct scene scene;
	static uint32_t host[WORDS];
	sycl_buffer buffer = NULL;
	scene_begin(&scene);
	ends_set_words(host, 6);
	MUST(sycl_buffer_create(scene.helped, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	use_behind_gate(&scene, buffer, false);
	REFUSED(sycl_buffer_release_for(buffer, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&scene.gate);
	cr_assert(words_are(buffer, 6));
	MUST(sycl_buffer_release(buffer));
	scene_end(&scene);
}

struct shared_page {
	pthread_mutex_t mutex;
	uint32_t words[WORDS];
};

static struct shared_page *make_page(bool robust)
{
	struct shared_page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;
	cr_assert(ne(ptr, page, MAP_FAILED));
	(void)pthread_mutexattr_init(&attributes);
	(void)pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (robust)
		(void)pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	(void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	cr_assert(eq(int, pthread_mutex_init(&page->mutex, &attributes), 0));
	return page;
}

static void *ends_release_buffer(void *buffer)
{
	return (void *)(intptr_t)sycl_buffer_release(buffer);
}

/* A thread with the mutex gets the memory before or after the write, never during it. Otherwise the
 * mutex is free. */
Test(ends, D19_the_mutex_is_held_while_the_memory_is_touched)
{
	struct shared_page *page = make_page(false);
	struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = NULL;
	pthread_t thread;
	void *result = NULL;
	ends_set_words(page->words, 1);
	options.kind = SYCL_HOST_BORROWED;
	options.size_bytes = sizeof(page->words);
	options.host = page->words;
	options.use_mutex = &page->mutex;
	MUST(sycl_buffer_create_with(platform, &options, &buffer));
	cr_assert(eq(int, pthread_mutex_trylock(&page->mutex), 0),
		  "nobody holds it when nothing is copied");
	run_fill(queue, fill, buffer, 2, NULL);
	MUST(sycl_queue_wait_for(queue, LONG_NS)); /* groups do not touch the program's memory */
	cr_assert(eq(int, pthread_create(&thread, NULL, ends_release_buffer, buffer), 0));
	for (int i = 0; i < 1000; i++)
		cr_assert(all_words(page->words, 1));
	cr_assert(eq(int, pthread_mutex_unlock(&page->mutex), 0));
	(void)pthread_join(thread, &result);
	cr_assert(eq(int, (int)(intptr_t)result, 0));
	cr_assert(all_words(page->words, 2));
	cr_assert(eq(int, pthread_mutex_trylock(&page->mutex), 0), "given back");
	(void)pthread_mutex_unlock(&page->mutex);
	/* This thread holds the mutex and cannot unlock it while it waits. */
	MUST(sycl_buffer_create_with(platform, &options, &buffer));
	run_fill(queue, fill, buffer, 3, NULL);
	MUST(sycl_queue_wait_for(queue, LONG_NS)); /* so that only the mutex delays the release */
	(void)pthread_mutex_lock(&page->mutex);
	sycl_result mine = sycl_buffer_release_for(buffer, LONG_NS);
	/* This thread holds the mutex: locking it fails at once, and the buffer ends. A mutex of
	 * another thread would be waited for. */
	cr_assert(eq(int, mine, SYCL_ERROR_INVALID));
	cr_assert(all_words(page->words, 2));
	(void)pthread_mutex_unlock(&page->mutex);
	MUST(sycl_kernel_release(fill));
	(void)munmap(page, sizeof(*page));
}

Test(ends, D19_another_process_holds_the_mutex)
{
	struct shared_page *page = make_page(true);
	struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = NULL;
	int locked[2], go[2];
	char byte = 0;
	ends_set_words(page->words, 1);
	options.kind = SYCL_HOST_BORROWED;
	options.size_bytes = sizeof(page->words);
	options.host = page->words;
	options.use_mutex = &page->mutex;
	MUST(sycl_buffer_create_with(platform, &options, &buffer));
	run_fill(queue, fill, buffer, 2, NULL);
	cr_assert(eq(int, pipe(locked), 0));
	cr_assert(eq(int, pipe(go), 0));
	pid_t child = fork();
	if (child == 0) {
		bool good = pthread_mutex_lock(&page->mutex) == 0 &&
			    write(locked[1], "x", 1) == 1 && read(go[0], &byte, 1) == 1;
		_exit(good && all_words(page->words, 1) ? 0
							: 1); /* holds the mutex and ends with it */
	}
	cr_assert(eq(int, (int)read(locked[0], &byte, 1), 1));
	REFUSED(sycl_buffer_release_for(buffer, SHORT_NS), SYCL_ERROR_TIMEOUT);
	cr_assert(all_words(page->words, 1));
	int status = -1;
	cr_assert(eq(int, (int)write(go[1], "x", 1), 1));
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_assert(eq(int, status, 0));
	MUST(sycl_buffer_release_for(buffer, LONG_NS));
	cr_assert(all_words(page->words, 2));
	MUST(sycl_kernel_release(fill));
	(void)munmap(page, sizeof(*page));
}

/* Every call that is not documented to wait is made while a gate is closed and stays closed. */
Test(ends, D15_D18_nothing_else_waits)
{
	struct scene scene;
	static uint32_t host[WORDS];
	sycl_buffer buffer = NULL, part = NULL, view = NULL, other = NULL;
	sycl_host_accessor accessor = NULL;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	sycl_command_status status;
	uint64_t size = 0;
	uint32_t number = 0;
	scene_begin(&scene);
	MUST(sycl_buffer_create(scene.helped, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_buffer_create(scene.helped, host, sizeof(host), SYCL_HOST_CONST, &other));
	use_behind_gate(&scene, buffer, true);
	MUST(sycl_buffer_retain(buffer));
	MUST(sycl_buffer_release(buffer)); /* not the last one */
	MUST(sycl_buffer_create_sub(buffer, 0, 1024, &part));
	MUST(sycl_buffer_reinterpret(buffer, 4, sycl_range1(WORDS), &view));
	MUST(sycl_buffer_get_size(part, &size));
	MUST(sycl_buffer_get_reference_count(buffer, &number));
	MUST(sycl_buffer_set_write_back(buffer, 1));
	MUST(sycl_host_accessor_create_async(part, SYCL_ACCESS_READ_WRITE, 0, SYCL_REST_BYTES,
					     &accessor));
	MUST(sycl_host_accessor_is_ready(accessor, &number));
	MUST(sycl_host_accessor_release(accessor));
	run_increment(scene.on, scene.increment, buffer, &event);
	MUST(sycl_queue_copy(scene.on, buffer, 0, other, 0, 64, NULL));
	MUST(sycl_queue_copy_from_host(scene.on, host, buffer, 0, 64, NULL));
	MUST(sycl_queue_copy_to_host(scene.on, view, 0, host, 64, NULL));
	MUST(sycl_queue_fill(scene.on, part, 0, 64, "abcd", 4, NULL));
	MUST(sycl_queue_update_host(scene.on, buffer, NULL));
	MUST(sycl_queue_barrier(scene.on, NULL));
	MUST(sycl_event_get_status(event, &status));
	cr_assert(ne(int, status, SYCL_COMMAND_COMPLETE));
	MUST(sycl_handler_begin(scene.on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_depends_on(handler, event));
	MUST(sycl_handler_discard(handler));
	MUST(sycl_event_release(event));
	/* D15: the end of every object but memory. */
	sycl_queue queue_too = portable_beside(scene.on, 0);
	sycl_kernel kernel_too = portable_kernel(queue_too, "increment_u32");
	run_increment(queue_too, kernel_too, buffer, NULL);
	MUST(sycl_kernel_release(kernel_too));
	MUST(sycl_queue_release(queue_too));
	MUST(sycl_buffer_release(view));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(other));
	MUST(sycl_buffer_detach(buffer));
	scene_end(&scene);
}
