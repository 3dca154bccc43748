/* Builds programs in the helper's child: source to binary. A portable source is compiled once per
 * number of dimensions that is asked for (see program/binary.h), unless no part of it depends on
 * that number. */
#include "opencl/program/build.h"

#include "build_log.h"
#include "opencl/program/argument_types.h"
#include "opencl/driver/aspects.h"
#include "opencl/driver/fault.h"
#include "opencl/program/kernel_name.h"
#include "opencl/program/long_name.h"
#include "opencl/driver/log.h"
#include "opencl/driver/missing.h"
#include "opencl/driver/pocl.h"
#include "opencl/program/program.h"
#include "opencl/program/spirv.h"
#include "portable_check.h"
#include "portable_names.h"
#include "portable_prelude.h"
#include "portable_words.h"
#include "status.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void opencl_build_fini(struct opencl_build *build)
{
	opencl_binary_fini(&build->binary);
	if (build->program)
		(void)build->cl->ReleaseProgram(build->program);
	free(build->own_source);
}

static const char *build_prelude(const struct opencl_build *build)
{
	return build->kind == BACKEND_SOURCE_PORTABLE ? portable_prelude_opencl : "";
}

/* "#line" makes the compiler's line numbers those of the user's text, whatever precedes it. */
int opencl_build_create(struct opencl_build *build, struct backend_fault *fault_out)
{
	static const char line[] = "#line 1 \"kernel\"\n";
	const char *prelude = build_prelude(build);
	cl_int code = CL_SUCCESS;

	if (build->kind == BACKEND_SOURCE_SPIRV) {
		build->program = build->cl->CreateProgramWithIL(build->context, build->source,
								build->source_bytes, &code);
		return build->program ? 0 : opencl_fault_code(fault_out, code, "take the module");
	}
	CLEANUP(free_pointer)
	char *names =
		opencl_long_name_defines(build->source, build->source_bytes, &build->name_lines);
	if (!names)
		return opencl_no_memory(fault_out, "a build");
	const char *parts[] = {prelude, names, line, build->source};
	const size_t sizes[] = {strlen(prelude), strlen(names), sizeof(line) - 1,
				build->source_bytes};
	build->program = build->cl->CreateProgramWithSource(build->context, 4, parts, sizes, &code);
	return build->program ? 0 : opencl_fault_code(fault_out, code, "take the source");
}

/* The number of lines before the user's text, with the "#line" itself. */
static unsigned long lines_before(const struct opencl_build *build)
{
	unsigned long lines = build->name_lines + 1;

	for (const char *at = build_prelude(build); (at = strchr(at, '\n')); at++)
		lines++;
	return lines;
}

/* Takes the compiler's log, cut off, unless there is a log already. */
static void opencl_take_log(struct opencl_build *build)
{
	size_t size = 0;

	if (build->log ||
	    build->cl->GetProgramBuildInfo(build->program, build->device, CL_PROGRAM_BUILD_LOG, 0,
					   NULL, &size) != CL_SUCCESS ||
	    size <= 1)
		return;
	char *log = calloc(1, size + 1);
	if (!log)
		return;
	if (build->cl->GetProgramBuildInfo(build->program, build->device, CL_PROGRAM_BUILD_LOG,
					   size, log, NULL) != CL_SUCCESS)
		log[0] = '\0';
	if (build->kind != BACKEND_SOURCE_SPIRV)
		opencl_log_renumber(log, lines_before(build));
	build->log = log;
	char *shown = build->kind != BACKEND_SOURCE_SPIRV
			      ? build_log_show_lines(log, build->source, build->source_bytes)
			      : NULL;
	if (shown) {
		free(log);
		build->log = shown;
	}
	if (strlen(build->log) >= BACKEND_LOG_BYTES_MAX)
		build->log[BACKEND_LOG_BYTES_MAX - 1] = '\0';
}

/* Removes the option if it stands alone between spaces. */
static void remove_option(char *options, const char *option)
{
	const size_t length = strlen(option);

	for (char *at = strstr(options, option); at; at = strstr(at + length, option)) {
		bool begins = at == options || at[-1] == ' ';
		if (begins && (at[length] == ' ' || at[length] == '\0'))
			memset(at, ' ', length);
	}
}

void opencl_build_plain_options(char *options)
{
	for (; *options; options++)
		if (isspace((unsigned char)*options))
			*options = ' ';
}

