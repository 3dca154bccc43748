/* Connections, platforms, devices, selectors, lifetimes. */
#include "library/test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(client_basic, .timeout = 60);

struct client_service service;
sycl_platform platform;
sycl_queue queue;

void with_service(void)
{
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	queue = fake_queue(platform, SYCL_QUEUE_ENABLE_PROFILING);
}

void without_service(void)
{
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
}

int all_are(const uint32_t *words, uint32_t value)
{
	for (int i = 0; i < N; i++) {
		if (words[i] != value)
			return 0;
	}
	return 1;
}

Test(client_basic, A17_A20_opening_asks_no_device)
{
	struct fake_counters counters;
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.calls[FAKE_ENUMERATE], 0));
	cr_assert(eq(u64, counters.calls[FAKE_OPEN], 0));
	uint32_t count = 0;
	for (int i = 0; i < 3; i++)
		MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, 0, NULL, &count));
	cr_assert(eq(u32, count, 3));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.calls[FAKE_ENUMERATE], 1));
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
}

/* Returns the endpoint that sycl_platform_open has used. */
static void endpoint_of(sycl_platform opened, char text[128])
{
	MUST(sycl_platform_get_info(opened, SYCL_PLATFORM_INFO_ENDPOINT, 128, text, NULL));
}

Test(client_basic, the_environment_names_an_endpoint_where_the_program_names_none)
{
	char text[128];
	client_service_start(&service, NULL);
	cr_assert(zero(int, setenv("SYCLD_ENDPOINT", service.endpoint, 1)));
	MUST(sycl_platform_open(NULL, &platform));
	endpoint_of(platform, text);
	cr_assert(eq(str, text, service.endpoint));
	MUST(sycl_platform_release(platform));
	cr_assert(zero(int, setenv("SYCLD_ENDPOINT", "unix:/nowhere/at/all", 1)));
	MUST(sycl_platform_open(service.endpoint,
				&platform)); /* the program's setting comes first */
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
}

Test(client_basic, A1_A2_A21_platforms_and_their_devices, .init = with_service,
     .fini = without_service)
{
	sycl_platform platforms[4];
	uint32_t count = 0, devices = 0, all = 0;
	MUST(sycl_platform_get_platforms(platform, 4, platforms, &count));
	cr_assert(ge(u32, count, 1));
	MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, 0, NULL, &all));
	for (uint32_t i = 0; i < count && i < 4; i++) {
		sycl_device of[8];
		uint32_t here = 0, backend = 0;
		MUST(sycl_platform_get_info(platforms[i], SYCL_PLATFORM_INFO_BACKEND,
					    sizeof(backend), &backend, NULL));
		MUST(sycl_platform_get_devices(platforms[i], SYCL_DEVICE_TYPE_ALL, 8, of, &here));
		devices += here;
		for (uint32_t k = 0; k < here && k < 8; k++) {
			uint32_t its = 0;
			sycl_platform back = NULL;
			MUST(sycl_device_get_info(of[k], SYCL_DEVICE_INFO_BACKEND, sizeof(its),
						  &its, NULL));
			cr_assert(eq(u32, its, backend));
			MUST(sycl_device_get_platform(of[k], &back));
			cr_assert(eq(ptr, back, platforms[i]));
			MUST(sycl_platform_release(back));
			MUST(sycl_device_release(of[k]));
		}
		MUST(sycl_platform_release(platforms[i]));
	}
	cr_assert(eq(u32, devices, all));
}

