/*
 * PTX in the form that is run. fake_compile.c makes instructions of a body's words, and
 * fake_opcode.c has the words of opcodes. fake_interpreter.c runs grids, blocks and threads, and
 * fake_execute.c one instruction. fake_image.c runs those of images. fake_arithmetic.c and
 * fake_convert.c have the operations that only compute.
 */
#ifndef SYCL_TESTS_FAKE_CODE_H
#define SYCL_TESTS_FAKE_CODE_H

#include "fake.h"
#include "fake_ptx.h"

enum fake_opcode {
	OP_UNKNOWN,
	OP_ABS,
	OP_ACTIVEMASK,
	OP_ADD,
	OP_ADDC,
	OP_AND,
	OP_ATOM,
	OP_BAR,
	OP_BFE,
	OP_BFI,
	OP_BFIND,
	OP_BRA,
	OP_BREV,
	OP_CALL,
	OP_CLZ,
	OP_CNOT,
	OP_COPYSIGN,
	OP_COS,
	OP_CVT,
	OP_CVTA,
	OP_DIV,
	OP_EX2,
	OP_EXIT,
	OP_FENCE,
	OP_FMA,
	OP_ISSPACEP,
	OP_LD,
	OP_LG2,
	OP_LOP3,
	OP_MAD,
	OP_MADC,
	OP_MAX,
	OP_MIN,
	OP_MOV,
	OP_MUL,
	OP_NEG,
	OP_NOP,
	OP_NOT,
	OP_OR,
	OP_POPC,
	OP_PRMT,
	OP_RCP,
	OP_RED,
	OP_REDUX,
	OP_REM,
	OP_RET,
	OP_RSQRT,
	OP_SAD,
	OP_SELP,
	OP_SETP,
	OP_SHF,
	OP_SULD,
	OP_SUST,
	OP_SHFL,
	OP_SHL,
	OP_SHR,
	OP_SIN,
	OP_SQRT,
	OP_ST,
	OP_SUB,
	OP_SUBC,
	OP_TANH,
	OP_TEX,
	OP_TRAP,
	OP_VOTE,
	OP_XOR,
};

struct fake_type {
	char kind; /* b u s f; p: predicate; 0: none */
	unsigned char bytes;
};

enum fake_space {
	SPACE_GENERIC,
	SPACE_PARAM,
	SPACE_GLOBAL,
	SPACE_SHARED,
	SPACE_LOCAL,
	SPACE_CONST
};
enum fake_compare { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_NUM, CMP_NAN };
enum fake_rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP };
enum fake_special {
	SPECIAL_TID,
	SPECIAL_NTID = 3,
	SPECIAL_CTAID = 6,
	SPECIAL_NCTAID = 9, /* and the next two for y and z */
	SPECIAL_LANE = 12,
	SPECIAL_WARP,
	SPECIAL_NWARP,
	SPECIAL_SM,
	SPECIAL_NSM,
	SPECIAL_GRID,
	SPECIAL_CLOCK,
	SPECIAL_TIMER,
	SPECIAL_LANEMASK_EQ,
	SPECIAL_LANEMASK_LE,
	SPECIAL_LANEMASK_LT,
	SPECIAL_LANEMASK_GE,
	SPECIAL_LANEMASK_GT,
	SPECIAL_DYNAMIC_SHARED,
	SPECIAL_TOTAL_SHARED,
	SPECIAL_WARP_SIZE,
	SPECIAL_ZERO,
	SPECIAL_ONE,
	SPECIAL_LOCAL,   /* a place in the frame's part of the local memory */
	SPECIAL_DYNAMIC, /* while compiling: where the dynamic shared memory begins */
};

enum fake_operand_kind {
	OPERAND_NONE,
	OPERAND_REGISTER,
	OPERAND_VALUE,
	OPERAND_SPECIAL,
	OPERAND_VECTOR,
	OPERAND_SINK,
	OPERAND_LABEL,
	OPERAND_PARAMETER
};

/* An address has `kind` and its register as the base, and `value` as the offset. PARAMETER: a place
 * in the frame's bytes. */
struct fake_operand {
	enum fake_operand_kind kind;
	bool address, negated, decimal;
	int number; /* of the register or of the special register */
	int second; /* register of "p|q"; -1: none */
	uint64_t value;
	unsigned count;
	struct fake_operand *elements; /* of a vector, or the coordinates behind the object of
					  "[object, {x, y}]" */
	const char *label;
	size_t label_length;
};

#define OPERANDS 6

struct fake_instruction {
	enum fake_opcode opcode;
	struct fake_type type, source; /* source: the second type */
	enum fake_space space;
	enum fake_compare compare;
	enum fake_opcode
		combine; /* of setp: AND OR XOR; of atom and red: ADD MIN MAX AND OR XOR ... */
	enum fake_rounding rounding;
	unsigned vector;
	bool hi, wide, saturate, unordered, carry_out, to, exchange, cas, integer_rounding, left,
		wrap, increment, decrement;
	char mode; /* of shfl: u d b i; of vote: a n(y) u b(allot); of bar: s r(ed) a(rrive) w(arp)
		    */
	unsigned geometry; /* of tex, suld and sust: 1 to 3 dimensions; 0: another one */
	bool layered;      /* ... of a layer, whose number comes first */
	int guard;         /* register; -1: always */
	bool guard_negated;
	unsigned operand_count;
	struct fake_operand operands[OPERANDS];
	unsigned target; /* of a branch */
	const char *text;
	unsigned text_length, line;
};

struct fake_frame_place {
	size_t offset, size;
};

