/* Bundles and kernels, all with replies: source, build service, binary, loaded on the device,
 * kernels with facts. */
#include "build/service.h"
#include "command/command.h"

#include <inttypes.h>
#include <string.h>

#define OPTIONS_BYTES_MAX 8192u
/* Names in one reply; with the log they fit into a record. */
#define KERNEL_NAMES_BYTES_MAX (12u << 10)
#define KERNEL_NAMES_MAX       1024u

/* Lists the names that fit into a reply. Returns their number; `left_out` is the number of all
 * others. */
static uint32_t list_kernel_names(const char *names, const char **list, uint32_t *left_out)
{
	uint32_t count = 0;
	size_t bytes = 0;

	*left_out = 0;
	for (const char *name = names; name && *name; name += strlen(name) + 1) {
		bytes += strlen(name) + 8;
		if (bytes > KERNEL_NAMES_BYTES_MAX || count == KERNEL_NAMES_MAX)
			(*left_out)++;
		else
			list[count++] = name;
	}
	return count;
}

/* Replies to a BundleBuild. `fault` NULL: it is built. */
static void answer_build(struct bundle *bundle, const char *kernel_names,
			 const struct backend_fault *fault)
{
	const char *list[KERNEL_NAMES_MAX];
	Sycl__V1__BuildResult result = SYCL__V1__BUILD_RESULT__INIT;
	result.bundle = bundle->object.id;
	result.log = bundle->log ? bundle->log : (char *)(uintptr_t)protobuf_c_empty_string;
	result.n_kernels = list_kernel_names(kernel_names, list, &result.kernels_left_out);
	result.kernels = (char **)(uintptr_t)list;
	result.from_cache = bundle->from_cache;
	result.build_ns = bundle->build_ns;
	Sycl__V1__Status status;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = bundle->number;
	if (fault) {
		status_fill(bundle->object.session, &status, bundle->object.id, fault);
		reply.status = &status;
	}
	reply.body_case = SYCL__V1__REPLY__BODY_BUILD;
	reply.build = &result;
	bundle->number = 0;
	session_reply(bundle->object.session, &reply);
}

void bundle_fail(struct bundle *bundle, const struct backend_fault *fault)
{
	bundle->object.failed = true;
	bundle->object.fault = malloc(sizeof(*fault));
	if (bundle->object.fault)
		*bundle->object.fault = *fault;
	answer_build(bundle, NULL, fault);
}

/* A compiled object waits for BundleLink. */
static void keep_object(struct bundle *bundle, const struct build_result *result)
{
	struct session *session = bundle->object.session;
	struct backend_fault fault;
	bool fits = result->binary_bytes <= OBJECT_BYTES_MAX - session->object_bytes;
	void *copy = fits ? malloc(result->binary_bytes + 1) : NULL;

	if (!copy) {
		if (fits)
			(void)fault_set(&fault, STATUS_MEMORY_ALLOCATION,
					"the engine has no memory for the object");
		else
			(void)fault_set(&fault, STATUS_QUOTA,
					"the objects of a session may have at most %llu bytes",
					(unsigned long long)OBJECT_BYTES_MAX);
		bundle_fail(bundle, &fault);
		return;
	}
	if (result->binary_bytes > 0)
		memcpy(copy, result->binary, result->binary_bytes);
	bundle->bytes = copy;
	bundle->byte_count = result->binary_bytes;
	session->object_bytes += bundle->byte_count;
	bundle->state = BUNDLE_OBJECT;
	answer_build(bundle, NULL, NULL);
}

