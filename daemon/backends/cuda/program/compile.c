#include "cuda/program/compile.h"

#include "cleanup.h"
#include "cuda/program/launch.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* The longest text of an option that is put together here. */
#define OPTION_BYTES 320

struct compilation {
	const struct cuda_compile_request *request;
	struct nvrtc_program *program;
	struct cuda_options options; /* the request's options, and the service's */
	char architecture[OPTION_BYTES], dimensions[OPTION_BYTES], include[OPTION_BYTES],
		include_more[OPTION_BYTES];
	char *text;
};

static void compilation_cleanup(struct compilation *c)
{
	if (c->program)
		(void)c->request->nvrtc->DestroyProgram(&c->program);
	free(c->text);
}

static int compile_fail(const struct compilation *c, int result, const char *what,
			struct backend_fault *fault_out)
{
	(void)cuda_fault_words(
		fault_out, 0, result == NVRTC_NO_MEMORY ? STATUS_MEMORY_ALLOCATION : STATUS_BUILD,
		"NVRTC cannot %s: %s", what, c->request->nvrtc->GetErrorString(result));
	fault_out->native_code = result;
	return result == NVRTC_NO_MEMORY ? -ENOMEM : -EINVAL;
}

static void compile_add_option(struct compilation *c, const char *option)
{
	c->options.list[c->options.count++] = option;
}

/* The user's options come last. If the compiler uses the last of several options, it uses the
 * user's. */
static void put_options(struct compilation *c)
{
	const struct cuda_nvrtc *nvrtc = c->request->nvrtc;
	const struct cuda_options *user = c->request->options;
	bool portable = c->request->dimensions > 0;

	if (portable) {
		(void)snprintf(c->dimensions, sizeof(c->dimensions), "-DSYCL_DIMENSIONS=%u",
			       c->request->dimensions);
		compile_add_option(c, c->dimensions);
		/* In a C source, functions and constants have no attribute for host or device. */
		compile_add_option(c, "-default-device");
		if (c->request->checks)
			compile_add_option(c, "-DSYCL_CHECKS_");
	} else if (nvrtc->include[0]) {
		(void)snprintf(c->include, sizeof(c->include), "-I%s", nvrtc->include);
		(void)snprintf(c->include_more, sizeof(c->include_more), "-I%s/cccl",
			       nvrtc->include);
		compile_add_option(c, c->include);
		compile_add_option(c, c->include_more);
	}
	if (c->request->relocatable)
		compile_add_option(c, "--relocatable-device-code=true");
	/* Machine code for the device itself, unless the text is still to be completed or the
	 * compiler is too old. */
	(void)snprintf(c->architecture, sizeof(c->architecture), "--gpu-architecture=%s_%d",
		       portable || !nvrtc->exact ? "compute" : "sm", nvrtc->newest);
	if (portable || !user->has_architecture)
		compile_add_option(c, c->architecture);
	for (uint32_t i = 0; i < user->count; i++)
		compile_add_option(c, user->list[i]);
}

static void cuda_take_log(const struct compilation *c, char **log_in_out)
{
	const struct cuda_nvrtc *nvrtc = c->request->nvrtc;
	size_t bytes = 0;

	if (*log_in_out || nvrtc->GetProgramLogSize(c->program, &bytes) != NVRTC_DONE || bytes <= 1)
		return;
	char *log = calloc(1, bytes + 1);
	if (!log)
		return;
	if (nvrtc->GetProgramLog(c->program, log) != NVRTC_DONE)
		log[0] = '\0';
	if (bytes > BACKEND_LOG_BYTES_MAX)
		log[BACKEND_LOG_BYTES_MAX - 1] = '\0';
	*log_in_out = log;
}

static int take_lowered(const struct compilation *c, struct cuda_compiled *compiled,
			struct backend_fault *fault_out)
{
	const struct cuda_options *user = c->request->options;

	compiled->lowered = calloc(user->expression_count + 1u, sizeof(*compiled->lowered));
	if (!compiled->lowered)
		return compile_fail(c, NVRTC_NO_MEMORY, "name the kernels", fault_out);
	for (uint32_t i = 0; i < user->expression_count; i++) {
		const char *name = NULL;
		int result =
			c->request->nvrtc->GetLoweredName(c->program, user->expressions[i], &name);
		if (result != NVRTC_DONE)
			return compile_fail(c, result, "name the kernels", fault_out);
		compiled->lowered[i] = strdup(name);
		if (!compiled->lowered[i])
			return compile_fail(c, NVRTC_NO_MEMORY, "name the kernels", fault_out);
		compiled->lowered_count++;
	}
	return 0;
}

