/*
 * Builds programs in the build helper's child, which has no context: the architecture comes from
 * the device's facts. A portable source is compiled once per number of dimensions. The compiler
 * needs as a constant which of CUDA's dimensions is SYCL's dimension 0. Each resulting text is
 * completed (program/ptx.h). CUDA C++ becomes code for the device, or PTX if NVRTC is older than
 * the device. PTX and binaries are checked and packed.
 */
#include "cuda/program/build.h"

#include "build_log.h"
#include "cuda/program/checked.h"
#include "cuda/program/compile.h"
#include "cuda/program/describe.h"
#include "cuda/program/launch.h"
#include "cuda/program/opencl.h"
#include "cuda/program/geometry.h"
#include "cuda/program/ptx.h"
#include "portable_check.h"
#include "portable_names.h"
#include "portable_prelude.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* The state of one build; freed on every path. */
struct build {
	struct cuda_nvrtc nvrtc;
	struct cuda_options options;
	struct cuda_binary binary;
	const char *source; /* ended by 0 */
	size_t source_bytes;
	bool relocatable; /* the result is an object, for the linker */
	bool checks;      /* the source has the checks of portable_check.h */
	char *log;
};

static void build_cleanup(struct build *build)
{
	cuda_options_fini(&build->options);
	cuda_binary_fini(&build->binary);
}

static int add_image(struct build *build, enum cuda_image_kind kind, const void *bytes,
		     size_t count, struct backend_fault *fault_out)
{
	return cuda_binary_add_image(&build->binary, kind, bytes, count) < 0
		       ? cuda_no_memory(fault_out, "a build")
		       : 0;
}

/* Kernels that launch kernels are refused. They need memory on the device of every other kernel,
 * and a way of waiting that this GPU does not have. */
static int refuse_launches(const void *code, size_t bytes, struct backend_fault *fault_out)
{
	static const char *const calls[] = {"cudaLaunchDevice", "cudaGetParameterBuffer",
					    "cudaCDP"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (memmem(code, bytes, calls[i], strlen(calls[i])))
			return cuda_fault_words(fault_out, -EOPNOTSUPP,
						STATUS_FEATURE_NOT_SUPPORTED,
						"kernels that launch kernels are not supported");
	return 0;
}

static int read_ptx(const char *text, size_t bytes, struct cuda_ptx **ptx_out,
		    struct backend_fault *fault_out)
{
	uint32_t line = 0;
	int error = cuda_ptx_parse(text, bytes, ptx_out, &line);

	if (error == -ENOMEM)
		return cuda_no_memory(fault_out, "a build");
	if (error == -E2BIG)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_BUILD,
			"more kernels than %u, or a kernel with more arguments than %u",
			CUDA_PTX_ENTRIES_MAX, CUDA_PARAMETERS_MAX);
	if (error < 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"line %u: this is not PTX for 64-bit addresses", line);
	return 0;
}

static int cuda_describe_kernels(struct build *build, const struct cuda_ptx *ptx, bool portable,
				 struct backend_fault *fault_out)
{
	int error = cuda_describe_ptx(&build->binary, ptx, portable);

	if (error == -EEXIST)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"two kernels of the source have one name");
	return error < 0 ? cuda_no_memory(fault_out, "a build") : 0;
}

/* PTX may have a 0 at its end. */
static int build_ptx(struct build *build, struct backend_fault *fault_out)
{
	CLEANUP(cuda_ptx_cleanup) struct cuda_ptx *ptx = NULL;
	size_t bytes = build->source_bytes;

	while (bytes > 0 && build->source[bytes - 1] == '\0')
		bytes--;
	build->binary.flags = CUDA_BINARY_NATIVE;
	int error = read_ptx(build->source, bytes, &ptx, fault_out);
	if (error == 0)
		error = refuse_launches(build->source, bytes, fault_out);
	if (error == 0)
		error = cuda_describe_kernels(build, ptx, false, fault_out);
	if (error == 0)
		error = add_image(build, CUDA_IMAGE_PTX, build->source, bytes, fault_out);
	if (error == 0)
		cuda_ptx_blank_shared(build->binary.images[0].bytes, ptx);
	return error;
}

