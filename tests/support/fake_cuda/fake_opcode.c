/* Parses the words of opcodes, such as "setp.lt.and.u32". */
#include "fake_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum fake_opcode opcode;
} opcodes[] = {
	{"abs", OP_ABS},
	{"activemask", OP_ACTIVEMASK},
	{"add", OP_ADD},
	{"addc", OP_ADDC},
	{"and", OP_AND},
	{"atom", OP_ATOM},
	{"bar", OP_BAR},
	{"barrier", OP_BAR},
	{"bfe", OP_BFE},
	{"bfi", OP_BFI},
	{"bfind", OP_BFIND},
	{"bra", OP_BRA},
	{"brev", OP_BREV},
	{"call", OP_CALL},
	{"clz", OP_CLZ},
	{"cnot", OP_CNOT},
	{"copysign", OP_COPYSIGN},
	{"cos", OP_COS},
	{"cvt", OP_CVT},
	{"cvta", OP_CVTA},
	{"div", OP_DIV},
	{"ex2", OP_EX2},
	{"exit", OP_EXIT},
	{"fence", OP_FENCE},
	{"fma", OP_FMA},
	{"isspacep", OP_ISSPACEP},
	{"ld", OP_LD},
	{"ldu", OP_LD},
	{"lg2", OP_LG2},
	{"lop3", OP_LOP3},
	{"mad", OP_MAD},
	{"mad24", OP_MAD},
	{"madc", OP_MADC},
	{"max", OP_MAX},
	{"membar", OP_FENCE},
	{"min", OP_MIN},
	{"mov", OP_MOV},
	{"mul", OP_MUL},
	{"mul24", OP_MUL},
	{"nanosleep", OP_NOP},
	{"neg", OP_NEG},
	{"not", OP_NOT},
	{"or", OP_OR},
	{"popc", OP_POPC},
	{"prefetch", OP_NOP},
	{"prefetchu", OP_NOP},
	{"griddepcontrol", OP_NOP},
	{"pmevent", OP_NOP},
	{"prmt", OP_PRMT},
	{"rcp", OP_RCP},
	{"red", OP_RED},
	{"redux", OP_REDUX},
	{"rem", OP_REM},
	{"ret", OP_RET},
	{"rsqrt", OP_RSQRT},
	{"sad", OP_SAD},
	{"selp", OP_SELP},
	{"setp", OP_SETP},
	{"shf", OP_SHF},
	{"shfl", OP_SHFL},
	{"shl", OP_SHL},
	{"shr", OP_SHR},
	{"sin", OP_SIN},
	{"sqrt", OP_SQRT},
	{"st", OP_ST},
	{"sub", OP_SUB},
	{"subc", OP_SUBC},
	{"suld", OP_SULD},
	{"sust", OP_SUST},
	{"tanh", OP_TANH},
	{"tex", OP_TEX},
	{"trap", OP_TRAP},
	{"vote", OP_VOTE},
	{"xor", OP_XOR},
};

static const struct {
	const char *word;
	enum fake_compare compare;
	bool unordered;
} compares[] = {
	{"eq", CMP_EQ, false}, {"ne", CMP_NE, false},   {"lt", CMP_LT, false},
	{"le", CMP_LE, false}, {"gt", CMP_GT, false},   {"ge", CMP_GE, false},
	{"lo", CMP_LT, false}, {"ls", CMP_LE, false},   {"hi", CMP_GT, false},
	{"hs", CMP_GE, false}, {"equ", CMP_EQ, true},   {"neu", CMP_NE, true},
	{"ltu", CMP_LT, true}, {"leu", CMP_LE, true},   {"gtu", CMP_GT, true},
	{"geu", CMP_GE, true}, {"num", CMP_NUM, false}, {"nan", CMP_NAN, false},
};

static enum fake_opcode opcode_of(const char *word)
{
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		if (strcmp(opcodes[i].name, word) == 0)
			return opcodes[i].opcode;
	return OP_UNKNOWN;
}

static bool read_type(const char *part, struct fake_instruction *instruction)
{
	unsigned bytes = fake_type_bytes(part, strlen(part));
	struct fake_type type = {part[0], (unsigned char)bytes};

	if (!bytes)
		return false;
	if (!instruction->type.kind)
		instruction->type = type;
	else
		instruction->source = type;
	return true;
}

