#include "opencl_argument_types.h"
#include "opencl_fault.h"
#include "opencl_program.h"
#include "portable_prelude.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* What one build holds; freed on every path. */
struct build {
	const struct opencl_library *cl;
	cl_device_id device;
	cl_context context;
	cl_program program;
	struct opencl_binary binary;
};

static void build_cleanup(struct build *build)
{
	for (uint32_t i = 0; i < build->binary.kernel_count; i++) {
		free(build->binary.kernels[i].name);
		free(build->binary.kernels[i].arguments);
	}
	free(build->binary.kernels);
	free(build->binary.payload);
	if (build->program)
		(void)build->cl->ReleaseProgram(build->program);
	if (build->context)
		(void)build->cl->ReleaseContext(build->context);
}

static int out_of_memory(struct backend_fault *fault_out)
{
	opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION, "no memory");
	return -ENOMEM;
}

/* "#line" so that the compiler's line numbers are the user's own, whatever comes before. */
static int create_from_source(struct build *build, enum backend_source_kind kind, const char *source,
			      size_t source_bytes, struct backend_fault *fault_out)
{
	static const char line[] = "#line 1 \"kernel\"\n";
	const char *prelude = kind == BACKEND_SOURCE_PORTABLE ? portable_prelude_opencl : "";
	const char *parts[] = { prelude, line, source };
	const size_t sizes[] = { strlen(prelude), sizeof(line) - 1, source_bytes };
	cl_int code = CL_SUCCESS;

	/* A size of 0 would mean "ended by 0", which a source need not be. */
	if (source_bytes == 0) {
		opencl_fault_words(fault_out, STATUS_BUILD, "the source is empty");
		return -EINVAL;
	}
	build->program = build->cl->CreateProgramWithSource(build->context, 3, parts, sizes, &code);
	return build->program ? 0 : opencl_fault_code(fault_out, code, "take the source");
}

static int create_from_builtin(struct build *build, const char *names, size_t names_bytes, struct backend_fault *fault_out)
{
	cl_int code = CL_SUCCESS;
	char *text = strndup(names, names_bytes);
	if (!text)
		return out_of_memory(fault_out);

	build->binary.is_builtin = true;
	build->binary.payload = text;
	build->binary.payload_bytes = strlen(text);
	build->program = build->cl->CreateProgramWithBuiltInKernels(build->context, 1, &build->device, text, &code);
	/*
	 * PoCL makes kernels of it only when it is built; the standard has them ready and lets that fail, with another code
	 * than that of a build. PoCL as Debian 12 packages it lists kernels whose sources it does not install.
	 */
	if (build->program)
		code = build->cl->BuildProgram(build->program, 1, &build->device, "-cl-kernel-arg-info", NULL, NULL);
	if (build->program && code != CL_BUILD_PROGRAM_FAILURE)
		return 0;
	int error = opencl_fault_code(fault_out, code, "make these built-in kernels");
	fault_out->status = STATUS_BUILD;
	return error;
}

/* The compiler's words, cut off; NULL: none. */
static char *read_log(const struct build *build)
{
	size_t size = 0;

	if (!build->program ||
	    build->cl->GetProgramBuildInfo(build->program, build->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS ||
	    size <= 1)
		return NULL;
	char *log = calloc(1, size + 1);
	if (log && build->cl->GetProgramBuildInfo(build->program, build->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) !=
			   CL_SUCCESS)
		log[0] = '\0';
	if (log && size > BACKEND_LOG_BYTES_MAX)
		log[BACKEND_LOG_BYTES_MAX - 1] = '\0';
	return log;
}

static int compile(struct build *build, const char *options, struct backend_fault *fault_out)
{
	char *all = NULL;

	/* Without this a driver keeps nothing of the arguments, and a wrong one could not be told from a right one. */
	if (asprintf(&all, "-cl-kernel-arg-info %s", options ? options : "") < 0)
		return out_of_memory(fault_out);
	cl_int code = build->cl->BuildProgram(build->program, 1, &build->device, all, NULL, NULL);
	free(all);
	if (code == CL_SUCCESS)
		return 0;
	int error = opencl_fault_code(fault_out, code, "build the program");
	if (code == CL_BUILD_PROGRAM_FAILURE || code == CL_COMPILE_PROGRAM_FAILURE || code == CL_LINK_PROGRAM_FAILURE)
		(void)snprintf(fault_out->text, sizeof(fault_out->text), "the source does not compile; see the build log");
	return error;
}

static int take_binary(struct build *build, struct backend_fault *fault_out)
{
	size_t size = 0;

	cl_int code = build->cl->GetProgramInfo(build->program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL);
	if (code != CL_SUCCESS || size == 0)
		return opencl_fault_code(fault_out, code ? code : CL_INVALID_PROGRAM_EXECUTABLE, "get the binary");
	unsigned char *bytes = malloc(size);
	if (!bytes)
		return out_of_memory(fault_out);
	build->binary.payload = bytes;
	build->binary.payload_bytes = size;
	code = build->cl->GetProgramInfo(build->program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "get the binary");
}

static int describe_kernel(const struct build *build, cl_kernel kernel, uint32_t address_bits,
			   struct opencl_binary_kernel *described)
{
	size_t size = 0;
	cl_uint count = 0;

	if (build->cl->GetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size) != CL_SUCCESS ||
	    build->cl->GetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL) != CL_SUCCESS)
		return -EIO;
	described->name = calloc(1, size + 1);
	described->arguments = calloc(count ? count : 1, sizeof(*described->arguments));
	if (!described->name || !described->arguments)
		return -ENOMEM;
	if (build->cl->GetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, described->name, NULL) != CL_SUCCESS)
		return -EIO;
	described->argument_count = count;
	for (cl_uint i = 0; i < count; i++)
		opencl_argument_facts(build->cl, kernel, i, address_bits, &described->arguments[i]);
	return 0;
}

