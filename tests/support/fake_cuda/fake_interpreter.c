/*
 * Grids. One block runs at a time, in turns. It may be unable to end by itself, because it waits
 * for another block or another stream. Then further blocks begin beside it, as many as a device
 * would run at one time.
 */
#include "fake_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN       20000u /* instructions of a thread before the next thread has its turn */
#define BLOCKS_MAX 264u   /* two for each multiprocessor */
#define CACHED     8u

/* Ranges that this launch uses. They are marked as used as long as it runs. */
struct cache {
	struct fake_range *range[CACHED];
	unsigned next;
};

/* The state to be restored when a launch ends in the middle. */
static __thread struct fake_grid *current;
static __thread struct cache cache;

void fake_grid_fault(struct fake_grid *grid, CUresult result)
{
	fake_kernel_fault(grid->launch, (int)result);
}

static struct fake_range *interpreter_cached(uint64_t address, size_t bytes)
{
	for (unsigned i = 0; i < CACHED; i++) {
		struct fake_range *range = cache.range[i];
		if (range && address >= range->base && bytes <= range->size &&
		    address - range->base <= range->size - bytes)
			return range;
	}
	return NULL;
}

static struct fake_range *look_up(uint64_t address, size_t bytes)
{
	struct fake_range **slot = &cache.range[cache.next];

	fake_lock();
	struct fake_range *range = fake_kernel_reach(address, bytes);
	if (range) {
		range->busy++;
		if (*slot)
			fake_range_unbusy(*slot);
		*slot = range;
		cache.next = (cache.next + 1) % CACHED;
	}
	fake_unlock();
	return range;
}

void *fake_grid_memory(struct fake_grid *grid, struct fake_block *block, struct fake_thread *thread,
		       enum fake_space space, uint64_t address, size_t bytes)
{
	if (space == SPACE_GENERIC && address - SHARED_WINDOW < WINDOW_BYTES) {
		space = SPACE_SHARED;
		address -= SHARED_WINDOW;
	} else if (space == SPACE_GENERIC && address - LOCAL_WINDOW < WINDOW_BYTES) {
		space = SPACE_LOCAL;
		address -= LOCAL_WINDOW;
	}
	if (address % bytes)
		fake_grid_fault(grid, CUDA_ERROR_MISALIGNED_ADDRESS);
	if (space == SPACE_SHARED || space == SPACE_LOCAL) {
		size_t size = space == SPACE_SHARED ? block->shared_bytes : thread->local_bytes;
		size_t first = space == SPACE_SHARED ? SHARED_RESERVED : 0;
		if (address < first || address > size || bytes > size - address)
			fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_ADDRESS);
		return (space == SPACE_SHARED ? block->shared : thread->local) + address;
	}
	struct fake_range *range = interpreter_cached(address, bytes);
	if (!range)
		range = look_up(address, bytes);
	if (!range)
		fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_ADDRESS);
	return range->host + (address - range->base);
}

/* Room for registers. The frame's bytes follow them. */
static size_t registers_bytes(const struct fake_code *code)
{
	return (code->register_count * sizeof(uint64_t) + 15) & ~(size_t)15;
}

/* At least one byte of each, so that nothing is NULL. */
static size_t frame_bytes(const struct fake_code *code)
{
	return registers_bytes(code) + ((code->frame_bytes + 16) & ~(size_t)15);
}

/* The first contents of registers are undefined. */
static struct fake_frame frame_in(const struct fake_code *code, size_t local_at,
				  unsigned char *memory)
{
	memset(memory, 0xa5, registers_bytes(code));
	memset(memory + registers_bytes(code), 0, code->frame_bytes);
	return (struct fake_frame){.code = code,
				   .local_at = local_at,
				   .registers = (uint64_t *)(void *)memory,
				   .bytes = memory + registers_bytes(code)};
}

static void thread_local_begin(struct fake_thread *thread, size_t bytes)
{
	if (bytes <= thread->local_bytes)
		return;
	thread->local = realloc(thread->local, bytes);
	thread->local_bytes = bytes;
	if (!thread->local)
		abort();
}

/* Only called frames are added here; first_frames_begin makes the first one of each thread. */
static void frames_grow(struct fake_thread *thread)
{
	unsigned capacity = thread->frame_capacity * 2;
	struct fake_frame *frames = reallocarray(thread->frame_capacity > 1 ? thread->frames : NULL,
						 capacity, sizeof(*frames));

	if (!frames)
		abort();
	if (thread->frame_capacity == 1)
		frames[0] = thread->frames[0];
	thread->frames = frames;
	thread->frame_capacity = capacity;
}

void fake_frame_push(struct fake_grid *grid, struct fake_thread *thread,
		     const struct fake_code *code)
{
	const struct fake_frame *caller = &thread->frames[thread->depth - 1];
	size_t local_at = (caller->local_at + caller->code->local_bytes + 15) & ~(size_t)15;

	/* The stack of a thread: the local variables of its functions, and for each a return
	 * address and registers. */
	if (local_at + code->local_bytes + thread->depth * 48u >
	    grid->stack_limit + grid->function->code->local_bytes)
		fake_grid_fault(grid, CUDA_ERROR_LAUNCH_FAILED);
	if (thread->depth == thread->frame_capacity)
		frames_grow(thread);
	unsigned char *memory = malloc(frame_bytes(code));
	if (!memory)
		abort();
	thread->frames[thread->depth++] = frame_in(code, local_at, memory);
	thread_local_begin(thread, local_at + code->local_bytes);
}

void fake_frame_pop(struct fake_thread *thread)
{
	free(thread->frames[--thread->depth].registers);
}

