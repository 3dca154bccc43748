/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file syclclient.h The whole public interface of libsyclclient, in C99 and C++17. It needs the C
 * standard headers only.
 */
#ifndef SYCLCLIENT_H
#define SYCLCLIENT_H

#include "syclclient/types.h"
#include "syclclient/backends.h"
#include "syclclient/result.h"
#include "syclclient/platform.h"
#include "syclclient/device.h"
#include "syclclient/async.h"
#include "syclclient/context.h"
#include "syclclient/queue.h"
#include "syclclient/buffer.h"
#include "syclclient/share.h"
#include "syclclient/kernel.h"
#include "syclclient/handler.h"
#include "syclclient/usm.h"
#include "syclclient/image.h"
#include "syclclient/command_group.h"
#include "syclclient/host_task.h"
#include "syclclient/launch.h"
#include "syclclient/native_command.h"
#include "syclclient/graph.h"
#include "syclclient/copy.h"
#include "syclclient/stream.h"
#include "syclclient/event.h"
#include "syclclient/native.h"

#endif
