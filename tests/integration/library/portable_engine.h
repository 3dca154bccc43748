/* The differences between the engines that the portable tests run on. */
#ifndef SYCL_TESTS_PORTABLE_ENGINE_H
#define SYCL_TESTS_PORTABLE_ENGINE_H

#include "syclclient.h"

#include <stdbool.h>

void portable_engine_start(void);
/* For the fake engine only, before it is started: further features of its devices. */
void portable_fake_features(uint32_t features);
/* Stops the engine. If the engine can report it, nothing may be left in it. */
void portable_engine_stop(void);
const char *portable_engine_endpoint(void);
/* Returns true if it is one of the devices to test. */
bool portable_engine_has(sycl_device device);
/* Holds all commands of all devices, if the engine can do that. The second function returns whether
 * it can. */
void portable_engine_hold(bool hold);
bool portable_engine_holds(void);
/* A portable source with the kernels. */
const char *portable_engine_source(void);
sycl_kernel portable_engine_kernel(sycl_queue on, const char *name);

#endif
