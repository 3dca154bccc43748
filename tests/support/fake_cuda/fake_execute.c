/* One instruction of one thread. */
#include "fake_code.h"
#include "fake_graph.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static struct fake_frame *thread_top_frame(const struct fake_thread *thread)
{
	return &thread->frames[thread->depth - 1];
}

static uint64_t execute_special(const struct fake_grid *grid, const struct fake_block *block,
				const struct fake_thread *thread, int which)
{
	unsigned lane = thread->index % 32;
	struct timespec now;

	if (which < SPECIAL_NTID)
		return thread->tid[which];
	if (which < SPECIAL_CTAID)
		return grid->launch->block[which - SPECIAL_NTID];
	if (which < SPECIAL_NCTAID)
		return block->ctaid[which - SPECIAL_CTAID];
	if (which < SPECIAL_LANE)
		return grid->launch->grid[which - SPECIAL_NCTAID];
	switch (which) {
	case SPECIAL_LANE:
		return lane;
	case SPECIAL_WARP:
		return thread->index / 32;
	case SPECIAL_NWARP:
		return 64;
	case SPECIAL_SM: /* in turn */
		return grid->launch->first_multiprocessor +
		       ((block->ctaid[2] * (uint64_t)grid->launch->grid[1] + block->ctaid[1]) *
				grid->launch->grid[0] +
			block->ctaid[0]) %
			       grid->launch->multiprocessors;
	case SPECIAL_NSM:
		return 132;
	case SPECIAL_CLOCK:
		return grid->instructions;
	case SPECIAL_TIMER:
		(void)clock_gettime(CLOCK_REALTIME, &now);
		return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) & ~UINT64_C(31);
	case SPECIAL_LANEMASK_EQ:
		return UINT64_C(1) << lane;
	case SPECIAL_LANEMASK_LE:
		return (UINT64_C(2) << lane) - 1;
	case SPECIAL_LANEMASK_LT:
		return (UINT64_C(1) << lane) - 1;
	case SPECIAL_LANEMASK_GE:
		return UINT32_MAX & ~((UINT64_C(1) << lane) - 1);
	case SPECIAL_LANEMASK_GT:
		return UINT32_MAX & ~((UINT64_C(2) << lane) - 1);
	case SPECIAL_DYNAMIC_SHARED:
		return grid->launch->shared_bytes;
	case SPECIAL_TOTAL_SHARED:
		return grid->launch->shared_bytes + (uint64_t)grid->function->static_shared;
	case SPECIAL_WARP_SIZE:
		return 32;
	case SPECIAL_ONE:
		return 1;
	default:
		return 0;
	}
}

uint64_t fake_read(struct fake_grid *grid, const struct fake_block *block,
		   const struct fake_thread *thread, const struct fake_operand *operand,
		   struct fake_type type)
{
	uint64_t value;

	switch (operand->kind) {
	case OPERAND_REGISTER:
		value = thread_top_frame(thread)->registers[operand->number];
		break;
	case OPERAND_SPECIAL:
		value = operand->number == SPECIAL_LOCAL
				? thread_top_frame(thread)->local_at + operand->value
				: execute_special(grid, block, thread, operand->number);
		break;
	case OPERAND_VECTOR: /* packed, the first one in the lowest bits */
		value = 0;
		for (unsigned i = 0; i < operand->count; i++) {
			const struct fake_type part = {
				'b', (unsigned char)(type.bytes / operand->count)};
			value |= fake_read(grid, block, thread, &operand->elements[i], part)
				 << (8 * part.bytes * i);
		}
		break;
	default:
		value = operand->value;
	}
	if (operand->negated)
		value = !value;
	return fake_extend(value, type);
}

void fake_write(struct fake_thread *thread, const struct fake_operand *operand,
		struct fake_type type, uint64_t value)
{
	value = fake_extend(value, type);
	if (operand->kind == OPERAND_REGISTER)
		thread_top_frame(thread)->registers[operand->number] = value;
	for (unsigned i = 0; operand->kind == OPERAND_VECTOR && i < operand->count; i++) {
		const struct fake_type part = {'b', (unsigned char)(type.bytes / operand->count)};
		fake_write(thread, &operand->elements[i], part, value >> (8 * part.bytes * i));
	}
}