static int build_binary(struct build *build, struct backend_fault *fault_out)
{
	enum cuda_image_kind kind = CUDA_IMAGE_CUBIN;
	int error = cuda_image_check(build->source, build->source_bytes, &kind);

	build->binary.flags = CUDA_BINARY_NATIVE;
	if (error == -ENOEXEC)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_BUILD,
			"this is a host program's wrapper of a fatbin, not the fatbin");
	if (error < 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"this is no cubin or fatbin, or it is cut off");
	error = refuse_launches(build->source, build->source_bytes, fault_out);
	return error < 0 ? error
			 : add_image(build, kind, build->source, build->source_bytes, fault_out);
}

/* An instance of a template gets the user's own expression as its name. */
static int name_expressions(struct build *build, const struct cuda_compiled *compiled,
			    struct backend_fault *fault_out)
{
	for (uint32_t e = 0; e < compiled->lowered_count; e++) {
		for (uint32_t i = 0; i < build->binary.kernel_count; i++) {
			struct cuda_binary_kernel *kernel = &build->binary.kernels[i];
			if (strcmp(kernel->symbol, compiled->lowered[e]) != 0)
				continue;
			free(kernel->name);
			kernel->name = strdup(build->options.expressions[e]);
			if (!kernel->name)
				return cuda_no_memory(fault_out, "a build");
		}
	}
	return 0;
}

static int build_cuda_cpp(struct build *build, struct backend_fault *fault_out)
{
	const struct cuda_compile_request request = {
		.nvrtc = &build->nvrtc,
		.prelude = "",
		.source = build->source,
		.options = &build->options,
		.relocatable = build->relocatable,
	};
	CLEANUP(cuda_ptx_cleanup) struct cuda_ptx *ptx = NULL;
	CLEANUP(cuda_compiled_fini) struct cuda_compiled compiled = {0};

	build->binary.flags = CUDA_BINARY_NATIVE;
	int error = cuda_compile(&request, &compiled, &build->log, fault_out);
	if (error == 0)
		error = read_ptx(compiled.ptx, compiled.ptx_bytes, &ptx, fault_out);
	if (error == 0)
		error = refuse_launches(compiled.ptx, compiled.ptx_bytes, fault_out);
	if (error == 0)
		error = cuda_describe_kernels(build, ptx, false, fault_out);
	if (error == 0)
		error = name_expressions(build, &compiled, fault_out);
	if (error < 0)
		return error;
	if (compiled.cubin)
		return add_image(build, CUDA_IMAGE_CUBIN, compiled.cubin, compiled.cubin_bytes,
				 fault_out);
	return add_image(build, CUDA_IMAGE_PTX, compiled.ptx, compiled.ptx_bytes, fault_out);
}

/* Checks that the parameters fit together with the record behind them. */
static int check_parameters(const struct build *build, const struct cuda_ptx *ptx,
			    struct backend_fault *fault_out)
{
	for (uint32_t i = 0; i < ptx->entry_count; i++) {
		const struct cuda_ptx_entry *entry = &ptx->entries[i];
		uint64_t bytes = 0;
		for (uint32_t p = 0; p < entry->parameter_count; p++) {
			uint64_t align = entry->parameters[p].align_bytes;
			bytes += align > 1 && bytes % align ? align - bytes % align : 0;
			bytes += entry->parameters[p].size_bytes;
		}
		if (entry->parameter_count >= CUDA_PARAMETERS_MAX ||
		    bytes > CUDA_PORTABLE_PARAMETER_BYTES_MAX)
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_BUILD,
				"kernel %.100s has %u arguments of %llu bytes; %u of %u are possible",
				build->binary.kernels[i].name, entry->parameter_count,
				(unsigned long long)bytes, CUDA_PARAMETERS_MAX - 1,
				CUDA_PORTABLE_PARAMETER_BYTES_MAX);
	}
	return 0;
}