Test(client_basic, A15_every_info_query_answers, .init = with_service, .fini = without_service)
{
	sycl_device device = NULL;
	MUST(sycl_queue_get_device(queue, &device));
	for (int info = SYCL_DEVICE_INFO_TYPE; info <= SYCL_DEVICE_INFO_USM_SHARED_MIGRATES;
	     info++) {
		size_t bytes = 0;
		char value[256];
		cr_assert(eq(int,
			     sycl_device_get_info(device, (sycl_device_info)info, 0, NULL, &bytes),
			     0),
			  "info %d", info);
		cr_assert(le(sz, bytes, sizeof(value)));
		cr_assert(eq(int,
			     sycl_device_get_info(device, (sycl_device_info)info, sizeof(value),
						  value, NULL),
			     0));
		if (bytes > 0)
			cr_assert(eq(int,
				     sycl_device_get_info(device, (sycl_device_info)info, bytes - 1,
							  value, NULL),
				     SYCL_ERROR_INVALID));
	}
	for (int info = SYCL_PLATFORM_INFO_NAME; info <= SYCL_PLATFORM_INFO_WEIGHT; info++) {
		size_t bytes = 0;
		cr_assert(eq(
			int,
			sycl_platform_get_info(platform, (sycl_platform_info)info, 0, NULL, &bytes),
			0));
		cr_assert(gt(sz, bytes, 0));
	}
	cr_assert(eq(int, sycl_device_get_info(device, (sycl_device_info)0, 0, NULL, NULL),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_device_get_info(device, (sycl_device_info)1000, 0, NULL, NULL),
		     SYCL_ERROR_INVALID));
	MUST(sycl_device_release(device));
}

static int32_t by_last_letter(sycl_device device, void *user_data)
{
	char name[64];
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(name), name, NULL));
	++*(int *)user_data;
	return name[strlen(name) - 1] - '0';
}

static int32_t basic_choose_no_device(sycl_device device, void *user_data)
{
	(void)device;
	(void)user_data;
	return -1;
}

Test(client_basic, A22_A23_A24_selectors, .init = with_service, .fini = without_service)
{
	int calls = 0;
	char name[64];
	sycl_device device = NULL;
	MUST(sycl_device_select(platform, by_last_letter, &calls, &device));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(name), name, NULL));
	cr_assert(eq(chr, name[strlen(name) - 1], '2'));
	cr_assert(eq(int, calls, 3));
	MUST(sycl_device_release(device));
	device = NULL;
	cr_assert(eq(int, sycl_device_select(platform, basic_choose_no_device, NULL, &device),
		     SYCL_ERROR_RUNTIME));
	cr_assert(eq(int, sycl_device_select(platform, sycl_gpu_selector, NULL, &device),
		     SYCL_ERROR_RUNTIME));
	cr_assert(eq(int, sycl_device_select(platform, sycl_accelerator_selector, NULL, &device),
		     SYCL_ERROR_RUNTIME));
	cr_assert(eq(ptr, device, NULL));
	MUST(sycl_device_select(platform, sycl_default_selector, NULL, &device));
	MUST(sycl_device_release(device));
	const sycl_aspect wanted[] = {SYCL_ASPECT_FP64, SYCL_ASPECT_CUSTOM},
			  unwanted[] = {SYCL_ASPECT_GPU};
	MUST(sycl_device_select_by_aspects(platform, 2, wanted, 1, unwanted, &device));
	MUST(sycl_device_release(device));
	MUST(sycl_device_select_by_aspects(platform, 0, NULL, 0, NULL, &device));
	MUST(sycl_device_release(device));
	cr_assert(eq(int, sycl_device_select_by_aspects(platform, 0, NULL, 1, wanted, &device),
		     SYCL_ERROR_RUNTIME));
	const sycl_aspect none[] = {(sycl_aspect)64};
	cr_assert(eq(int, sycl_device_select_by_aspects(platform, 1, none, 0, NULL, &device),
		     SYCL_ERROR_INVALID));
}

