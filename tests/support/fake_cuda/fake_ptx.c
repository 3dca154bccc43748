/* The entries of a PTX text, as the driver's compiler would find them, and its error messages. */
#include "fake_code.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const struct fake_token *at;
	struct CUmod_st *module;
	char *log;
	size_t log_bytes;
	CUresult result;
	int compute;
	bool version_seen, target_seen, is_extern;
	size_t data_used;
};

static bool fail_parse(struct reader *reader, CUresult result, const char *format, ...)
{
	va_list arguments;
	size_t used = strlen(reader->log);

	if (reader->result == CUDA_SUCCESS)
		reader->result = result;
	int written = snprintf(reader->log + used, reader->log_bytes - used,
			       "ptxas application ptx input, line %u; ", reader->at->line);
	used += written > 0 && (size_t)written < reader->log_bytes - used ? (size_t)written : 0;
	va_start(arguments, format);
	(void)vsnprintf(reader->log + used, reader->log_bytes - used, format, arguments);
	va_end(arguments);
	return false;
}

static bool ptx_syntax_error(struct reader *reader)
{
	return fail_parse(reader, CUDA_ERROR_INVALID_PTX,
			  "fatal   : Parsing error near '%.*s': syntax error\n",
			  (int)reader->at->length, reader->at->text);
}

static bool take_token(struct reader *reader, const char *text)
{
	if (!fake_token_is(reader->at, text))
		return ptx_syntax_error(reader);
	reader->at++;
	return true;
}

static bool ptx_parse_version(struct reader *reader)
{
	int major = 0, minor = 0;

	reader->at++;
	if (sscanf(reader->at->text, "%d.%d", &major, &minor) != 2)
		return ptx_syntax_error(reader);
	reader->module->ptx_version = major * 10 + minor;
	reader->version_seen = true;
	/* PTX 9.0 came with CUDA 13.0. */
	int newest = fake.driver_version >= 13000 ? 90 : 80 + fake.driver_version % 1000 / 10;
	if (reader->module->ptx_version > newest)
		return fail_parse(
			reader, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
			"fatal   : Unsupported .version %d.%d; current version is '%d.%d'\n", major,
			minor, newest / 10, newest % 10);
	reader->at++;
	return true;
}

static bool ptx_parse_target(struct reader *reader)
{
	int number = 0;
	char suffix = 0;

	reader->at++;
	if (sscanf(reader->at->text, "sm_%d%c", &number, &suffix) < 1)
		return ptx_syntax_error(reader);
	bool exact = suffix == 'a' || suffix == 'f';
	if (number > reader->compute || (exact && number != reader->compute))
		return fail_parse(reader, CUDA_ERROR_NO_BINARY_FOR_GPU,
				  "fatal   : SM version %d is not this device's\n", number);
	reader->target_seen = true;
	reader->at++;
	while (fake_token_is(reader->at, ","))
		reader->at += 2;
	return true;
}

/* ".param .u64 .ptr .global .align 1 NAME" or ".param .align 8 .b8 NAME[32]". It is placed at the
 * next aligned place from `offset` on. */
static bool ptx_parse_parameter(struct reader *reader, size_t offset,
				struct fake_variable *parameter_out)
{
	struct fake_variable found = {.space = SPACE_PARAM};
	size_t size = 0, align = 0;
	bool is_pointer = false;

