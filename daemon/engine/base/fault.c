#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

void fault_write(struct backend_fault *fault, int32_t status, const char *format, ...)
{
	*fault = (struct backend_fault){.status = status};
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
}