static bool read_space(const char *part, struct fake_instruction *instruction)
{
	if (strncmp(part, "param", 5) == 0)
		instruction->space = SPACE_PARAM;
	else if (strcmp(part, "global") == 0)
		instruction->space = SPACE_GLOBAL;
	else if (strncmp(part, "shared", 6) == 0)
		instruction->space = SPACE_SHARED;
	else if (strcmp(part, "local") == 0)
		instruction->space = SPACE_LOCAL;
	else if (strcmp(part, "const") == 0)
		instruction->space = SPACE_CONST;
	else
		return false;
	return true;
}

static bool read_rounding(const char *part, struct fake_instruction *instruction)
{
	static const char letters[] = "nzmp";
	const char *found = part[0] == 'r' && part[1] ? strchr(letters, part[1]) : NULL;

	if (!found || (part[2] && strcmp(part + 2, "i") != 0))
		return false;
	instruction->rounding = (enum fake_rounding)(found - letters);
	instruction->integer_rounding = part[2] == 'i';
	return true;
}

static bool read_compare(const char *part, struct fake_instruction *instruction)
{
	if (instruction->opcode != OP_SETP)
		return false;
	for (size_t i = 0; i < sizeof(compares) / sizeof(compares[0]); i++)
		if (strcmp(compares[i].word, part) == 0) {
			instruction->compare = compares[i].compare;
			instruction->unordered = compares[i].unordered;
			return true;
		}
	return false;
}

/* The operation of an atomic instruction or a reduction, and how setp combines. */
static bool read_combine(const char *part, struct fake_instruction *instruction)
{
	enum fake_opcode opcode = instruction->opcode;

	if (opcode != OP_ATOM && opcode != OP_RED && opcode != OP_SETP && opcode != OP_REDUX &&
	    opcode != OP_BAR)
		return false;
	if (strcmp(part, "exch") == 0)
		instruction->exchange = true;
	else if (strcmp(part, "cas") == 0)
		instruction->cas = true;
	else if (strcmp(part, "inc") == 0)
		instruction->increment = true;
	else if (strcmp(part, "dec") == 0)
		instruction->decrement = true;
	else if (strcmp(part, "popc") == 0 || strcmp(part, "add") == 0 ||
		 strcmp(part, "min") == 0 || strcmp(part, "max") == 0 || strcmp(part, "and") == 0 ||
		 strcmp(part, "or") == 0 || strcmp(part, "xor") == 0)
		instruction->combine = opcode_of(part);
	else
		return false;
	return true;
}

static void read_mode(const char *part, struct fake_instruction *instruction)
{
	enum fake_opcode opcode = instruction->opcode;

	if (opcode == OP_SHFL && (strcmp(part, "up") == 0 || strcmp(part, "down") == 0 ||
				  strcmp(part, "bfly") == 0 || strcmp(part, "idx") == 0))
		instruction->mode = part[0];
	else if (opcode == OP_VOTE && (strcmp(part, "all") == 0 || strcmp(part, "uni") == 0 ||
				       strcmp(part, "ballot") == 0))
		instruction->mode = part[0];
	else if (opcode == OP_VOTE && strcmp(part, "any") == 0)
		instruction->mode = 'n';
	else if (opcode == OP_BAR && (strcmp(part, "red") == 0 || strcmp(part, "arrive") == 0 ||
				      strcmp(part, "warp") == 0))
		instruction->mode = part[0];
	else if (opcode == OP_BAR && strcmp(part, "cluster") == 0)
		instruction->mode = 'c';
	else if (opcode == OP_SHF && (strcmp(part, "l") == 0 || strcmp(part, "wrap") == 0)) {
		instruction->left |= part[0] == 'l';
		instruction->wrap |= part[0] == 'w';
	}
}