	if (!take_token(reader, ".param"))
		return false;
	while (reader->at->kind == FAKE_TOKEN_WORD && reader->at->text[0] == '.') {
		unsigned bytes = fake_type_bytes(reader->at->text, reader->at->length);
		if (fake_token_is(reader->at, ".align")) {
			size_t number = (size_t)fake_token_number(++reader->at);
			if (!size) /* for a pointer this is the alignment of its target */
				align = number;
		} else if (bytes) {
			size = bytes;
		}
		/* As measured: the assembler accepts it, and loading fails without a message. */
		if (is_pointer &&
		    (fake_token_is(reader->at, ".shared") || fake_token_is(reader->at, ".local")))
			return fail_parse(reader, CUDA_ERROR_INVALID_IMAGE, "%s", "");
		is_pointer = is_pointer || fake_token_is(reader->at, ".ptr");
		reader->at++;
	}
	if (!size || reader->at->kind != FAKE_TOKEN_WORD)
		return ptx_syntax_error(reader);
	found.name = reader->at->text;
	found.length = reader->at->length;
	reader->at++;
	if (align < size)
		align = size;
	if (fake_token_is(reader->at, "[")) {
		size *= (size_t)fake_token_number(reader->at + 1);
		reader->at += 2;
		if (!take_token(reader, "]"))
			return false;
	}
	found.offset = (offset + align - 1) / align * align;
	found.size = size;
	*parameter_out = found;
	return true;
}

#define PARAMETERS 1024

struct parameters {
	struct fake_variable list[PARAMETERS];
	unsigned count;
	size_t bytes;
};

/* "( .param ..., .param ... )" */
static bool parameter_list(struct reader *reader, struct parameters *parameters)
{
	if (!take_token(reader, "("))
		return false;
	while (!fake_token_is(reader->at, ")")) {
		if (parameters->count == PARAMETERS)
			return fail_parse(reader, CUDA_ERROR_INVALID_PTX,
					  "error   : too many parameters\n");
		struct fake_variable *one = &parameters->list[parameters->count];
		if (!ptx_parse_parameter(reader, parameters->bytes, one))
			return false;
		parameters->count++;
		parameters->bytes = one->offset + one->size;
		if (fake_token_is(reader->at, ","))
			reader->at++;
		else if (!fake_token_is(reader->at, ")"))
			return ptx_syntax_error(reader);
	}
	reader->at++;
	return true;
}

static void ptx_read_three_numbers(struct reader *reader, int values[3])
{
	for (int i = 0; i < 3; i++) {
		values[i] = (int)fake_token_number(++reader->at);
		reader->at++;
		if (!fake_token_is(reader->at, ",")) {
			for (i++; i < 3; i++)
				values[i] = 1;
			return;
		}
	}
}

static bool ptx_parse_directives(struct reader *reader, struct CUfunc_st *function)
{
	int numbers[3] = {0};

	while (!fake_token_is(reader->at, "{")) {
		if (reader->at->kind != FAKE_TOKEN_WORD || reader->at->text[0] != '.')
			return ptx_syntax_error(reader);
		if (fake_token_is(reader->at, ".explicitcluster")) {
			reader->at++;
			continue;
		}
		bool threads = fake_token_is(reader->at, ".maxntid") ||
			       fake_token_is(reader->at, ".reqntid");
		bool required = fake_token_is(reader->at, ".reqntid");
		bool cluster = fake_token_is(reader->at, ".reqnctapercluster");
		bool registers = fake_token_is(reader->at, ".maxnreg");
		ptx_read_three_numbers(reader, numbers);
		if (threads)
			function->max_threads = numbers[0] * numbers[1] * numbers[2];
		if (required)
			memcpy(function->reqntid, numbers, sizeof(numbers));
		if (cluster)
			memcpy(function->required_cluster, numbers, sizeof(numbers));
		if (registers)
			function->max_registers = numbers[0];
	}
	return true;
}

