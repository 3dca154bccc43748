/* sycl-engine with --build-helper only, also for the fake devices. */
#include "build/service.h"

int main(void)
{
	return build_helper_main(3);
}
