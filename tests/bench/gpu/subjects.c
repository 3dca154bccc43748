#include "gpu/subjects.h"

#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/direct.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

enum { BATCH = 256, SPIN_BATCH = 16, SPIN_CYCLES = 20 * GPU_CYCLES_PER_US, QUICK_CYCLES = 0 };

static int open_subject_client(const char *place, uint32_t copy_threads, void **state_out)
{
	struct gpu_client *client = calloc(1, sizeof(*client));
	if (!client)
		return -ENOMEM;
	*state_out = client;
	return gpu_client_open_copying(client, place, copy_threads) ? 0 : -EIO;
}

int subject_gpu_client_open(const char *place, void **state_out)
{
	return open_subject_client(place, 0, state_out);
}

int subject_gpu_client_open_alone(const char *place, void **state_out)
{
	return open_subject_client(place, SYCL_COPY_THREADS_NONE, state_out);
}

void subject_gpu_client_close(void *state)
{
	gpu_client_close(state);
	free(state);
}

int subject_gpu_direct_open(const char *place, void **state_out)
{
	struct gpu_direct *direct = calloc(1, sizeof(*direct));
	if (!direct)
		return -ENOMEM;
	*state_out = direct;
	return gpu_direct_open(direct, place) ? 0 : -EIO;
}

void subject_gpu_direct_close(void *state)
{
	gpu_direct_close(state);
	free(state);
}

struct work {
	void *state;
	bool (*batch)(void *state, uint64_t count, uint32_t number);
	bool (*verify)(void *state);
	uint64_t batch_count;
};

static int keep_full(const struct work *work, bool (*wait)(void *state), uint64_t milliseconds,
		     double values_out[AGENT_VALUES])
{
	const uint32_t cycles = milliseconds & GPU_SUBJECT_QUICK ? QUICK_CYCLES : SPIN_CYCLES;
	milliseconds &= ~(uint64_t)GPU_SUBJECT_QUICK;
	uint64_t start = clock_now_ns(), end = start + milliseconds * 1000000, done = 0;
	bool good = true;
	while (good && clock_now_ns() < end) {
		good = work->batch(work->state, work->batch_count, cycles);
		done += work->batch_count;
	}
	good = good && wait(work->state);
	values_out[GPU_ANSWER_COUNT] = (double)done;
	values_out[GPU_ANSWER_START] = (double)start;
	values_out[GPU_ANSWER_END] = (double)clock_now_ns();
	return good && work->verify(work->state) ? 0 : -EIO;
}

static bool client_add(void *state, uint64_t count, uint32_t cycles)
{
	struct gpu_client *client = state;
	(void)cycles;
	return gpu_client_stream(client, client->add, 1, GPU_DATA_WORDS, count);
}

static bool client_spin(void *state, uint64_t count, uint32_t cycles)
{
	struct gpu_client *client = state;
	return gpu_client_stream(client, client->spin, 1, cycles, count);
}

static bool subjects_client_wait(void *state)
{
	return gpu_client_wait(state);
}

static bool subjects_client_verify(void *state)
{
	return gpu_client_verify(state);
}

static bool direct_add(void *state, uint64_t count, uint32_t cycles)
{
	struct gpu_direct *direct = state;
	bool good = true;
	(void)cycles;
	for (uint64_t i = 0; i < count && good; i++)
		good = gpu_direct_launch(direct, direct->add, 1, GPU_DATA_WORDS);
	return good;
}

static bool direct_spin(void *state, uint64_t count, uint32_t cycles)
{
	struct gpu_direct *direct = state;
	bool good = true;
	for (uint64_t i = 0; i < count && good; i++)
		good = gpu_direct_launch(direct, direct->spin, 1, cycles);
	return good;
}

static bool subjects_direct_wait(void *state)
{
	return gpu_direct_wait(state);
}

static bool subjects_direct_verify(void *state)
{
	return gpu_direct_verify(state);
}

int subject_gpu_client_add(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	const struct work work = {state, client_add, subjects_client_verify, BATCH};
	return keep_full(&work, subjects_client_wait, count, values_out);
}

int subject_gpu_client_spin(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	const struct work work = {state, client_spin, subjects_client_verify, SPIN_BATCH};
	return keep_full(&work, subjects_client_wait, count, values_out);
}

int subject_gpu_direct_add(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	const struct work work = {state, direct_add, subjects_direct_verify, BATCH};
	return keep_full(&work, subjects_direct_wait, count, values_out);
}

int subject_gpu_direct_spin(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	const struct work work = {state, direct_spin, subjects_direct_verify, SPIN_BATCH};
	return keep_full(&work, subjects_direct_wait, count, values_out);
}
