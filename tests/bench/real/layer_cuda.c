/* CUDA's driver API in this process: one context, one stream, pinned memory. */
#include "real/layer.h"

#include "gpu/driver.h"
#include "gpu/place.h"
#include "real/sources.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of cuda.h and nvrtc.h. */
enum {
	STREAM_NON_BLOCKING = 1,
	CAPTURE_THREAD_LOCAL = 1,
	EVENT_DISABLE_TIMING = 2,
	EVENT_INTERPROCESS = 4,
	IPC_LAZY_PEER_ACCESS = 1,
	SHARED_GRANULE = 2 << 20, /* shared memory has its granules for itself */
	ATTRIBUTE_COMPUTE_MAJOR = 75,
	ATTRIBUTE_COMPUTE_MINOR = 76,
	ATTRIBUTE_MPS_ENABLED = 133
};
struct nvrtc_program;

#define NVRTC_FUNCTIONS(X)                                                                         \
	X(CreateProgram, (struct nvrtc_program * *program_out, const char *text, const char *name, \
			  int headers, const char *const *contents, const char *const *names))     \
	X(CompileProgram, (struct nvrtc_program * program, int count, const char *const *options)) \
	X(GetPTXSize, (struct nvrtc_program * program, size_t * bytes_out))                        \
	X(GetPTX, (struct nvrtc_program * program, char *ptx_out))                                 \
	X(GetProgramLogSize, (struct nvrtc_program * program, size_t * bytes_out))                 \
	X(GetProgramLog, (struct nvrtc_program * program, char *log_out))                          \
	X(DestroyProgram, (struct nvrtc_program * *program))

struct nvrtc {
#define NVRTC_FIELD(name, parameters) int(*name) parameters;
	NVRTC_FUNCTIONS(NVRTC_FIELD)
};

struct cuda {
	struct gpu_driver driver;
	int device;
	struct gpu_context *context;
	struct gpu_module *module;
	struct gpu_function *functions[LAYER_KERNELS];
	struct gpu_stream *stream;
	unsigned buffers, graphs, hosts;
	gpu_address buffer[LAYER_BUFFERS];
	struct gpu_event *ready[LAYER_BUFFERS]; /* of buffers that are shared */
	bool is_opened[LAYER_BUFFERS];          /* another process has it */
	bool is_part[LAYER_BUFFERS];            /* of another buffer */
	struct gpu_graph_exec *graph[LAYER_GRAPHS];
	void *host[LAYER_BUFFERS];
	uint64_t staged_bytes;
	void *staged; /* for reads into memory that is not pinned */
};

#define GOOD(call) gpu_driver_good(&cuda->driver, cuda->driver.call, #call)

static bool load_nvrtc(struct nvrtc *nvrtc)
{
	void *library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		(void)fprintf(stderr, "the compiler cannot be loaded: %s\n", dlerror());
		return false;
	}
	bool whole = true;
#define NVRTC_LOAD(name, parameters)                                                               \
	*(void **)&nvrtc->name = dlsym(library, "nvrtc" #name);                                    \
	whole = whole && nvrtc->name;
	NVRTC_FUNCTIONS(NVRTC_LOAD)
	return whole;
}

static void print_compiler_log(const struct nvrtc *nvrtc, struct nvrtc_program *program)
{
	size_t bytes = 0;
	char *log = nvrtc->GetProgramLogSize(program, &bytes) == 0 ? calloc(1, bytes + 1) : NULL;
	if (log && nvrtc->GetProgramLog(program, log) == 0)
		(void)fprintf(stderr, "%s\n", log);
	free(log);
}

/* Returns the text, which the caller frees. NULL: there is no NVRTC, or the source does not
 * compile; then its log is printed. */
static char *compile_to_ptx(const char *text, int compute)
{
	struct nvrtc nvrtc;
	struct nvrtc_program *program = NULL;
	char architecture[64], *ptx = NULL;
	size_t bytes = 0;
	(void)snprintf(architecture, sizeof(architecture), "--gpu-architecture=compute_%d",
		       compute);
	const char *const options[] = {architecture};
	if (!load_nvrtc(&nvrtc) ||
	    nvrtc.CreateProgram(&program, text, "program.cu", 0, NULL, NULL) != 0)
		return NULL;
	if (nvrtc.CompileProgram(program, 1, options) != 0)
		print_compiler_log(&nvrtc, program);
	else if (nvrtc.GetPTXSize(program, &bytes) == 0 && (ptx = malloc(bytes)) &&
		 nvrtc.GetPTX(program, ptx) != 0) {
		free(ptx);
		ptx = NULL;
	}
	(void)nvrtc.DestroyProgram(&program);
	return ptx;
}

