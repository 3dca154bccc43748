/* SPDX-License-Identifier: Apache-2.0 */
#include "base/answer.h"

#include <stdio.h>
#include <string.h>

/* A value that is too small is an error, and then nothing is written. */
cl_int answer_bytes(struct answer answer, const void *bytes, size_t count)
{
	if (answer.value && answer.room < count)
		return CL_INVALID_VALUE;
	if (answer.value && count > 0)
		memcpy(answer.value, bytes, count);
	if (answer.bytes_out)
		*answer.bytes_out = count;
	return CL_SUCCESS;
}

cl_int answer_text(struct answer answer, const char *text)
{
	return answer_bytes(answer, text, strlen(text) + 1);
}

void text_append(char *text, size_t room, const char *separator, const char *word)
{
	size_t length = strlen(text);
	(void)snprintf(text + length, room - length, "%s%s", length ? separator : "", word);
}

cl_int answer_uint(struct answer answer, cl_uint number)
{
	return answer_bytes(answer, &number, sizeof(number));
}

cl_int answer_ulong(struct answer answer, cl_ulong number)
{
	return answer_bytes(answer, &number, sizeof(number));
}

cl_int answer_size(struct answer answer, size_t number)
{
	return answer_bytes(answer, &number, sizeof(number));
}

cl_int answer_handle(struct answer answer, const void *handle)
{
	return answer_bytes(answer, &handle, sizeof(handle));
}

void *made(void *object, cl_int code, cl_int *code_out)
{
	if (code_out)
		*code_out = code;
	return object;
}