/* The build_done of a bundle's job. */
static void bundle_built(void *owner, const struct build_result *result)
{
	struct bundle *bundle = owner;
	struct session *session = bundle->object.session;
	bundle->job = NULL;
	session->builds_running--;
	bundle->log = strndup(result->log, BUILD_LOG_BYTES_MAX);
	bundle->from_cache = result->from_cache;
	bundle->build_ns = result->build_ns;
	if (result->fault.status) {
		bundle_fail(bundle, &result->fault);
		return;
	}
	if (bundle->compile_only) {
		keep_object(bundle, result);
		return;
	}
	int r = sched_program_load_some(session->engine->scheduler, bundle->device,
					bundle->dimensions, result->binary, result->binary_bytes,
					bundle, &bundle->program);
	if (r < 0) {
		struct backend_fault fault;
		(void)fault_set(&fault, STATUS_RUNTIME, "the binary could not be loaded: %s",
				strerror(-r));
		bundle_fail(bundle, &fault);
		return;
	}
	bundle->state = BUNDLE_LOADING;
	(void)object_ref(&bundle->object); /* until the bundle is loaded */
}

void bundle_loaded(struct bundle *bundle, const char *kernel_names,
		   const struct backend_fault *fault)
{
	bundle->state = bundle->is_native_object ? BUNDLE_OBJECT : BUNDLE_READY;
	if (!bundle->object.released) {
		/* Errors of the driver's own compiler belong to the log, like errors of the
		 * build. */
		if (fault->status == STATUS_BUILD && (!bundle->log || !bundle->log[0])) {
			free(bundle->log);
			bundle->log = strdup(fault->text);
		}
		if (fault->status)
			bundle_fail(bundle, fault);
		else
			answer_build(bundle, kernel_names, NULL);
	}
	object_unref(&bundle->object);
}

void bundle_end(struct bundle *bundle)
{
	if (bundle->job) {
		build_job_cancel(bundle->job);
		bundle->job = NULL;
		bundle->object.session->builds_running--;
	}
	if (bundle->number && !bundle->object.failed) {
		struct backend_fault fault;
		(void)fault_set(&fault, STATUS_RUNTIME,
				"the bundle was released before it was built");
		answer_build(bundle, NULL, &fault);
	}
	/* Kernels that are left may need other numbers of dimensions; end_bundle releases it then.
	 */
	if (bundle->program && !bundle->dimensions)
		sched_program_release(TAKE(bundle->program));
}

static int take_source(struct session *session, const Sycl__V1__BundleBuild *message,
		       char **source_out, size_t *bytes_out, struct backend_fault *fault)
{
	const void *from = message->inline_source.data;
	uint64_t bytes = message->inline_source.len;
	if (message->source_case == SYCL__V1__BUNDLE_BUILD__SOURCE_ARENA_SOURCE) {
		struct arena *arena;
		void *address;
		if (session_arena_range(session, message->arena_source, 0, 1, &arena, &address,
					fault))
			return 1;
		from = address;
		bytes = message->arena_source->size_bytes;
	} else if (message->source_case != SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE) {
		return fault_set(fault, STATUS_INVALID, "the source is missing");
	} else if (bytes > INLINE_SOURCE_BYTES_MAX) {
		return fault_set(fault, STATUS_INVALID,
				 "a source of more than %u bytes lies in an arena",
				 INLINE_SOURCE_BYTES_MAX);
	}
	if (bytes > session->limits.source_bytes)
		return fault_set(fault, STATUS_QUOTA,
				 "a source may have at most %" PRIu64 " bytes, not %" PRIu64,
				 session->limits.source_bytes, bytes);
	/* A client may change its arena meanwhile. So the source is copied: the hash and the build
	 * must have the same bytes. */
	char *copy = malloc(bytes + 1);
	if (!copy)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for the source");
	if (bytes)
		memcpy(copy, from, bytes);
	copy[bytes] = '\0';
	*source_out = copy;
	*bytes_out = bytes;
	return 0;
}

/* A backend would refuse another backend's language as well, but only after a build, with a message
 * of its compiler. */
static int command_build_check_kind(Sycl__V1__SourceKind kind, const struct context_device *found,
				    struct backend_fault *fault)
{
	enum backend_kind backend = found->ops->kind;

