/* Green contexts: some of a device's multiprocessors, and streams whose kernels run there alone. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

/* The driver's part of a resource is stored in its reserved bytes. */
struct range {
	int device;
	unsigned first, count;
	bool is_split; /* the result of a split: it cannot be split again before a context has it */
};

struct CUdevResourceDesc_st {
	struct CUdevResourceDesc_st *next;
	struct range range;
};

static struct CUdevResourceDesc_st *descriptions; /* never freed */
static struct CUgreenCtx_st
	*contexts; /* also those that were destroyed: streams may still name them */

static struct range *range_of(CUdevResource *resource)
{
	return (struct range *)(void *)resource->_internal_padding;
}

static void fill_resource(CUdevResource *resource, const struct range *range)
{
	memset(resource, 0, sizeof(*resource));
	if (range->count == 0)
		return;
	resource->type = CU_DEV_RESOURCE_TYPE_SM;
	resource->sm.smCount = range->count;
	memcpy(resource->_internal_padding, range, sizeof(*range));
}

static unsigned green_attribute(CUdevice device, CUdevice_attribute which)
{
	return (unsigned)fake.devices[device].attributes[which];
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource_out,
				CUdevResourceType type)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (device < 0 || device >= fake.device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!resource_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	fill_resource(resource_out,
		      &(struct range){.device = device,
				      .count = green_attribute(
					      device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)});
	return CUDA_SUCCESS;
}

/* As measured on an H200: from 8 on in steps of 8. Older devices have smaller steps, according to
 * the guide. */
static unsigned green_rounded(CUdevice device, unsigned count)
{
	unsigned major = green_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	unsigned least = major >= 9   ? 8
			 : major == 8 ? 4
			 : major == 7 ? 2
				      : 1,
		 step = major >= 9   ? 8
			: major >= 7 ? 2
				     : 1;

	return count <= least ? least : (count + step - 1) / step * step;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned *groups,
				     const CUdevResource *input, CUdevResource *rest_out,
				     unsigned flags, unsigned least)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!groups || !input || flags & ~3u)
		return CUDA_ERROR_INVALID_VALUE;
	if (input->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	struct range range;
	memcpy(&range, input->_internal_padding, sizeof(range));
	if (range.is_split) {
		fake_misuse("a resource is split again that was split before");
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	}
	unsigned each = green_rounded(range.device, least), most = range.count / each;
	if (least > range.count)
		return CUDA_ERROR_INVALID_VALUE;
	if (most == 0)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	if (!result || *groups > most)
		*groups = most;
	for (unsigned i = 0; result && i < *groups; i++)
		fill_resource(&result[i],
			      &(struct range){range.device, range.first + i * each, each, true});
	if (rest_out)
		fill_resource(rest_out, &(struct range){range.device, range.first + *groups * each,
							range.count - *groups * each, true});
	return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *description_out, CUdevResource *resources,
				   unsigned count)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!description_out || !resources || count != 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (resources->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	struct CUdevResourceDesc_st *description = calloc(1, sizeof(*description));
	if (!description)
		return CUDA_ERROR_OUT_OF_MEMORY;
	description->range = *range_of(resources);
	description->next = descriptions;
	descriptions = description;
	*description_out = description;
	return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *context_out, CUdevResourceDesc description, CUdevice device,
			  unsigned flags)
{
	ENTER(NEED_INIT | UNSAFE);
	LOCKED();
	if (device < 0 || device >= fake.device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!context_out || !description || flags != CU_GREEN_CTX_DEFAULT_STREAM ||
	    description->range.device != device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake.devices[device].primary)
		fake_misuse(
			"a green context is made before the primary context, and would make and destroy that one");
	struct CUgreenCtx_st *context = calloc(1, sizeof(*context));
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	context->device = device;
	context->first = description->range.first;
	context->count = description->range.count;
	context->next = contexts;
	contexts = context;
	fake_number_add("green_contexts", 1);
	fake_number_add("green_contexts_created", 1);
	*context_out = context;
	return CUDA_SUCCESS;
}

static bool is_alive(CUgreenCtx context)
{
	const struct CUgreenCtx_st *at = contexts;

	while (at && at != context)
		at = at->next;
	return at && !at->ended;
}

CUresult cuGreenCtxDestroy(CUgreenCtx context)
{
	ENTER(NEED_INIT | UNSAFE);
	LOCKED();
	if (!context || !is_alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	for (const struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
		if (stream->green == context && !stream->destroyed)
			fake_misuse("a green context is destroyed before its stream %d",
				    stream->number);
	context->ended = true;
	fake_number_add("green_contexts", -1);
	return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream *stream_out, CUgreenCtx context, unsigned flags,
				int priority)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!context || !is_alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!stream_out || flags != CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUstream_st *stream = fake_stream_make(fake.devices[context->device].primary, flags,
						      priority > 0    ? 0
						      : priority < -5 ? -5
								      : priority);
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->green = context;
	fake_number_add("streams", 1);
	fake_number_add("streams_created", 1);
	*stream_out = stream;
	return CUDA_SUCCESS;
}
