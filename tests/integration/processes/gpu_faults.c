/*
 * Kernels that fail on an NVIDIA GPU. The owner's error names the kernel and the fault, another
 * user's work continues, and the next connection works. Without such a GPU every test here is
 * skipped.
 */
#include "processes/common.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_gpu_faults, .timeout = 240);

enum { GUILTY_UID = 65533, NEIGHBOUR_UID = 65534, NATIVE_CODES = 3 };

struct fault_case {
	const char *command, *kernel;
	int native[NATIVE_CODES]; /* any of these; 0 ends the list */
};

/* Reads "ready", "none", or the worker's message about an error. */
static void read_state(struct child *worker, const struct private_service *service,
		       const char *which, char line[LINE_BYTES])
{
	char last[LINE_BYTES] = "";
	uint64_t begin_ns = clock_now_ns();
	for (;;) {
		int r = child_read_line(worker, line, LINE_BYTES, SOON);
		bool is_bad = r != 1 || strncmp(line, "FAIL", 4) == 0;
		if (is_bad)
			private_service_print_log(service);
		cr_assert(!is_bad, "%s after %llu ms: %s; the line before was '%s'", which,
			  (unsigned long long)(clock_now_ns() - begin_ns) / 1000000,
			  r == 1   ? line
			  : r == 0 ? "its output ended"
				   : strerror(-r),
			  last);
		if (strcmp(line, "none") == 0 || strcmp(line, "ready") == 0)
			return;
		(void)snprintf(last, sizeof(last), "%s", line);
	}
}

/* Returns false if this machine has no such GPU; the worker has ended then. */
static bool worker_ready(struct child *worker, const struct private_service *service,
			 const char *which)
{
	char line[LINE_BYTES];
	read_state(worker, service, which, line);
	if (strcmp(line, "ready") == 0)
		return true;
	child_end(worker);
	return false;
}

static void start_fault_worker(struct child *worker, const struct private_service *service,
			       const char *command, int uid)
{
	char text[16];
	(void)snprintf(text, sizeof(text), "%d", uid);
	const char *const arguments[] = {"--count", "50", uid ? "--uid" : NULL, text, NULL};
	worker_start_with(worker, NULL, service->endpoint, command, arguments);
}

static void step_worker(struct child *worker)
{
	char line[LINE_BYTES];
	cr_assert_eq(child_say(worker, "go on"), 0);
	worker_expect(worker, "stepped", line);
}

static bool is_expected(const struct fault_case *fault, int native)
{
	for (int i = 0; i < NATIVE_CODES; i++)
		if (fault->native[i] != 0 && fault->native[i] == native)
			return true;
	return false;
}