Test(client_basic, A10_contexts_take_what_fits, .init = with_service, .fini = without_service)
{
	sycl_device devices[2] = {fake_device(platform, 0), fake_device(platform, 1)};
	sycl_context context = NULL;
	MUST(sycl_context_create(2, devices, &context));
	sycl_device back[2];
	uint32_t count = 0;
	MUST(sycl_context_get_devices(context, 2, back, &count));
	cr_assert(eq(u32, count, 2));
	cr_assert(eq(ptr, back[0], devices[0]));
	cr_assert(eq(ptr, back[1], devices[1]));
	sycl_device twice[2] = {devices[0], devices[0]};
	sycl_context other = NULL;
	cr_assert(eq(int, sycl_context_create(2, twice, &other), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_context_create(0, devices, &other), SYCL_ERROR_INVALID));
	sycl_platform second = NULL;
	MUST(sycl_platform_open(service.endpoint, &second));
	sycl_device foreign[2] = {devices[0], fake_device(second, 1)};
	cr_assert(eq(int, sycl_context_create(2, foreign, &other), SYCL_ERROR_INVALID));
	sycl_device third = fake_device(platform, 2);
	sycl_queue wrong = NULL;
	cr_assert(eq(int, sycl_queue_create(context, third, NULL, &wrong), SYCL_ERROR_INVALID));
	cr_assert(eq(ptr, other, NULL));
	for (int i = 0; i < 2; i++) {
		MUST(sycl_device_release(back[i]));
		MUST(sycl_device_release(devices[i]));
	}
	MUST(sycl_device_release(foreign[1]));
	MUST(sycl_device_release(third));
	MUST(sycl_context_release(context));
	MUST(sycl_platform_release(second));
}

/* Whichever call reports the error first, work in a context of these devices ends with this
 * result. */
static sycl_result work_in_context_of(uint32_t count, const sycl_device *devices)
{
	sycl_context context = NULL;
	sycl_queue in_it = NULL;
	sycl_event event = NULL;
	sycl_result result = sycl_context_create(count, devices, &context);
	if (!result)
		result = sycl_queue_create(context, devices[0], NULL, &in_it);
	if (!result)
		result = sycl_queue_barrier(in_it, &event);
	if (!result)
		result = sycl_event_wait(event);
	if (event)
		MUST(sycl_event_release(event));
	if (in_it)
		MUST(sycl_queue_release(in_it));
	if (context)
		MUST(sycl_context_release(context));
	return result;
}

static void with_two_sets(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.context_set = i < 2 ? 1 : 2});
	with_service();
}

Test(client_basic, A12_devices_that_do_not_fit_one_context_are_an_error, .init = with_two_sets,
     .fini = without_service)
{
	const sycl_device devices[4] = {fake_device(platform, 0), fake_device(platform, 2),
					fake_device(platform, 0), fake_device(platform, 1)};
	cr_assert(eq(int, work_in_context_of(2, devices), SYCL_ERROR_INVALID));
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	MUST(sycl_get_last_error(&detail));
	cr_assert(strstr(detail.text, "do not fit one context") != NULL, "it says '%s'",
		  detail.text);
	/* Each of them alone, the ones that fit together, and everything that was made before still
	 * work. */
	MUST(work_in_context_of(1, devices + 1));
	MUST(work_in_context_of(2, devices + 2));
	MUST(sycl_queue_wait(queue));
	for (int i = 0; i < 4; i++)
		MUST(sycl_device_release(devices[i]));
}

Test(client_basic, A18_N2_N3_a_queue_alone_keeps_everything)
{
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	queue = fake_queue(platform, SYCL_QUEUE_IN_ORDER);
	MUST(sycl_platform_release(platform));
	cr_assert(eq(int, sycl_platform_retain(platform), SYCL_ERROR_INVALID_HANDLE),
		  "the caller has released it");
	sycl_context context = NULL, same = NULL;
	sycl_device device = NULL;
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_queue_get_context(queue, &same));
	cr_assert(eq(ptr, context, same));
	MUST(sycl_context_release(same));
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_context_get_platform(context, &platform));
	uint32_t in_order = 0, references = 0;
	MUST(sycl_queue_is_in_order(queue, &in_order));
	cr_assert(eq(u32, in_order, 1));
	MUST(sycl_context_get_reference_count(context, &references));
	cr_assert(eq(u32, references, 1));
	MUST(sycl_queue_release(queue));
	cr_assert(eq(int, sycl_queue_wait(queue), SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_device_release(device));
	MUST(sycl_context_release(context));
	MUST(sycl_platform_release(platform));
	cr_assert(eq(int, sycl_platform_release(platform), SYCL_ERROR_INVALID_HANDLE));
	client_service_stop(&service);
}