/* The body of a kernel or of a function. */
struct fake_code {
	struct fake_code *next; /* in the module */
	char *name;
	struct fake_instruction *instructions;
	unsigned count;
	unsigned register_count;
	/* A function's parameters and results are in the frame's bytes. A kernel's parameters are
	 * at their beginning. */
	struct fake_frame_place inputs[64], outputs[4];
	unsigned input_count, output_count;
	size_t frame_bytes, local_bytes;
	size_t static_shared,
		dynamic_at; /* of a kernel; dynamic_at: where the dynamic part begins */
};

/* The declarations of the module's text outside of bodies. */
struct fake_variable {
	const char *name;
	size_t length;
	enum fake_space space;
	size_t offset, size; /* in the module's data, or in the block's shared memory */
	bool dynamic;
};

struct fake_program {
	char *text;
	struct fake_code *codes;
	struct fake_variable variables[256];
	unsigned variable_count;
	struct fake_range *data;
	size_t shared_bytes; /* of the module's own .shared variables */
};

#define SHARED_RESERVED                                                                            \
	1024u /* the bytes at the beginning of every block's shared memory that the driver uses */
#define SHARED_WINDOW (UINT64_C(1) << 48)
#define LOCAL_WINDOW  (UINT64_C(3) << 47)
#define WINDOW_BYTES  (UINT64_C(1) << 32)

/* fake_opcode.c: the parts of an opcode's word. */
void fake_opcode_read(const struct fake_token *word, struct fake_instruction *instruction);
int fake_special_read(const struct fake_token *word); /* -1: none */

/* fake_compile.c. `from` is the opening brace; `to` is behind the closing one. NULL: no memory. */
struct fake_code *fake_compile(struct fake_program *program, const char *name, size_t name_length,
			       const struct fake_token *from, const struct fake_token *to,
			       const struct fake_variable *parameters, unsigned parameter_count);

/* fake_program.c */
struct fake_program *fake_program_make(void);
const struct fake_variable *fake_program_variable(const struct fake_program *program,
						  const char *name, size_t length);
struct fake_code *fake_program_code(const struct fake_program *program, const char *name,
				    size_t length);

/* A running thread. */
struct fake_frame {
	const struct fake_code *code;
	unsigned pc;
	uint64_t *registers;  /* one allocation, which also contains the bytes */
	unsigned char *bytes; /* parameters of calls, and its own parameters */
	size_t local_at;
};

enum fake_thread_state { THREAD_RUNS, THREAD_AT_BARRIER, THREAD_AT_WARP, THREAD_DONE };

struct fake_thread {
	enum fake_thread_state state;
	struct fake_frame *frames;
	unsigned depth, frame_capacity;
	unsigned tid[3], index;
	unsigned char *local;
	size_t local_bytes;
	unsigned barrier, barrier_needs; /* 0 needs: all threads */
	bool carry, barrier_value, result_taken;
	/* The state of an operation that the threads of a warp execute together. */
	uint32_t mask;
	uint64_t posted;
};

struct fake_block {
	unsigned ctaid[3];
	unsigned char *shared;
	size_t shared_bytes;
	struct fake_thread *threads;
	unsigned char *first_frames; /* the kernel's frames, of all threads */
	unsigned thread_count, done;
	bool used;
};

struct fake_grid {
	const struct fake_cuda_launch *launch;
	const struct CUfunc_st *function;
	unsigned char *parameters;
	struct fake_block *blocks; /* the blocks that run now */
	unsigned block_capacity;
	uint64_t next_block, block_count;
	size_t stack_limit;
	uint64_t instructions;
};

/* fake_interpreter.c */
void *fake_grid_memory(struct fake_grid *grid, struct fake_block *block, struct fake_thread *thread,
		       enum fake_space space, uint64_t address, size_t bytes);
void fake_grid_fault(struct fake_grid *grid, CUresult result) __attribute__((noreturn));
void fake_frame_push(struct fake_grid *grid, struct fake_thread *thread,
		     const struct fake_code *code);
void fake_frame_pop(struct fake_thread *thread);

/* fake_execute.c: one instruction of the thread. */
void fake_step(struct fake_grid *grid, struct fake_block *block, struct fake_thread *thread);
uint64_t fake_read(struct fake_grid *grid, const struct fake_block *block,
		   const struct fake_thread *thread, const struct fake_operand *operand,
		   struct fake_type type);
void fake_write(struct fake_thread *thread, const struct fake_operand *operand,
		struct fake_type type, uint64_t value);

/* fake_image.c: tex, suld and sust. */
void fake_image_access(struct fake_grid *grid, const struct fake_block *block,
		       struct fake_thread *thread, const struct fake_instruction *instruction);

/* fake_warp.c: barriers, and operations that the threads of a warp execute together. */
void fake_warp_post(struct fake_grid *grid, struct fake_block *block, struct fake_thread *thread,
		    const struct fake_instruction *instruction);
bool fake_warp_resolve(struct fake_grid *grid,
		       struct fake_block *block); /* true if a thread goes on */
bool fake_barrier_resolve(struct fake_block *block);

/* fake_arithmetic.c, fake_convert.c: take values as fake_read returns them. False: the operation is
 * not theirs. */
bool fake_compute(const struct fake_instruction *instruction, const uint64_t in[4], bool *carry,
		  uint64_t *out);
uint64_t fake_convert(const struct fake_instruction *instruction, uint64_t value);
bool fake_compare_values(const struct fake_instruction *instruction, uint64_t a, uint64_t b);
uint64_t fake_extend(uint64_t value, struct fake_type type);
float fake_float(uint64_t bits);
double fake_double(uint64_t bits);
uint64_t fake_float_bits(float value);
float fake_half(uint64_t bits);        /* 16 bits */
uint64_t fake_half_bits(double value); /* to nearest, ties to even */
uint64_t fake_double_bits(double value);

#endif