static void *operand_memory(struct fake_grid *grid, struct fake_block *block,
			    struct fake_thread *thread, const struct fake_instruction *i,
			    const struct fake_operand *operand, size_t bytes)
{
	if (operand->kind == OPERAND_PARAMETER || i->space == SPACE_PARAM) {
		size_t limit = thread_top_frame(thread)->code->frame_bytes;
		uint64_t place = operand->value;
		/* The address of a parameter, from `mov`, and the offset that was added to it. */
		if (operand->kind == OPERAND_REGISTER)
			place += thread_top_frame(thread)->registers[operand->number];
		if ((operand->kind != OPERAND_PARAMETER && operand->kind != OPERAND_REGISTER) ||
		    place > limit || bytes > limit - place)
			fake_grid_fault(grid, CUDA_ERROR_INVALID_ADDRESS_SPACE);
		return thread_top_frame(thread)->bytes + place;
	}
	uint64_t base = operand->kind == OPERAND_REGISTER
				? thread_top_frame(thread)->registers[operand->number]
				: 0;
	if (operand->kind == OPERAND_SPECIAL && operand->number == SPECIAL_LOCAL)
		base = thread_top_frame(thread)->local_at;
	if (i->space == SPACE_SHARED || i->space == SPACE_LOCAL)
		base = (uint32_t)base;
	return fake_grid_memory(grid, block, thread, i->space, base + operand->value, bytes);
}

/* Other threads may write at the same time, so a word is one access. */
static uint64_t load_word(const void *from, size_t bytes)
{
	switch (bytes) {
	case 1:
		return __atomic_load_n((const uint8_t *)from, __ATOMIC_ACQUIRE);
	case 2:
		return __atomic_load_n((const uint16_t *)from, __ATOMIC_ACQUIRE);
	case 4:
		return __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE);
	default:
		return __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE);
	}
}

static void execute_store(void *to, size_t bytes, uint64_t value)
{
	switch (bytes) {
	case 1:
		__atomic_store_n((uint8_t *)to, (uint8_t)value, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)to, (uint16_t)value, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)to, (uint32_t)value, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((uint64_t *)to, value, __ATOMIC_RELEASE);
	}
}

/* Parameters may lie anywhere. */
static uint64_t load_any(const void *from, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, from, bytes);
	return value;
}

static void load_store(struct fake_grid *grid, struct fake_block *block, struct fake_thread *thread,
		       const struct fake_instruction *i)
{
	bool is_store = i->opcode == OP_ST;
	const struct fake_operand *data = &i->operands[is_store ? 1 : 0],
				  *at = &i->operands[is_store ? 0 : 1];
	unsigned count = i->vector ? i->vector : 1;
	unsigned char *memory =
		operand_memory(grid, block, thread, i, at, (size_t)i->type.bytes * count);
	bool frame = i->space == SPACE_PARAM;

	for (unsigned n = 0; n < count; n++) {
		const struct fake_operand *one = i->vector ? &data->elements[n] : data;
		unsigned char *place = memory + (size_t)n * i->type.bytes;
		if (is_store && frame) {
			uint64_t value = fake_read(grid, block, thread, one, i->type);
			memcpy(place, &value, i->type.bytes);
		} else if (is_store) {
			execute_store(place, i->type.bytes,
				      fake_read(grid, block, thread, one, i->type));
		} else {
			fake_write(thread, one, i->type,
				   frame ? load_any(place, i->type.bytes)
					 : load_word(place, i->type.bytes));
		}
	}
}

static uint64_t atomic_result(const struct fake_instruction *i, uint64_t old, uint64_t b,
			      uint64_t c)
{
	struct fake_instruction compute = *i;
	const uint64_t in[4] = {old, b, 0, 0};
	uint64_t out = 0;
	bool carry = false;

	if (i->exchange)
		return b;
	if (i->cas)
		return old == b ? c : old;
	if (i->increment)
		return old >= b ? 0 : old + 1;
	if (i->decrement)
		return old == 0 || old > b ? b : old - 1;
	compute.opcode = i->combine;
	compute.rounding = ROUND_NEAREST;
	(void)fake_compute(&compute, in, &carry, &out);
	return out;
}