static const char *const operations[] = {"abs",        "activemask",
					 "add",        "addc",
					 "and",        "applypriority",
					 "atom",       "bar",
					 "barrier",    "bfe",
					 "bfi",        "bfind",
					 "bmsk",       "bra",
					 "brev",       "brkpt",
					 "brx",        "call",
					 "clz",        "cnot",
					 "copysign",   "cos",
					 "cp",         "createpolicy",
					 "cvt",        "cvta",
					 "discard",    "div",
					 "dp2a",       "dp4a",
					 "elect",      "ex2",
					 "exit",       "fence",
					 "fma",        "fns",
					 "getctarank", "griddepcontrol",
					 "isspacep",   "istypep",
					 "ld",         "ldmatrix",
					 "ldu",        "lg2",
					 "lop3",       "mad",
					 "madc",       "mapa",
					 "match",      "max",
					 "mbarrier",   "membar",
					 "min",        "mma",
					 "mov",        "movmatrix",
					 "mul",        "mul24",
					 "multimem",   "nanosleep",
					 "neg",        "not",
					 "or",         "pmevent",
					 "popc",       "prefetch",
					 "prefetchu",  "prmt",
					 "rcp",        "red",
					 "redux",      "rem",
					 "ret",        "rsqrt",
					 "sad",        "selp",
					 "set",        "setmaxnreg",
					 "setp",       "shf",
					 "shfl",       "shl",
					 "shr",        "sin",
					 "slct",       "sqrt",
					 "st",         "stmatrix",
					 "sub",        "subc",
					 "suld",       "suq",
					 "surd",       "sust",
					 "szext",      "tanh",
					 "testp",      "tex",
					 "tld4",       "trap",
					 "txq",        "vote",
					 "wgmma",      "wmma",
					 "xor",        "mul24",
					 "mad24",      "alloca",
					 "stacksave",  "stackrestore"};

static bool is_operation(const struct fake_token *token)
{
	size_t length = strcspn(token->text, ". \t\r\n;");

	if (length > token->length)
		length = token->length;
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (strlen(operations[i]) == length &&
		    memcmp(operations[i], token->text, length) == 0)
			return true;
	return false;
}

static bool to_semicolon(struct reader *reader)
{
	while (!fake_token_is(reader->at, ";")) {
		if (reader->at->kind == FAKE_TOKEN_END || fake_token_is(reader->at, "}"))
			return ptx_syntax_error(reader);
		/* Skips the braces of a call, a vector or an initialiser. */
		if (fake_token_is(reader->at, "{"))
			while (!fake_token_is(reader->at, "}") &&
			       reader->at->kind != FAKE_TOKEN_END)
				reader->at++;
		reader->at++;
	}
	reader->at++;
	return true;
}

static bool ptx_parse_statement(struct reader *reader)
{
	if (fake_token_is(reader->at + 1, ":")) {
		reader->at += 2;
		return true;
	}
	if (fake_token_is(reader->at, "@")) {
		reader->at += fake_token_is(reader->at + 1, "!") ? 3 : 2;
		return is_operation(reader->at) ? to_semicolon(reader) : ptx_syntax_error(reader);
	}
	if (fake_token_begins(reader->at, ".pragma") || fake_token_begins(reader->at, ".reg") ||
	    fake_token_is(reader->at, ".shared") || fake_token_is(reader->at, ".local") ||
	    fake_token_begins(reader->at, ".param") ||
	    fake_token_begins(reader->at, ".branchtargets") ||
	    fake_token_begins(reader->at, ".callprototype"))
		reader->at++;
	else if (fake_token_is(reader->at, ".loc")) {
		unsigned line = reader->at->line;
		while (reader->at->line == line && reader->at->kind != FAKE_TOKEN_END)
			reader->at++;
		return true;
	} else if (!is_operation(reader->at))
		return ptx_syntax_error(reader);
	return to_semicolon(reader);
}

static bool ptx_parse_body(struct reader *reader)
{
	unsigned depth = 0;

	do {
		if (fake_token_is(reader->at, "{")) {
			depth++;
			reader->at++;
		} else if (fake_token_is(reader->at, "}")) {
			depth--;
			reader->at++;
		} else if (reader->at->kind == FAKE_TOKEN_END || !ptx_parse_statement(reader)) {
			return reader->result != CUDA_SUCCESS ? false : ptx_syntax_error(reader);
		}
	} while (depth);
	return true;
}