/*
 * The options include arg-info: without it a driver keeps no facts of the arguments, and a wrong
 * argument could not be detected. Scratch memory of group functions has a word for each work-item:
 * portable_opencl_groups.cl of the prelude. Sub-groups follow the device's facts, so that the
 * program's macros and the kernels' abilities agree. Another macro states whether a version of the
 * language was requested, because compilers are stricter then (portable_stream.inc).
 */
int opencl_build_options(const struct opencl_build *build, uint32_t dimensions, char **options_out,
			 struct backend_fault *fault_out)
{
	bool portable = build->kind == BACKEND_SOURCE_PORTABLE;
	bool sub_groups = portable && build->facts->sub_group_size_count > 0;
	bool version = portable && build->options && strstr(build->options, "-cl-std=");
	char define[96] = "";

	if (dimensions > 0)
		(void)snprintf(define, sizeof(define),
			       "-DSYCL_DIMENSIONS=%u -DSYCL_MAX_GROUP_=%llu", dimensions,
			       (unsigned long long)build->facts->max_work_group_size);
	if (asprintf(options_out, "-cl-kernel-arg-info %s %s %s %s %s", define,
		     build->checks ? "-DSYCL_CHECKS_" : "",
		     sub_groups ? "-DSYCL_DEVICE_SUB_GROUPS_" : "",
		     version ? "-DSYCL_VERSION_ASKED_" : "",
		     build->options ? build->options : "") < 0) {
		*options_out = NULL;
		return opencl_no_memory(fault_out, "a build");
	}
	opencl_build_plain_options(*options_out);
	remove_option(*options_out, PORTABLE_CHECK_OPTION);
	if (build->needs_optimiser)
		remove_option(*options_out, "-cl-opt-disable");
	return 0;
}

int opencl_build_result(struct opencl_build *build, cl_int code, const char *what,
			struct backend_fault *fault_out)
{
	opencl_take_log(build);
	if (code == CL_SUCCESS)
		return 0;
	int error = opencl_fault_code(fault_out, code, what);
	if (code != CL_BUILD_PROGRAM_FAILURE && code != CL_COMPILE_PROGRAM_FAILURE &&
	    code != CL_LINK_PROGRAM_FAILURE)
		return error;
	const char *missing = opencl_missing(build->log);
	if (missing) {
		opencl_fault_words(fault_out, STATUS_KERNEL_NOT_SUPPORTED,
				   "the source needs %s, which %.100s lacks", missing,
				   build->facts->name);
		fault_out->native_code = code;
		return -EOPNOTSUPP;
	}
	(void)snprintf(fault_out->text, sizeof(fault_out->text), "%s; see the build log",
		       code == CL_LINK_PROGRAM_FAILURE ? "the objects do not link"
						       : "the source does not compile");
	return error;
}

static int compile_source(struct opencl_build *build, uint32_t dimensions,
			  struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) char *options = NULL;

	int error = opencl_build_options(build, dimensions, &options, fault_out);
	if (error < 0)
		return error;
	cl_int code =
		build->cl->BuildProgram(build->program, 1, &build->device, options, NULL, NULL);
	return opencl_build_result(build, code, "build the program", fault_out);
}

static int take_payload(struct opencl_build *build, uint32_t dimensions,
			struct backend_fault *fault_out)
{
	struct opencl_payload *payload =
		&build->binary.payloads[dimensions > 0 ? dimensions - 1 : 0];
	size_t size = 0;

	cl_int code = build->cl->GetProgramInfo(build->program, CL_PROGRAM_BINARY_SIZES,
						sizeof(size), &size, NULL);
	if (code != CL_SUCCESS || size == 0)
		return opencl_fault_code(fault_out, code ? code : CL_INVALID_PROGRAM_EXECUTABLE,
					 "get the binary");
	payload->bytes = malloc(size);
	if (!payload->bytes)
		return opencl_no_memory(fault_out, "a build");
	payload->count = size;
	build->binary.payload_count++;
	if (dimensions > 0)
		build->binary.dimensions |= 1u << (dimensions - 1);
	code = build->cl->GetProgramInfo(build->program, CL_PROGRAM_BINARIES,
					 sizeof(payload->bytes), &payload->bytes, NULL);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "get the binary");
}

/* Takes the facts of a kernel's arguments from its SPIR-V module, which must describe as many
 * arguments as the driver. */
static int describe_module(const struct opencl_build *build, struct opencl_binary_kernel *described)
{
	uint32_t count = 0;
	int error = opencl_spirv_arguments(build->source, build->source_bytes, described->name,
					   described->arguments, described->argument_count, &count);

	return error < 0 ? error : count == described->argument_count ? 0 : -EINVAL;
}