static bool execute_swap(void *at, size_t bytes, uint64_t *old, uint64_t value)
{
	if (bytes == 2) {
		uint16_t expected = (uint16_t)*old;
		bool done = __atomic_compare_exchange_n((uint16_t *)at, &expected, (uint16_t)value,
							false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		*old = expected;
		return done;
	}
	if (bytes == 4) {
		uint32_t expected = (uint32_t)*old;
		bool done = __atomic_compare_exchange_n((uint32_t *)at, &expected, (uint32_t)value,
							false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		*old = expected;
		return done;
	}
	return __atomic_compare_exchange_n((uint64_t *)at, old, value, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static void execute_atomic(struct fake_grid *grid, struct fake_block *block,
			   struct fake_thread *thread, const struct fake_instruction *i)
{
	unsigned first = i->opcode == OP_ATOM ? 1 : 0;
	void *at = operand_memory(grid, block, thread, i, &i->operands[first], i->type.bytes);
	uint64_t b = fake_read(grid, block, thread, &i->operands[first + 1], i->type);
	uint64_t c = i->cas ? fake_read(grid, block, thread, &i->operands[first + 2], i->type) : 0;
	uint64_t old = load_word(at, i->type.bytes);

	while (!execute_swap(at, i->type.bytes, &old,
			     atomic_result(i, fake_extend(old, i->type), b, c)))
		;
	if (i->opcode == OP_ATOM)
		fake_write(thread, &i->operands[0], i->type, old);
}

/* Functions of the driver that compiled code calls. */
static bool call_of_the_driver(struct fake_grid *grid, struct fake_thread *thread,
			       const struct fake_operand *name, const struct fake_operand *results,
			       const struct fake_operand *list)
{
	static const char condition[] = "cudaGraphSetConditional";

	if (name->label_length == sizeof(condition) - 1 &&
	    memcmp(name->label, condition, sizeof(condition) - 1) == 0 && list &&
	    list->count == 2) {
		uint64_t handle;
		uint32_t value;
		memcpy(&handle, thread_top_frame(thread)->bytes + list->elements[0].value,
		       sizeof(handle));
		memcpy(&value, thread_top_frame(thread)->bytes + list->elements[1].value,
		       sizeof(value));
		fake_lock();
		fake_condition_set(handle, value);
		fake_unlock();
		return true;
	}
	if (name->label_length == 12 && memcmp(name->label, "__assertfail", 12) == 0)
		fake_grid_fault(grid, CUDA_ERROR_ASSERT);
	if (name->label_length == 7 && memcmp(name->label, "vprintf", 7) == 0) {
		if (results && results->count && results->elements[0].kind == OPERAND_PARAMETER)
			memset(thread_top_frame(thread)->bytes + results->elements[0].value, 0, 4);
		fake_lock();
		fake_number_add("device_printfs", 1);
		fake_unlock();
		return true;
	}
	return false;
}

static void execute_call(struct fake_grid *grid, struct fake_thread *thread,
			 const struct fake_instruction *i)
{
	bool has_results = i->operands[0].kind == OPERAND_VECTOR;
	const struct fake_operand *name = &i->operands[has_results ? 1 : 0];
	const struct fake_operand *list = i->operand_count > (has_results ? 2u : 1u)
						  ? &i->operands[has_results ? 2 : 1]
						  : NULL;
	const struct fake_code *code;

	if (name->kind != OPERAND_LABEL)
		fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_INSTRUCTION);
	if (call_of_the_driver(grid, thread, name, has_results ? &i->operands[0] : NULL, list))
		return;
	code = fake_program_code(grid->function->module->program, name->label, name->label_length);
	if (!code)
		fake_grid_fault(grid, CUDA_ERROR_INVALID_PC);
	const unsigned char *from = thread_top_frame(thread)->bytes;
	fake_frame_push(grid, thread, code);
	for (unsigned n = 0; list && n < list->count && n < code->input_count; n++)
		memcpy(thread_top_frame(thread)->bytes + code->inputs[n].offset,
		       from + list->elements[n].value, code->inputs[n].size);
}

/* Stores the results in the operands of the caller's instruction. */
static void execute_return(struct fake_thread *thread)
{
	const struct fake_frame *callee = thread_top_frame(thread);

	if (thread->depth == 1) {
		thread->state = THREAD_DONE;
		return;
	}
	const struct fake_frame *caller = &thread->frames[thread->depth - 2];
	const struct fake_instruction *i = &caller->code->instructions[caller->pc - 1];
	for (unsigned n = 0; i->operands[0].kind == OPERAND_VECTOR && n < i->operands[0].count &&
			     n < callee->code->output_count;
	     n++)
		memcpy(caller->bytes + i->operands[0].elements[n].value,
		       callee->bytes + callee->code->outputs[n].offset,
		       callee->code->outputs[n].size);
	fake_frame_pop(thread);
}

static void set_predicate(struct fake_grid *grid, struct fake_block *block,
			  struct fake_thread *thread, const struct fake_instruction *i)
{
	static const struct fake_type predicate = {'p', 1};
	bool value =
		fake_compare_values(i, fake_read(grid, block, thread, &i->operands[1], i->type),
				    fake_read(grid, block, thread, &i->operands[2], i->type));
	bool other = !value;

	if (i->operand_count > 3) {
		bool with = fake_read(grid, block, thread, &i->operands[3], predicate);
		value = i->combine == OP_AND  ? value && with
			: i->combine == OP_OR ? value || with
					      : value != with;
		other = i->combine == OP_AND  ? other && with
			: i->combine == OP_OR ? other || with
					      : other != with;
	}
	fake_write(thread, &i->operands[0], predicate, value);
	if (i->operands[0].second >= 0)
		thread_top_frame(thread)->registers[i->operands[0].second] = other;
}

/* Converts between an address in one space and a generic address. */
static uint64_t address_of(const struct fake_instruction *i, uint64_t value)
{
	uint64_t window = i->space == SPACE_SHARED  ? SHARED_WINDOW
			  : i->space == SPACE_LOCAL ? LOCAL_WINDOW
						    : 0;

	return i->to ? value - window : value + window;
}

static bool in_space(const struct fake_instruction *i, uint64_t address)
{
	bool shared = address - SHARED_WINDOW < WINDOW_BYTES,
	     local = address - LOCAL_WINDOW < WINDOW_BYTES;

	return i->space == SPACE_SHARED  ? shared
	       : i->space == SPACE_LOCAL ? local
					 : !shared && !local;
}

/* Some operands and results have another size than the instruction's type. */
static void execute_compute(struct fake_grid *grid, struct fake_block *block,
			    struct fake_thread *thread, const struct fake_instruction *i)
{
	struct fake_type out_type = i->type, type = i->type;
	uint64_t in[4] = {0}, out = 0;

	for (unsigned n = 0; n < 4 && n + 1 < i->operand_count; n++) {
		bool count = (i->opcode == OP_SHL || i->opcode == OP_SHR) && n == 1;
		bool wide_sum = i->wide && n == 2;
		count |= i->opcode == OP_BFE && n > 0;
		count |= i->opcode == OP_BFI && n > 1;
		type = count      ? (struct fake_type){'u', 4}
		       : wide_sum ? (struct fake_type){i->type.kind,
						       (unsigned char)(i->type.bytes * 2)}
				  : i->type;
		in[n] = fake_read(grid, block, thread, &i->operands[n + 1], type);
	}
	if (!fake_compute(i, in, &thread->carry, &out))
		fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_INSTRUCTION);
	if (i->wide)
		out_type.bytes = (unsigned char)(out_type.bytes * 2);
	if (i->opcode == OP_POPC || i->opcode == OP_CLZ || i->opcode == OP_BFIND)
		out_type = (struct fake_type){'u', 4};
	fake_write(thread, &i->operands[0], out_type, out);
}

static void execute_refuse_unknown(struct fake_grid *grid, const struct fake_instruction *i)
{
	(void)fprintf(stderr,
		      "fake_cuda: %s, line %u: this double does not have the instruction '%.*s'\n",
		      grid->launch->name, i->line, (int)i->text_length, i->text);
	fake_lock();
	fake_misuse("%s: this double does not have the instruction '%.*s'", grid->launch->name,
		    (int)i->text_length, i->text);
	fake_unlock();
	fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

static void execute_barrier(struct fake_grid *grid, struct fake_block *block,
			    struct fake_thread *thread, const struct fake_instruction *i)
{
	static const struct fake_type word = {'u', 4}, predicate = {'p', 1};
	unsigned at = i->mode == 'r' ? 1 : 0;

	thread->barrier = (unsigned)fake_read(grid, block, thread, &i->operands[at], word) % 16;
	thread->barrier_needs = 0;
	thread->barrier_value = false;
	if (i->mode == 'r')
		thread->barrier_value =
			fake_read(grid, block, thread, &i->operands[i->operand_count - 1],
				  predicate) != 0;
	if (i->operand_count > at + 1 + (i->mode == 'r'))
		thread->barrier_needs =
			(unsigned)fake_read(grid, block, thread, &i->operands[at + 1], word);
	thread->state = THREAD_AT_BARRIER;
}

static void execute_move(struct fake_grid *grid, struct fake_block *block,
			 struct fake_thread *thread, const struct fake_instruction *i)
{
	const struct fake_operand *from = &i->operands[1];

	if (from->kind == OPERAND_LABEL) /* a function's address */
		execute_refuse_unknown(grid, i);
	fake_write(thread, &i->operands[0], i->type, fake_read(grid, block, thread, from, i->type));
}

static void execute_other_instruction(struct fake_grid *grid, struct fake_block *block,
				      struct fake_thread *thread, const struct fake_instruction *i)
{
	static const struct fake_type predicate = {'p', 1}, word = {'u', 4};

	switch (i->opcode) {
	case OP_CVT:
		fake_write(thread, &i->operands[0], i->type,
			   fake_convert(
				   i, fake_read(grid, block, thread, &i->operands[1], i->source)));
		break;
	case OP_CVTA:
		fake_write(thread, &i->operands[0], i->type,
			   address_of(i, fake_read(grid, block, thread, &i->operands[1], i->type)));
		break;
	case OP_ISSPACEP:
		fake_write(thread, &i->operands[0], predicate,
			   in_space(i, fake_read(grid, block, thread, &i->operands[1],
						 (struct fake_type){'u', 8})));
		break;
	case OP_SELP:
		fake_write(thread, &i->operands[0], i->type,
			   fake_read(grid, block, thread, &i->operands[3], predicate)
				   ? fake_read(grid, block, thread, &i->operands[1], i->type)
				   : fake_read(grid, block, thread, &i->operands[2], i->type));
		break;
	case OP_ACTIVEMASK: {
		uint32_t mask = 0;
		for (unsigned n = thread->index / 32 * 32;
		     n < block->thread_count && n < (thread->index / 32 + 1) * 32; n++)
			mask |= block->threads[n].state == THREAD_DONE ? 0 : UINT32_C(1) << n % 32;
		fake_write(thread, &i->operands[0], word, mask);
		break;
	}
	case OP_UNKNOWN:
		execute_refuse_unknown(grid, i);
		break;
	default:
		execute_compute(grid, block, thread, i);
	}
}

/* ThreadSanitizer does not support plain fences. So a fence is a read and write of one variable
 * that all fences access. */
static void execute_fence(void)
{
	static _Atomic unsigned fences;

	(void)atomic_fetch_add(&fences, 1);
}

static void execute_instruction(struct fake_grid *grid, struct fake_block *block,
				struct fake_thread *thread, const struct fake_instruction *i)
{
	switch (i->opcode) {
	case OP_MOV:
		execute_move(grid, block, thread, i);
		break;
	case OP_LD:
	case OP_ST:
		load_store(grid, block, thread, i);
		break;
	case OP_ATOM:
	case OP_RED:
		execute_atomic(grid, block, thread, i);
		break;
	case OP_SETP:
		set_predicate(grid, block, thread, i);
		break;
	case OP_BRA:
		thread_top_frame(thread)->pc = i->target;
		break;
	case OP_CALL:
		execute_call(grid, thread, i);
		break;
	case OP_RET:
		execute_return(thread);
		break;
	case OP_EXIT:
		thread->state = THREAD_DONE;
		break;
	case OP_TRAP:
		fake_grid_fault(grid, CUDA_ERROR_LAUNCH_FAILED);
	case OP_FENCE:
		execute_fence();
		break;
	case OP_NOP:
		break;
	case OP_BAR:
		if (i->mode == 'w')
			fake_warp_post(grid, block, thread, i);
		else if (i->mode != 'a')
			execute_barrier(grid, block, thread, i);
		else
			execute_refuse_unknown(grid, i);
		break;
	case OP_TEX:
	case OP_SULD:
	case OP_SUST:
		fake_image_access(grid, block, thread, i);
		break;
	case OP_SHFL:
	case OP_VOTE:
	case OP_REDUX:
		fake_warp_post(grid, block, thread, i);
		break;
	default:
		execute_other_instruction(grid, block, thread, i);
	}
}

void fake_step(struct fake_grid *grid, struct fake_block *block, struct fake_thread *thread)
{
	struct fake_frame *frame = thread_top_frame(thread);

	if (frame->pc >= frame->code->count) { /* the end of a body */
		execute_return(thread);
		return;
	}
	const struct fake_instruction *i = &frame->code->instructions[frame->pc++];
	if (i->guard >= 0 && (frame->registers[i->guard] & 1) == i->guard_negated)
		return;
	execute_instruction(grid, block, thread, i);
}
