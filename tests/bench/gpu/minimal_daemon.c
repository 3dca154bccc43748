#include "gpu/minimal_daemon.h"

#include "gpu/driver.h"
#include "gpu/place.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 256, SPINS = 1000, STREAM_NON_BLOCKING = 1, REGISTER_DEVICE_MAP = 2 };

struct record {
	uint64_t addresses[COST_BUFFERS];
	uint32_t kernel; /* enum cost_kernel; COST_KERNEL_NAMES: a read of the first word */
	uint32_t value;
	uint32_t count;
	uint32_t padding;
};

/* Words with different writers are on separate cache lines. */
struct minimal_ring {
	_Alignas(64) _Atomic uint32_t head; /* written by the client */
	_Alignas(64) _Atomic uint32_t done; /* written by the device */
	_Alignas(64) _Atomic uint32_t word; /* written by the device */
	_Alignas(64) _Atomic int state;     /* 0: not open yet; 1: open; -1: failed; 2: must end */
	uint64_t addresses[COST_BUFFERS];
	_Alignas(64) struct record records[SLOTS];
};

/* The process that has the driver. */
struct device {
	struct gpu_driver driver;
	int (*host_register)(void *address, size_t bytes, unsigned flags);
	int (*host_address)(gpu_address *address_out, void *host, unsigned flags);
	int (*write_value)(struct gpu_stream *stream, gpu_address address, uint32_t value,
			   unsigned flags);
	struct gpu_context *context;
	struct gpu_module *module;
	struct gpu_function *functions[COST_KERNEL_NAMES];
	struct gpu_stream *stream;
	gpu_address done; /* of the ring, for the device */
};

#define GOOD(call) gpu_driver_good(&device->driver, device->driver.call, #call)

static bool load_functions(struct device *device)
{
	*(void **)&device->host_register = dlsym(device->driver.library, "cuMemHostRegister_v2");
	*(void **)&device->host_address =
		dlsym(device->driver.library, "cuMemHostGetDevicePointer_v2");
	*(void **)&device->write_value = dlsym(device->driver.library, "cuStreamWriteValue32_v2");
	return device->host_register && device->host_address && device->write_value;
}

static bool share_ring(struct device *device, struct minimal_ring *ring)
{
	gpu_address address = 0;
	const struct gpu_driver *driver = &device->driver;
	bool good = gpu_driver_good(driver,
				    device->host_register(ring, sizeof(*ring), REGISTER_DEVICE_MAP),
				    "cuMemHostRegister");
	good = good && gpu_driver_good(driver, device->host_address(&address, ring, 0),
				       "cuMemHostGetDevicePointer");
	device->done = address + offsetof(struct minimal_ring, done);
	return good;
}

static bool open_device(struct device *device, struct minimal_ring *ring, unsigned index)
{
	int ordinal = 0;
	bool good = gpu_driver_open(&device->driver, gpu_library(), true) &&
		    load_functions(device) && GOOD(device_get(&ordinal, (int)index)) &&
		    GOOD(context_retain(&device->context, ordinal)) &&
		    GOOD(context_use(device->context)) &&
		    GOOD(module_load(&device->module, cost_kernels_ptx)) &&
		    GOOD(stream_create(&device->stream, STREAM_NON_BLOCKING)) &&
		    share_ring(device, ring);
	for (int i = 0; i < COST_KERNEL_NAMES && good; i++)
		good = GOOD(module_function(&device->functions[i], device->module,
					    cost_kernel_names[i]));
	for (int i = 0; i < COST_BUFFERS && good; i++)
		good = GOOD(memory_allocate(&ring->addresses[i], COST_BUFFER_BYTES)) &&
		       GOOD(memory_fill(ring->addresses[i], COST_WORD, COST_BUFFER_BYTES / 4,
					device->stream));
	return good && GOOD(stream_synchronize(device->stream));
}

static bool serve_record(struct device *device, struct minimal_ring *ring, uint32_t number)
{
	struct record record = ring->records[number % SLOTS];
	void *parameters[COST_BUFFERS + 1];
	if (record.kernel >= COST_KERNEL_NAMES)
		return GOOD(copy_out((void *)&ring->word, record.addresses[0], sizeof(ring->word),
				     device->stream));
	for (uint32_t i = 0; i < record.count; i++)
		parameters[i] = &record.addresses[i];
	parameters[record.count] = &record.value;
	return GOOD(launch(device->functions[record.kernel], COST_BLOCKS, 1, 1, COST_BLOCK, 1, 1, 0,
			   device->stream, parameters, NULL));
}