static bool cuda_open_kernels(struct cuda *cuda, const struct layer_source *source)
{
	int major = 0, minor = 0;
	char *text = NULL, *ptx = NULL;
	bool good = GOOD(device_attribute(&major, ATTRIBUTE_COMPUTE_MAJOR, cuda->device)) &&
		    GOOD(device_attribute(&minor, ATTRIBUTE_COMPUTE_MINOR, cuda->device)) &&
		    asprintf(&text, "%s%s", LAYER_CUDA_PRELUDE, source->text) >= 0;
	ptx = good ? compile_to_ptx(text, major * 10 + minor) : NULL;
	good = ptx && GOOD(module_load(&cuda->module, ptx));
	for (int i = 0; i < LAYER_KERNELS && source->kernels[i] && good; i++)
		good = GOOD(module_function(&cuda->functions[i], cuda->module, source->kernels[i]));
	free(ptx);
	free(text);
	return good;
}

/* A process that does not reach MPS works without it. Its figures would be reported as those of
 * MPS. */
static bool mps_is(struct cuda *cuda, bool wanted)
{
	int enabled = 0;
	if (!GOOD(device_attribute(&enabled, ATTRIBUTE_MPS_ENABLED, cuda->device)))
		return false;
	if ((enabled != 0) != wanted)
		(void)fprintf(stderr, "MPS %s this process\n",
			      wanted ? "does not serve" : "serves");
	return (enabled != 0) == wanted;
}

static bool cuda_open(const char *text, const struct layer_source *source, void **state_out)
{
	struct cuda *cuda = calloc(1, sizeof(*cuda));
	struct gpu_place place;
	*state_out = cuda;
	if (!cuda || !gpu_place_take(text, &place))
		return false;
	const bool mps = strcmp(place.with, GPU_NOBODY) != 0;
	if (mps)
		(void)setenv("CUDA_MPS_PIPE_DIRECTORY", place.with, 1);
	else
		(void)unsetenv("CUDA_MPS_PIPE_DIRECTORY");
	return gpu_driver_open(&cuda->driver, gpu_library(), true) &&
	       GOOD(device_get(&cuda->device, (int)place.device)) &&
	       GOOD(context_retain(&cuda->context, cuda->device)) &&
	       GOOD(context_use(cuda->context)) && mps_is(cuda, mps) &&
	       GOOD(stream_create(&cuda->stream, STREAM_NON_BLOCKING)) &&
	       cuda_open_kernels(cuda, source);
}

static void cuda_close(void *state)
{
	struct cuda *cuda = state;
	if (!cuda)
		return;
	for (unsigned i = 0; i < cuda->graphs; i++)
		(void)cuda->driver.graph_exec_destroy(cuda->graph[i]);
	for (unsigned i = 0; i < cuda->buffers; i++) {
		if (cuda->ready[i])
			(void)cuda->driver.event_destroy(cuda->ready[i]);
		if (cuda->is_opened[i])
			(void)cuda->driver.ipc_close(cuda->buffer[i]);
		else if (!cuda->is_part[i])
			(void)cuda->driver.memory_free(cuda->buffer[i]);
	}
	for (unsigned i = 0; i < cuda->hosts; i++)
		(void)cuda->driver.host_free(cuda->host[i]);
	if (cuda->staged)
		(void)cuda->driver.host_free(cuda->staged);
	if (cuda->stream)
		(void)cuda->driver.stream_destroy(cuda->stream);
	if (cuda->module)
		(void)cuda->driver.module_unload(cuda->module);
	if (cuda->context)
		(void)cuda->driver.context_release(cuda->device);
	free(cuda);
}

static bool cuda_alloc(void *state, uint64_t bytes, unsigned *buffer_out)
{
	struct cuda *cuda = state;
	if (cuda->buffers == LAYER_BUFFERS ||
	    !GOOD(memory_allocate(&cuda->buffer[cuda->buffers], bytes)))
		return false;
	*buffer_out = cuda->buffers++;
	return true;
}

static bool cuda_part(void *state, unsigned buffer, uint64_t offset_bytes, uint64_t bytes,
		      unsigned *part_out)
{
	struct cuda *cuda = state;
	(void)bytes;
	if (cuda->buffers == LAYER_BUFFERS)
		return false;
	cuda->is_part[cuda->buffers] = true;
	cuda->buffer[cuda->buffers] = cuda->buffer[buffer] + offset_bytes;
	*part_out = cuda->buffers++;
	return true;
}

static void *cuda_host(void *state, uint64_t bytes)
{
	struct cuda *cuda = state;
	void *memory = NULL;
	if (cuda->hosts == LAYER_BUFFERS || !GOOD(host_allocate(&memory, bytes, 0)))
		return NULL;
	memset(memory, 0, bytes);
	cuda->host[cuda->hosts++] = memory;
	return memory;
}

static bool cuda_write(void *state, unsigned buffer, const void *from, uint64_t bytes)
{
	struct cuda *cuda = state;
	return GOOD(copy_in(cuda->buffer[buffer], from, bytes, cuda->stream));
}

static bool cuda_launch(void *state, const struct layer_launch *launch)
{
	struct cuda *cuda = state;
	struct layer_launch copy = *launch;
	void *parameters[LAYER_POINTERS + LAYER_VALUES];
	unsigned count = 0;
	for (unsigned i = 0; i < copy.pointers; i++)
		parameters[count++] = &cuda->buffer[copy.buffers[i]];
	for (unsigned i = 0; i < copy.values; i++)
		parameters[count++] = &copy.words[i];
	return GOOD(launch(cuda->functions[copy.kernel], copy.global / copy.local, 1, 1, copy.local,
			   1, 1, 0, cuda->stream, parameters, NULL));
}