Test(client_basic, M12_handles_of_another_kind_are_refused, .init = with_service,
     .fini = without_service)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, NULL, 16, SYCL_HOST_NONE, &buffer));
	cr_assert(eq(int, sycl_event_wait((sycl_event)(void *)buffer), SYCL_ERROR_INVALID_HANDLE));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "buffer"), NULL));
	cr_assert(
		eq(int, sycl_queue_release((sycl_queue)(void *)buffer), SYCL_ERROR_INVALID_HANDLE));
	cr_assert(eq(int, sycl_buffer_release((sycl_buffer)(void *)queue),
		     SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(int, sycl_buffer_release(buffer), SYCL_ERROR_INVALID_HANDLE));
}

static int child_is_refused(void)
{
	sycl_platform own = NULL;
	uint32_t count = 0;
	if (sycl_queue_wait(queue) != SYCL_ERROR_FORKED ||
	    sycl_queue_release(queue) != SYCL_ERROR_FORKED ||
	    sycl_platform_release(platform) != SYCL_ERROR_FORKED)
		return 1;
	/* A connection of the child's own works. */
	if (sycl_platform_open(service.endpoint, &own) != SYCL_SUCCESS ||
	    sycl_device_get_devices(own, SYCL_DEVICE_TYPE_ALL, 0, NULL, &count) != SYCL_SUCCESS ||
	    count != 3)
		return 2;
	return sycl_platform_release(own) == SYCL_SUCCESS ? 0 : 3;
}

Test(client_basic, a_forked_child_is_refused_and_may_connect_itself, .init = with_service,
     .fini = without_service)
{
	pid_t child = fork();
	if (child == 0)
		_exit(child_is_refused());
	int status = 0;
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_assert(eq(int, status, 0));
	MUST(sycl_queue_barrier(queue, NULL));
	MUST(sycl_queue_wait(queue));
}

Test(client_basic, a_session_at_its_limit_of_objects_gets_the_reason)
{
	struct session_limits limits;
	session_limits_init(&limits);
	limits.objects = 8;
	client_service_start(&service, &limits);
	MUST(sycl_platform_open(service.endpoint, &platform));
	queue = fake_queue(platform, 0);
	sycl_buffer buffers[8];
	uint32_t made = 0;
	while (made < 8 && sycl_buffer_create(platform, NULL, 64, SYCL_HOST_NONE, &buffers[made]) ==
				   SYCL_SUCCESS)
		made++;
	cr_assert(eq(u32, made, 6));
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	MUST(sycl_get_last_error(&detail));
	cr_assert(eq(int, detail.result, SYCL_ERROR_QUOTA));
	MUST(sycl_buffer_release(buffers[--made]));
	/* The next round trip shows that the service has taken it back. */
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_queue_wait(queue));
	do
		MUST(sycl_platform_get_usage(platform, &usage));
	while (usage.buffer_bytes > 64ull * made);
	MUST(sycl_buffer_create(platform, NULL, 64, SYCL_HOST_NONE, &buffers[made++]));
	while (made-- > 0)
		MUST(sycl_buffer_release(buffers[made]));
	without_service();
}

/* A program that was compiled before a structure grew has room for the former size. The memory
 * behind that is not written. */
