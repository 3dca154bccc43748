#include "build/child.h"

#include "build/file.h"
#include "build/objects.h"
#include "cleanup.h"
#include "base/option_list.h"
#include "protocol_limits.h"
#include "status.h"
#include "vendor_role.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { CHILD_SOURCE = 3, CHILD_BINARY = 4, CHILD_REPORT = 5 };

#define CHILD_NICE       5
#define CHILD_FILE_BYTES (1ull << 30)
/* Drivers and compilers start a thread for each processor, and the limit counts stacks as data. */
#define CHILD_STACK_BYTES (8ull << 20)

/* AddressSanitizer's shadow counts as data: any limit would end the process at once. */
#if defined(__SANITIZE_ADDRESS__)
#define CHILD_LIMITS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define CHILD_LIMITS_MEMORY 0
#endif
#endif
#ifndef CHILD_LIMITS_MEMORY
#define CHILD_LIMITS_MEMORY 1
#endif

static void send_report(int32_t status, int32_t native_code, const char *text)
{
	struct build_report report = {.status = status, .native_code = native_code};

	(void)snprintf(report.text, sizeof(report.text), "%s", text);
	(void)build_file_write(CHILD_REPORT, &report, sizeof(report));
}

/* Descriptors in fixed places, every other one from `first_other` on closed: nothing of the
 * helper's is reachable. */
static int place_files(const struct build_child_files *files, unsigned first_other)
{
	const int from[] = {files->source, files->binary, files->report, files->log};
	int moved[4];

	for (int i = 0; i < 4; i++) {
		moved[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 16);
		if (moved[i] < 0)
			return -errno;
	}
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(moved[3], 1) < 0 || dup2(moved[3], 2) < 0)
		return -errno;
	for (int i = 0; i < 3; i++)
		if (dup3(moved[i], CHILD_SOURCE + i, O_CLOEXEC) < 0)
			return -errno;
	return close_range(first_other, ~0u, 0) < 0 ? -errno : 0;
}

static void set_limit(__rlimit_resource_t resource, uint64_t value)
{
	const struct rlimit limit = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
	(void)setrlimit(resource, &limit);
}

/* `time_limit_ns` 0: none. */
static void limit_self(uint64_t time_limit_ns)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)setpriority(PRIO_PROCESS, 0, CHILD_NICE);
	(void)umask(077);
	/* A source that includes a file by a relative name finds nothing of the folder that the
	 * engine was started in. */
	if (chdir("/") < 0)
		abort();
	set_limit(RLIMIT_CORE, 0);
	/*
	 * Only for a child that the helper cannot stop: the helper's wall-clock limit comes first.
	 */
	if (time_limit_ns > 0)
		set_limit(RLIMIT_CPU, time_limit_ns / 1000000000u + 2);
}

/* The helper inherits an application's limit for stacks. With that size a few threads would take
 * all the memory. */
static void limit_threads(void)
{
	pthread_attr_t attributes;
	size_t stack_bytes = 0;

	if (pthread_getattr_default_np(&attributes) != 0)
		return;
	if (pthread_attr_getstacksize(&attributes, &stack_bytes) == 0 &&
	    stack_bytes > CHILD_STACK_BYTES &&
	    pthread_attr_setstacksize(&attributes, CHILD_STACK_BYTES) == 0)
		(void)pthread_setattr_default_np(&attributes);
	(void)pthread_attr_destroy(&attributes);
}

/* The memory that RLIMIT_DATA counts, plus the main thread's stack: the sixth number of statm, in
 * pages. */