static int describe_kernel(const struct opencl_build *build, cl_kernel kernel,
			   struct opencl_binary_kernel *described)
{
	size_t size = 0;
	cl_uint count = 0;

	if (build->cl->GetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size) !=
		    CL_SUCCESS ||
	    build->cl->GetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL) !=
		    CL_SUCCESS)
		return -EIO;
	described->name = calloc(1, size + 1);
	described->arguments = calloc(count ? count : 1, sizeof(*described->arguments));
	if (!described->name || !described->arguments)
		return -ENOMEM;
	if (build->cl->GetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, described->name,
				     NULL) != CL_SUCCESS)
		return -EIO;
	opencl_kernel_name_restore(described->name);
	described->argument_count = count;
	for (cl_uint i = 0; i < count; i++) {
		opencl_argument_facts(build->cl, kernel, i, build->facts->address_bits,
				      &described->arguments[i]);
		opencl_kernel_name_restore(described->arguments[i].name);
	}
	return build->kind == BACKEND_SOURCE_SPIRV ? describe_module(build, described) : 0;
}

static int opencl_describe_kernels(struct opencl_build *build, struct backend_fault *fault_out)
{
	cl_uint count = 0;
	int error = 0;

	if (build->cl->CreateKernelsInProgram(build->program, 0, NULL, &count) != CL_SUCCESS ||
	    count == 0)
		return 0; /* functions only: a binary without kernels */
	if (count > OPENCL_BINARY_KERNELS_MAX) {
		opencl_fault_words(fault_out, STATUS_BUILD, "%u kernels; %u are allowed", count,
				   OPENCL_BINARY_KERNELS_MAX);
		return -EINVAL;
	}
	CLEANUP(free_pointer) cl_kernel *kernels = calloc(count, sizeof(cl_kernel));
	build->binary.kernels = calloc(count, sizeof(*build->binary.kernels));
	if (!kernels || !build->binary.kernels)
		return opencl_no_memory(fault_out, "a build");
	cl_int code = build->cl->CreateKernelsInProgram(build->program, count, kernels, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "make the kernels");
	build->binary.kernel_count = count;
	for (cl_uint i = 0; i < count; i++) {
		if (error == 0)
			error = describe_kernel(build, kernels[i], &build->binary.kernels[i]);
		(void)build->cl->ReleaseKernel(kernels[i]);
	}
	if (error < 0)
		opencl_fault_words(fault_out, status_from_errno(error),
				   "the kernels cannot be described");
	return error;
}

/*
 * PoCL makes the built-in kernels of a program only when the program is built. By the standard they
 * are ready without a build, and a build may fail with a code other than that of a failed
 * compilation. Debian 12's package of PoCL lists kernels whose sources it does not install.
 */
static int build_builtin(struct opencl_build *build, struct backend_fault *fault_out)
{
	cl_int code = CL_SUCCESS;
	char *names = strndup(build->source, build->source_bytes);
	if (!names)
		return opencl_no_memory(fault_out, "a build");

	build->binary.is_builtin = true;
	build->binary.payload_count = 1;
	build->binary.payloads[0] = (struct opencl_payload){.bytes = names, .count = strlen(names)};
	build->program = build->cl->CreateProgramWithBuiltInKernels(build->context, 1,
								    &build->device, names, &code);
	if (build->program)
		code = build->cl->BuildProgram(build->program, 1, &build->device,
					       "-cl-kernel-arg-info", NULL, NULL);
	if (build->program && code != CL_BUILD_PROGRAM_FAILURE)
		return opencl_describe_kernels(build, fault_out);
	int error = opencl_fault_code(fault_out, code, "make these built-in kernels");
	fault_out->status = STATUS_BUILD;
	return error;
}

/* True if the source may use a name of the prelude whose meaning depends on the number of
 * dimensions. A source that composes such a name in another way does not compile. */
bool opencl_build_needs_dimensions(const struct opencl_build *build)
{
	return build->kind == BACKEND_SOURCE_PORTABLE &&
	       (memmem(build->source, build->source_bytes, "sycl_", 5) ||
		memmem(build->source, build->source_bytes, "SYCL_DIMENSIONS", 15));
}

int opencl_build_take(struct opencl_build *build, uint32_t dimensions,
		      struct backend_fault *fault_out)
{
	int error = build->binary.kernels ? 0 : opencl_describe_kernels(build, fault_out);
	return error < 0 ? error : take_payload(build, dimensions, fault_out);
}

