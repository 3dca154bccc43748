#include "opencl/program/native_program.h"

#include "opencl/driver/fault.h"
#include "opencl/program/kernel_name.h"
#include "opencl/program/program.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* Retains all programs, and makes no new program of them yet. */
static int wrap_program(struct backend_device *device, const uint64_t *natives, uint32_t count,
			struct backend_program **program_out, struct backend_fault *fault_out)
{
	struct backend_program *program = calloc(1, sizeof(*program));
	if (!program)
		return opencl_no_memory(fault_out, "a program");
	program->device = device;
	program->references = 1;
	program->binary = calloc(1, sizeof(*program->binary));
	program->natives = calloc(count, sizeof(cl_program));
	if (!program->binary || !program->natives) {
		opencl_program_drop(program);
		return opencl_no_memory(fault_out, "a program");
	}
	program->binary->payload_count = 1; /* one payload for ranges of all dimensions */
	for (uint32_t i = 0; i < count; i++) {
		cl_program native = (cl_program)(uintptr_t)natives[i];
		cl_context context = NULL;
		cl_int code = device->cl->GetProgramInfo(native, CL_PROGRAM_CONTEXT,
							 sizeof(cl_context), &context, NULL);
		if (code == CL_SUCCESS && context == device->context)
			code = device->cl->RetainProgram(native);
		if (code == CL_SUCCESS && context == device->context) {
			program->natives[program->native_count++] = native;
			continue;
		}
		opencl_program_drop(program);
		if (code != CL_SUCCESS)
			return opencl_fault_code(fault_out, code, "query a program");
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "program %u belongs to another OpenCL context", i);
		return -EINVAL;
	}
	*program_out = program;
	return 0;
}

int opencl_native_program_wrap(struct backend_device *device, cl_program native,
			       struct backend_program **program_out,
			       struct backend_fault *fault_out)
{
	const uint64_t one = (uint64_t)(uintptr_t)native;
	int error = wrap_program(device, &one, 1, program_out, fault_out);
	if (error == 0)
		(*program_out)->programs[0] = native;
	return error;
}

static int native_program_type(const struct backend_device *device, cl_program program,
			       cl_program_binary_type *type_out, struct backend_fault *fault_out)
{
	cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
	cl_int code = device->cl->GetProgramBuildInfo(program, device->id, CL_PROGRAM_BINARY_TYPE,
						      sizeof(type), &type, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a program");
	*type_out = type;
	return 0;
}

/* Puts the end of the compiler's or linker's log into the fault. */
static int native_build_failed(const struct backend_device *device, cl_program program, cl_int code,
			       const char *what, struct backend_fault *fault_out)
{
	char log[4096] = "";
	size_t bytes = 0;
	int error = opencl_fault_code(fault_out, code, what);
	if (!program ||
	    device->cl->GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG,
					    sizeof(log) - 1, log, &bytes) != CL_SUCCESS ||
	    !log[0])
		return error;
	size_t used = strlen(fault_out->text);
	(void)snprintf(fault_out->text + used, sizeof(fault_out->text) - used, ": %s", log);
	return error;
}

static int compile_native(const struct backend_device *device, cl_program program,
			  struct backend_fault *fault_out)
{
	cl_int code =
		device->cl->CompileProgram(program, 1, &device->id, "", 0, NULL, NULL, NULL, NULL);
	return code == CL_SUCCESS ? 0
				  : native_build_failed(device, program, code,
							"compile the program", fault_out);
}

static int build_native(const struct backend_device *device, cl_program program,
			struct backend_fault *fault_out)
{
	cl_int code = device->cl->BuildProgram(program, 1, &device->id, "", NULL, NULL);
	return code == CL_SUCCESS
		       ? 0
		       : native_build_failed(device, program, code, "build the program", fault_out);
}

static int link_native_programs(struct backend_program *program, struct backend_fault *fault_out)
{
	const struct backend_device *device = program->device;
	cl_int code = CL_SUCCESS;
	cl_program linked =
		device->cl->LinkProgram(device->context, 1, &device->id, "", program->native_count,
					program->natives, NULL, NULL, &code);
	program->programs[0] = linked;
	if (linked && code == CL_SUCCESS)
		return 0;
	return native_build_failed(device, linked, code ? code : CL_LINK_PROGRAM_FAILURE,
				   "link the programs", fault_out);
}

