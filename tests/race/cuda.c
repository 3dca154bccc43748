/*
 * Devices of the CUDA backend with the double of its driver. Each has two threads: commands and
 * loads at the same time. The thread build finds data races, the plain one wrong results and wrong
 * contexts (F4).
 */
#include "cuda/workers.h"
#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 3u
#define ROUNDS  40u

static const char source[] =
	".version 8.0\n.target sm_52\n.address_size 64\n"
	".visible .entry fill_u32(.param .u64 .ptr .global .align 4 to, .param .u32 value)\n{\n"
	"\t.reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
	"\tld.param.u64 %rd1, [to]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd1, %rd1, %rd2;\n"
	"\tld.param.u32 %r5, [value]; st.global.u32 [%rd1], %r5;\n\tret;\n}\n"
	".visible .entry mix_u32(.param .u64 .ptr .global .align 4 to)\n{\n\tret;\n}\n";

static int race_cuda_report_failure(const char *what, const char *why)
{
	(void)fprintf(stderr, "%s: %s\n", what, why);
	return 1;
}

static const struct fake_cuda_control *control(void)
{
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, FAKE_CUDA_CONTROL_SYMBOL) : NULL;
	fake_cuda_control_function *function = NULL;

	memcpy(&function, &symbol, sizeof(function));
	return function ? function() : NULL;
}

static int run_workers(const struct backend_ops *ops, struct backend *backend)
{
	static struct worker workers[DEVICES];
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;
	int bad = 0;

	if (ops->build(backend, 0, BACKEND_SOURCE_PTX, source, strlen(source), "", &binary, &bytes,
		       &log, &fault) < 0)
		return race_cuda_report_failure("build", fault.text);
	for (uint32_t i = 0; i < DEVICES; i++) {
		workers[i] = (struct worker){.ops = ops,
					     .backend = backend,
					     .index = i,
					     .rounds = ROUNDS,
					     .binary = binary,
					     .binary_bytes = bytes};
		if (worker_start(&workers[i]) != 0)
			return race_cuda_report_failure("threads", "there are none");
	}
	for (uint32_t i = 0; i < DEVICES; i++) {
		worker_join(&workers[i]);
		if (workers[i].failed)
			bad = race_cuda_report_failure(workers[i].failed, workers[i].text);
	}
	free(binary);
	free(log);
	return bad;
}

int main(void)
{
	static const char *const options[] = {"library=" FAKE_CUDA_LIBRARY, NULL};
	const struct backend_settings settings = {.options = options};
	const struct backend_ops *ops = &backend_cuda_ops;
	const struct fake_cuda_control *fake = control();
	struct backend_topology topology;
	struct backend_fault fault = {0};
	struct backend *backend = NULL;
	char devices[32];

	if (!fake)
		return race_cuda_report_failure("the double", "it is not there");
	(void)snprintf(devices, sizeof(devices), "devices %u", DEVICES);
	(void)fake->command(devices);
	if (ops->open(&settings, &backend, &fault) < 0 ||
	    ops->enumerate(backend, &topology, &fault) < 0)
		return race_cuda_report_failure("open", fault.text);
	int bad = run_workers(ops, backend);
	ops->close(backend);
	if (fake->count("misuse"))
		bad = race_cuda_report_failure(
			"the driver", "was misused: FAKE_CUDA='set print_misuse 1' shows how");
	return bad;
}
