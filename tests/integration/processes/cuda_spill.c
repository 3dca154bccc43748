/*
 * The configuration for full devices, on the double of NVIDIA's driver. It applies to the engines
 * of a service, and the environment overrides it.
 */
#include "processes/fake_service.h"

#include "syclclient.h"

#include <stdlib.h>
#include <string.h>

TestSuite(processes_cuda_spill, .timeout = 280);

/* Room for eight buffers beside the memory that is kept for kernels. */
#define DRIVER "memory 276824064"
enum { BUFFERS = 24, ROOM = 8, MIB = 1 << 20, WORDS = MIB / 4 };

static struct fake_service fake = FAKE_SERVICE_INIT;
static sycl_platform platform;
static sycl_queue queue;

static int32_t cuda_spill_is_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	cr_assert_eq(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					  &backend, NULL),
		     0);
	return backend == SYCL_BACKEND_KIND_CUDA ? 1 : -1;
}

static void start_spilling_service(const char *configuration, const char *environment)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_device device;
	if (environment)
		cr_assert_eq(setenv("SYCLD_SPILL", environment, 1), 0);
	else
		cr_assert_eq(unsetenv("SYCLD_SPILL"), 0);
	fake_service_start(&fake, DRIVER, configuration, false);
	cr_assert_eq(sycl_platform_open(fake.service->endpoint, &platform), 0, "%s",
		     sycl_get_last_error_text());
	cr_assert_eq(sycl_device_select(platform, cuda_spill_is_cuda, NULL, &device), 0, "%s",
		     sycl_get_last_error_text());
	options.properties = SYCL_QUEUE_IN_ORDER;
	cr_assert_eq(sycl_queue_create(NULL, device, &options, &queue), 0);
	(void)sycl_device_release(device);
}

static void end_spilling_service(void)
{
	(void)sycl_queue_release(queue);
	(void)sycl_platform_release(platform);
	fake_service_end(&fake);
}

/* The engine's report on spilling, which every user can read. */
struct spill {
	json_int_t spills, spilled_bytes, returns, returned_bytes, now_bytes;
};

static struct spill claimed(void)
{
	json_t *status = private_service_status(fake.service),
	       *tenants = json_object_get(status, "tenants");
	cr_assert_eq(json_array_size(tenants), 1);
	const json_t *spill_report = json_object_get(json_array_get(tenants, 0), "spill");
	cr_assert(json_is_object(spill_report), "the engine reports nothing of it");
	struct spill spill = {
		.spills = json_integer_value(json_object_get(spill_report, "spills")),
		.spilled_bytes = json_integer_value(json_object_get(spill_report, "spilled_bytes")),
		.returns = json_integer_value(json_object_get(spill_report, "returns")),
		.returned_bytes =
			json_integer_value(json_object_get(spill_report, "returned_bytes")),
		.now_bytes = json_integer_value(json_object_get(spill_report, "now_bytes")),
	};
	json_decref(status);
	return spill;
}

static void expect_nothing_spilled(void)
{
	struct spill spill = claimed();
	cr_expect(spill.spills == 0 && spill.spilled_bytes == 0 && spill.returns == 0 &&
		  spill.returned_bytes == 0 && spill.now_bytes == 0);
}

static bool none_is_in_the_host(void *unused)
{
	(void)unused;
	return claimed().now_bytes == 0;
}

/* Fills three times what there is room for. Returns how many could be filled, and checks the
 * contents of these. */