static int opencl_build_variant(struct opencl_build *build, uint32_t dimensions,
				struct backend_fault *fault_out)
{
	int error = opencl_build_create(build, fault_out);

	if (error == 0)
		error = compile_source(build, dimensions, fault_out);
	if (error == 0)
		error = opencl_build_take(build, dimensions, fault_out);
	if (build->program)
		(void)build->cl->ReleaseProgram(build->program);
	build->program = NULL;
	return error;
}

static int opencl_build_variants(struct opencl_build *build, struct backend_fault *fault_out)
{
	int error = 0;

	if (!opencl_build_needs_dimensions(build))
		return opencl_build_variant(build, 0, fault_out);
	for (uint32_t dimensions = 1; error == 0 && dimensions <= OPENCL_VARIANTS; dimensions++)
		if (!build->dimensions || build->dimensions >> (dimensions - 1) & 1)
			error = opencl_build_variant(build, dimensions, fault_out);
	return error;
}

int opencl_build_try(struct opencl_build *build,
		     int (*make)(struct opencl_build *build, struct backend_fault *fault_out),
		     struct backend_fault *fault_out)
{
	struct backend_fault second = {0};
	size_t bytes = 0;

	int error = make(build, fault_out);
	if (error == 0 || build->kind != BACKEND_SOURCE_PORTABLE ||
	    fault_out->status != STATUS_BUILD)
		return error;
	CLEANUP(free_pointer) char *log = NULL;
	char *own = portable_names_own(build->source, build->source_bytes, &bytes);
	if (!own)
		return error;
	const char *first = build->source;
	size_t first_bytes = build->source_bytes;
	log = TAKE(build->log);
	opencl_binary_fini(&build->binary);
	build->source = build->own_source = own;
	build->source_bytes = bytes;
	if (make(build, &second) == 0) {
		if (build->log)
			portable_names_restore(build->log);
		return 0;
	}
	/* This log is of the source without changes. */
	free(build->log);
	build->log = TAKE(log);
	build->source = first;
	build->source_bytes = first_bytes;
	return error;
}

/*
 * Checking mode: builds the source once more, with checks, and takes that binary. The log stays
 * that of the user's own text. If the checks do not compile, because a macro hides what is indexed,
 * the binary is the one without them, and the log says so.
 */
static void opencl_build_checks(struct opencl_build *build)
{
	struct backend_fault unused = {0};
	CLEANUP(opencl_build_fini) struct opencl_build checked = *build;

	checked.binary = (struct opencl_binary){0};
	checked.log = NULL;
	checked.checks = true;
	checked.own_source = NULL;
	size_t bytes = 0;
	CLEANUP(free_pointer)
	char *text =
		portable_check_rewrite(build->source, build->source_bytes, build->options, &bytes);
	checked.source = text;
	checked.source_bytes = bytes;
	if (text && opencl_build_try(&checked, opencl_build_variants, &unused) == 0) {
		const struct opencl_binary plain = build->binary;
		build->binary = checked.binary;
		build->binary.has_checks = true;
		checked.binary = plain;
	} else {
		build_log_add(&build->log,
			      "warning: the accesses of this source cannot be checked\n");
	}
	free(checked.log);
}

static int opencl_build_source(struct opencl_build *build, struct backend_fault *fault_out)
{
	if (build->source_bytes > 0)
		return opencl_build_try(build, opencl_build_variants, fault_out);
	/* For OpenCL, a length of 0 means "ended by 0", which this source is not. */
	opencl_fault_words(fault_out, STATUS_BUILD, "the source is empty");
	return -EINVAL;
}

/*
 * The context is kept until the backend is closed. With its last context, PoCL frees the library of
 * built-in functions piece by piece, which takes a tenth of a cold build. The helper's child would
 * only reply afterwards. It ends without freeing the library.
 */
static int open_context(struct opencl_build *build, struct backend *backend, uint32_t device,
			struct backend_fault *fault_out)
{
	cl_int code = CL_SUCCESS;

	if (backend->build_context && backend->build_device != device)
		opencl_build_close(backend);
	if (!backend->build_context)
		backend->build_context =
			build->cl->CreateContext(NULL, 1, &build->device, NULL, NULL, &code);
	backend->build_device = device;
	build->context = backend->build_context;
	return build->context ? 0 : opencl_fault_code(fault_out, code, "open the device");
}