/* With few processors the other side may need this one. */
static void spin_or_yield(unsigned *spins)
{
	if (++*spins < SPINS)
		__builtin_ia32_pause();
	else
		(void)sched_yield();
}

static bool serve_ring(struct device *device, struct minimal_ring *ring)
{
	uint32_t taken = 0;
	unsigned spins = 0;
	bool good = true;
	while (good && atomic_load_explicit(&ring->state, memory_order_relaxed) != 2) {
		const uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
		if (head == taken) {
			spin_or_yield(&spins);
			continue;
		}
		for (spins = 0; taken != head && good; taken++)
			good = serve_record(device, ring, taken);
		good = good &&
		       gpu_driver_good(&device->driver,
				       device->write_value(device->stream, device->done, taken, 0),
				       "cuStreamWriteValue32");
	}
	return good;
}

static void become_daemon(struct minimal_ring *ring, unsigned index, pid_t parent)
{
	struct device device = {.context = NULL};
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !open_device(&device, ring, index)) {
		atomic_store(&ring->state, -1);
		_exit(1);
	}
	atomic_store(&ring->state, 1);
	if (serve_ring(&device, ring))
		_exit(0);
	/* Nothing would write the word that the client polls. */
	(void)kill(parent, SIGKILL);
	_exit(1);
}

bool minimal_daemon_open(struct minimal_daemon *daemon, const char *place_text)
{
	struct gpu_place place;
	*daemon = (struct minimal_daemon){.pid = 0};
	if (!gpu_place_take(place_text, &place))
		return false;
	void *memory = mmap(NULL, sizeof(*daemon->ring), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED) {
		perror("shared memory");
		return false;
	}
	daemon->ring = memory;
	const pid_t parent = getpid();
	daemon->pid = fork();
	if (daemon->pid == 0)
		become_daemon(daemon->ring, place.device, parent);
	while (daemon->pid > 0 && atomic_load(&daemon->ring->state) == 0 &&
	       waitpid(daemon->pid, NULL, WNOHANG) == 0)
		(void)sched_yield();
	return daemon->pid > 0 && atomic_load(&daemon->ring->state) == 1;
}

void minimal_daemon_close(struct minimal_daemon *daemon)
{
	if (!daemon->ring)
		return;
	atomic_store(&daemon->ring->state, 2);
	if (daemon->pid > 0)
		(void)waitpid(daemon->pid, NULL, 0);
	(void)munmap(daemon->ring, sizeof(*daemon->ring));
	*daemon = (struct minimal_daemon){.pid = 0};
}

/* There are fewer records between two waits than slots. */
static void ring_send(struct minimal_daemon *daemon, const struct record *record)
{
	daemon->ring->records[daemon->sent++ % SLOTS] = *record;
	atomic_store_explicit(&daemon->ring->head, daemon->sent, memory_order_release);
}

void minimal_daemon_launch(struct minimal_daemon *daemon, const struct cost_group *group)
{
	struct record record = {
		.kernel = (uint32_t)group->kernel, .value = 1, .count = group->count};
	for (unsigned i = 0; i < group->count; i++)
		record.addresses[i] = daemon->ring->addresses[group->buffers[i]];
	ring_send(daemon, &record);
}

uint32_t minimal_daemon_read(struct minimal_daemon *daemon, unsigned buffer)
{
	const struct record record = {.addresses = {daemon->ring->addresses[buffer]},
				      .kernel = COST_KERNEL_NAMES};
	ring_send(daemon, &record);
	minimal_daemon_wait(daemon);
	return atomic_load_explicit(&daemon->ring->word, memory_order_relaxed);
}

void minimal_daemon_wait(struct minimal_daemon *daemon)
{
	unsigned spins = 0;
	while (atomic_load_explicit(&daemon->ring->done, memory_order_acquire) != daemon->sent)
		spin_or_yield(&spins);
}