struct CUfunc_st *fake_function_make(struct CUmod_st *module, const char *name, size_t length)
{
	struct CUfunc_st *function = calloc(1, sizeof(*function) + length + 1);
	struct CUfunc_st **list =
		reallocarray(module->functions, module->function_count + 1, sizeof(*list));

	if (list)
		module->functions = list;
	if (!function || !list) {
		free(function);
		return NULL;
	}
	memcpy(function->name, name, length);
	function->module = module;
	function->max_threads = 1024;
	function->registers = 32;
	list[module->function_count++] = function;
	return function;
}

static bool function_parameters(struct CUfunc_st *function, const struct parameters *parameters)
{
	function->parameters = calloc(parameters->count + 1u, sizeof(*function->parameters));
	if (!function->parameters)
		return false;
	for (unsigned i = 0; i < parameters->count; i++)
		function->parameters[i] = (struct fake_parameter){parameters->list[i].offset,
								  parameters->list[i].size};
	function->parameter_count = parameters->count;
	function->parameter_bytes = parameters->bytes;
	return true;
}

static bool entry_with(struct reader *reader, struct parameters *parameters)
{
	const struct fake_token *name = ++reader->at;

	if (name->kind != FAKE_TOKEN_WORD)
		return ptx_syntax_error(reader);
	if (!reader->version_seen || !reader->target_seen)
		return fail_parse(reader, CUDA_ERROR_INVALID_PTX,
				  "fatal   : Missing .version or .target directive\n");
	struct CUfunc_st *function = fake_function_make(reader->module, name->text, name->length);
	if (!function)
		return fail_parse(reader, CUDA_ERROR_OUT_OF_MEMORY, "error   : no memory\n");
	reader->at++;
	if (fake_token_is(reader->at, "(") && !parameter_list(reader, parameters))
		return false;
	if (!function_parameters(function, parameters))
		return fail_parse(reader, CUDA_ERROR_OUT_OF_MEMORY, "error   : no memory\n");
	if (!ptx_parse_directives(reader, function))
		return false;
	const struct fake_token *begin = reader->at;
	if (!ptx_parse_body(reader))
		return false;
	function->code = fake_compile(reader->module->program, name->text, name->length, begin,
				      reader->at, parameters->list, parameters->count);
	if (!function->code)
		return fail_parse(reader, CUDA_ERROR_OUT_OF_MEMORY, "error   : no memory\n");
	function->static_shared = (int)((function->code->static_shared + 15) & ~(size_t)15);
	function->local_bytes = (int)function->code->local_bytes;
	if (function->static_shared > 49152)
		return fail_parse(
			reader, CUDA_ERROR_INVALID_PTX,
			"error   : Entry function '%s' uses too much shared data (0x%x bytes, 0xc000 max)\n",
			function->name, (unsigned)function->static_shared);
	if (function->parameter_bytes > 32764)
		return fail_parse(reader, CUDA_ERROR_INVALID_PTX,
				  "error   : Formal parameter space overflowed (%zu bytes)\n",
				  function->parameter_bytes);
	return true;
}

static bool ptx_parse_entry(struct reader *reader)
{
	struct parameters *parameters = calloc(1, sizeof(*parameters));
	bool good = parameters
			    ? entry_with(reader, parameters)
			    : fail_parse(reader, CUDA_ERROR_OUT_OF_MEMORY, "error   : no memory\n");

	free(parameters);
	return good;
}

/* ".func (.param .b32 result) NAME (.param ...) { ... }". The results and then the parameters are
 * in the frame's bytes. */