static bool cuda_sync(void *state)
{
	struct cuda *cuda = state;
	return GOOD(stream_synchronize(cuda->stream));
}

static bool grow_staged(struct cuda *cuda, uint64_t bytes)
{
	if (bytes <= cuda->staged_bytes)
		return true;
	if (cuda->staged)
		(void)cuda->driver.host_free(cuda->staged);
	cuda->staged = NULL;
	cuda->staged_bytes = 0;
	if (!GOOD(host_allocate(&cuda->staged, bytes, 0)))
		return false;
	cuda->staged_bytes = bytes;
	return true;
}

static bool is_pinned(const struct cuda *cuda, const void *address)
{
	for (unsigned i = 0; i < cuda->hosts; i++)
		if (cuda->host[i] == address)
			return true;
	return false;
}

static bool cuda_read(void *state, unsigned buffer, void *to, uint64_t bytes)
{
	struct cuda *cuda = state;
	const bool direct = is_pinned(cuda, to);
	if ((!direct && !grow_staged(cuda, bytes)) ||
	    !GOOD(copy_out(direct ? to : cuda->staged, cuda->buffer[buffer], bytes,
			   cuda->stream)) ||
	    !cuda_sync(cuda))
		return false;
	if (!direct)
		memcpy(to, cuda->staged, bytes);
	return true;
}

static bool cuda_record_begin(void *state)
{
	struct cuda *cuda = state;
	return cuda->graphs < LAYER_GRAPHS &&
	       GOOD(capture_begin(cuda->stream, CAPTURE_THREAD_LOCAL));
}

static bool cuda_record_end(void *state, unsigned *graph_out)
{
	struct cuda *cuda = state;
	struct gpu_graph *graph = NULL;
	bool good = GOOD(capture_end(cuda->stream, &graph)) &&
		    GOOD(graph_instantiate(&cuda->graph[cuda->graphs], graph, 0));
	if (graph)
		(void)cuda->driver.graph_destroy(graph);
	if (good)
		*graph_out = cuda->graphs++;
	return good;
}

static bool cuda_graph(void *state, unsigned graph)
{
	struct cuda *cuda = state;
	return GOOD(graph_launch(cuda->graph[graph], cuda->stream));
}

/* Made by hand: the names of the memory, and of an event that shows when it is ready. */
struct shared_names {
	struct gpu_ipc_name memory, event;
};
_Static_assert(sizeof(struct shared_names) <= LAYER_SHARED_BYTES, "room for both names");

static bool cuda_share(void *state, uint64_t bytes, unsigned *buffer_out,
		       struct layer_shared *shared_out)
{
	struct cuda *cuda = state;
	const uint64_t whole = (bytes + SHARED_GRANULE - 1) / SHARED_GRANULE * SHARED_GRANULE;
	struct shared_names names;
	unsigned buffer;
	if (!cuda_alloc(state, whole, &buffer) ||
	    !GOOD(event_create(&cuda->ready[buffer], EVENT_DISABLE_TIMING | EVENT_INTERPROCESS)) ||
	    !GOOD(ipc_name(&names.memory, cuda->buffer[buffer])) ||
	    !GOOD(ipc_event_name(&names.event, cuda->ready[buffer])))
		return false;
	memcpy(shared_out->bytes, &names, sizeof(names));
	*buffer_out = buffer;
	return true;
}

static bool cuda_open_shared(void *state, const struct layer_shared *shared, unsigned *buffer_out)
{
	struct cuda *cuda = state;
	struct shared_names names;
	const unsigned buffer = cuda->buffers;
	memcpy(&names, shared->bytes, sizeof(names));
	if (buffer == LAYER_BUFFERS ||
	    !GOOD(ipc_open(&cuda->buffer[buffer], names.memory, IPC_LAZY_PEER_ACCESS)))
		return false;
	cuda->is_opened[buffer] = true;
	*buffer_out = cuda->buffers++;
	return GOOD(ipc_event_open(&cuda->ready[buffer], names.event));
}

static bool cuda_hand_on(void *state, unsigned buffer)
{
	struct cuda *cuda = state;
	return GOOD(event_record(cuda->ready[buffer], cuda->stream));
}

static bool cuda_take(void *state, unsigned buffer)
{
	struct cuda *cuda = state;
	return GOOD(event_wait(cuda->stream, cuda->ready[buffer], 0));
}

const struct layer_body layer_cuda = {
	.open = cuda_open,
	.close = cuda_close,
	.alloc = cuda_alloc,
	.part = cuda_part,
	.host = cuda_host,
	.write = cuda_write,
	.launch = cuda_launch,
	.read = cuda_read,
	.sync = cuda_sync,
	.record_begin = cuda_record_begin,
	.record_end = cuda_record_end,
	.graph = cuda_graph,
	.share = cuda_share,
	.open_shared = cuda_open_shared,
	.hand_on = cuda_hand_on,
	.take = cuda_take,
};
