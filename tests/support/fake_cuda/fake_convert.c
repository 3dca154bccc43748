/* Conversions between types. */
#include "fake_code.h"

#include <fenv.h>
#include <math.h>

float fake_half(uint64_t bits)
{
	unsigned sign = bits >> 15 & 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
	float value;

	if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		value = ldexpf((float)fraction, -24);
	else
		value = ldexpf((float)(fraction | 1024), (int)exponent - 25);
	return sign ? -value : value;
}

/* To nearest, ties to even. */
uint64_t fake_half_bits(double value)
{
	uint64_t sign = signbit(value) ? 0x8000 : 0;
	double size = fabs(value);

	if (isnan(value))
		return 0x7fff;
	if (size >= 65520)
		return sign | 0x7c00;
	if (size < ldexp(1, -14))
		return sign | (uint64_t)rint(ldexp(size, 24));
	int exponent;
	double fraction = frexp(size, &exponent);               /* 0.5 to 1 */
	uint64_t rounded = (uint64_t)rint(ldexp(fraction, 11)); /* 1024 to 2048 */
	return sign | (((uint64_t)(exponent + 13) << 10) + rounded);
}

static double round_by(double value, enum fake_rounding rounding)
{
	switch (rounding) {
	case ROUND_ZERO:
		return trunc(value);
	case ROUND_DOWN:
		return floor(value);
	case ROUND_UP:
		return ceil(value);
	default:
		return rint(value);
	}
}

/* A number that is out of range becomes the nearest one in range; NaN becomes 0. */
static uint64_t real_to_integer(double value, struct fake_type type, enum fake_rounding rounding)
{
	unsigned bits = type.bytes * 8u;
	double rounded = round_by(value, rounding);

	if (isnan(value))
		return 0;
	if (type.kind == 's') {
		double limit = ldexp(1, (int)bits - 1);
		if (rounded >= limit)
			return (UINT64_C(1) << (bits - 1)) - 1;
		if (rounded < -limit)
			return ~UINT64_C(0) << (bits - 1);
		return (uint64_t)(int64_t)rounded;
	}
	if (rounded >= ldexp(1, (int)bits))
		return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	return rounded <= 0 ? 0 : (uint64_t)rounded;
}

static uint64_t clamp_integer(uint64_t value, struct fake_type from, struct fake_type to)
{
	unsigned bits = to.bytes * 8u;
	int64_t number = (int64_t)value;

	if (bits >= 64)
		return value;
	if (to.kind == 's') {
		int64_t limit = INT64_C(1) << (bits - 1);
		if (from.kind != 's' && value >= (uint64_t)limit)
			return (uint64_t)limit - 1;
		return (uint64_t)(number >= limit ? limit - 1 : number < -limit ? -limit : number);
	}
	if (from.kind == 's' && number < 0)
		return 0;
	return value >> bits ? (UINT64_C(1) << bits) - 1 : value;
}

static uint64_t from_real(const struct fake_instruction *i, double value)
{
	static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

	if (i->type.kind != 'f')
		return real_to_integer(value, i->type, i->rounding);
	if (i->integer_rounding)
		value = round_by(value, i->rounding);
	if (i->saturate)
		value = isnan(value) || value < 0 ? 0 : value > 1 ? 1 : value;
	(void)fesetround(i->integer_rounding ? FE_TONEAREST : modes[i->rounding]);
	uint64_t out = i->type.bytes == 8   ? fake_double_bits(value)
		       : i->type.bytes == 4 ? fake_float_bits((float)value)
					    : fake_half_bits((float)value);
	(void)fesetround(FE_TONEAREST);
	return out;
}

uint64_t fake_convert(const struct fake_instruction *i, uint64_t value)
{
	if (i->source.kind == 'f')
		return from_real(i, i->source.bytes == 8   ? fake_double(value)
				    : i->source.bytes == 4 ? (double)fake_float(value)
							   : (double)fake_half(value));
	if (i->type.kind != 'f')
		return i->saturate ? clamp_integer(value, i->source, i->type) : value;
	if (i->type.bytes == 8)
		return fake_double_bits(i->source.kind == 's' ? (double)(int64_t)value
							      : (double)value);
	float narrow = i->source.kind == 's' ? (float)(int64_t)value : (float)value;
	return i->type.bytes == 4 ? fake_float_bits(narrow) : fake_half_bits(narrow);
}
