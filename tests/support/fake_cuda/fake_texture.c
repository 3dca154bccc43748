/*
 * The value of a texture, as CUDA's programming guide defines it. Coordinates are in pixels, or
 * parts of the size. Nearest is the pixel that contains the coordinate. Linear mixes the neighbours
 * of x - 0.5, with weights of 8 bits behind the point.
 *
 * The guide does not define this (measured, H200, driver 580): a texture of one dimension is read
 * as one of two, with one row, at y = 0. That is the row's edge. So with a linear filter and a
 * border in y half of the result is the border.
 */
#include "fake.h"

#include <math.h>
#include <string.h>

#define BORDER (-1L)

static float half_to_float(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	float fraction = (float)(bits & 1023) / 1024.0f;
	float size = exponent == 0    ? ldexpf(fraction, -14)
		     : exponent == 31 ? (bits & 1023 ? NAN : INFINITY)
				      : ldexpf(1.0f + fraction, exponent - 15);

	return bits & 0x8000 ? -size : size;
}

static uint32_t texture_stored(const struct CUarray_st *array, const long at[3], unsigned channel)
{
	size_t bytes = array->pixel_bytes / array->descriptor.NumChannels;
	size_t pixel = ((size_t)at[2] * array->rows + (size_t)at[1]) * array->row_bytes +
		       (size_t)at[0] * array->pixel_bytes;
	uint32_t value = 0;

	memcpy(&value, array->bytes + pixel + channel * bytes, bytes);
	return value;
}

static bool is_integer(CUarray_format format)
{
	return format != CU_AD_FORMAT_FLOAT && format != CU_AD_FORMAT_HALF;
}

static uint32_t as_integer(CUarray_format format, uint32_t value)
{
	if (format == CU_AD_FORMAT_SIGNED_INT8)
		return (uint32_t)(int32_t)(int8_t)value;
	if (format == CU_AD_FORMAT_SIGNED_INT16)
		return (uint32_t)(int32_t)(int16_t)value;
	return value;
}

static float as_float(CUarray_format format, uint32_t value)
{
	float single;

	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
		return (float)value / 255.0f;
	case CU_AD_FORMAT_UNSIGNED_INT16:
		return (float)value / 65535.0f;
	case CU_AD_FORMAT_SIGNED_INT8:
		return fmaxf((float)(int8_t)value / 127.0f, -1.0f);
	case CU_AD_FORMAT_SIGNED_INT16:
		return fmaxf((float)(int16_t)value / 32767.0f, -1.0f);
	case CU_AD_FORMAT_HALF:
		return half_to_float((uint16_t)value);
	default:
		memcpy(&single, &value, sizeof(single));
		return single;
	}
}

/* Returns an index inside of the texture, or the border. */
static long texture_address(CUaddress_mode mode, long index, long size)
{
	if (index >= 0 && index < size)
		return index;
	switch (mode) {
	case CU_TR_ADDRESS_MODE_WRAP:
		return (index % size + size) % size;
	case CU_TR_ADDRESS_MODE_MIRROR: {
		long period = (index % (2 * size) + 2 * size) % (2 * size);
		return period < size ? period : 2 * size - 1 - period;
	}
	case CU_TR_ADDRESS_MODE_CLAMP:
		return index < 0 ? 0 : size - 1;
	default:
		return BORDER;
	}
}

/* Finds the first neighbour, and the weight of the second one. */
static long texture_split(const struct fake_texture *texture, float coordinate, size_t size,
			  float *second_out)
{
	float x = texture->descriptor.flags & CU_TRSF_NORMALIZED_COORDINATES
			  ? coordinate * (float)size
			  : coordinate;

	*second_out = 0;
	if (!(fabsf(x) < 1e9f)) /* also false for NaN */
		x = x > 0 ? 1e9f : -1e9f;
	if (texture->descriptor.filterMode == CU_TR_FILTER_MODE_POINT)
		return (long)floorf(x);
	float first = floorf(x - 0.5f);
	*second_out = rintf((x - 0.5f - first) * 256.0f) / 256.0f;
	return (long)first;
}

bool fake_texture_fetch(const struct fake_texture *texture, unsigned dimensions, char type,
			long layer, const float coordinate[3], uint32_t value_out[4])
{
	const struct CUarray_st *array = texture->array;
	const size_t sizes[3] = {array->descriptor.Width, array->rows, array->slices};
	CUarray_format format = array->descriptor.Format;
	bool integers =
		is_integer(format) && (texture->descriptor.flags & CU_TRSF_READ_AS_INTEGER ||
				       array->pixel_bytes / array->descriptor.NumChannels == 4);
	float second[3] = {0}, sum[4] = {0};
	long first[3] = {0};

	if (integers == (type == 'f'))
		return false;
	for (unsigned d = 0; d < dimensions; d++)
		first[d] = texture_split(texture, coordinate[d], sizes[d], &second[d]);
	if (dimensions == 1) {
		first[1] = texture_split(texture, 0, sizes[1], &second[1]);
		dimensions = 2;
	}
	memset(value_out, 0, 4 * sizeof(*value_out));
	for (unsigned corner = 0; corner < 1u << dimensions; corner++) {
		float weight = 1;
		long at[3] = {0, 0, layer};
		bool border = false;
		for (unsigned d = 0; d < dimensions; d++) {
			weight *= corner >> d & 1 ? second[d] : 1 - second[d];
			at[d] = texture_address(texture->descriptor.addressMode[d],
						first[d] + (long)(corner >> d & 1), (long)sizes[d]);
			border |= at[d] == BORDER;
		}
		if (weight == 0)
			continue;
		for (unsigned c = 0; c < array->descriptor.NumChannels && !border; c++) {
			if (integers)
				value_out[c] = as_integer(format, texture_stored(array, at, c));
			else
				sum[c] += weight * as_float(format, texture_stored(array, at, c));
		}
	}
	if (!integers)
		memcpy(value_out, sum, sizeof(sum));
	return true;
}