static bool plain_function_with(struct reader *reader, struct parameters *parameters)
{
	unsigned results = 0;

	reader->at++;
	if (fake_token_is(reader->at, "(")) {
		if (!parameter_list(reader, parameters))
			return false;
		results = parameters->count;
	}
	const struct fake_token *name = reader->at++;
	if (fake_token_is(reader->at, "(") && !parameter_list(reader, parameters))
		return false;
	while (!fake_token_is(reader->at, "{") && !fake_token_is(reader->at, ";")) {
		if (reader->at->kind == FAKE_TOKEN_END)
			return ptx_syntax_error(reader);
		reader->at++;
	}
	if (fake_token_is(reader->at, ";")) {
		reader->at++;
		return true;
	}
	const struct fake_token *begin = reader->at;
	if (!ptx_parse_body(reader))
		return false;
	struct fake_code *code =
		fake_compile(reader->module->program, name->text, name->length, begin, reader->at,
			     parameters->list, parameters->count);
	for (unsigned i = 0; code && i < parameters->count; i++) {
		const struct fake_frame_place place = {parameters->list[i].offset,
						       parameters->list[i].size};
		if (i < results && i < 4)
			code->outputs[code->output_count++] = place;
		else if (i >= results && code->input_count < 64)
			code->inputs[code->input_count++] = place;
	}
	return code || fail_parse(reader, CUDA_ERROR_OUT_OF_MEMORY, "error   : no memory\n");
}

static bool plain_function(struct reader *reader)
{
	struct parameters *parameters = calloc(1, sizeof(*parameters));
	bool good = parameters
			    ? plain_function_with(reader, parameters)
			    : fail_parse(reader, CUDA_ERROR_OUT_OF_MEMORY, "error   : no memory\n");

	free(parameters);
	return good;
}

static uint64_t initial_value(const struct fake_token *token, bool minus)
{
	if (token->length > 2 && token->text[0] == '0' && strchr("fFdD", token->text[1]))
		return strtoull(token->text + 2, NULL, 16);
	return minus ? (uint64_t)0 - fake_token_number(token) : fake_token_number(token);
}

/* Stores "= {1, 2, -3}" or "= 5" in the variable's bytes. Names in it become 0. */
static void ptx_initialise(struct reader *reader, unsigned char *to, size_t element, size_t size)
{
	bool minus = false;

	for (size_t filled = 0;
	     !fake_token_is(reader->at, ";") && reader->at->kind != FAKE_TOKEN_END; reader->at++) {
		if (fake_token_is(reader->at, "-"))
			minus = true;
		if (reader->at->kind != FAKE_TOKEN_NUMBER || filled + element > size)
			continue;
		uint64_t value = initial_value(reader->at, minus);
		memcpy(to + filled, &value, element);
		filled += element;
		minus = false;
	}
}

static bool data_room(struct reader *reader, size_t offset, size_t size)
{
	struct fake_program *program = reader->module->program;

	if (!program->data && fake_range_add(FAKE_HOST, reader->module->context->device,
					     ((size_t)4 << 20) + strlen(program->text),
					     &program->data) != CUDA_SUCCESS)
		return false;
	return offset + size <= program->data->size;
}

/* ".global .align 4 .b8 NAME[24] = {...};", .const and .shared likewise. */
static bool module_variable(struct reader *reader, enum fake_space space)
{
	struct fake_program *program = reader->module->program;
	struct fake_variable found = {.space = space, .size = 1};
	size_t element = 1, alignment = 1;

	for (reader->at++; reader->at->kind == FAKE_TOKEN_WORD && reader->at->text[0] == '.';
	     reader->at++) {
		unsigned bytes = fake_type_bytes(reader->at->text, reader->at->length);
		if (fake_token_is(reader->at, ".align"))
			alignment = (size_t)fake_token_number(++reader->at);
		else if (bytes)
			element = bytes;
	}
	found.name = reader->at->text;
	found.length = reader->at->length;
	reader->at++;
	while (fake_token_is(reader->at, "[")) {
		found.dynamic |= fake_token_is(reader->at + 1, "]");
		found.size *= (size_t)fake_token_number(reader->at + 1);
		while (!fake_token_is(reader->at, "]") && reader->at->kind != FAKE_TOKEN_END)
			reader->at++;
		reader->at++;
	}
	found.size *= element;
	alignment = alignment < element ? element : alignment;
	if (program->variable_count == sizeof(program->variables) / sizeof(program->variables[0]))
		return fail_parse(reader, CUDA_ERROR_INVALID_PTX,
				  "error   : more variables than this double takes\n");
	if (space == SPACE_SHARED && !found.dynamic) {
		program->shared_bytes =
			(program->shared_bytes + alignment - 1) / alignment * alignment;
		found.offset = SHARED_RESERVED + program->shared_bytes;
		program->shared_bytes += found.size;
	} else if (space != SPACE_SHARED && !reader->is_extern) {
		size_t offset = (reader->data_used + alignment - 1) / alignment * alignment;
		if (!data_room(reader, offset, found.size))
			return fail_parse(reader, CUDA_ERROR_OUT_OF_MEMORY,
					  "error   : variables too large\n");
		reader->data_used = offset + found.size;
		found.offset = program->data->base + offset;
		memset(program->data->host + offset, 0, found.size);
		if (fake_token_is(reader->at, "="))
			ptx_initialise(reader, program->data->host + offset, element, found.size);
	}
	if (space == SPACE_SHARED)
		found.dynamic &= reader->is_extern;
	else
		found.dynamic = false;
	program->variables[program->variable_count++] = found;
	return to_semicolon(reader);
}

