/* Selectors choose one of the devices of this machine, whatever devices it has (A22 - A24). */
#include "library/portable.h"

TestSuite(choice, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { DEVICES_MAX = 64, ASPECTS = 64 };

struct devices {
	sycl_device all[DEVICES_MAX];
	uint32_t count;
};

static void list(struct devices *devices)
{
	MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX, devices->all,
				     &devices->count));
	cr_assert(ge(u32, devices->count, 1));
	cr_assert(le(u32, devices->count, DEVICES_MAX));
}

static void release_devices(struct devices *devices)
{
	for (uint32_t i = 0; i < devices->count; i++)
		MUST(sycl_device_release(devices->all[i]));
}

static uint32_t choice_type_of(sycl_device device)
{
	uint32_t type = 0;
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_TYPE, sizeof(type), &type, NULL));
	return type;
}

static uint32_t device_has(sycl_device device, sycl_aspect aspect)
{
	uint32_t answer = 0;
	MUST(sycl_device_has(device, aspect, &answer));
	return answer;
}

struct scores {
	const struct devices *devices;
	uint32_t best, calls; /* `best` is an index */
};

/* The device with the requested index gets the best score. Later ones are refused, and earlier ones
 * have lower scores. */
static int32_t score(sycl_device device, void *user_data)
{
	struct scores *scores = user_data;
	scores->calls++;
	for (uint32_t i = 0; i < scores->devices->count; i++)
		if (scores->devices->all[i] == device)
			return i > scores->best ? -1 : i == scores->best ? 1000 : (int32_t)i;
	return 2000; /* a device that was not listed would win */
}

static int32_t choice_choose_no_device(sycl_device device, void *user_data)
{
	(void)device;
	(void)user_data;
	return -1;
}

Test(choice, A22_the_highest_score_wins_and_none_is_an_error)
{
	struct devices devices;
	list(&devices);
	for (uint32_t i = 0; i < devices.count; i++) {
		struct scores scores = {&devices, i, 0};
		sycl_device chosen = NULL;
		MUST(sycl_device_select(platform, score, &scores, &chosen));
		cr_assert(eq(ptr, chosen, devices.all[i]));
		cr_assert(eq(u32, scores.calls, devices.count), "each is asked for once");
		MUST(sycl_device_release(chosen));
	}
	sycl_device untouched = NULL;
	REFUSED(sycl_device_select(platform, choice_choose_no_device, NULL, &untouched),
		SYCL_ERROR_RUNTIME);
	cr_assert(eq(ptr, untouched, NULL));
	release_devices(&devices);
}

/* The selectors of a kind find devices of that kind, and they fail exactly if there is none. */
Test(choice, A23_the_selectors_of_a_kind_find_it_or_fail)
{
	static const struct {
		sycl_device_selector *selector;
		uint32_t type;
	} kinds[] = {{sycl_cpu_selector, SYCL_DEVICE_TYPE_CPU},
		     {sycl_gpu_selector, SYCL_DEVICE_TYPE_GPU},
		     {sycl_accelerator_selector, SYCL_DEVICE_TYPE_ACCELERATOR}};
	struct devices devices;
	sycl_device chosen = NULL;
	list(&devices);
	MUST(sycl_device_select(platform, sycl_default_selector, NULL, &chosen));
	MUST(sycl_device_release(chosen));
	for (uint32_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		uint32_t there = 0;
		for (uint32_t i = 0; i < devices.count; i++)
			there += choice_type_of(devices.all[i]) == kinds[k].type;
		chosen = NULL;
		sycl_result result = sycl_device_select(platform, kinds[k].selector, NULL, &chosen);
		cr_assert(eq(int, result, there ? SYCL_SUCCESS : SYCL_ERROR_RUNTIME), "type %u",
			  kinds[k].type);
		if (result) {
			cr_assert(eq(ptr, chosen, NULL));
			continue;
		}
		cr_assert(eq(u32, choice_type_of(chosen), kinds[k].type));
		MUST(sycl_device_release(chosen));
	}
	release_devices(&devices);
}

/* One aspect required and another one excluded, for all pairs that any device here has. */
Test(choice, A24_aspects_that_are_wanted_and_unwanted)
{
	struct devices devices;
	sycl_device chosen = NULL;
	list(&devices);
	for (uint32_t wanted = 0; wanted < ASPECTS; wanted++) {
		for (uint32_t unwanted = 0; unwanted < ASPECTS; unwanted++) {
			const sycl_aspect in = (sycl_aspect)wanted, out = (sycl_aspect)unwanted;
			uint32_t known = 0, there = 0;
			if (sycl_device_has(devices.all[0], in, &known) != SYCL_SUCCESS ||
			    sycl_device_has(devices.all[0], out, &known) != SYCL_SUCCESS)
				continue;
			for (uint32_t i = 0; i < devices.count; i++)
				there += device_has(devices.all[i], in) &&
					 !device_has(devices.all[i], out);
			sycl_result result =
				sycl_device_select_by_aspects(platform, 1, &in, 1, &out, &chosen);
			cr_assert(eq(int, result, there ? SYCL_SUCCESS : SYCL_ERROR_RUNTIME),
				  "%u and not %u", wanted, unwanted);
			if (result)
				continue;
			cr_assert(device_has(chosen, in) && !device_has(chosen, out),
				  "%u and not %u", wanted, unwanted);
			MUST(sycl_device_release(chosen));
		}
	}
	/* Without any required aspect it chooses as the default selector does. */
	sycl_device usual = NULL;
	MUST(sycl_device_select(platform, sycl_default_selector, NULL, &usual));
	MUST(sycl_device_select_by_aspects(platform, 0, NULL, 0, NULL, &chosen));
	cr_assert(eq(ptr, chosen, usual));
	MUST(sycl_device_release(chosen));
	MUST(sycl_device_release(usual));
	release_devices(&devices);
}