Test(client_basic, usage_has_the_size_that_the_program_was_built_with, .init = with_service,
     .fini = without_service)
{
	const uint32_t before = (uint32_t)offsetof(struct sycl_usage, groups_resubmitted);
	const uint32_t wrong[] = {0, 8, before - 8, before + 4,
				  (uint32_t)sizeof(struct sycl_usage) + 8};
	uint32_t zero = 0;
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, NULL, 64, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, 64, &zero, sizeof(zero), NULL));
	MUST(sycl_queue_wait(queue));
	struct sycl_usage usage = {.struct_bytes = before, .groups_resubmitted = 77};
	MUST(sycl_platform_get_usage(platform, &usage));
	cr_assert(eq(u32, usage.struct_bytes, before));
	cr_assert(eq(u64, usage.groups_submitted, 1));
	cr_assert(eq(u64, usage.buffer_bytes, 64));
	cr_assert(eq(u64, usage.groups_resubmitted, 77));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		usage.struct_bytes = wrong[i];
		cr_assert(eq(int, sycl_platform_get_usage(platform, &usage), SYCL_ERROR_INVALID),
			  "%u", wrong[i]);
	}
	usage = (struct sycl_usage)SYCL_USAGE_INIT;
	usage.groups_resubmitted = 77;
	MUST(sycl_platform_get_usage(platform, &usage));
	cr_assert(eq(u64, usage.groups_resubmitted, 0));
	MUST(sycl_buffer_release(buffer));
}

Test(client_basic, an_event_loop_sees_completions, .init = with_service, .fini = without_service)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	int fd = -1;
	cr_assert(eq(int, sycl_platform_prepare_read(platform), SYCL_ERROR_INVALID),
		  "before there is a descriptor");
	MUST(sycl_platform_get_fd(platform, &fd));
	for (uint32_t gate = 0; gate < 8; gate++) {
		sycl_event event = NULL;
		submit_hold(queue, hold, gate, NULL, SYCL_ACCESS_READ, &event);
		bool opened = false;
		for (;;) {
			MUST(sycl_platform_prepare_read(platform));
			if (sycl_event_wait_for(event, 0) == SYCL_SUCCESS)
				break;
			if (!opened)
				fake_gate_open(gate);
			opened = true;
			struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
			cr_assert(eq(int, poll(&poll_fd, 1, 20000), 1), "a wake-up was lost");
			MUST(sycl_platform_dispatch(platform));
		}
		MUST(sycl_platform_cancel_read(platform));
		cr_assert(opened);
		MUST(sycl_event_release(event));
	}
	MUST(sycl_kernel_release(hold));
}

Test(client_basic, names_and_endpoints_are_reported, .init = with_service, .fini = without_service)
{
	char text[128];
	uint64_t session = 0;
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_ENDPOINT, sizeof(text), text,
				    NULL));
	cr_assert(eq(str, text, service.endpoint));
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_SESSION, sizeof(session), &session,
				    NULL));
	cr_assert(eq(u64, session, 1));
	cr_assert(eq(str, (char *)sycl_get_version(), SYCLD_VERSION));
	uint32_t class = 0, weight = 0;
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_CLASS, sizeof(class), &class,
				    NULL));
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_WEIGHT, sizeof(weight), &weight,
				    NULL));
	cr_assert(eq(u32, class, SYCL_SESSION_CLASS_NORMAL));
	cr_assert(eq(u32, weight, 100));
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.session_class = SYCL_SESSION_CLASS_BEST_EFFORT;
	options.weight = 30;
	sycl_platform ranked = NULL;
	MUST(sycl_platform_open_with(service.endpoint, &options, &ranked));
	MUST(sycl_platform_get_info(ranked, SYCL_PLATFORM_INFO_CLASS, sizeof(class), &class, NULL));
	MUST(sycl_platform_get_info(ranked, SYCL_PLATFORM_INFO_WEIGHT, sizeof(weight), &weight,
				    NULL));
	cr_assert(eq(u32, class, SYCL_SESSION_CLASS_BEST_EFFORT));
	cr_assert(eq(u32, weight, 30));
	MUST(sycl_platform_release(ranked));
}
