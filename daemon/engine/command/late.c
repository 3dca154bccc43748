/*
 * Late builds. A portable source is compiled for each number of dimensions. A build makes those
 * that its text asks for, and answers. Another number is built when a launch first comes with it:
 * the launch waits for that, and nothing else does. Equal builds are one in the build service.
 */
#include "build/service.h"
#include "command/command.h"

#include <string.h>

/* All numbers of dimensions. */
#define DIMENSIONS_ALL 7u

struct late_build {
	struct list link; /* link in session->late_builds */
	struct bundle *bundle;
	struct sched_program *program; /* held */
	struct build_job *job;
	uint32_t dimensions; /* 1 to 3 */
};

/* Keeps options and source in bundle->bytes. False: they do not fit. */
static bool keep_source(struct bundle *bundle, const struct build_request *request)
{
	struct session *session = bundle->object.session;
	const size_t options_bytes = strlen(request->options) + 1,
		     bytes = options_bytes + request->source_bytes;
	char *copy = bytes <= OBJECT_BYTES_MAX - session->object_bytes ? malloc(bytes) : NULL;

	if (!copy)
		return false;
	memcpy(copy, request->options, options_bytes);
	memcpy(copy + options_bytes, request->source, request->source_bytes);
	bundle->bytes = copy;
	bundle->byte_count = bytes;
	session->object_bytes += bytes;
	return true;
}

uint32_t bundle_choose_dimensions(struct bundle *bundle, const struct build_request *request)
{
	uint32_t guess = 0;

	if (request->action == BUILD_ACTION_BUILD && request->kind == BACKEND_SOURCE_PORTABLE &&
	    request->backend->build_dimensions && request->backend->program_add)
		guess = request->backend->dimensions_asked(request->source, request->source_bytes);
	if (guess == 0 || guess == DIMENSIONS_ALL || !keep_source(bundle, request))
		return 0;
	return guess;
}

static void late_build_free(struct late_build *late)
{
	list_remove(&late->link);
	sched_program_release(late->program);
	object_unref(&late->bundle->object);
	free(late);
}

/* The first line of the log with an error, without its end; NULL: there is none. */
static const char *find_error(const char *log, int *length_out)
{
	const char *at = strstr(log, "error:");

	if (!at)
		return NULL;
	while (at > log && at[-1] != '\n')
		at--;
	*length_out = (int)strcspn(at, "\n");
	return at;
}

static void fail_late_build(const struct late_build *late, const struct build_result *result)
{
	const struct backend_fault *cause = &result->fault;
	int length = 0;
	const char *error = find_error(result->log, &length);
	struct backend_fault fault;

	(void)fault_set(&fault, cause->status, "the build for %u dimension%s failed: %.*s",
			late->dimensions, late->dimensions == 1 ? "" : "s",
			error ? length : (int)sizeof(cause->text), error ? error : cause->text);
	fault.native_code = cause->native_code;
	sched_program_refuse(late->program, late->dimensions, &fault);
}

/* The build_done of a late build. */
static void late_built(void *owner, const struct build_result *result)
{
	struct late_build *late = owner;
	struct session *session = late->bundle->object.session;

	late->job = NULL;
	session_objects_change(session);
	if (result->fault.status) {
		fail_late_build(late, result);
	} else if (sched_program_add(late->program, late->dimensions, result->binary,
				     result->binary_bytes) < 0) {
		struct backend_fault fault;
		(void)fault_set(&fault, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for the program");
		sched_program_refuse(late->program, late->dimensions, &fault);
	}
	late_build_free(late);
	session_step(session); /* the session may be freed */
}

static int submit_late_build(struct late_build *late)
{
	const struct bundle *bundle = late->bundle;
	const struct session *session = bundle->object.session;
	const struct scheduler_device_info *info =
		session_device_info(session, bundle->device_index);
	const char *options = bundle->bytes;
	const size_t options_bytes = strlen(options) + 1;

	if (!info)
		return -ENODEV;
	const struct build_request request = {
		.backend = info->ops,
		.action = BUILD_ACTION_BUILD,
		.device_key = info->facts->key,
		.device_name = info->facts->name,
		.kind = BACKEND_SOURCE_PORTABLE,
		.dimensions = 1u << (late->dimensions - 1),
		.source = options + options_bytes,
		.source_bytes = bundle->byte_count - options_bytes,
		.options = options,
		.time_limit_ns = session->limits.build_seconds * 1000000000u,
		.memory_limit_bytes = session->limits.build_memory_bytes,
	};
	return build_service_submit(session->engine->builds, &request, late_built, late,
				    &late->job);
}

static int start_late_build(struct bundle *bundle, uint32_t dimensions, struct backend_fault *fault)
{
	struct late_build *late = calloc(1, sizeof(*late));

	if (!late)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for a build");
	late->bundle = bundle;
	late->dimensions = dimensions;
	int r = submit_late_build(late);
	if (r < 0) {
		free(late);
		return fault_set(fault, STATUS_BUILD,
				 "the build for %u dimensions could not be started: %s", dimensions,
				 strerror(-r));
	}
	late->program = sched_program_hold(bundle->program);
	(void)object_ref(&bundle->object); /* until it is built */
	list_push_back(&bundle->object.session->late_builds, &late->link);
	sched_program_expect(bundle->program, dimensions);
	return 0;
}

/* A source that does not compile will not do so later. Anything else may have been the moment. */
static bool is_for_good(const struct backend_fault *fault)
{
	return fault->status == STATUS_BUILD || fault->status == STATUS_KERNEL_NOT_SUPPORTED;
}

int bundle_needs_dimensions(struct bundle *bundle, uint32_t dimensions, struct backend_fault *fault)
{
	struct backend_fault former;

	switch (sched_program_variant(bundle->program, dimensions, &former)) {
	case SCHED_VARIANT_ABSENT:
		return start_late_build(bundle, dimensions, fault);
	case SCHED_VARIANT_FAILED:
		if (!is_for_good(&former))
			return start_late_build(bundle, dimensions, fault);
		*fault = former;
		return 1;
	default:
		return 0;
	}
}

void bundle_end_late_builds(struct session *session)
{
	struct list *next;

	for (struct list *link = session->late_builds.next; link != &session->late_builds;
	     link = next) {
		struct late_build *late = list_entry(link, struct late_build, link);
		next = link->next;
		if (sched_program_is_awaited(late->program, late->dimensions))
			continue; /* others can observe that launch; its limit of time bounds it */
		struct backend_fault fault;
		(void)fault_set(&fault, STATUS_RUNTIME, "the session has ended");
		build_job_cancel(late->job);
		sched_program_refuse(late->program, late->dimensions, &fault);
		late_build_free(late);
	}
}
