// micro_benches.h: the parts of micro_bench beside hashing.
#pragma once

namespace vouchfs::bench {

// climb/…, serve/…, cache/…, streams/…
void register_verify_benchmarks();

}  // namespace vouchfs::bench