	switch (kind) {
	case SYCL__V1__SOURCE_KIND__SOURCE_KIND_PORTABLE:
	case SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C:
		return 0;
	case SYCL__V1__SOURCE_KIND__SOURCE_KIND_BUILTIN:
		return backend != BACKEND_KIND_CUDA
			       ? 0
			       : fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
					   "a device of the CUDA backend has no built-in kernels");
	case SYCL__V1__SOURCE_KIND__SOURCE_KIND_PTX:
	case SYCL__V1__SOURCE_KIND__SOURCE_KIND_CUBIN:
	case SYCL__V1__SOURCE_KIND__SOURCE_KIND_CUDA_CPP:
		return backend == BACKEND_KIND_CUDA
			       ? 0
			       : fault_set(
					 fault, STATUS_FEATURE_NOT_SUPPORTED,
					 "PTX, CUDA C++, cubins and fatbins are for devices of the CUDA backend");
	case SYCL__V1__SOURCE_KIND__SOURCE_KIND_SPIRV:
		return found->facts->features & BACKEND_FEATURE_SPIRV
			       ? 0
			       : fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
					   "%.100s takes no SPIR-V", found->facts->name);
	default:
		return fault_set(fault, STATUS_INVALID, "%d is no kind of source", (int)kind);
	}
}

/* True if the kind has a text, from which an object can be made. */
static bool is_compiled(Sycl__V1__SourceKind kind)
{
	return kind != SYCL__V1__SOURCE_KIND__SOURCE_KIND_BUILTIN &&
	       kind != SYCL__V1__SOURCE_KIND__SOURCE_KIND_CUBIN &&
	       kind != SYCL__V1__SOURCE_KIND__SOURCE_KIND_SPIRV;
}

static int check_build(const struct session *session, const Sycl__V1__BundleBuild *message,
		       struct backend_fault *fault)
{
	if ((message->kind == SYCL__V1__SOURCE_KIND__SOURCE_KIND_PTX ||
	     message->kind == SYCL__V1__SOURCE_KIND__SOURCE_KIND_CUBIN) &&
	    message->options[0])
		return fault_set(fault, STATUS_INVALID, "PTX and binaries take no build options");
	if (message->compile_only && !is_compiled(message->kind))
		return fault_set(
			fault, STATUS_INVALID,
			"built-in kernels and binaries cannot be compiled into an object: build them");
	return bundle_check_options(session, message->options, fault);
}

int bundle_check_options(const struct session *session, const char *options,
			 struct backend_fault *fault)
{
	if (strlen(options) > OPTIONS_BYTES_MAX)
		return fault_set(fault, STATUS_INVALID, "build options may have at most %u bytes",
				 OPTIONS_BYTES_MAX);
	if (session->builds_running >= session->limits.builds)
		return fault_set(fault, STATUS_QUOTA,
				 "a session may have at most %" PRIu64 " builds at one time",
				 session->limits.builds);
	return 0;
}

static int start_build(struct session *session, struct bundle *bundle,
		       const Sycl__V1__BundleBuild *message, const struct context_device *found,
		       struct backend_fault *fault)
{
	CLEANUP(free_pointer) char *source = NULL;
	size_t source_bytes = 0;
	if (take_source(session, message, &source, &source_bytes, fault))
		return 1;
	if (message->compile_only && !(found->facts->features & BACKEND_FEATURE_LINK))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "%.100s cannot link what is compiled", found->facts->name);
	bundle->compile_only = message->compile_only;
	struct build_request request = {
		.backend = found->ops,
		.action = message->compile_only ? BUILD_ACTION_COMPILE : BUILD_ACTION_BUILD,
		.device_key = found->facts->key,
		.device_name = found->facts->name,
		.kind = (enum backend_source_kind)message->kind,
		.source = source,
		.source_bytes = source_bytes,
		.options = message->options,
	};
	bundle->dimensions = request.dimensions = bundle_choose_dimensions(bundle, &request);
	return bundle_submit(bundle, &request, fault);
}