static int fill_all(void)
{
	static uint32_t words[WORDS];
	sycl_buffer buffers[BUFFERS];
	sycl_event events[BUFFERS];
	int filled = 0;
	for (uint32_t i = 0; i < BUFFERS; i++) {
		cr_assert_eq(sycl_buffer_create(platform, NULL, MIB, SYCL_HOST_NONE, &buffers[i]),
			     0);
		cr_assert_eq(sycl_queue_fill(queue, buffers[i], 0, MIB, &i, sizeof(i), &events[i]),
			     0);
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		sycl_result r = sycl_event_wait(events[i]);
		cr_assert(r == 0 || r == SYCL_ERROR_MEMORY_ALLOCATION, "%s",
			  sycl_get_last_error_text());
		if (r == 0) {
			sycl_event copied = NULL; /* the queue would report all failures */
			cr_assert_eq(
				sycl_queue_copy_to_host(queue, buffers[i], 0, words, MIB, &copied),
				0);
			cr_assert_eq(sycl_event_wait(copied), 0, "%s", sycl_get_last_error_text());
			(void)sycl_event_release(copied);
			cr_expect(words[0] == i && words[WORDS - 1] == i, "%u %u in buffer %u",
				  words[0], words[WORDS - 1], i);
			filled++;
		}
		(void)sycl_event_release(events[i]);
	}
	for (uint32_t i = 0; i < BUFFERS; i++)
		(void)sycl_buffer_release(buffers[i]);
	return filled;
}

Test(processes_cuda_spill, TG15_a_service_that_is_told_to_spill_does)
{
	start_spilling_service("[service]\nspill = yes\nstandby = no\n", NULL);
	expect_nothing_spilled();
	cr_expect_eq(fill_all(), BUFFERS);
	struct spill spill = claimed();
	/* At least as many spills as buffers without room. The device read them all, and it has
	 * room for eight. */
	cr_expect_geq(spill.spills, BUFFERS - ROOM);
	cr_expect_eq(spill.spilled_bytes, spill.spills * MIB);
	cr_expect_geq(spill.returns, BUFFERS - ROOM);
	cr_expect_eq(spill.returned_bytes, spill.returns * MIB);
	cr_expect(wait_until(none_is_in_the_host, NULL, SOON), "all buffers are released");
	end_spilling_service();
}

Test(processes_cuda_spill, TG15_a_service_that_is_told_nothing_says_that_the_device_is_full)
{
	start_spilling_service("[service]\nstandby = no\n", NULL);
	cr_expect_lt(fill_all(), BUFFERS);
	expect_nothing_spilled();
	end_spilling_service();
}

Test(processes_cuda_spill, TG15_the_environment_stands_above_the_configuration)
{
	start_spilling_service("[service]\nspill = yes\nstandby = no\n", "0");
	cr_expect_lt(fill_all(), BUFFERS);
	expect_nothing_spilled();
	end_spilling_service();
	start_spilling_service("[service]\nspill = no\nstandby = no\n", "1");
	cr_expect_eq(fill_all(), BUFFERS);
	cr_expect_geq(claimed().spills, BUFFERS - ROOM);
	end_spilling_service();
}

/* ------------------------------ several engines on one device ------------------------------- */

/* The memory that both can have together. */
#define SHARED DRIVER "\nset shared_memory 1"

struct program {
	sycl_platform platform;
	sycl_queue queue;
	sycl_buffer buffers[BUFFERS];
};

/* Each has a separate engine. */
static void begin_program(struct program *program)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_device device;
	cr_assert_eq(sycl_platform_open(fake.service->endpoint, &program->platform), 0, "%s",
		     sycl_get_last_error_text());
	cr_assert_eq(sycl_device_select(program->platform, cuda_spill_is_cuda, NULL, &device), 0);
	options.properties = SYCL_QUEUE_IN_ORDER;
	cr_assert_eq(sycl_queue_create(NULL, device, &options, &program->queue), 0);
	(void)sycl_device_release(device);
}

static void end_program(struct program *program)
{
	for (uint32_t i = 0; i < BUFFERS; i++)
		if (program->buffers[i])
			(void)sycl_buffer_release(program->buffers[i]);
	(void)sycl_queue_release(program->queue);
	(void)sycl_platform_release(program->platform);
}