static int complete_ptx(struct build *build, const struct cuda_compiled *compiled,
			struct cuda_ptx *ptx, unsigned dimensions, struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) const char **names = calloc(ptx->entry_count + 1u, sizeof(char *));
	CLEANUP(free_pointer) char *text = NULL;
	size_t bytes = 0;
	uint32_t wrong = 0;

	if (!names)
		return cuda_no_memory(fault_out, "a build");
	for (uint32_t i = 0; i < ptx->entry_count; i++)
		names[i] = build->binary.kernels[i].symbol;
	int error = cuda_ptx_complete(compiled->ptx, compiled->ptx_bytes, ptx, dimensions, names,
				      &text, &bytes, &wrong);
	if (error == -EINVAL)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_BUILD,
			"kernel %.100s requires work-groups that no device has: 1024 work-items, 64 in "
			"the first of three dimensions are the most",
			names[wrong]);
	if (error < 0)
		return cuda_no_memory(fault_out, "a build");
	for (uint32_t i = 0; i < ptx->entry_count; i++)
		memcpy(build->binary.kernels[i].required, ptx->entries[i].required,
		       sizeof(build->binary.kernels[i].required));
	return add_image(build, CUDA_IMAGE_PTX, text, bytes, fault_out);
}

/* A source may test the number of dimensions, but must have the same kernels with the same
 * arguments for each number. */
static int check_same_kernels(struct build *build, const struct cuda_ptx *ptx,
			      struct backend_fault *fault_out)
{
	CLEANUP(cuda_binary_fini) struct cuda_binary other = {0};
	bool same = ptx->entry_count == build->binary.kernel_count;

	int error = cuda_describe_ptx(&other, ptx, true);
	if (error == -ENOMEM)
		return cuda_no_memory(fault_out, "a build");
	for (uint32_t i = 0; error == 0 && same && i < other.kernel_count; i++) {
		struct cuda_binary_kernel *a = &build->binary.kernels[i];
		const struct cuda_binary_kernel *b = &other.kernels[i];
		a->waits = a->waits && b->waits; /* whatever the launch's dimensions are */
		same = strcmp(a->symbol, b->symbol) == 0 && a->argument_count == b->argument_count;
		for (uint32_t k = 0; same && k < a->argument_count; k++)
			same = a->arguments[k].facts.kind == b->arguments[k].facts.kind &&
			       a->arguments[k].facts.size_bytes == b->arguments[k].facts.size_bytes;
	}
	if (error == 0 && same)
		return 0;
	return cuda_fault_words(
		fault_out, -EINVAL, STATUS_BUILD,
		"the source has other kernels, or others' arguments, for other numbers of dimensions");
}

static int cuda_build_variant(struct build *build, unsigned dimensions,
			      struct backend_fault *fault_out)
{
	const struct cuda_compile_request request = {
		.nvrtc = &build->nvrtc,
		.prelude = portable_prelude_cuda,
		.source = build->source,
		.options = &build->options,
		.dimensions = dimensions,
		.relocatable = build->relocatable,
		.checks = build->checks,
	};
	CLEANUP(cuda_ptx_cleanup) struct cuda_ptx *ptx = NULL;
	CLEANUP(cuda_compiled_fini) struct cuda_compiled compiled = {0};

	int error = cuda_compile(&request, &compiled, &build->log, fault_out);
	if (error == 0) {
		portable_names_restore(compiled.ptx);
		compiled.ptx_bytes = strlen(compiled.ptx);
		error = read_ptx(compiled.ptx, compiled.ptx_bytes, &ptx, fault_out);
	}
	if (error == 0)
		error = dimensions == 1 ? cuda_describe_kernels(build, ptx, true, fault_out)
					: check_same_kernels(build, ptx, fault_out);
	if (error == 0)
		error = check_parameters(build, ptx, fault_out);
	if (error < 0 || !ptx)
		return error;
	ptx->relocatable = build->relocatable;
	return complete_ptx(build, &compiled, ptx, dimensions, fault_out);
}

