/* Bits of DeviceFacts.features that a client uses: abilities that not every device has. The numbers
 * are those of enum backend_feature (daemon/backends/backend.h), which the engine asserts. */
#ifndef SYCL_SHARED_DEVICE_FEATURES_H
#define SYCL_SHARED_DEVICE_FEATURES_H

#define DEVICE_FEATURE_EXPORT_VMM      (1u << 4)
#define DEVICE_FEATURE_EXPORT_IPC      (1u << 5)
#define DEVICE_FEATURE_SHARED_EVENT    (1u << 6)
#define DEVICE_FEATURE_COOPERATIVE     (1u << 9)
#define DEVICE_FEATURE_CLUSTER         (1u << 10)
#define DEVICE_FEATURE_VARIABLE        (1u << 25)
#define DEVICE_FEATURE_GRAPH_CONDITION (1u << 28)
#define DEVICE_FEATURE_USM_MIGRATES    (1u << 29)

#endif