/* Fills buffers from `first` on. Each word is `first_word` plus the buffer's number. Returns how
 * many there was room for. */
static uint32_t fill_some(struct program *program, uint32_t first, uint32_t count,
			  uint32_t first_word)
{
	uint32_t filled = 0;
	for (uint32_t i = first; i < first + count; i++) {
		uint32_t word = first_word + i;
		sycl_event event;
		if (!program->buffers[i])
			cr_assert_eq(sycl_buffer_create(program->platform, NULL, MIB,
							SYCL_HOST_NONE, &program->buffers[i]),
				     0);
		cr_assert_eq(sycl_queue_fill(program->queue, program->buffers[i], 0, MIB, &word,
					     sizeof(word), &event),
			     0);
		filled += sycl_event_wait(event) == 0;
		(void)sycl_event_release(event);
	}
	return filled;
}

static void expect_filled(struct program *program, uint32_t count, uint32_t first_word)
{
	static uint32_t words[WORDS];
	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(sycl_queue_copy_to_host(program->queue, program->buffers[i], 0, words,
						     MIB, NULL),
			     0);
		cr_assert_eq(sycl_queue_wait(program->queue), 0, "%s", sycl_get_last_error_text());
		cr_expect(words[0] == first_word + i && words[WORDS - 1] == first_word + i,
			  "%u %u in buffer %u", words[0], words[WORDS - 1], i);
	}
}

static void start_shared_device(const char *spill)
{
	char configuration[128];
	cr_assert_eq(unsetenv("SYCLD_SPILL"), 0);
	(void)snprintf(configuration, sizeof(configuration),
		       "[service]\nspill = %s\nstandby = no\n[isolation]\nisolation = session\n",
		       spill);
	fake_service_start(&fake, SHARED, configuration, false);
}

Test(processes_cuda_spill, TG15_an_engine_that_fills_the_device_gives_others_their_part)
{
	static struct program first, second;
	start_shared_device("yes");
	begin_program(&first);
	begin_program(&second);
	cr_assert_eq(fill_some(&first, 0, ROOM, 1000), ROOM);
	/* Nothing of the second engine could be spilled for its first buffer. */
	cr_expect_eq(fill_some(&second, 0, BUFFERS, 2000), BUFFERS);
	expect_filled(&first, ROOM, 1000);
	expect_filled(&second, BUFFERS, 2000);
	/* Both continue, and none of their data are lost. */
	cr_expect_eq(fill_some(&first, 0, BUFFERS, 3000), BUFFERS);
	expect_filled(&second, BUFFERS, 2000);
	expect_filled(&first, BUFFERS, 3000);
	end_program(&second);
	end_program(&first);
	fake_service_end(&fake);
}

Test(processes_cuda_spill, TG15_what_an_engine_keeps_for_reuse_is_room_for_others)
{
	static struct program first, second;
	start_shared_device("yes");
	begin_program(&first);
	begin_program(&second);
	cr_assert_eq(fill_some(&first, 0, ROOM, 1000), ROOM);
	for (uint32_t i = 0; i < ROOM; i++) {
		(void)sycl_buffer_release(first.buffers[i]);
		first.buffers[i] = NULL;
	}
	cr_assert_eq(sycl_queue_wait(first.queue), 0);
	cr_expect_eq(fill_some(&second, 0, ROOM / 2, 2000), ROOM / 2);
	end_program(&second);
	end_program(&first);
	fake_service_end(&fake);
}

Test(processes_cuda_spill, TG15_without_spilling_an_engine_gives_nothing)
{
	static struct program first, second;
	start_shared_device("no");
	begin_program(&first);
	begin_program(&second);
	cr_assert_eq(fill_some(&first, 0, ROOM, 1000), ROOM);
	cr_expect_eq(fill_some(&second, 0, 1, 2000), 0);
	expect_filled(&first, ROOM, 1000);
	end_program(&second);
	end_program(&first);
	fake_service_end(&fake);
}