static int cuda_build_variants(struct build *build, struct backend_fault *fault_out)
{
	int error = 0;

	for (unsigned dimensions = 1; error == 0 && dimensions <= CUDA_IMAGES_MAX; dimensions++)
		error = cuda_build_variant(build, dimensions, fault_out);
	return error;
}

/* Builds a portable source. Its own names get prefixes if functions of CUDA have the same names
 * (portable_names.h). If that does not compile, the source is built without prefixes. */
static int build_portable(struct build *build, struct backend_fault *fault_out)
{
	size_t bytes = 0;
	CLEANUP(free_pointer)
	char *own = portable_names_own(build->source, build->source_bytes, &bytes);
	const char *source = build->source;

	if (!own)
		return cuda_build_variants(build, fault_out);
	build->source = own;
	int error = cuda_build_variants(build, fault_out);
	build->source = source;
	if (error == 0 && build->log)
		portable_names_restore(build->log);
	if (error == 0 || fault_out->status != STATUS_BUILD)
		return error;
	free_pointer(&build->log);
	cuda_binary_fini(&build->binary);
	*fault_out = (struct backend_fault){0};
	return cuda_build_variants(build, fault_out);
}

/* Builds the source with checks. Its log is not kept. */
static int build_checked(struct build *checked, const struct build *plain, const char *options)
{
	struct backend_fault unused = {0};
	size_t bytes = 0;
	CLEANUP(free_pointer)
	char *text = portable_check_rewrite(plain->source, plain->source_bytes, options, &bytes);

	if (!text)
		return -EINVAL;
	checked->source = text;
	checked->source_bytes = bytes;
	int error = build_portable(checked, &unused);
	free_pointer(&checked->log);
	return error < 0 ? error
			 : cuda_checked_mark(&checked->binary, &plain->binary, plain->source,
					     plain->source_bytes);
}

/*
 * Checking mode: builds the source once more, with checks, and takes that binary. The log stays
 * that of the user's own text. If the checks do not compile, because a macro hides what is indexed,
 * the binary is the one without them, and the log says so.
 */
static void cuda_build_checks(struct build *build, const char *options)
{
	struct build checked = *build;

	checked.binary = (struct cuda_binary){0};
	checked.log = NULL;
	checked.checks = true;
	if (!build->relocatable && build_checked(&checked, build, options) == 0) {
		cuda_binary_fini(&build->binary);
		build->binary = checked.binary;
		return;
	}
	cuda_binary_fini(&checked.binary);
	build_log_add(&build->log,
		      build->relocatable
			      ? "warning: the accesses of an object are not checked\n"
			      : "warning: the accesses of this source cannot be checked\n");
}

static int cuda_build_source(struct backend *backend, const struct cuda_device_facts *facts,
			     struct build *build, bool portable, const char *options,
			     struct backend_fault *fault_out)
{
	if (strlen(build->source) != build->source_bytes)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"the source has a 0 in it");
	int error = cuda_options_parse(options, portable, &build->options);
	if (error == -ENOMEM)
		return cuda_no_memory(fault_out, "a build");
	if (error < 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"the build options have an open quote, or are more than %u",
					CUDA_OPTIONS_MAX);
	error = cuda_nvrtc_open(backend->settings.nvrtc, facts->compute_major, facts->compute_minor,
				&build->nvrtc, fault_out);
	if (error < 0)
		return error;
	if (!portable)
		return build_cuda_cpp(build, fault_out);
	return build_portable(build, fault_out);
}

