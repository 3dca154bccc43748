/* The rows of an answer that are shown. */
#include "filter.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(cli_filter, .timeout = 10);

/* The first device of the backend is hidden from users, and another backend's precedes it. */
Test(cli_filter, a_device_is_found_by_its_number_in_its_backend)
{
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__KnownDevice known[3], *list[3];
	Sycl__V1__DeviceFacts facts[2];
	const struct filter_words words = {.device = "cuda:1"};
	const char *wrong;
	struct filter filter;
	for (unsigned i = 0; i < 3; i++) {
		sycl__v1__known_device__init(&known[i]);
		list[i] = &known[i];
	}
	for (unsigned i = 0; i < 2; i++) {
		sycl__v1__device_facts__init(&facts[i]);
		facts[i].device = i + 2;
		facts[i].backend_index = 1;
		known[i].facts = &facts[i];
	}
	known[0].backend = SYCL__V1__BACKEND__BACKEND_OPENCL;
	known[1].backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	known[2].backend = SYCL__V1__BACKEND__BACKEND_CUDA; /* without facts */
	reply.devices = list;
	reply.n_devices = 3;
	cr_assert(filter_read(&words, &filter, &wrong));
	filter_apply(&filter, &reply);
	cr_assert(eq(sz, reply.n_devices, 1));
	cr_expect(eq(ptr, (void *)reply.devices[0], (void *)&known[1]));
}