static int describe_kernels(struct build *build, uint32_t address_bits, struct backend_fault *fault_out)
{
	cl_uint count = 0;
	int error = 0;

	if (build->cl->CreateKernelsInProgram(build->program, 0, NULL, &count) != CL_SUCCESS || count == 0)
		return 0; /* functions only: a binary without kernels */
	if (count > OPENCL_BINARY_KERNELS_MAX) {
		opencl_fault_words(fault_out, STATUS_BUILD, "%u kernels; %u are allowed", count, OPENCL_BINARY_KERNELS_MAX);
		return -EINVAL;
	}
	CLEANUP(free_pointer) cl_kernel *kernels = calloc(count, sizeof(cl_kernel));
	build->binary.kernels = calloc(count, sizeof(*build->binary.kernels));
	if (!kernels || !build->binary.kernels)
		return out_of_memory(fault_out);
	cl_int code = build->cl->CreateKernelsInProgram(build->program, count, kernels, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "make the kernels");
	build->binary.kernel_count = count;
	for (cl_uint i = 0; i < count; i++) {
		if (error == 0)
			error = describe_kernel(build, kernels[i], address_bits, &build->binary.kernels[i]);
		(void)build->cl->ReleaseKernel(kernels[i]);
	}
	if (error < 0)
		opencl_fault_words(fault_out, status_from_errno(error), "the kernels cannot be described");
	return error;
}

int opencl_build(struct backend *backend, uint32_t device, enum backend_source_kind kind, const char *source,
		 size_t source_bytes, const char *options, void **binary_out, size_t *binary_bytes_out, char **log_out,
		 struct backend_fault *fault_out)
{
	CLEANUP(build_cleanup) struct build build = { .cl = &backend->cl };
	cl_int code = CL_SUCCESS;
	char *log = NULL;
	int error = 0;

	*log_out = NULL;
	if (!backend->enumerated || device >= backend->device_count) {
		opencl_fault_words(fault_out, STATUS_INVALID, "OpenCL has no device %u", device);
		return -EINVAL;
	}
	build.device = backend->device_ids[device];
	build.context = build.cl->CreateContext(NULL, 1, &build.device, NULL, NULL, &code);
	if (!build.context)
		return opencl_fault_code(fault_out, code, "open the device");

	if (kind == BACKEND_SOURCE_BUILTIN)
		error = create_from_builtin(&build, source, source_bytes, fault_out);
	else
		error = create_from_source(&build, kind, source, source_bytes, fault_out);
	if (error == 0 && kind != BACKEND_SOURCE_BUILTIN) {
		error = compile(&build, options, fault_out);
		log = read_log(&build);
	}
	if (error == 0)
		error = describe_kernels(&build, backend->devices[device].address_bits, fault_out);
	if (error == 0 && kind != BACKEND_SOURCE_BUILTIN)
		error = take_binary(&build, fault_out);
	if (error == 0) {
		error = opencl_binary_pack(&build.binary, binary_out, binary_bytes_out);
		if (error < 0)
			(void)out_of_memory(fault_out);
	}
	*log_out = log;
	return error;
}
