#include "doctor/deep.h"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <thread>

#include "base/aligned_buffer.h"
#include "base/threads.h"
#include "doctor/deep_file.h"

namespace vouchfs::doctor {
namespace {

constexpr std::size_t kReadBytes = 4U << 20;

// Files of one model, taken by threads largest first, so that none is left alone with a large one at the end.
class DeepRun {
 public:
  DeepRun(const DeepContext& context, const Findings& known) : context_(context), found_(context.model.files.size()) {
    const auto& files = context.model.files;
    for (std::size_t i = 0; i < files.size(); ++i)
      if (files[i].presence == Presence::readable) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return files[a].bytes > files[b].bytes; });
    for (const FileFacts& file : files) has_error_.push_back(known.has_error(context.model.shown_path(file.path)));
    for (const std::size_t i : order_) context.progress.bytes_total.fetch_add(files[i].bytes, std::memory_order_relaxed);
  }

  std::size_t files() const noexcept { return order_.size(); }
  // On a thread of its own: without memory for its buffer it leaves the files to the others.
  void help() {
    std::optional<AlignedBuffer> buffer;
    try {
      buffer.emplace(kReadBytes);
    } catch (const std::bad_alloc&) {
      return;
    }
    work(*buffer);
  }
  void work(AlignedBuffer& buffer) {
    for (std::size_t turn = next_.fetch_add(1); turn < order_.size(); turn = next_.fetch_add(1)) {
      const std::size_t i = order_[turn];
      auto found = deep_file(context_, context_.model.files[i], has_error_[i], buffer.span());
      if (!found) return;  // cancelled, which the caller sees for itself
      found_[i] = *std::move(found);
    }
  }
  void hand_over(Findings& findings) {
    for (std::vector<Finding>& of_file : found_)
      for (Finding& finding : of_file) findings.add(std::move(finding));
  }

 private:
  const DeepContext& context_;
  std::vector<std::size_t> order_;
  std::vector<bool> has_error_;
  std::atomic<std::size_t> next_{0};
  std::vector<std::vector<Finding>> found_;  // by file; each written by one thread
};

}  // namespace

Status deep_checks(const ModelFacts& model, unsigned jobs, const std::shared_ptr<const hash::Sha256Engine>& engine, DeepProgress& progress,
                   const CancelFlag& cancel, Findings& findings) {
  const DeepContext context{model, engine, progress, cancel};
  DeepRun run(context, findings);
  const std::size_t wanted = jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : jobs;
  AlignedBuffer buffer(kReadBytes);
  const std::function<void()> helper = [&run] { run.help(); };
  std::vector<std::thread> threads = start_threads(std::max<std::size_t>(1, std::min(wanted, run.files())) - 1, helper);
  run.work(buffer);
  for (std::thread& thread : threads) thread.join();
  VOUCHFS_TRY(cancel.check());
  run.hand_over(findings);
  return {};
}

}  // namespace vouchfs::doctor
