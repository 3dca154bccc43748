/*
 * Instructions that threads execute together. A thread that comes to such an instruction stops
 * there. When all threads that it names have come, each gets its result and goes on. Threads that
 * ended are not waited for.
 */
#include "fake_code.h"

static const struct fake_type word = {'u', 4}, predicate = {'p', 1};

static const struct fake_instruction *instruction_of(const struct fake_thread *thread)
{
	const struct fake_frame *frame = &thread->frames[thread->depth - 1];

	return &frame->code->instructions[frame->pc - 1];
}

void fake_warp_post(struct fake_grid *grid, struct fake_block *block, struct fake_thread *thread,
		    const struct fake_instruction *i)
{
	unsigned mask_at = i->operand_count - 1;

	/* The mask is the last operand, also for redux ("d, a, mask"). For bar.warp.sync it is the
	 * only one. */
	thread->mask = (uint32_t)fake_read(grid, block, thread, &i->operands[mask_at], word);
	thread->posted = 0;
	if (i->opcode == OP_VOTE)
		thread->posted = fake_read(grid, block, thread, &i->operands[1], predicate);
	else if (i->opcode != OP_BAR)
		thread->posted = fake_read(grid, block, thread, &i->operands[1], i->type);
	thread->state = THREAD_AT_WARP;
}

static struct fake_thread *warp_lane(struct fake_block *block, unsigned warp, unsigned lane_number)
{
	unsigned index = warp * 32 + lane_number;

	return index < block->thread_count ? &block->threads[index] : NULL;
}

static bool all_have_come(struct fake_block *block, unsigned warp, const struct fake_thread *thread)
{
	for (unsigned n = 0; n < 32; n++) {
		const struct fake_thread *other = warp_lane(block, warp, n);
		if (!(thread->mask >> n & 1) || !other || other->state == THREAD_DONE)
			continue;
		if (other->state != THREAD_AT_WARP ||
		    instruction_of(other) != instruction_of(thread))
			return false;
	}
	return true;
}

/* Finds the lane that this lane's value comes from. If there is none, it is this lane, and the
 * predicate is false. */
static unsigned shuffle_source(const struct fake_instruction *i, unsigned own, unsigned b,
			       unsigned c, bool *valid)
{
	unsigned clamp = c & 31, segment = c >> 8 & 31;
	unsigned least = own & segment, most = least | (clamp & ~segment);
	int source = (int)own;

	switch (i->mode) {
	case 'u':
		source = (int)own - (int)(b & 31);
		*valid = source >= (int)most;
		break;
	case 'd':
		source = (int)(own + (b & 31));
		*valid = source <= (int)most;
		break;
	case 'b':
		source = (int)(own ^ (b & 31));
		*valid = source <= (int)most;
		break;
	default:
		source = (int)(least | (b & 31 & ~segment));
		*valid = source <= (int)most;
	}
	return *valid ? (unsigned)source : own;
}

static uint64_t warp_shuffle(struct fake_grid *grid, struct fake_block *block, unsigned warp,
			     struct fake_thread *thread, bool *valid)
{
	const struct fake_instruction *i = instruction_of(thread);
	unsigned own = thread->index % 32;
	unsigned b = (unsigned)fake_read(grid, block, thread, &i->operands[2], word);
	unsigned c = (unsigned)fake_read(grid, block, thread, &i->operands[3], word);
	const struct fake_thread *from =
		warp_lane(block, warp, shuffle_source(i, own, b, c, valid));

	return from ? from->posted : thread->posted;
}

static uint64_t warp_vote(struct fake_block *block, unsigned warp, const struct fake_thread *thread)
{
	uint32_t yes = 0, here = 0;

	for (unsigned n = 0; n < 32; n++) {
		const struct fake_thread *other = warp_lane(block, warp, n);
		if (!(thread->mask >> n & 1) || !other || other->state == THREAD_DONE)
			continue;
		here |= UINT32_C(1) << n;
		yes |= (uint32_t)(other->posted & 1) << n;
	}
	switch (instruction_of(thread)->mode) {
	case 'a':
		return yes == here;
	case 'n':
		return yes != 0;
	case 'u':
		return yes == 0 || yes == here;
	default:
		return yes;
	}
}

