/* Memory of devices that several processes share. All with the lock of the double. */
#ifndef SYCL_FAKE_MEMORY_FILE_H
#define SYCL_FAKE_MEMORY_FILE_H

#include <stddef.h>

/* From now on, by the file `memory` in that folder. */
void fake_memory_file_open(const char *folder);
/* What this process has in use has changed. */
void fake_memory_file_note(int device);
/* What other processes have in use; 0 where nothing is shared. */
size_t fake_memory_file_others(int device);

#endif
