/* The native commands of the fake targets: the device calls a function of the test. */
#ifndef SYCL_TESTS_CONFORMANCE_TARGET_FAKE_NATIVE_H
#define SYCL_TESTS_CONFORMANCE_TARGET_FAKE_NATIVE_H

#include "fake_control.h"
#include "targets/target.h"

struct target_fake_job {
	uint32_t *to, words, value;
};

static void target_fake_run(void *argument)
{
	const struct target_fake_job *job = argument;

	for (uint32_t i = 0; i < job->words; i++)
		job->to[i] = job->value;
}

static int target_fake_native_set(const struct backend_native_scope *scope, uint32_t memory,
				  uint32_t words, uint32_t value)
{
	static struct target_fake_job
		jobs[64]; /* valid as long as the graph; a test is a process */
	static uint32_t count;
	struct target_fake_job *job = &jobs[count++ % 64];

	*job = (struct target_fake_job){(uint32_t *)(uintptr_t)scope->memories[memory], words,
					value};
	return fake_native_add(scope->graph, target_fake_run, job);
}

#endif