static uint64_t warp_reduce(struct fake_block *block, unsigned warp,
			    const struct fake_thread *thread)
{
	struct fake_instruction compute = *instruction_of(thread);
	uint64_t in[4] = {0};
	bool first = true, carry = false;

	compute.opcode = compute.combine;
	for (unsigned n = 0; n < 32; n++) {
		const struct fake_thread *other = warp_lane(block, warp, n);
		if (!(thread->mask >> n & 1) || !other || other->state == THREAD_DONE)
			continue;
		in[1] = other->posted;
		if (first)
			in[0] = in[1];
		else
			(void)fake_compute(&compute, in, &carry, &in[0]);
		first = false;
	}
	return in[0];
}

static void finish_warp(struct fake_grid *grid, struct fake_block *block, unsigned warp,
			uint32_t mask, const struct fake_instruction *i)
{
	uint64_t results[32] = {0};
	bool valid[32] = {false};

	for (unsigned n = 0; n < 32; n++) {
		struct fake_thread *thread = warp_lane(block, warp, n);
		if (!(mask >> n & 1) || !thread || thread->state != THREAD_AT_WARP)
			continue;
		if (i->opcode == OP_SHFL)
			results[n] = warp_shuffle(grid, block, warp, thread, &valid[n]);
		else if (i->opcode == OP_VOTE)
			results[n] = warp_vote(block, warp, thread);
		else if (i->opcode == OP_REDUX)
			results[n] = warp_reduce(block, warp, thread);
	}
	for (unsigned n = 0; n < 32; n++) {
		struct fake_thread *thread = warp_lane(block, warp, n);
		if (!(mask >> n & 1) || !thread || thread->state != THREAD_AT_WARP)
			continue;
		thread->state = THREAD_RUNS;
		if (i->opcode == OP_BAR)
			continue;
		fake_write(thread, &i->operands[0],
			   i->opcode == OP_VOTE && i->mode != 'b' ? predicate : i->type,
			   results[n]);
		if (i->operands[0].second >= 0)
			thread->frames[thread->depth - 1].registers[i->operands[0].second] =
				valid[n];
	}
}

bool fake_warp_resolve(struct fake_grid *grid, struct fake_block *block)
{
	bool any = false;

	for (unsigned n = 0; n < block->thread_count; n++) {
		const struct fake_thread *thread = &block->threads[n];
		if (thread->state != THREAD_AT_WARP || !all_have_come(block, n / 32, thread))
			continue;
		finish_warp(grid, block, n / 32, thread->mask | UINT32_C(1) << n % 32,
			    instruction_of(thread));
		any = true;
	}
	return any;
}

/* The results of bar.red: how many threads have a true predicate, whether all have, and whether any
 * has. */
static void barrier_result(struct fake_thread *thread, unsigned yes, unsigned count)
{
	const struct fake_instruction *i = instruction_of(thread);

	if (i->mode != 'r')
		return;
	if (i->combine == OP_POPC)
		fake_write(thread, &i->operands[0], word, yes);
	else
		fake_write(thread, &i->operands[0], predicate,
			   i->combine == OP_AND ? yes == count : yes != 0);
}

bool fake_barrier_resolve(struct fake_block *block)
{
	bool any = false;

	for (unsigned id = 0; id < 16; id++) {
		unsigned waiting = 0, yes = 0, needs = 0;
		for (unsigned n = 0; n < block->thread_count; n++) {
			const struct fake_thread *thread = &block->threads[n];
			if (thread->state != THREAD_AT_BARRIER || thread->barrier != id)
				continue;
			waiting++;
			yes += thread->barrier_value;
			needs = thread->barrier_needs;
		}
		if (!waiting ||
		    (needs ? waiting < needs : waiting < block->thread_count - block->done))
			continue;
		for (unsigned n = 0; n < block->thread_count; n++) {
			struct fake_thread *thread = &block->threads[n];
			if (thread->state != THREAD_AT_BARRIER || thread->barrier != id)
				continue;
			barrier_result(thread, yes, waiting);
			thread->state = THREAD_RUNS;
		}
		any = true;
	}
	return any;
}