int bundle_submit(struct bundle *bundle, struct build_request *request, struct backend_fault *fault)
{
	struct session *session = bundle->object.session;

	if (!session->engine->builds)
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "sources cannot be built: this engine was started "
				 "without a build program");
	request->time_limit_ns = session->limits.build_seconds * 1000000000u;
	request->memory_limit_bytes = session->limits.build_memory_bytes;
	int r = build_service_submit(session->engine->builds, request, bundle_built, bundle,
				     &bundle->job);
	if (r < 0)
		return fault_set(fault, STATUS_BUILD, "the build could not be started: %s",
				 strerror(-r));
	session->builds_running++;
	return 0;
}

int command_bundle_build(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__BundleBuild *message = command->bundle_build;
	struct bundle *bundle;
	int r = object_new(session, message->bundle, OBJECT_BUNDLE, session->record, &bundle);
	if (r != 0)
		return r < 0 ? r : 0;
	bundle->number = session->record;
	struct context_device found;
	struct backend_fault fault;
	r = context_device(session, message->context, message->device, &found, &fault);
	if (r < 0)
		return r;
	if (r == 0)
		r = command_build_check_kind(message->kind, &found, &fault);
	if (r == 0)
		r = check_build(session, message, &fault);
	if (r == 0) {
		bundle->context = found.context;
		(void)object_ref(&found.context->object);
		bundle->device = found.device;
		bundle->device_index = message->device;
		bundle->object.backend = (uint32_t)found.ops->kind;
		r = start_build(session, bundle, message, &found, &fault);
	}
	if (r > 0)
		bundle_fail(bundle, &fault);
	return 0;
}

int command_kernel_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__KernelCreate *message = command->kernel_create;
	struct kernel *kernel;
	int r = object_new(session, message->kernel, OBJECT_KERNEL, session->record, &kernel);
	if (r != 0)
		return r < 0 ? r : 0;
	kernel->number = session->record;
	struct bundle *bundle;
	struct backend_fault fault;
	r = object_get(session, message->bundle, OBJECT_BUNDLE, &bundle, &fault);
	if (r < 0)
		return r;
	size_t name_bytes = strlen(message->name);
	if (r == 0 && bundle->state != BUNDLE_READY)
		r = fault_set(&fault, STATUS_INVALID,
			      bundle->state == BUNDLE_OBJECT ? "the bundle is not linked yet"
							     : "the bundle is not built yet");
	if (r == 0 && (name_bytes == 0 || name_bytes > KERNEL_NAME_BYTES_MAX))
		r = fault_set(&fault, STATUS_INVALID, "a kernel's name has 1 to %u bytes",
			      KERNEL_NAME_BYTES_MAX);
	if (r == 0 && !(kernel->name = strdup(message->name)))
		r = fault_set(&fault, STATUS_MEMORY_ALLOCATION, "no memory for a kernel's name");
	if (r == 0) {
		r = sched_kernel_create(session->engine->scheduler, bundle->program, kernel->name,
					kernel, &kernel->sched);
		if (r < 0)
			r = fault_set(&fault, STATUS_MEMORY_ALLOCATION,
				      "the kernel could not be made: %s", strerror(-r));
	}
	if (r > 0) {
		object_fail(&kernel->object, kernel->number, &fault);
		return 0;
	}
	kernel->bundle = bundle;
	kernel->object.backend = bundle->object.backend;
	(void)object_ref(&bundle->object);
	(void)object_ref(&kernel->object); /* until the kernel is made */
	return 0;
}

/* The argument's address space. If the backend does not report it, the kind decides. */
static enum backend_address_space argument_address_space(const struct backend_argument_facts *facts)
{
	if (facts->address != BACKEND_ADDRESS_UNKNOWN)
		return facts->address;
	switch (facts->kind) {
	case BACKEND_ARGUMENT_VALUE:
		return BACKEND_ADDRESS_PRIVATE;
	case BACKEND_ARGUMENT_GLOBAL:
		return BACKEND_ADDRESS_GLOBAL;
	case BACKEND_ARGUMENT_LOCAL:
		return BACKEND_ADDRESS_LOCAL;
	default:
		return BACKEND_ADDRESS_UNKNOWN;
	}
}

