/*
 * A CUDA program that is independent of this project. It opens memory and events of other processes
 * with the vendor's own calls, and exports its own. A test sends orders in lines on stdin. The
 * program answers each with one line: "ok ...", or "no ..." with the error. Descriptors travel over
 * the Unix socket whose number is its first argument. nvcc compiles it as CUDA. A C compiler
 * compiles it as plain C, in which the driver's copies replace the kernels.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define TEXT_BYTES 512

static struct {
	int socket;
	CUdevice device;
	CUstream stream;
	/* One memory and one event at a time. */
	CUdeviceptr address;
	size_t size, mapped; /* the buffer's bytes; the mapped bytes */
	CUmemGenericAllocationHandle allocation;
	int is_vmm, is_own;
	CUevent event;
} me;

static void say(const char *answer, const char *text)
{
	(void)printf("%s %s\n", answer, text);
	(void)fflush(stdout);
}

/* Returns 0 and prints nothing, or returns 1 and prints "no". */
static int failed(CUresult result, const char *what)
{
	const char *name = NULL;
	char text[TEXT_BYTES];

	if (result == CUDA_SUCCESS)
		return 0;
	(void)cuGetErrorName(result, &name);
	(void)snprintf(text, sizeof(text), "%s: %s", what, name ? name : "unknown");
	say("no", text);
	return 1;
}

static void to_hex(const void *bytes, char text[2 * 64 + 1])
{
	for (int i = 0; i < 64; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
}

static int from_hex(const char *text, void *bytes)
{
	if (strlen(text) != 2 * 64)
		return -1;
	for (int i = 0; i < 64; i++) {
		unsigned byte;
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return -1;
		((unsigned char *)bytes)[i] = (unsigned char)byte;
	}
	return 0;
}

/* The ancillary part of one byte that carries a descriptor. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int send_descriptor(int descriptor)
{
	char byte = 'd';
	struct iovec part = { &byte, 1 };
	union control control;
	struct msghdr message;

	memset(&message, 0, sizeof(message));
	memset(&control, 0, sizeof(control));
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = control.bytes;
	message.msg_controllen = sizeof(control.bytes);
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
	return sendmsg(me.socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int receive_descriptor(void)
{
	char byte;
	struct iovec part = { &byte, 1 };
	union control control;
	struct msghdr message;
	int descriptor = -1;

	memset(&message, 0, sizeof(message));
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = control.bytes;
	message.msg_controllen = sizeof(control.bytes);
	if (recvmsg(me.socket, &message, 0) != 1)
		return -1;
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(&descriptor, CMSG_DATA(head), sizeof(int));
	return descriptor;
}

/* Reserves addresses for an allocation that this device can read and write. */
static int map(void)
{
	CUmemAccessDesc access;

	memset(&access, 0, sizeof(access));
	access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location.id = me.device;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	me.is_vmm = 1;
	if (failed(cuMemAddressReserve(&me.address, me.mapped, 0, 0, 0), "reserve"))
		return 1;
	if (failed(cuMemMap(me.address, me.mapped, 0, me.allocation, 0), "map"))
		return 1;
	return failed(cuMemSetAccess(me.address, me.mapped, &access, 1), "access");
}

/* open-vmm SIZE MAPPED: the descriptor arrives over the socket. */
static void open_vmm(const char *words)
{
	int descriptor = receive_descriptor();

	if (sscanf(words, "%zu %zu", &me.size, &me.mapped) != 2 || descriptor < 0) {
		say("no", "descriptor or sizes");
		return;
	}
	CUresult result = cuMemImportFromShareableHandle(&me.allocation, (void *)(uintptr_t)descriptor,
							 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	(void)close(descriptor);
	if (!failed(result, "import") && !map())
		say("ok", "");
}

/* open-ipc SIZE HEX */
static void open_ipc(const char *words)
{
	char hex[2 * 64 + 1];
	CUipcMemHandle handle;

	if (sscanf(words, "%zu %128s", &me.size, hex) != 2 || from_hex(hex, &handle) < 0) {
		say("no", "handle");
		return;
	}
	if (failed(cuIpcOpenMemHandle(&me.address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), "open"))
		return;
	CUdeviceptr base = 0;
	if (failed(cuMemGetAddressRange(&base, &me.mapped, me.address), "range"))
		return;
	me.mapped -= (size_t)(me.address - base);
	say("ok", "");
}

#ifdef __CUDACC__
__global__ void count_others(const unsigned char *bytes, size_t from, size_t to, unsigned char value,
			     unsigned long long *others)
{
	size_t step = gridDim.x * (size_t)blockDim.x;

	for (size_t i = from + blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < to; i += step)
		if (bytes[i] != value)
			atomicAdd(others, 1ull);
}

__global__ void set_all(unsigned char *bytes, size_t size, unsigned char value)
{
	size_t step = gridDim.x * (size_t)blockDim.x;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < size; i += step)
		bytes[i] = value;
}

__global__ void spin_for(unsigned long long ns)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ns);
}