static bool top_level(struct reader *reader)
{
	const struct fake_token *token = reader->at;

	if (fake_token_is(token, ".version"))
		return ptx_parse_version(reader);
	if (fake_token_is(token, ".target"))
		return ptx_parse_target(reader);
	if (fake_token_is(token, ".address_size")) {
		reader->at += 2;
		return true;
	}
	if (fake_token_is(token, ".visible") || fake_token_is(token, ".weak") ||
	    fake_token_is(token, ".extern") || fake_token_is(token, ".common")) {
		reader->is_extern = fake_token_is(token, ".extern");
		reader->at++;
		return true;
	}
	if (fake_token_is(token, ".entry"))
		return ptx_parse_entry(reader);
	if (fake_token_is(token, ".func"))
		return plain_function(reader);
	if (fake_token_is(token, ".shared") || fake_token_is(token, ".global") ||
	    fake_token_is(token, ".const")) {
		bool good =
			module_variable(reader, fake_token_is(token, ".shared")   ? SPACE_SHARED
						: fake_token_is(token, ".global") ? SPACE_GLOBAL
										  : SPACE_CONST);
		reader->is_extern = false;
		return good;
	}
	if (fake_token_is(token, ".pragma") || fake_token_is(token, ".alias"))
		return to_semicolon(reader);
	if (fake_token_is(token, ".section")) {
		while (!fake_token_is(reader->at, "}") && reader->at->kind != FAKE_TOKEN_END)
			reader->at++;
		reader->at++;
		return true;
	}
	if (fake_token_is(token, ".file")) {
		while (reader->at->line == token->line && reader->at->kind != FAKE_TOKEN_END)
			reader->at++;
		return true;
	}
	return ptx_syntax_error(reader);
}

CUresult fake_ptx_read(const char *text, int compute, struct CUmod_st *module, char *log,
		       size_t log_bytes)
{
	size_t count;

	module->program = fake_program_make();
	if (!module->program || !(module->program->text = strdup(text)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct fake_token *tokens = fake_tokens(module->program->text, &count);
	struct reader reader = {.at = tokens,
				.module = module,
				.log = log,
				.log_bytes = log_bytes,
				.compute = compute};
	if (!tokens)
		return CUDA_ERROR_OUT_OF_MEMORY;
	log[0] = 0;
	while (reader.result == CUDA_SUCCESS && reader.at->kind != FAKE_TOKEN_END)
		(void)top_level(&reader);
	if (reader.result == CUDA_SUCCESS && !reader.version_seen)
		(void)fail_parse(&reader, CUDA_ERROR_INVALID_PTX,
				 "fatal   : Missing .version directive at start of file\n");
	free(tokens);
	return reader.result;
}