static Sycl__V1__ArgumentFacts *argument_facts(const struct backend_kernel_facts *facts,
					       bool with_names)
{
	Sycl__V1__ArgumentFacts *arguments = calloc(facts->argument_count + 1, sizeof(*arguments));
	if (!arguments)
		return NULL;
	for (uint32_t i = 0; i < facts->argument_count; i++) {
		const struct backend_argument_facts *from = &facts->arguments[i];
		sycl__v1__argument_facts__init(&arguments[i]);
		arguments[i].kind = (Sycl__V1__ArgumentKind)from->kind;
		arguments[i].size_bytes = from->size_bytes;
		arguments[i].is_const = from->is_const;
		arguments[i].address = (uint32_t)argument_address_space(from);
		arguments[i].qualifiers = from->qualifiers;
		arguments[i].access = (uint32_t)from->access;
		if (with_names) {
			arguments[i].type_name = (char *)(uintptr_t)from->type_name;
			arguments[i].name = (char *)(uintptr_t)from->name;
		}
	}
	return arguments;
}

static void answer_kernel(struct kernel *kernel, const struct backend_kernel_facts *facts)
{
	struct session *session = kernel->object.session;
	/*
	 * Names are only for people. The names of a thousand arguments would not fit into a record.
	 */
	CLEANUP(free_pointer)
	Sycl__V1__ArgumentFacts *arguments = argument_facts(facts, facts->argument_count <= 256);
	CLEANUP(free_pointer)
	Sycl__V1__ArgumentFacts **list =
		calloc(facts->argument_count + 1, sizeof(Sycl__V1__ArgumentFacts *));
	if (!arguments || !list) {
		struct backend_fault fault;
		(void)fault_set(&fault, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for the kernel's facts");
		object_fail(&kernel->object, kernel->number, &fault);
		return;
	}
	for (uint32_t i = 0; i < facts->argument_count; i++)
		list[i] = &arguments[i];
	Sycl__V1__KernelFacts message = SYCL__V1__KERNEL_FACTS__INIT;
	message.kernel = kernel->object.id;
	message.n_arguments = facts->argument_count;
	message.arguments = list;
	message.max_work_group_size = facts->max_work_group_size;
	message.preferred_multiple = facts->preferred_multiple;
	message.private_mem_bytes = facts->private_mem_bytes;
	message.local_mem_bytes = facts->local_mem_bytes;
	message.max_local_mem_bytes = facts->max_local_mem_bytes;
	message.registers = facts->registers;
	message.sub_group_size = facts->sub_group_size;
	message.native = facts->native;
	message.has_presets = facts->has_presets;
	uint64_t required[3], most[3];
	memcpy(required, facts->required_work_group_size, sizeof(required));
	memcpy(most, facts->max_global_size, sizeof(most));
	message.required_work_group_size = required;
	message.n_required_work_group_size = required[2] ? 3 : 0;
	message.max_global_size = most;
	message.n_max_global_size = most[2] ? 3 : 0;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = kernel->number;
	reply.body_case = SYCL__V1__REPLY__BODY_KERNEL;
	reply.kernel = &message;
	session_reply(session, &reply);
}

void kernel_created(struct kernel *kernel, const struct backend_kernel_facts *facts,
		    const struct backend_fault *fault)
{
	struct backend_fault refusal = *fault;
	if (!refusal.status && facts->argument_count > KERNEL_ARGUMENTS_MAX)
		(void)fault_set(&refusal, STATUS_KERNEL_NOT_SUPPORTED,
				"kernel %s has more than %u arguments", kernel->name,
				KERNEL_ARGUMENTS_MAX);
	if (!kernel->object.released && refusal.status) {
		object_fail(&kernel->object, kernel->number, &refusal);
	} else if (!kernel->object.released) {
		kernel->facts = *facts;
		kernel->ready = true;
		answer_kernel(kernel, facts);
	}
	object_unref(&kernel->object);
}