static CUresult spin_on_stream(unsigned seconds)
{
	spin_for<<<1, 1, 0, me.stream>>>(seconds * 1000000000ull);
	return (CUresult)cudaGetLastError();
}

static int others(size_t from, size_t to, unsigned char value, unsigned long long *count_out)
{
	CUdeviceptr counter = 0;

	if (failed(cuMemAllocAsync(&counter, sizeof(*count_out), me.stream), "counter"))
		return 1;
	if (failed(cuMemsetD8Async(counter, 0, sizeof(*count_out), me.stream), "counter"))
		return 1;
	count_others<<<64, 256, 0, me.stream>>>((const unsigned char *)me.address, from, to, value,
						(unsigned long long *)counter);
	if (failed(cuMemcpyDtoHAsync(count_out, counter, sizeof(*count_out), me.stream), "read"))
		return 1;
	(void)cuMemFreeAsync(counter, me.stream);
	return failed(cuStreamSynchronize(me.stream), "check");
}

static CUresult set_bytes(unsigned char value)
{
	set_all<<<64, 256, 0, me.stream>>>((unsigned char *)me.address, me.size, value);
	return (CUresult)cudaGetLastError();
}
#else
/* The double of the driver runs no kernels of this program. */
static CUresult spin_on_stream(unsigned seconds)
{
	(void)seconds;
	return CUDA_SUCCESS;
}

static int others(size_t from, size_t to, unsigned char value, unsigned long long *count_out)
{
	unsigned char *copy = malloc(to - from + 1);

	if (!copy || failed(cuMemcpyDtoHAsync(copy, me.address + from, to - from, me.stream), "read") ||
	    failed(cuStreamSynchronize(me.stream), "check")) {
		free(copy);
		return 1;
	}
	*count_out = 0;
	for (size_t i = 0; i < to - from; i++)
		*count_out += copy[i] != value;
	free(copy);
	return 0;
}

static CUresult set_bytes(unsigned char value)
{
	return cuMemsetD8Async(me.address, value, me.size, me.stream);
}
#endif

static void check_range(size_t from, size_t to, unsigned char value)
{
	unsigned long long count = 0;
	char text[TEXT_BYTES];

	if (from < to && others(from, to, value, &count))
		return;
	(void)snprintf(text, sizeof(text), "%llu of %zu bytes differ", count, to - from);
	say(count ? "no" : "ok", text);
}

/* check BYTE: checks all of the buffer. Earlier operations of the stream, such as a wait, come
 * first. */
static void do_check(const char *words)
{
	check_range(0, me.size, (unsigned char)atoi(words));
}

/* rest: checks that the memory that is mapped beyond the buffer has no data of others. */
static void rest(const char *words)
{
	(void)words;
	check_range(me.size, me.mapped, 0);
}

/* fill BYTE: adds a fill to the stream, and does not wait for it. */
static void do_fill(const char *words)
{
	if (!failed(set_bytes((unsigned char)atoi(words)), "fill"))
		say("ok", "");
}

/* spin SECONDS: keeps the stream busy, on a GPU. */
static void spin(const char *words)
{
	if (!failed(spin_on_stream((unsigned)atoi(words)), "spin"))
		say("ok", "");
}

static void synchronise(const char *words)
{
	(void)words;
	if (!failed(cuStreamSynchronize(me.stream), "sync"))
		say("ok", "");
}

static void close_memory(const char *words)
{
	CUresult result = CUDA_SUCCESS;

	(void)words;
	if (failed(cuStreamSynchronize(me.stream), "sync"))
		return;
	if (me.is_vmm) {
		result = cuMemUnmap(me.address, me.mapped);
		if (result == CUDA_SUCCESS)
			result = cuMemAddressFree(me.address, me.mapped);
		if (result == CUDA_SUCCESS)
			result = cuMemRelease(me.allocation);
	} else if (me.address) {
		result = me.is_own ? cuMemFree(me.address) : cuIpcCloseMemHandle(me.address);
	}
	me.address = 0;
	me.is_vmm = me.is_own = 0;
	if (!failed(result, "close"))
		say("ok", "");
}

/* Fills new memory: the buffer with that byte, the rest with zeroes. */
static int clear_and_fill(unsigned char value)
{
	return failed(cuMemsetD8Async(me.address, 0, me.mapped, me.stream), "clear") ||
	       failed(set_bytes(value), "fill") || failed(cuStreamSynchronize(me.stream), "sync");
}

/* make-vmm SIZE BYTE: makes memory of this program; answers "ok MAPPED", with its descriptor over
 * the socket. */
