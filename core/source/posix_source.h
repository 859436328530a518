// posix_source.h: a file of a directory as a BlockSource: read with O_DIRECT where the filesystem allows it, so that the only copy
// kept in memory is the reader's own page cache; buffered and dropped afterwards where it does not.
// Layer:   core/source (2). Uses base.
// Owns:    nothing but a weak reference to its open descriptor, which the HandlePool keeps. The descriptor pins the inode, so a file
//          that is replaced keeps being read as it was until its bytes are wrong, and Freshness::past_cache looks again.
// Threads: safe for concurrent calls. The descriptor is guarded by mutex_; nothing is read while holding it.
// Errors:  not_found, io with errno. Short reads of the filesystem are read on; EINTR is retried.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "source/block_source.h"
#include "source/handle_pool.h"
#include "source/source_root.h"

namespace vouchfs::source {

class PosixSource final : public BlockSource {
 public:
  // `relative` is the path below root; `shown_name` names the source in events ("model").
  PosixSource(std::shared_ptr<const SourceRoot> root, std::string relative, std::string shown_name, std::shared_ptr<HandlePool> pool);

  std::string name() const override { return name_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> dst, Freshness freshness) override;
  Result<Stamp> stamp() override;
  Result<UniqueFd> open_file() override { return root_->open_file(relative_, 0); }

 private:
  Result<HandlePtr> handle(bool anew);
  Result<HandlePtr> open_handle(bool direct) const;
  Result<std::size_t> read_with(const Handle& handle, std::uint64_t offset, std::span<std::uint8_t> dst) const;
  Result<std::size_t> read_direct(const Handle& handle, std::uint64_t offset, std::span<std::uint8_t> dst) const;
  Result<std::size_t> read_buffered(std::uint64_t offset, std::span<std::uint8_t> dst) const;

  const std::shared_ptr<const SourceRoot> root_;
  const std::string relative_;
  const std::string name_;
  const std::shared_ptr<HandlePool> pool_;
  std::mutex mutex_;
  std::weak_ptr<const Handle> handle_;  // guarded by mutex_
};

}  // namespace vouchfs::source