/* Checks the sentence of the session at fault. */
static void expect_blame(struct child *guilty, const struct fault_case *fault)
{
	char line[LINE_BYTES];
	worker_expect(guilty, "native ", line);
	cr_expect(is_expected(fault, atoi(line + strlen("native "))), "%s: %s", fault->kernel,
		  line);
	worker_expect(guilty, "result ", line);
	cr_log_info("%s", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	cr_expect(strstr(line, fault->kernel), "'%s' is not named: %s", fault->kernel, line);
	cr_expect(strstr(line, "this session"),
		  "the error does not say that the group was the owner's: %s", line);
	worker_finish(guilty);
}

static void skip_without_gpu(void)
{
	cr_skip_test("SKIPPED: there is no NVIDIA GPU with its driver on this machine");
}

struct adopted {
	const struct private_service *service;
	int uid; /* -1: the only one */
	pid_t standby;
};

/* The former engine is listed first until its driver has ended it. */
static bool is_adopted(void *context)
{
	const struct adopted *adopted = context;
	return private_service_engine(adopted->service, adopted->uid) == adopted->standby;
}

/* Tries one fault. Another user works before, during and after it; the user at fault works
 * again. */
static void run_case(const struct fault_case *fault)
{
	bool root = geteuid() == 0;
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, root);
	service->faults = true;
	struct child neighbour = CHILD_INIT, guilty = CHILD_INIT, again = CHILD_INIT;
	int guilty_uid = root ? GUILTY_UID : 0, neighbour_uid = root ? NEIGHBOUR_UID : 0;
	start_fault_worker(&guilty, service, fault->command, guilty_uid);
	if (!worker_ready(&guilty, service, "the guilty one"))
		skip_without_gpu();
	if (root) {
		start_fault_worker(&neighbour, service, "gpu-steps", neighbour_uid);
		cr_assert(worker_ready(&neighbour, service, "the neighbour"));
		step_worker(&neighbour);
	}
	pid_t engine = root ? private_service_engine(service, NEIGHBOUR_UID) : 0;
	struct adopted adopted = {service, root ? GUILTY_UID : -1,
				  private_service_wait_standby(service, SOON)};
	cr_expect_gt(adopted.standby, 0, "no standby engine comes");

	uint64_t begin_ns = clock_now_ns();
	cr_assert_eq(child_say(&guilty, "go"), 0);
	expect_blame(&guilty, fault);
	uint64_t failed_ns = clock_now_ns();

	start_fault_worker(&again, service, "gpu-steps", guilty_uid);
	cr_assert(worker_ready(&again, service, "the next one"));
	cr_log_info("%s: reported after %llu us, worked again %llu ms later", fault->kernel,
		    (unsigned long long)(failed_ns - begin_ns) / 1000,
		    (unsigned long long)(clock_now_ns() - failed_ns) / 1000000);
	step_worker(&again);
	cr_expect(wait_until(is_adopted, &adopted, SOON), "it is not the standby that works");
	child_end(&again);
	if (!root)
		return;
	step_worker(&neighbour);
	cr_expect_eq(private_service_engine(service, NEIGHBOUR_UID), engine,
		     "the neighbour's engine was replaced");
	child_end(&neighbour);
}

Test(processes_gpu_faults, F12_M10_illegal_address)
{
	run_case(&(struct fault_case){"gpu-illegal", "illegal", {700}});
}

Test(processes_gpu_faults, F12_M10_misaligned_address)
{
	run_case(&(struct fault_case){"gpu-misaligned", "misaligned", {716}});
}

Test(processes_gpu_faults, F12_M10_assert)
{
	run_case(&(struct fault_case){"gpu-asserts", "asserts", {710}});
}

Test(processes_gpu_faults, F12_M10_trap)
{
	run_case(&(struct fault_case){"gpu-traps", "traps", {719, 715}});
}

Test(processes_gpu_faults, F12_M10_deep_recursion)
{
	run_case(&(struct fault_case){"gpu-recurses", "recurses", {700, 714, 719}});
}

/* A session of the same user in the same engine is lost, too. Its error, reported once, names the
 * offender. */
Test(processes_gpu_faults, M10_sessions_of_the_same_user_get_device_lost_once)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	service->faults = true;
	struct child bystander = CHILD_INIT, guilty = CHILD_INIT;
	char line[LINE_BYTES];
	start_fault_worker(&guilty, service, "gpu-illegal", 0);
	if (!worker_ready(&guilty, service, "the guilty one"))
		skip_without_gpu();
	start_fault_worker(&bystander, service, "gpu-steps", 0);
	cr_assert(worker_ready(&bystander, service, "the bystander"));
	step_worker(&bystander);
	cr_assert_eq(child_say(&guilty, "go"), 0);
	expect_blame(&guilty, &(struct fault_case){"gpu-illegal", "illegal", {700}});
	cr_assert_eq(child_say(&bystander, "go on"), 0);
	worker_expect(&bystander, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	cr_expect(strstr(line, "illegal"), "%s", line);
	cr_expect(strstr(line, "this session") == NULL, "an innocent one is blamed: %s", line);
	worker_finish(&bystander);
}
