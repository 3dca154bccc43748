/* Operations that only compute. Integers are extended to 64 bits by their type. Floats are given as
 * their bits. */
#include "fake_code.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

float fake_float(uint64_t bits)
{
	uint32_t word = (uint32_t)bits;
	float value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

double fake_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint64_t fake_float_bits(float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

uint64_t fake_double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Cuts the value to the type's size, then extends it by its sign or by zeros. */
uint64_t fake_extend(uint64_t value, struct fake_type type)
{
	unsigned bits = type.bytes * 8u;

	if (type.kind == 'p')
		return value & 1;
	if (bits >= 64 || bits == 0)
		return value;
	value &= (UINT64_C(1) << bits) - 1;
	if (type.kind == 's' && value >> (bits - 1))
		value |= ~UINT64_C(0) << bits;
	return value;
}

static unsigned arithmetic_width(const struct fake_instruction *instruction)
{
	return instruction->type.bytes * 8u;
}

static uint64_t arithmetic_mask(uint64_t value, unsigned bits)
{
	return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t arithmetic_multiply(const struct fake_instruction *i, uint64_t a, uint64_t b)
{
	bool is_signed = i->type.kind == 's';

	if (i->wide)
		return a * b; /* the operands were extended before */
	if (!i->hi)
		return a * b;
	if (arithmetic_width(i) < 64)
		return (is_signed ? (uint64_t)((int64_t)(a * b) >> arithmetic_width(i))
				  : (a * b) >> arithmetic_width(i));
	if (is_signed)
		return (uint64_t)(((__int128)(int64_t)a * (int64_t)b) >> 64);
	return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

static uint64_t arithmetic_divide(const struct fake_instruction *i, uint64_t a, uint64_t b,
				  bool remainder)
{
	if (arithmetic_mask(b, arithmetic_width(i)) == 0)
		return remainder ? a : ~UINT64_C(0); /* the result of a real GPU */
	if (i->type.kind != 's')
		return remainder ? a % b : a / b;
	if ((int64_t)b == -1)
		return remainder ? 0 : (uint64_t)0 - a;
	return (uint64_t)(remainder ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static bool arithmetic_less(const struct fake_instruction *i, uint64_t a, uint64_t b)
{
	return i->type.kind == 's' ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t add_carry(const struct fake_instruction *i, uint64_t a, uint64_t b, bool in,
			  bool *carry)
{
	unsigned bits = arithmetic_width(i);
	uint64_t left = arithmetic_mask(a, bits), right = arithmetic_mask(b, bits),
		 sum = left + right + in;

	if (i->carry_out)
		*carry = bits < 64 ? sum >> bits & 1 : sum < left || (in && sum == left);
	return sum;
}

static uint64_t sub_borrow(const struct fake_instruction *i, uint64_t a, uint64_t b, bool in,
			   bool *carry)
{
	unsigned bits = arithmetic_width(i);
	uint64_t left = arithmetic_mask(a, bits), right = arithmetic_mask(b, bits);

	if (i->carry_out)
		*carry = left < right || (in && left == right);
	return left - right - in;
}

static uint64_t arithmetic_saturate(const struct fake_instruction *i, uint64_t value)
{
	int64_t number = (int64_t)value;

	if (!i->saturate || i->type.kind != 's' || i->type.bytes != 4)
		return value;
	return (uint64_t)(number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : number);
}

static bool arithmetic_integer(const struct fake_instruction *i, const uint64_t in[4], bool *carry,
			       uint64_t *out)
{
	switch (i->opcode) {
	case OP_ADD:
		*out = i->carry_out ? add_carry(i, in[0], in[1], false, carry)
				    : arithmetic_saturate(i, in[0] + in[1]);
		return true;
	case OP_ADDC:
		*out = add_carry(i, in[0], in[1], *carry, carry);
		return true;
	case OP_SUB:
		*out = i->carry_out ? sub_borrow(i, in[0], in[1], false, carry)
				    : arithmetic_saturate(i, in[0] - in[1]);
		return true;
	case OP_SUBC:
		*out = sub_borrow(i, in[0], in[1], *carry, carry);
		return true;
	case OP_MUL:
		*out = arithmetic_multiply(i, in[0], in[1]);
		return true;
	case OP_MAD:
		*out = i->carry_out ? add_carry(i, arithmetic_multiply(i, in[0], in[1]), in[2],
						false, carry)
				    : arithmetic_multiply(i, in[0], in[1]) + in[2];
		return true;
	case OP_MADC:
		*out = add_carry(i, arithmetic_multiply(i, in[0], in[1]), in[2], *carry, carry);
		return true;
	case OP_DIV:
	case OP_REM:
		*out = arithmetic_divide(i, in[0], in[1], i->opcode == OP_REM);
		return true;
	case OP_ABS:
		*out = (int64_t)in[0] < 0 ? (uint64_t)0 - in[0] : in[0];
		return true;
	case OP_NEG:
		*out = (uint64_t)0 - in[0];
		return true;
	case OP_MIN:
		*out = arithmetic_less(i, in[1], in[0]) ? in[1] : in[0];
		return true;
	case OP_MAX:
		*out = arithmetic_less(i, in[0], in[1]) ? in[1] : in[0];
		return true;
	case OP_SAD:
		*out = in[2] + (arithmetic_less(i, in[0], in[1]) ? in[1] - in[0] : in[0] - in[1]);
		return true;
	default:
		return false;
	}
}

static uint64_t arithmetic_shift(const struct fake_instruction *i, uint64_t a, uint64_t by)
{
	unsigned bits = arithmetic_width(i);

	by = (uint32_t)by;
	if (i->opcode == OP_SHL)
		return by >= bits ? 0 : a << by;
	if (i->type.kind == 's')
		return (uint64_t)((int64_t)a >> (by >= bits ? bits - 1 : by));
	return by >= bits ? 0 : a >> by;
}

static uint64_t arithmetic_reverse(uint64_t value, unsigned bits)
{
	uint64_t out = 0;

	for (unsigned n = 0; n < bits; n++)
		out |= (value >> n & 1) << (bits - 1 - n);
	return out;
}

static uint64_t field_extract(const struct fake_instruction *i, uint64_t a, unsigned at,
			      unsigned length)
{
	unsigned bits = arithmetic_width(i);
	bool negative = i->type.kind == 's' && length &&
			(a >> ((at + length < bits ? at + length : bits) - 1) & 1);
	uint64_t out = negative ? ~UINT64_C(0) : 0;

	at &= 255;
	length &= 255;
	for (unsigned n = 0; n < length && n < 64; n++) {
		uint64_t bit = at + n < bits ? a >> (at + n) & 1 : negative;
		out = (out & ~(UINT64_C(1) << n)) | bit << n;
	}
	return length ? out : 0;
}

static uint64_t field_insert(unsigned bits, uint64_t a, uint64_t b, unsigned at, unsigned length)
{
	at &= 255;
	length &= 255;
	for (unsigned n = 0; n < length && at + n < bits; n++)
		b = (b & ~(UINT64_C(1) << (at + n))) | (a >> n & 1) << (at + n);
	return b;
}

static uint64_t find_bit(const struct fake_instruction *i, uint64_t a)
{
	uint64_t value = i->type.kind == 's' && (int64_t)a < 0 ? ~a : a;

	value = arithmetic_mask(value, arithmetic_width(i));
	return value ? 63u - (unsigned)__builtin_clzll(value) : UINT32_MAX;
}

static uint64_t arithmetic_permute(uint64_t a, uint64_t b, uint64_t selector)
{
	uint64_t bytes = (a & UINT32_MAX) | b << 32, out = 0;

	for (unsigned n = 0; n < 4; n++) {
		unsigned select = selector >> (4 * n) & 15;
		uint64_t byte = bytes >> (8 * (select & 7)) & 255;
		out |= (select & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * n);
	}
	return out;
}

static uint64_t arithmetic_logic3(uint64_t a, uint64_t b, uint64_t c, uint64_t table)
{
	uint64_t out = 0;

	for (unsigned n = 0; n < 8; n++)
		if (table >> n & 1)
			out |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
	return out;
}

static uint64_t arithmetic_funnel(const struct fake_instruction *i, uint64_t low, uint64_t high,
				  uint64_t by)
{
	uint64_t both = (low & UINT32_MAX) | high << 32;
	uint64_t count = i->wrap ? by & 31 : by > 32 ? 32 : by;

	return i->left ? both << count >> 32 : both >> count;
}

static bool arithmetic_bits(const struct fake_instruction *i, const uint64_t in[4], uint64_t *out)
{
	switch (i->opcode) {
	case OP_AND:
		*out = in[0] & in[1];
		return true;
	case OP_OR:
		*out = in[0] | in[1];
		return true;
	case OP_XOR:
		*out = in[0] ^ in[1];
		return true;
	case OP_NOT:
		*out = ~in[0];
		return true;
	case OP_CNOT:
		*out = arithmetic_mask(in[0], arithmetic_width(i)) == 0;
		return true;
	case OP_SHL:
	case OP_SHR:
		*out = arithmetic_shift(i, in[0], in[1]);
		return true;
	case OP_SHF:
		*out = arithmetic_funnel(i, in[0], in[1], arithmetic_mask(in[2], 32));
		return true;
	case OP_BREV:
		*out = arithmetic_reverse(in[0], arithmetic_width(i));
		return true;
	case OP_POPC:
		*out = (uint64_t)__builtin_popcountll(arithmetic_mask(in[0], arithmetic_width(i)));
		return true;
	case OP_CLZ:
		*out = arithmetic_mask(in[0], arithmetic_width(i))
			       ? (unsigned)__builtin_clzll(
					 arithmetic_mask(in[0], arithmetic_width(i))) -
					 (64 - arithmetic_width(i))
			       : arithmetic_width(i);
		return true;
	case OP_BFIND:
		*out = find_bit(i, in[0]);
		return true;
	case OP_BFE:
		*out = field_extract(i, in[0], (unsigned)in[1] & 255, (unsigned)in[2] & 255);
		return true;
	case OP_BFI:
		*out = field_insert(arithmetic_width(i), in[0], in[1], (unsigned)in[2],
				    (unsigned)in[3]);
		return true;
	case OP_PRMT:
		*out = arithmetic_permute(in[0], in[1], in[2]);
		return true;
	case OP_LOP3:
		*out = arithmetic_logic3(in[0], in[1], in[2], in[3]);
		return true;
	default:
		return false;
	}
}

static double real_of(const struct fake_instruction *i, uint64_t value)
{
	return i->type.bytes == 4 ? (double)fake_float(value) : fake_double(value);
}

static uint64_t real_bits(const struct fake_instruction *i, double value)
{
	if (i->saturate)
		value = isnan(value) || value < 0 ? 0 : value > 1 ? 1 : value;
	return i->type.bytes == 4 ? fake_float_bits((float)value) : fake_double_bits(value);
}

/* Sums and products in the operation's own precision, with its rounding. */
static uint64_t arithmetic_rounded(const struct fake_instruction *i, const uint64_t in[4])
{
	float a = fake_float(in[0]), b = fake_float(in[1]), c = fake_float(in[2]);
	double x = fake_double(in[0]), y = fake_double(in[1]), z = fake_double(in[2]);
	bool narrow = i->type.bytes == 4;

	switch (i->opcode) {
	case OP_ADD:
		return narrow ? real_bits(i, (double)(a + b)) : real_bits(i, x + y);
	case OP_SUB:
		return narrow ? real_bits(i, (double)(a - b)) : real_bits(i, x - y);
	case OP_MUL:
		return narrow ? real_bits(i, (double)(a * b)) : real_bits(i, x * y);
	case OP_DIV:
		return narrow ? real_bits(i, (double)(a / b)) : real_bits(i, x / y);
	case OP_SQRT:
		return narrow ? real_bits(i, (double)sqrtf(a)) : real_bits(i, sqrt(x));
	default: /* FMA, MAD */
		return narrow ? real_bits(i, (double)fmaf(a, b, c)) : real_bits(i, fma(x, y, z));
	}
}

static bool arithmetic_real_operation(const struct fake_instruction *i, const uint64_t in[4],
				      uint64_t *out)
{
	static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
	double a = real_of(i, in[0]), b = real_of(i, in[1]);
	uint64_t sign = UINT64_C(1) << (arithmetic_width(i) - 1);

	switch (i->opcode) {
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_SQRT:
	case OP_FMA:
	case OP_MAD:
		(void)fesetround(modes[i->rounding]);
		*out = arithmetic_rounded(i, in);
		(void)fesetround(FE_TONEAREST);
		return true;
	case OP_ABS:
		*out = in[0] & ~sign;
		return true;
	case OP_NEG:
		*out = in[0] ^ sign;
		return true;
	case OP_MIN:
		*out = real_bits(i, fmin(a, b));
		return true;
	case OP_MAX:
		*out = real_bits(i, fmax(a, b));
		return true;
	case OP_COPYSIGN: /* the sign of the first */
		*out = (in[1] & ~sign) | (in[0] & sign);
		return true;
	case OP_RCP:
		*out = real_bits(i, 1 / a);
		return true;
	case OP_RSQRT:
		*out = real_bits(i, 1 / sqrt(a));
		return true;
	case OP_SIN:
		*out = real_bits(i, sin(a));
		return true;
	case OP_COS:
		*out = real_bits(i, cos(a));
		return true;
	case OP_EX2:
		*out = real_bits(i, exp2(a));
		return true;
	case OP_LG2:
		*out = real_bits(i, log2(a));
		return true;
	case OP_TANH:
		*out = real_bits(i, tanh(a));
		return true;
	default:
		return false;
	}
}

/* Exact in double, except if a product is far larger than the number that is added. It then rounds
 * to the same. */
static bool half_real(const struct fake_instruction *i, const uint64_t in[4], uint64_t *out)
{
	struct fake_instruction wide = *i;
	uint64_t values[4], value = 0;

	wide.type.bytes = 8;
	wide.rounding = ROUND_NEAREST;
	for (unsigned n = 0; n < 4; n++)
		values[n] = fake_double_bits((double)fake_half(in[n]));
	if (!arithmetic_real_operation(&wide, values, &value))
		return false;
	*out = fake_half_bits(fake_double(value));
	return true;
}

bool fake_compute(const struct fake_instruction *i, const uint64_t in[4], bool *carry,
		  uint64_t *out)
{
	if (i->type.kind == 'f' && i->type.bytes == 2)
		return half_real(i, in, out);
	if (i->type.kind == 'f')
		return arithmetic_real_operation(i, in, out);
	return arithmetic_bits(i, in, out) || arithmetic_integer(i, in, carry, out);
}

bool fake_compare_values(const struct fake_instruction *i, uint64_t a, uint64_t b)
{
	int order = arithmetic_less(i, a, b) ? -1 : a == b ? 0 : 1;

	if (i->type.kind == 'f') {
		double x = real_of(i, a), y = real_of(i, b);
		if (isnan(x) || isnan(y))
			return i->compare == CMP_NAN || (i->compare != CMP_NUM && i->unordered);
		order = x < y ? -1 : x == y ? 0 : 1;
	}
	switch (i->compare) {
	case CMP_EQ:
		return order == 0;
	case CMP_NE:
		return order != 0;
	case CMP_LT:
		return order < 0;
	case CMP_LE:
		return order <= 0;
	case CMP_GT:
		return order > 0;
	case CMP_GE:
		return order >= 0;
	case CMP_NUM:
		return true;
	default:
		return false;
	}
}