static uint64_t data_bytes(void)
{
	char text[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close_fd(&fd);
	text[count > 0 ? count : 0] = '\0';
	char *at = text;
	for (int i = 0; i < 5; i++)
		(void)strtoull(at, &at, 10);
	return strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Called when the driver has started and before it gets the source. The driver's own memory does
 * not depend on the source, and a driver that does not get it only reports that there is no device.
 */
static void limit_source(const Sycl__V1__BuildJob *job)
{
	set_limit(RLIMIT_FSIZE, CHILD_FILE_BYTES);
	/* The limit is for data, not for address space: GPU drivers reserve terabytes of addresses
	 * without using them. */
	if (CHILD_LIMITS_MEMORY)
		set_limit(RLIMIT_DATA, data_bytes() + job->memory_limit_bytes);
}

void build_child_reset_signals(void)
{
	sigset_t none;

	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void)signal(signal_number, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_IGN); /* writing too much is an error, not an end */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static const struct backend_ops *find_backend(uint32_t kind)
{
	for (const struct backend_ops *const *ops = backend_registry(); *ops; ops++)
		if ((uint32_t)(*ops)->kind == kind)
			return *ops;
	return NULL;
}

__attribute__((format(printf, 3, 4))) static void
build_fault_add_words(struct backend_fault *fault, size_t *length, const char *format, ...)
{
	const size_t room = sizeof(fault->text) - *length;
	va_list arguments;

	va_start(arguments, format);
	int more = vsnprintf(fault->text + *length, room, format, arguments);
	va_end(arguments);
	if (more > 0)
		*length += (size_t)more < room ? (size_t)more : room - 1;
}

/* Reports the driver's error for a platform without devices, and which devices exist instead. */
static void describe_devices(const struct backend_topology *topology, const char *key,
			     struct backend_fault *fault)
{
	size_t length = 0;

	fault->status = STATUS_BUILD;
	build_fault_add_words(fault, &length, "the compiler does not find the device %.80s", key);
	for (uint32_t i = 0; i < topology->platform_count; i++) {
		const struct backend_platform_facts *platform = &topology->platforms[i];
		if (platform->no_devices_code == 0)
			continue;
		fault->native_code = platform->no_devices_code;
		build_fault_add_words(fault, &length, "; %.40s lists none (%d)", platform->name,
				      (int)platform->no_devices_code);
	}
	build_fault_add_words(fault, &length, "; it finds %u", topology->device_count);
	for (uint32_t i = 0; i < topology->device_count; i++)
		build_fault_add_words(fault, &length, "%s%.80s", i ? "; " : ": ",
				      topology->devices[i].key);
}

static int find_device_by_key(const struct backend_topology *topology, const char *key,
			      uint32_t *device_out, struct backend_fault *fault)
{
	for (uint32_t i = 0; i < topology->device_count; i++) {
		if (strcmp(topology->devices[i].key, key) != 0)
			continue;
		*device_out = i;
		return 0;
	}
	describe_devices(topology, key, fault);
	return -ENODEV;
}

static void write_results(const void *binary, size_t binary_bytes, const char *log,
			  struct backend_fault *fault)
{
	/* The backend's log is complete. Text that was printed before may only repeat the log. */
	if (log && log[0] != '\0') {
		(void)!ftruncate(STDERR_FILENO, 0);
		(void)lseek(STDERR_FILENO, 0, SEEK_SET);
		(void)build_file_write(STDERR_FILENO, log, strlen(log));
	} else if (fault->status == STATUS_SUCCESS) {
		(void)!ftruncate(STDERR_FILENO, 0);
	}
	if (fault->status == STATUS_SUCCESS &&
	    build_file_write(CHILD_BINARY, binary, binary_bytes) < 0) {
		fault->status = STATUS_BUILD;
		(void)snprintf(fault->text, sizeof(fault->text), "the binary is too large");
	}
}

/* The options for one backend. The caller frees them. NULL: no memory. */
static const char **build_child_options(const struct backend_ops *ops,
					const Sycl__V1__BuildJob *job, const char *const *given)
{
	if (given)
		return option_list_of(given, ops->name);
	CLEANUP(free_pointer)
	const char **all = (const char **)calloc(job->n_backend_options + 1, sizeof(char *));
	for (size_t i = 0; all && i < job->n_backend_options; i++)
		all[i] = job->backend_options[i];
	return all ? option_list_of(all, ops->name) : NULL;
}

struct made {
	void *binary;
	size_t binary_bytes;
	char *log;
	struct backend_fault fault;
};

static int link_objects(const struct backend_ops *ops, struct backend *backend, uint32_t device,
			const char *options, const char *packed, size_t packed_bytes,
			struct made *made)
{
	struct build_object_list list = {0};

	int error = build_objects_unpack(packed, packed_bytes, &list);
	if (error < 0) {
		(void)snprintf(made->fault.text, sizeof(made->fault.text),
			       "the objects did not reach the linker");
		return error;
	}
	error = ops->link(backend, device, list.count, list.objects, list.bytes, options,
			  &made->binary, &made->binary_bytes, &made->log, &made->fault);
	build_objects_fini(&list);
	return error;
}

static int run_compiler(const struct backend_ops *ops, struct backend *backend, uint32_t device,
			const Sycl__V1__BuildJob *job, const char *source, size_t source_bytes,
			struct made *made)
{
	enum backend_source_kind kind = (enum backend_source_kind)job->kind;

	if (job->action == SYCL__V1__BUILD_ACTION__BUILD_ACTION_BUILD && job->dimensions &&
	    ops->build_dimensions)
		return ops->build_dimensions(backend, device, kind, source, source_bytes,
					     job->options, job->dimensions, &made->binary,
					     &made->binary_bytes, &made->log, &made->fault);
	if (job->action == SYCL__V1__BUILD_ACTION__BUILD_ACTION_BUILD)
		return ops->build(backend, device, kind, source, source_bytes, job->options,
				  &made->binary, &made->binary_bytes, &made->log, &made->fault);
	if (!ops->compile || !ops->link) {
		made->fault.status = STATUS_FEATURE_NOT_SUPPORTED;
		(void)snprintf(made->fault.text, sizeof(made->fault.text),
			       "the %s backend cannot link", ops->name);
		return -EOPNOTSUPP;
	}
	if (job->action == SYCL__V1__BUILD_ACTION__BUILD_ACTION_LINK)
		return link_objects(ops, backend, device, job->options, source, source_bytes, made);
	return ops->compile(backend, device, kind, source, source_bytes, job->options,
			    &made->binary, &made->binary_bytes, &made->log, &made->fault);
}

void build_child_limit_warm(void)
{
	limit_self(0);
	limit_threads();
}

void build_child_open(const Sycl__V1__BuildJob *job, const char *folder, const char *const *given,
		      struct build_child_device *device_out)
{
	struct build_child_device device = {.ops = find_backend(job->backend)};
	struct backend_topology topology = {0};

	CLEANUP(free_pointer)
	const char **options = device.ops ? build_child_options(device.ops, job, given) : NULL;
	const struct backend_settings settings = {.cache_directory = folder, .options = options};
	device.error = options ? 0 : device.ops ? -ENOMEM : -ENODEV;
	if (device.error == 0 && device.ops->prepare)
		device.ops->prepare(&settings);
	if (device.error == 0)
		device.error = device.ops->open(&settings, &device.backend, &device.fault);
	if (device.error == 0)
		device.error = device.ops->enumerate(device.backend, &topology, &device.fault);
	if (device.error == 0)
		device.error = find_device_by_key(&topology, job->device_key, &device.device,
						  &device.fault);
	*device_out = device;
}

static void run_job(const struct build_child_device *device, const Sycl__V1__BuildJob *job,
		    const char *source, size_t source_bytes)
{
	struct made made = {.fault = device->fault};
	int error = device->error;

	limit_source(job);
	if (error == 0)
		error = run_compiler(device->ops, device->backend, device->device, job, source,
				     source_bytes, &made);
	if (error < 0 && made.fault.status == STATUS_SUCCESS)
		made.fault.status = STATUS_BUILD;
	if (error == 0)
		made.fault = (struct backend_fault){.status = STATUS_SUCCESS};
	write_results(made.binary, made.binary_bytes, made.log, &made.fault);
	send_report(made.fault.status, made.fault.native_code, made.fault.text);
	free(made.binary);
	free(made.log);
}

/* The source, which the caller frees. Ends the process if there is none. */
static char *build_child_take_source(const Sycl__V1__BuildJob *job, size_t *bytes_out)
{
	const bool links = job->action == SYCL__V1__BUILD_ACTION__BUILD_ACTION_LINK;
	char *source = NULL;

	if (find_backend(job->backend) &&
	    build_file_read(CHILD_SOURCE, links ? BUILD_OBJECTS_BYTES_MAX : LIMIT_SOURCE_BYTES,
			    &source, bytes_out) == 0)
		return source;
	send_report(STATUS_RUNTIME, 0, "the source did not reach the compiler");
	_exit(1);
}

_Noreturn void build_child_run(const Sycl__V1__BuildJob *job, const struct build_child_files *files)
{
	struct build_child_device device;
	size_t source_bytes = 0;

	vendor_role_set(&(struct vendor_role){.only_builds = true});
	if (place_files(files, BUILD_CHILD_FOLDER) < 0)
		_exit(1);
	build_child_reset_signals();
	CLEANUP(free_pointer) char *source = build_child_take_source(job, &source_bytes);
	limit_self(job->time_limit_ns);
	limit_threads();
	build_child_open(job, files->folder, files->backend_options, &device);
	run_job(&device, job, source, source_bytes);
	/* _exit and not exit: with exit, drivers would stop threads and clean up, without need and
	 * sometimes for ever. */
	_exit(0);
}

_Noreturn void build_child_run_warm(const struct build_child_device *device,
				    const Sycl__V1__BuildJob *job,
				    const struct build_child_files *files)
{
	const struct backend_settings settings = {.cache_directory = BUILD_CHILD_FOLDER_PATH};
	size_t source_bytes = 0;

	if (place_files(files, BUILD_CHILD_FOLDER + 1) < 0)
		_exit(1);
	CLEANUP(free_pointer) char *source = build_child_take_source(job, &source_bytes);
	limit_self(job->time_limit_ns);
	/* Again, because the folder is another one now. */
	if (device->ops->prepare)
		device->ops->prepare(&settings);
	run_job(device, job, source, source_bytes);
	_exit(0);
}