void opencl_build_close(struct backend *backend)
{
	if (backend->build_context)
		(void)backend->cl.ReleaseContext(backend->build_context);
	backend->build_context = NULL;
}

int opencl_build_open(struct opencl_build *build, struct backend *backend, uint32_t device,
		      struct backend_fault *fault_out)
{
	if (!backend->enumerated || device >= backend->device_count) {
		opencl_fault_words(fault_out, STATUS_INVALID, "OpenCL has no device %u", device);
		return -EINVAL;
	}
	opencl_pocl_load_nothing();
	build->cl = &backend->cl;
	build->facts = &backend->devices[device];
	build->device = backend->device_ids[device];
	const bool is_pocl = strcmp(backend->platforms[build->facts->platform].name,
				    "Portable Computing Language") == 0;
	build->needs_optimiser =
		is_pocl && opencl_pocl_needs_optimiser(build->facts->driver_version);
	if (build->kind == BACKEND_SOURCE_SPIRV &&
	    !(build->facts->features & BACKEND_FEATURE_SPIRV)) {
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "%.100s takes no SPIR-V", build->facts->name);
		return -EOPNOTSUPP;
	}
	if (build->kind != BACKEND_SOURCE_OPENCL_C && build->kind != BACKEND_SOURCE_PORTABLE &&
	    build->kind != BACKEND_SOURCE_BUILTIN && build->kind != BACKEND_SOURCE_SPIRV) {
		opencl_fault_words(
			fault_out, STATUS_FEATURE_NOT_SUPPORTED,
			"an OpenCL device builds OpenCL C, portable sources and SPIR-V only");
		return -EINVAL;
	}
	return open_context(build, backend, device, fault_out);
}

/* Two sources may have equal programs for the numbers of dimensions that were built. */
static int set_identity(struct opencl_build *build, const char *source, size_t source_bytes)
{
	struct opencl_binary *binary = &build->binary;
	const char *options = build->options ? build->options : "";
	const size_t options_bytes = strlen(options) + 1;

	if (binary->dimensions == 0 || binary->dimensions == OPENCL_DIMENSIONS_ALL)
		return 0;
	binary->identity = malloc(options_bytes + source_bytes);
	if (!binary->identity)
		return -ENOMEM;
	memcpy(binary->identity, options, options_bytes);
	memcpy(binary->identity + options_bytes, source, source_bytes);
	binary->identity_bytes = options_bytes + source_bytes;
	return 0;
}

int opencl_build(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		 const char *source, size_t source_bytes, const char *options, void **binary_out,
		 size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out)
{
	return opencl_build_dimensions(backend, device, kind, source, source_bytes, options, 0,
				       binary_out, binary_bytes_out, log_out, fault_out);
}

int opencl_build_dimensions(struct backend *backend, uint32_t device, enum backend_source_kind kind,
			    const char *source, size_t source_bytes, const char *options,
			    uint32_t dimensions, void **binary_out, size_t *binary_bytes_out,
			    char **log_out, struct backend_fault *fault_out)
{
	CLEANUP(opencl_build_fini)
	struct opencl_build build = {
		.kind = kind,
		.source = source,
		.options = options,
		.source_bytes = source_bytes,
		.dimensions = dimensions & OPENCL_DIMENSIONS_ALL,
	};

	*log_out = NULL;
	int error = opencl_build_open(&build, backend, device, fault_out);
	if (error == 0)
		error = kind == BACKEND_SOURCE_BUILTIN ? build_builtin(&build, fault_out)
						       : opencl_build_source(&build, fault_out);
	const bool checks = options && strstr(options, PORTABLE_CHECK_OPTION);
	if (kind == BACKEND_SOURCE_PORTABLE && error == 0 && checks)
		opencl_build_checks(&build);
	if (kind == BACKEND_SOURCE_PORTABLE &&
	    (checks || (error < 0 && fault_out->status == STATUS_BUILD)))
		build_log_add_words(&build.log, source, source_bytes);
	*log_out = build.log;
	if (error == 0) {
		if (kind != BACKEND_SOURCE_SPIRV)
			error = opencl_long_names_restore(&build.binary, source, source_bytes);
		if (error == 0)
			error = set_identity(&build, source, source_bytes);
		if (error == 0)
			error = opencl_binary_pack(&build.binary, binary_out, binary_bytes_out);
		if (error < 0)
			(void)opencl_no_memory(fault_out, "a build");
	}
	return error;
}