static void read_part(const char *part, struct fake_instruction *instruction)
{
	enum fake_opcode opcode = instruction->opcode;
	bool setp = opcode == OP_SETP;

	if (read_type(part, instruction) || read_compare(part, instruction) ||
	    read_combine(part, instruction) || (!setp && read_space(part, instruction)) ||
	    read_rounding(part, instruction))
		return;
	if (strcmp(part, "hi") == 0)
		instruction->hi = true;
	else if (strcmp(part, "wide") == 0)
		instruction->wide = true;
	else if (strcmp(part, "sat") == 0)
		instruction->saturate = true;
	else if (strcmp(part, "cc") == 0)
		instruction->carry_out = true;
	else if (strcmp(part, "to") == 0)
		instruction->to = true;
	else if (strcmp(part, "v2") == 0)
		instruction->vector = 2;
	else if (strcmp(part, "v4") == 0)
		instruction->vector = 4;
	else if (part[0] >= '1' && part[0] <= '3' && strcmp(part + 1, "d") == 0)
		instruction->geometry = (unsigned)(part[0] - '0');
	else if (strcmp(part, "a1d") == 0 || strcmp(part, "a2d") == 0)
		instruction->geometry = (unsigned)(part[1] - '0'), instruction->layered = true;
	else
		read_mode(part, instruction);
}

/* The operations in half precision that the interpreter has. */
static bool of_halves(enum fake_opcode opcode)
{
	switch (opcode) {
	case OP_CVT:
	case OP_LD:
	case OP_ST:
	case OP_MOV:
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_FMA:
	case OP_NEG:
	case OP_ABS:
	case OP_MIN:
	case OP_MAX:
		return true;
	default:
		return false;
	}
}

void fake_opcode_read(const struct fake_token *word, struct fake_instruction *instruction)
{
	char text[128], *rest = text, *part;
	bool first = true;

	(void)snprintf(text, sizeof(text), "%.*s", (int)word->length, word->text);
	while ((part = strsep(&rest, "."))) {
		if (first)
			instruction->opcode = opcode_of(part);
		else
			read_part(part, instruction);
		first = false;
	}
	/* The interpreter supports these words only in part. */
	if (instruction->opcode == OP_BAR && instruction->mode == 'c')
		instruction->opcode = OP_UNKNOWN;
	if (instruction->type.kind == 'f' && instruction->type.bytes == 2 &&
	    !of_halves(instruction->opcode))
		instruction->opcode = OP_UNKNOWN;
}

static const struct {
	const char *name;
	enum fake_special special;
} specials[] = {
	{"%laneid", SPECIAL_LANE},
	{"%warpid", SPECIAL_WARP},
	{"%nwarpid", SPECIAL_NWARP},
	{"%smid", SPECIAL_SM},
	{"%nsmid", SPECIAL_NSM},
	{"%gridid", SPECIAL_GRID},
	{"%clock", SPECIAL_CLOCK},
	{"%clock64", SPECIAL_CLOCK},
	{"%globaltimer", SPECIAL_TIMER},
	{"%globaltimer_lo", SPECIAL_TIMER},
	{"%lanemask_eq", SPECIAL_LANEMASK_EQ},
	{"%lanemask_le", SPECIAL_LANEMASK_LE},
	{"%lanemask_lt", SPECIAL_LANEMASK_LT},
	{"%lanemask_ge", SPECIAL_LANEMASK_GE},
	{"%lanemask_gt", SPECIAL_LANEMASK_GT},
	{"%dynamic_smem_size", SPECIAL_DYNAMIC_SHARED},
	{"%total_smem_size", SPECIAL_TOTAL_SHARED},
	{"WARP_SZ", SPECIAL_WARP_SIZE},
	{"%cluster_ctarank", SPECIAL_ZERO},
	{"%cluster_nctarank", SPECIAL_ONE},
	{"%is_explicit_cluster", SPECIAL_ZERO},
};

int fake_special_read(const struct fake_token *word)
{
	static const char *const threes[] = {"%tid.", "%ntid.", "%ctaid.", "%nctaid."};

	for (int i = 0; i < 4; i++)
		if (fake_token_begins(word, threes[i]) && word->length == strlen(threes[i]) + 1)
			return i * 3 + (word->text[word->length - 1] - 'x');
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (fake_token_is(word, specials[i].name))
			return (int)specials[i].special;
	return -1;
}
