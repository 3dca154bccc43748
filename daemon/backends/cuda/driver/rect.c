#include "cuda/driver/rect.h"

static struct cuda_rect_side side_address(struct cuda_rect_side side, uint64_t offset)
{
	if (side.host)
		side.host = (unsigned char *)side.host + offset;
	else
		side.address += offset;
	return side;
}

static CUresult put_row(const struct cuda_library *cuda, CUstream stream, uint64_t bytes,
			struct cuda_rect_side destination, struct cuda_rect_side source)
{
	if (source.host)
		return cuda->cuMemcpyHtoDAsync(destination.address, source.host, bytes, stream);
	if (destination.host)
		return cuda->cuMemcpyDtoHAsync(destination.host, source.address, bytes, stream);
	return cuda->cuMemcpyDtoDAsync(destination.address, source.address, bytes, stream);
}

static CUresult cuda_put_rows(const struct cuda_library *cuda, CUstream stream,
			      const struct copy_box *box, struct cuda_rect_side destination,
			      struct cuda_rect_side source)
{
	CUresult result = CUDA_SUCCESS;

	for (uint64_t slice = 0; result == CUDA_SUCCESS && slice < box->slices; slice++)
		for (uint64_t row = 0; result == CUDA_SUCCESS && row < box->rows; row++)
			result = put_row(
				cuda, stream, box->width_bytes,
				side_address(destination, slice * box->destination.slice_bytes +
								  row * box->destination.row_bytes),
				side_address(source, slice * box->source.slice_bytes +
							     row * box->source.row_bytes));
	return result;
}

/* Returns the height in rows, by which the driver locates slices. For one slice any height is
 * right. */
static size_t rect_height_of(const struct copy_box *box, const struct box_pitch *pitch)
{
	return box->slices == 1 ? box->rows : pitch->slice_bytes / pitch->row_bytes;
}

static CUmemorytype memory_type(struct cuda_rect_side side)
{
	return side.array  ? CU_MEMORYTYPE_ARRAY
	       : side.host ? CU_MEMORYTYPE_HOST
			   : CU_MEMORYTYPE_DEVICE;
}

/* The driver has the image's rows and slices. */
static CUresult put_array(const struct cuda_library *cuda, CUstream stream,
			  const struct copy_box *box, struct cuda_rect_side destination,
			  struct cuda_rect_side source)
{
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = memory_type(source),
		.srcHost = source.host,
		.srcDevice = source.address,
		.srcArray = source.array,
		.srcXInBytes = source.byte,
		.srcY = source.row,
		.srcZ = source.slice,
		.srcPitch = box->source.row_bytes,
		.srcHeight = rect_height_of(box, &box->source),
		.dstMemoryType = memory_type(destination),
		.dstHost = destination.host,
		.dstDevice = destination.address,
		.dstArray = destination.array,
		.dstXInBytes = destination.byte,
		.dstY = destination.row,
		.dstZ = destination.slice,
		.dstPitch = box->destination.row_bytes,
		.dstHeight = rect_height_of(box, &box->destination),
		.WidthInBytes = box->width_bytes,
		.Height = box->rows,
		.Depth = box->slices,
	};

	return cuda->cuMemcpy3DAsync(&copy, stream);
}

CUresult cuda_rect_put(const struct cuda_library *cuda, CUstream stream, const struct copy_box *box,
		       struct cuda_rect_side destination, struct cuda_rect_side source)
{
	if (source.array || destination.array)
		return put_array(cuda, stream, box, destination, source);
	if (box->rows == 1)
		return put_row(cuda, stream, box->width_bytes, destination, source);
	if (box->source.row_bytes > CUDA_PITCH_BYTES_MAX ||
	    box->destination.row_bytes > CUDA_PITCH_BYTES_MAX)
		return cuda_put_rows(cuda, stream, box, destination, source);
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = source.host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
		.srcHost = source.host,
		.srcDevice = source.host ? 0 : source.address,
		.srcPitch = box->source.row_bytes,
		.srcHeight = rect_height_of(box, &box->source),
		.dstMemoryType = destination.host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
		.dstHost = destination.host,
		.dstDevice = destination.host ? 0 : destination.address,
		.dstPitch = box->destination.row_bytes,
		.dstHeight = rect_height_of(box, &box->destination),
		.WidthInBytes = box->width_bytes,
		.Height = box->rows,
		.Depth = box->slices,
	};
	return cuda->cuMemcpy3DAsync(&copy, stream);
}