/* J10, J11: checks whether a program of this type may get that state. */
static int native_program_check_state(enum backend_program_state state, cl_program_binary_type type,
				      struct backend_fault *fault_out)
{
	if (type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE && state != BACKEND_PROGRAM_EXECUTABLE) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the OpenCL program is executable already");
		return -EINVAL;
	}
	if (type != CL_PROGRAM_BINARY_TYPE_NONE && state == BACKEND_PROGRAM_INPUT) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the OpenCL program has a binary already");
		return -EINVAL;
	}
	return 0;
}

/* A single program that has only a source is built as a whole. */
static int make_executable(struct backend_program *program, const cl_program_binary_type *types,
			   struct backend_fault *fault_out)
{
	const struct backend_device *device = program->device;
	bool alone = program->native_count == 1;
	int error = 0;
	if (alone && types[0] == CL_PROGRAM_BINARY_TYPE_NONE)
		error = build_native(device, program->natives[0], fault_out);
	if (error < 0)
		return error;
	if (alone && (types[0] == CL_PROGRAM_BINARY_TYPE_NONE ||
		      types[0] == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)) {
		program->programs[0] = program->natives[0];
		return 0;
	}
	for (uint32_t i = 0; i < program->native_count; i++) {
		if (types[i] == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
			opencl_fault_words(fault_out, STATUS_INVALID,
					   "program %u is executable: it cannot be linked", i);
			return -EINVAL;
		}
		error = types[i] == CL_PROGRAM_BINARY_TYPE_NONE
				? compile_native(device, program->natives[i], fault_out)
				: 0;
		if (error < 0)
			return error;
	}
	return link_native_programs(program, fault_out);
}

/* Inputs and objects consist of one program each. */
static int native_program_make_part(struct backend_program *program,
				    enum backend_program_state state, cl_program_binary_type type,
				    struct backend_fault *fault_out)
{
	const struct backend_device *device = program->device;
	if (program->native_count != 1) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "only what becomes executable is linked");
		return -EINVAL;
	}
	int error = state == BACKEND_PROGRAM_OBJECT && type == CL_PROGRAM_BINARY_TYPE_NONE
			    ? compile_native(device, program->natives[0], fault_out)
			    : 0;
	if (error < 0)
		return error;
	program->programs[0] = program->natives[0];
	return 0;
}

int opencl_native_program(struct backend_device *device, enum backend_program_state state,
			  const uint64_t *natives, uint32_t count,
			  struct backend_program **program_out, struct backend_fault *fault_out)
{
	struct backend_program *program = NULL;
	int error = wrap_program(device, natives, count, &program, fault_out);
	if (error < 0 || !program)
		return error;
	CLEANUP(free_pointer) cl_program_binary_type *types = calloc(count, sizeof(*types));
	if (!types) {
		opencl_program_drop(program);
		return opencl_no_memory(fault_out, "a program");
	}
	for (uint32_t i = 0; error == 0 && i < count; i++) {
		error = native_program_type(device, program->natives[i], &types[i], fault_out);
		if (error == 0)
			error = native_program_check_state(state, types[i], fault_out);
	}
	if (error == 0 && state == BACKEND_PROGRAM_EXECUTABLE)
		error = make_executable(program, types, fault_out);
	else if (error == 0)
		error = native_program_make_part(program, state, types[0], fault_out);
	if (error < 0)
		opencl_program_drop(program);
	else
		*program_out = program;
	return error;
}

int opencl_native_program_kernels(const struct backend_program *program, char **names_out,
				  struct backend_fault *fault_out)
{
	const struct opencl_library *cl = program->device->cl;
	size_t bytes = 0;

	cl_int code =
		cl->GetProgramInfo(program->programs[0], CL_PROGRAM_KERNEL_NAMES, 0, NULL, &bytes);
	CLEANUP(free_pointer) char *names = calloc(1, bytes + 2);
	if (!names)
		return opencl_no_memory(fault_out, "a program");
	if (code == CL_SUCCESS && bytes > 0)
		code = cl->GetProgramInfo(program->programs[0], CL_PROGRAM_KERNEL_NAMES, bytes,
					  names, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "list a program's kernels");
	/* "a;b" to "a", "b", "". */
	char *rest = names, *to = names;
	for (char *name; (name = strsep(&rest, ";")) && *name;) {
		opencl_kernel_name_restore(name);
		size_t length = strlen(name) + 1;
		memmove(to, name, length);
		to += length;
	}
	*to = '\0';
	*names_out = TAKE(names);
	return 0;
}