static void block_end(struct fake_block *block)
{
	for (unsigned n = 0; block->threads && n < block->thread_count; n++) {
		struct fake_thread *thread = &block->threads[n];
		while (thread->depth > 1)
			fake_frame_pop(thread);
		if (thread->frame_capacity > 1)
			free(thread->frames);
		free(thread->local);
	}
	free(block->threads);
	free(block->first_frames);
	free(block->shared);
	*block = (struct fake_block){0};
}

/* The kernel's own frames of all threads are one allocation: most kernels call no function. */
static void first_frames_begin(struct fake_grid *grid, struct fake_block *block)
{
	const struct fake_code *code = grid->function->code;
	const size_t head = (sizeof(struct fake_frame) + 15) & ~(size_t)15;
	const size_t each = head + frame_bytes(code);

	block->first_frames = reallocarray(NULL, block->thread_count, each);
	if (!block->first_frames)
		abort();
	for (unsigned n = 0; n < block->thread_count; n++) {
		struct fake_thread *thread = &block->threads[n];
		unsigned char *memory = block->first_frames + n * each;

		thread->frames = (struct fake_frame *)(void *)memory;
		thread->frames[0] = frame_in(code, 0, memory + head);
		thread->frame_capacity = thread->depth = 1;
		thread_local_begin(thread, code->local_bytes);
		memcpy(thread->frames[0].bytes, grid->parameters, grid->function->parameter_bytes);
	}
}

static void block_begin(struct fake_grid *grid, struct fake_block *block)
{
	const struct fake_cuda_launch *launch = grid->launch;
	const struct fake_code *code = grid->function->code;
	uint64_t number = grid->next_block++;

	block->used = true;
	block->ctaid[0] = (unsigned)(number % launch->grid[0]);
	block->ctaid[1] = (unsigned)(number / launch->grid[0] % launch->grid[1]);
	block->ctaid[2] = (unsigned)(number / launch->grid[0] / launch->grid[1]);
	block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
	block->shared_bytes = code->dynamic_at + launch->shared_bytes;
	block->shared = malloc(block->shared_bytes);
	block->threads = calloc(block->thread_count, sizeof(*block->threads));
	if (!block->shared || !block->threads)
		abort();
	memset(block->shared, 0xa5, block->shared_bytes);
	for (unsigned n = 0; n < block->thread_count; n++) {
		struct fake_thread *thread = &block->threads[n];
		thread->index = n;
		thread->tid[0] = n % launch->block[0];
		thread->tid[1] = n / launch->block[0] % launch->block[1];
		thread->tid[2] = n / launch->block[0] / launch->block[1];
	}
	first_frames_begin(grid, block);
}

/* Returns true if a thread did anything but wait. */
static void block_turn(struct fake_grid *grid, struct fake_block *block)
{
	bool again;

	do {
		bool ran_out = false;
		for (unsigned n = 0; n < block->thread_count; n++) {
			struct fake_thread *thread = &block->threads[n];
			unsigned left = TURN;
			if (thread->state != THREAD_RUNS)
				continue;
			while (thread->state == THREAD_RUNS && left--)
				fake_step(grid, block, thread);
			grid->instructions += TURN - left;
			block->done += thread->state == THREAD_DONE;
			ran_out |= thread->state == THREAD_RUNS;
		}
		again = fake_warp_resolve(grid, block);
		again |= fake_barrier_resolve(block);
		if (ran_out)
			return;
	} while (again);
	if (block->done < block->thread_count) {
		fake_lock();
		fake_misuse("%s: threads wait for each other for ever", grid->launch->name);
		fake_unlock();
		fake_grid_fault(grid, CUDA_ERROR_LAUNCH_TIMEOUT);
	}
}

static bool grid_turn(struct fake_grid *grid, unsigned *wanted)
{
	bool any = false, all_wait = true;

	for (unsigned n = 0; n < *wanted; n++) {
		struct fake_block *block = &grid->blocks[n];
		if (!block->used && grid->next_block == grid->block_count)
			continue;
		if (!block->used)
			block_begin(grid, block);
		block_turn(grid, block);
		any = true;
		if (block->done == block->thread_count) {
			block_end(block);
			all_wait = false;
		}
		if (fake.sticky)
			fake_grid_fault(grid, CUDA_SUCCESS);
	}
	if (any && all_wait && *wanted < grid->block_capacity)
		*wanted = *wanted * 2 < grid->block_capacity ? *wanted * 2 : grid->block_capacity;
	return any;
}

void fake_code_run(const struct CUfunc_st *function, const struct fake_cuda_launch *launch,
		   unsigned char *parameters)
{
	struct fake_grid *grid = calloc(1, sizeof(*grid));
	unsigned wanted = 1;

	if (!grid)
		abort();
	current = grid;
	grid->function = function;
	grid->launch = launch;
	grid->parameters = parameters;
	grid->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
	grid->block_capacity =
		grid->block_count < BLOCKS_MAX ? (unsigned)grid->block_count : BLOCKS_MAX;
	if (launch->cooperative)
		wanted = grid->block_capacity = (unsigned)grid->block_count;
	grid->blocks = calloc(grid->block_capacity, sizeof(*grid->blocks));
	if (!grid->blocks)
		abort();
	grid->stack_limit = function->module->context->limits[CU_LIMIT_STACK_SIZE];
	while (grid_turn(grid, &wanted))
		;
}

void fake_code_end(void)
{
	struct fake_grid *grid = current;

	current = NULL;
	fake_lock();
	for (unsigned i = 0; i < CACHED; i++)
		if (cache.range[i])
			fake_range_unbusy(cache.range[i]);
	fake_unlock();
	cache = (struct cache){0};
	if (!grid)
		return;
	for (unsigned n = 0; grid->blocks && n < grid->block_capacity; n++)
		block_end(&grid->blocks[n]);
	free(grid->blocks);
	free(grid);
}