static int take_code(const struct compilation *c, struct cuda_compiled *compiled,
		     struct backend_fault *fault_out)
{
	const struct cuda_nvrtc *nvrtc = c->request->nvrtc;
	size_t bytes = 0;
	int result = nvrtc->GetPTXSize(c->program, &bytes);

	if (result != NVRTC_DONE || bytes == 0) {
		(void)cuda_fault_words(fault_out, 0, STATUS_BUILD,
				       "NVRTC gave no PTX: an option requests something else");
		return -EINVAL;
	}
	compiled->ptx = calloc(1, bytes + 1);
	if (!compiled->ptx)
		return compile_fail(c, NVRTC_NO_MEMORY, "give the PTX", fault_out);
	result = nvrtc->GetPTX(c->program, compiled->ptx);
	if (result != NVRTC_DONE)
		return compile_fail(c, result, "give the PTX", fault_out);
	compiled->ptx_bytes = strlen(compiled->ptx);
	bytes = 0;
	if (c->request->dimensions > 0 || c->request->relocatable ||
	    nvrtc->GetCUBINSize(c->program, &bytes) != NVRTC_DONE || bytes == 0)
		return 0;
	compiled->cubin = calloc(1, bytes);
	if (!compiled->cubin)
		return compile_fail(c, NVRTC_NO_MEMORY, "give the code", fault_out);
	compiled->cubin_bytes = bytes;
	result = nvrtc->GetCUBIN(c->program, compiled->cubin);
	return result == NVRTC_DONE ? 0 : compile_fail(c, result, "give the code", fault_out);
}

static int run_nvrtc(struct compilation *c, char **log_in_out, struct backend_fault *fault_out)
{
	const struct cuda_nvrtc *nvrtc = c->request->nvrtc;
	const struct cuda_options *user = c->request->options;
	int result = nvrtc->CreateProgram(&c->program, c->text, "kernel", 0, NULL, NULL);

	for (uint32_t i = 0; result == NVRTC_DONE && i < user->expression_count; i++)
		result = nvrtc->AddNameExpression(c->program, user->expressions[i]);
	if (result != NVRTC_DONE)
		return compile_fail(c, result, "take the source", fault_out);
	put_options(c);
	result = nvrtc->CompileProgram(c->program, (int)c->options.count, c->options.list);
	cuda_take_log(c, log_in_out);
	if (result == NVRTC_DONE)
		return 0;
	int error = compile_fail(c, result, "build the program", fault_out);
	if (result == NVRTC_DOES_NOT_COMPILE || result == NVRTC_WRONG_OPTION)
		(void)snprintf(fault_out->text, sizeof(fault_out->text), "%s; see the build log",
			       result == NVRTC_WRONG_OPTION ? "the compiler does not take an option"
							    : "the source does not compile");
	return error;
}

int cuda_compile(const struct cuda_compile_request *request, struct cuda_compiled *compiled_out,
		 char **log_in_out, struct backend_fault *fault_out)
{
	CLEANUP(compilation_cleanup) struct compilation c = {.request = request};
	struct cuda_compiled compiled = {0};

	if (asprintf(&c.text, "%s%s#line 1 \"kernel\"\n%s", request->prelude,
		     request->options->definitions, request->source) < 0) {
		c.text = NULL;
		return compile_fail(&c, NVRTC_NO_MEMORY, "take the source", fault_out);
	}
	int error = run_nvrtc(&c, log_in_out, fault_out);
	if (error == 0)
		error = take_lowered(&c, &compiled, fault_out);
	if (error == 0)
		error = take_code(&c, &compiled, fault_out);
	if (error < 0) {
		cuda_compiled_fini(&compiled);
		return error;
	}
	*compiled_out = compiled;
	return 0;
}

void cuda_compiled_fini(struct cuda_compiled *compiled)
{
	for (uint32_t i = 0; i < compiled->lowered_count; i++)
		free(compiled->lowered[i]);
	free(compiled->lowered);
	free(compiled->ptx);
	free(compiled->cubin);
	*compiled = (struct cuda_compiled){0};
}
