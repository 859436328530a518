#include "ingest/file_jobs.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "base/threads.h"

namespace vouchfs::ingest {
namespace {

// The largest first: a large file begun last would keep one thread busy while the others are done.
std::vector<std::size_t> largest_first(const std::vector<ScannedFile>& files) {
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return files[a].identity.bytes > files[b].identity.bytes; });
  return order;
}

unsigned thread_count(unsigned jobs, std::size_t files) {
  const unsigned wanted = jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<std::size_t>(wanted, std::max<std::size_t>(files, 1)));
}

}  // namespace

Result<std::vector<SealedFile>> seal_all(const std::vector<ScannedFile>& files, unsigned jobs, const SealOne& seal_one, std::atomic<bool>& stop,
                                         std::atomic<std::uint64_t>& files_done) {
  const std::vector<std::size_t> order = largest_first(files);
  std::vector<SealedFile> sealed(files.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::optional<Error> first_error;  // guarded by mutex until the threads are joined
  const auto work = [&] {
    for (std::size_t turn = next++; turn < order.size() && !stop; turn = next++) {
      const std::size_t index = order[turn];
      auto result = seal_one(files[index], index);
      if (result) {
        sealed[index] = std::move(*result);
        ++files_done;
        continue;
      }
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::move(result).error();
      stop = true;
    }
  };
  const std::function<void()> worker = work;
  std::vector<std::thread> threads = start_threads(thread_count(jobs, files.size()) - 1, worker);
  work();
  for (std::thread& thread : threads) thread.join();
  if (first_error) return fail(std::move(*first_error));
  return sealed;
}

}  // namespace vouchfs::ingest
