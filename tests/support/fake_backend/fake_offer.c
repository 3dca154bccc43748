/* Linked into a program, this adds the fake devices to those of its engine and its build helper. */
#include "fake_control.h"

#include <stdlib.h>

__attribute__((constructor)) static void fake_backend_offer(void)
{
	if (backend_registry_add(&backend_fake_ops) < 0)
		abort();
}
