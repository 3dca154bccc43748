/*
 * Hostile kernels on the CPU device that take what an engine's control group limits: native code in
 * the engine, which calls the kernel of the system by itself. They print "took NUMBER RESULT", with
 * the result of the last call, and keep what they have until a line of stdin comes. If the engine
 * ends, they print "result" and the error. "none": there is no such code for this kind of
 * processor.
 */
#include "processes/programs/worker.h"

#include <sched.h>
#include <signal.h>

#if defined(__x86_64__)
enum { TAKEN, RESULT, ROWS };

/* Processes, or threads, that wait for ever. They use no stack, so they need none of their own. */
static const char breed_source[] =
	"SYCL_KERNEL void take(SYCL_GLOBAL(long) rows, long flags, long most)\n"
	"{\n"
	"	long taken = 0, result = 1;\n"
	"	while (taken < most && result > 0) {\n"
	"		result = 56;\n"
	"		__asm__ volatile(\"xor %%esi, %%esi\\n\\txor %%edx, %%edx\\n\\txor %%r10d, %%r10d\\n\\t\"\n"
	"				 \"xor %%r8d, %%r8d\\n\\tsyscall\\n\\ttest %%rax, %%rax\\n\\tjnz 1f\\n\"\n"
	"				 \"2:\\tmov $34, %%eax\\n\\tsyscall\\n\\tjmp 2b\\n1:\"\n"
	"				 : \"+a\"(result)\n"
	"				 : \"D\"(flags)\n"
	"				 : \"rsi\", \"rdx\", \"rcx\", \"r8\", \"r10\", \"r11\", \"memory\");\n"
	"		taken += result > 0;\n"
	"	}\n"
	"	rows[0] = taken; rows[1] = result;\n"
	"}\n";

/* Memory, one MiB at a time, each page of which is written. */
static const char eat_source[] =
	"SYCL_KERNEL void take(SYCL_GLOBAL(long) rows, long size, long most)\n"
	"{\n"
	"	long taken = 0, result = 1;\n"
	"	while (taken < most && result > 0) {\n"
	"		result = 9;\n"
	"		__asm__ volatile(\"xor %%edi, %%edi\\n\\tmov $3, %%edx\\n\\tmov $0x22, %%r10d\\n\\t\"\n"
	"				 \"mov $-1, %%r8\\n\\txor %%r9d, %%r9d\\n\\tsyscall\"\n"
	"				 : \"+a\"(result)\n"
	"				 : \"S\"(size)\n"
	"				 : \"rdi\", \"rdx\", \"rcx\", \"r8\", \"r9\", \"r10\", \"r11\", \"memory\");\n"
	"		for (long i = 0; result > 0 && i < size; i += 4096)\n"
	"			*(volatile char *)(result + i) = 1;\n"
	"		taken += result > 0;\n"
	"	}\n"
	"	rows[0] = taken; rows[1] = result;\n"
	"}\n";

static sycl_result launch(struct worker *worker, const char *source, int64_t value, void *rows)
{
	const int64_t most = (int64_t)worker->count;
	sycl_kernel kernel = worker_kernel(worker, source, "take");
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	worker_must(sycl_handler_begin(worker->queue, &handler), "sycl_handler_begin");
	worker_must(sycl_handler_set_usm(handler, 0, rows), "sycl_handler_set_usm");
	worker_must(sycl_handler_set_value(handler, 1, sizeof(value), &value),
		    "sycl_handler_set_value");
	worker_must(sycl_handler_set_value(handler, 2, sizeof(most), &most),
		    "sycl_handler_set_value");
	worker_must(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)),
		    "sycl_handler_parallel_for");
	worker_must(sycl_handler_submit(handler, &event), "sycl_handler_submit");
	sycl_result r = sycl_event_wait(event);
	worker_must(sycl_event_release(event), "sycl_event_release");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	return r;
}

static int native_take(struct worker *worker, const char *source, int64_t value)
{
	sycl_context context = NULL;
	sycl_device device = NULL;
	void *rows = NULL;
	worker_connect(worker);
	worker_must(sycl_queue_get_context(worker->queue, &context), "sycl_queue_get_context");
	worker_must(sycl_queue_get_device(worker->queue, &device), "sycl_queue_get_device");
	worker_must(
		sycl_usm_malloc(context, device, SYCL_USM_SHARED, sizeof(int64_t) * ROWS, 0, &rows),
		"sycl_usm_malloc");
	sycl_result r = launch(worker, source, value, rows);
	if (r == 0)
		worker_say("took %lld %lld", (long long)((int64_t *)rows)[TAKEN],
			   (long long)((int64_t *)rows)[RESULT]);
	else
		worker_say_result(r);
	(void)worker_next_line();
	(void)sycl_free(worker->queue, rows);
	worker_must(sycl_device_release(device), "sycl_device_release");
	worker_must(sycl_context_release(context), "sycl_context_release");
	worker_disconnect(worker);
	return 0;
}

int worker_breed(struct worker *worker)
{
	return native_take(worker, breed_source, SIGCHLD);
}

int worker_breed_threads(struct worker *worker)
{
	return native_take(worker, breed_source,
			   CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				   CLONE_SYSVSEM);
}

int worker_eat(struct worker *worker)
{
	return native_take(worker, eat_source, 1 << 20);
}
#else
static int native_take_nothing(void)
{
	worker_say("none");
	return 0;
}

int worker_breed(struct worker *worker)
{
	(void)worker;
	return native_take_nothing();
}

int worker_breed_threads(struct worker *worker)
{
	(void)worker;
	return native_take_nothing();
}

int worker_eat(struct worker *worker)
{
	(void)worker;
	return native_take_nothing();
}
#endif