static int build_translated(struct backend *backend, const struct cuda_device_facts *facts,
			    struct build *build, enum backend_source_kind kind, const char *options,
			    struct backend_fault *fault_out)
{
	const struct cuda_translate_source source = {build->source, build->source_bytes};
	const struct cuda_translate_request request = {
		.clang = backend->settings.clang,
		.folder = backend->cache_directory,
		.architecture = facts->compute_major * 10 + facts->compute_minor,
		.kind = kind == BACKEND_SOURCE_SPIRV ? CUDA_TRANSLATE_SPIRV
						     : CUDA_TRANSLATE_OPENCL_C,
		.sources = &source,
		.source_count = 1,
		.options = options,
		.relocatable = build->relocatable,
	};

	return cuda_opencl_build(&request, &build->binary, &build->log, fault_out);
}

static int build_kind(struct backend *backend, const struct cuda_device_facts *facts,
		      struct build *build, enum backend_source_kind kind, const char *options,
		      struct backend_fault *fault_out)
{
	if (build->source_bytes == 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD, "the source is empty");
	switch (kind) {
	case BACKEND_SOURCE_PORTABLE:
	case BACKEND_SOURCE_CUDA_CPP:
		return cuda_build_source(backend, facts, build, kind == BACKEND_SOURCE_PORTABLE,
					 options, fault_out);
	case BACKEND_SOURCE_PTX:
		return build_ptx(build, fault_out);
	case BACKEND_SOURCE_CUBIN:
		if (build->relocatable)
			return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
						"a binary is no source of objects");
		return build_binary(build, fault_out);
	case BACKEND_SOURCE_OPENCL_C:
	case BACKEND_SOURCE_SPIRV:
		return build_translated(backend, facts, build, kind, options, fault_out);
	default:
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"a CUDA device has no built-in kernels");
	}
}

int cuda_build_make(struct backend *backend, uint32_t device,
		    const struct cuda_build_request *request, struct cuda_binary *binary_out,
		    char **log_out, struct backend_fault *fault_out)
{
	CLEANUP(build_cleanup)
	struct build build = {.source_bytes = request->source_bytes,
			      .relocatable = request->relocatable};
	CLEANUP(free_pointer) char *copy = NULL;

	*log_out = NULL;
	if (!backend->devices || device >= backend->topology.device_count)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "CUDA has no device %u",
					device);
	copy = malloc(request->source_bytes + 1);
	if (!copy)
		return cuda_no_memory(fault_out, "a build");
	memcpy(copy, request->source, request->source_bytes);
	copy[request->source_bytes] = '\0';
	build.source = copy;
	int error = build_kind(backend, &backend->devices[device], &build, request->kind,
			       request->options, fault_out);
	/* If no compiler ran, the sentence is the whole log. */
	if (error < 0 && fault_out->status == STATUS_BUILD && !build.log)
		build.log = strdup(fault_out->text);
	if (request->kind == BACKEND_SOURCE_PORTABLE && build.options.checks && error == 0)
		cuda_build_checks(&build, request->options);
	if (request->kind == BACKEND_SOURCE_PORTABLE &&
	    (build.options.checks || (error < 0 && fault_out->status == STATUS_BUILD)))
		build_log_add_words(&build.log, build.source, build.source_bytes);
	*log_out = build.log;
	if (error < 0)
		return error;
	*binary_out = build.binary;
	build.binary = (struct cuda_binary){0};
	return 0;
}

int cuda_build(struct backend *backend, uint32_t device, enum backend_source_kind kind,
	       const char *source, size_t source_bytes, const char *options, void **binary_out,
	       size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out)
{
	const struct cuda_build_request request = {
		.kind = kind, .source = source, .source_bytes = source_bytes, .options = options};
	CLEANUP(cuda_binary_fini) struct cuda_binary binary = {0};

	int error = cuda_build_make(backend, device, &request, &binary, log_out, fault_out);
	if (error == 0 && cuda_binary_pack(&binary, binary_out, binary_bytes_out) < 0)
		return cuda_no_memory(fault_out, "a build");
	return error;
}
