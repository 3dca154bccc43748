// Reads a timeline with Perfetto's own importer of the Trace Event Format. Prints what it has found. Exit status 1: the importer
// has refused the file, or has counted an error or lost data in it. README.md says how it is built.
#include <cstdio>
#include <string>

#include "perfetto/trace_processor/trace_blob.h"
#include "perfetto/trace_processor/trace_blob_view.h"
#include "src/trace_processor/importers/common/builtin_trace_importers.h"
#include "src/trace_processor/importers/json/json_trace_tokenizer.h"
#include "src/trace_processor/storage/trace_storage.h"
#include "src/trace_processor/trace_processor_storage_impl.h"
#include "src/trace_processor/trace_reader_registry.h"

using namespace perfetto::trace_processor;

static bool read_file(TraceProcessorStorageImpl &processor, FILE *file)
{
	constexpr size_t part_bytes = 1 << 16;
	for (;;) {
		auto blob = TraceBlob::Allocate(part_bytes);
		size_t size = fread(blob.data(), 1, part_bytes, file);
		auto status = size ? processor.Parse(TraceBlobView(std::move(blob)).slice_off(0, size)) : processor.NotifyEndOfFile();
		if (!status.ok())
			fprintf(stderr, "error: %s\n", status.c_message());
		if (!size || !status.ok())
			return status.ok();
	}
}

int main(int argc, char **argv)
{
	TraceProcessorStorageImpl processor{Config{}};
	processor.context()->reader_registry->Register(CreateJsonImporter());
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : nullptr;
	if (!file) {
		fprintf(stderr, "usage: timeline_read FILE\n");
		return 2;
	}
	int status = read_file(processor, file) ? 0 : 1;
	fclose(file);
	const TraceStorage *storage = processor.context()->storage.get();
	for (auto row = storage->stats_table().IterateRows(); row; ++row) {
		std::string severity = storage->GetString(row.severity()).ToStdString();
		if (severity == "info" || row.value() == 0)
			continue;
		fprintf(stderr, "%s: %s: %lld\n", severity.c_str(), storage->GetString(row.name()).c_str(), (long long)row.value());
		status = 1;
	}
	printf("%u slices and instants, %u arrows, %u processes\n", storage->slice_table().row_count(), storage->flow_table().row_count(),
	       storage->process_table().row_count());
	return status;
}
