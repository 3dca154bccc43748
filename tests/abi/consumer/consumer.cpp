// A C++ program outside the project: links the installed library. consumer [ENDPOINT]
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <syclclient.h>

namespace
{

void check(sycl_result result, const char *what)
{
	if (result != SYCL_SUCCESS)
		throw std::runtime_error(std::string(what) + ": " + sycl_result_name(result) + ": " + sycl_get_last_error_text() +
					 "\n" + sycl_get_build_log());
}

const char source[] =
	"SYCL_KERNEL void square(SYCL_GLOBAL(int) x) { ulong i = sycl_global_id(0); x[i] = x[i] * x[i]; }";

bool run(const char *endpoint)
{
	std::vector<int> x(500);
	for (int i = 0; i < 500; i++)
		x[static_cast<size_t>(i)] = i;

	sycl_platform platform = nullptr;
	sycl_queue queue = nullptr;
	sycl_kernel kernel = nullptr;
	sycl_buffer buffer = nullptr;
	sycl_handler handler = nullptr;
	sycl_event done = nullptr;
	check(sycl_platform_open(endpoint, &platform), "open");
	check(sycl_queue_create_default(platform, &queue), "queue");
	check(sycl_kernel_from_source(queue, source, "square", &kernel), "kernel");
	check(sycl_buffer_create(platform, x.data(), x.size() * sizeof(int), SYCL_HOST_BORROWED, &buffer), "buffer");
	check(sycl_handler_begin(queue, &handler), "handler");
	check(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE), "accessor");
	check(sycl_handler_parallel_for(handler, kernel, sycl_range1(x.size())), "range");
	check(sycl_queue_submit(queue, handler, &done), "submit");
	check(sycl_event_wait(done), "wait");
	check(sycl_event_release(done), "event");
	check(sycl_buffer_release(buffer), "write-back");
	check(sycl_kernel_release(kernel), "kernel");
	check(sycl_queue_release(queue), "queue");
	check(sycl_platform_release(platform), "platform");
	for (int i = 0; i < 500; i++)
		if (x[static_cast<size_t>(i)] != i * i)
			return false;
	return true;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		bool right = run(argc > 1 ? argv[1] : nullptr);
		std::printf("%s\n", right ? "right" : "wrong");
		return right ? 0 : 1;
	} catch (const std::exception &error) {
		std::fprintf(stderr, "%s\n", error.what());
		return 1;
	}
}