static void make_vmm(const char *words)
{
	CUmemAllocationProp properties;
	unsigned value;
	size_t granule = 0;
	int descriptor = -1;
	char text[TEXT_BYTES];

	memset(&properties, 0, sizeof(properties));
	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	properties.location.id = me.device;
	if (sscanf(words, "%zu %u", &me.size, &value) != 2) {
		say("no", "sizes");
		return;
	}
	if (failed(cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "granule"))
		return;
	me.mapped = (me.size + granule - 1) / granule * granule;
	if (failed(cuMemCreate(&me.allocation, me.mapped, &properties, 0), "create") || map() ||
	    clear_and_fill((unsigned char)value) ||
	    failed(cuMemExportToShareableHandle(&descriptor, me.allocation, properties.requestedHandleTypes, 0), "export"))
		return;
	int sent = send_descriptor(descriptor);
	(void)close(descriptor);
	(void)snprintf(text, sizeof(text), "%zu", me.mapped);
	say(sent < 0 ? "no" : "ok", text);
}

/* make-ipc SIZE BYTE: "ok MAPPED HEX". */
static void make_ipc(const char *words)
{
	CUipcMemHandle handle;
	unsigned value;
	char hex[2 * 64 + 1], text[TEXT_BYTES];

	if (sscanf(words, "%zu %u", &me.size, &value) != 2) {
		say("no", "sizes");
		return;
	}
	me.is_own = 1;
	me.mapped = (me.size + (2u << 20) - 1) / (2u << 20) * (2u << 20);
	if (failed(cuMemAlloc(&me.address, me.mapped), "alloc") || clear_and_fill((unsigned char)value) ||
	    failed(cuIpcGetMemHandle(&handle, me.address), "handle"))
		return;
	to_hex(&handle, hex);
	(void)snprintf(text, sizeof(text), "%zu %s", me.mapped, hex);
	say("ok", text);
}

/* make-event: "ok HEX". */
static void make_event(const char *words)
{
	CUipcEventHandle handle;
	char hex[2 * 64 + 1];

	(void)words;
	if (failed(cuEventCreate(&me.event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), "event") ||
	    failed(cuIpcGetEventHandle(&handle, me.event), "handle"))
		return;
	to_hex(&handle, hex);
	say("ok", hex);
}

/* open-event HEX */
static void open_event(const char *words)
{
	char hex[2 * 64 + 1];
	CUipcEventHandle handle;

	if (sscanf(words, "%128s", hex) != 1 || from_hex(hex, &handle) < 0)
		say("no", "handle");
	else if (!failed(cuIpcOpenEventHandle(&me.event, handle), "open"))
		say("ok", "");
}

/* wait: later operations of the stream wait for what has been recorded. record: comes after all
 * operations on it. */
static void wait_event(const char *words)
{
	(void)words;
	if (!failed(cuStreamWaitEvent(me.stream, me.event, 0), "wait"))
		say("ok", "");
}

static void do_record(const char *words)
{
	(void)words;
	if (!failed(cuEventRecord(me.event, me.stream), "record"))
		say("ok", "");
}

static void close_event(const char *words)
{
	(void)words;
	if (!failed(cuEventDestroy(me.event), "close"))
		say("ok", "");
}

/* free: answers "ok BYTES", the free device memory. */
static void tell_free(const char *words)
{
	size_t left = 0, all = 0;
	char text[TEXT_BYTES];

	(void)words;
	if (failed(cuMemGetInfo(&left, &all), "info"))
		return;
	(void)snprintf(text, sizeof(text), "%zu", left);
	say("ok", text);
}

static const struct {
	const char *name;
	void (*run)(const char *words);
} commands[] = {
	{ "open-vmm", open_vmm },     { "open-ipc", open_ipc },     { "check", do_check },    { "rest", rest },
	{ "fill", do_fill },          { "sync", synchronise },      { "close", close_memory }, { "make-vmm", make_vmm },
	{ "make-ipc", make_ipc },     { "make-event", make_event }, { "open-event", open_event },
	{ "wait", wait_event },       { "record", do_record },      { "close-event", close_event },
	{ "free", tell_free },        { "spin", spin },
};

static void obey(const char *line)
{
	char name[32] = "";
	int used = 0;

	(void)sscanf(line, "%31s %n", name, &used);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) == 0) {
			commands[i].run(line + used);
			return;
		}
	}
	say("no", "such command");
}

int main(int argc, char **argv)
{
	char line[TEXT_BYTES];
	CUcontext context;

	me.socket = argc > 1 ? atoi(argv[1]) : -1;
	if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&me.device, 0) != CUDA_SUCCESS) {
		say("none", "no device");
		return 77;
	}
	if (failed(cuDevicePrimaryCtxRetain(&context, me.device), "context") ||
	    failed(cuCtxSetCurrent(context), "context") ||
	    failed(cuStreamCreate(&me.stream, CU_STREAM_NON_BLOCKING), "stream"))
		return 1;
	say("ready", "");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}
