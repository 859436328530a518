// stream_table.h: recognizes, from the ranges that are asked of one file, readers that go through it in order, and says what they want next.
// Layer:   core/verify (3). Pure bookkeeping, no I/O. Streams are told apart by where they are in the file, not by who reads:
//          the kernel asks on behalf of all, and many threads share one handle.
// Threads: one caller at a time; the owner guards it.
// Units:   bytes of the file.
// Cost:    a walk over at most kMost entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace vouchfs::verify {

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const Extent&) const = default;
};

class StreamTable {
 public:
  static constexpr std::size_t kMost = 32;  // streams remembered; the one longest unused makes room
  // What a stream is given ahead at first, and at most; it doubles while the reader keeps coming.
  static constexpr std::uint64_t kFirstWindow = 1ULL << 20;
  static constexpr std::uint64_t kWidestWindow = 8ULL << 20;
  // A random fault of 64 KiB makes the kernel ask for two ranges in a row; three in a row are a stream.
  static constexpr unsigned kRunsOfAStream = 2;
  // Ranges of one stream arrive through several threads and may overtake each other by this much.
  static constexpr std::uint64_t kDisorder = 1ULL << 20;
  // A read of fewer bytes is no beginning of a tensor: it is a header or a lone fault.
  static constexpr std::uint64_t kLeastHint = 32ULL << 10;
  static constexpr std::uint64_t kLeastTensor = 1ULL << 20;

  struct Plan {
    Extent ahead;              // to be fetched, begin at the reader's place
    std::uint64_t stream = 0;  // names the stream, within this table and its whole life
    bool operator==(const Plan&) const = default;
  };

  // tensors: extents in file order, empty when none are known; must outlive the table.
  StreamTable(std::uint64_t file_bytes, std::span<const Extent> tensors) : file_bytes_(file_bytes), tensors_(tensors) {}

  // A range was asked for. What it foretells, or nothing.
  std::optional<Plan> observe(Extent asked);

 private:
  struct Stream {
    std::uint64_t id = 0;        // 0: unused
    std::uint64_t position = 0;  // end of what was asked
    std::uint64_t ahead = 0;     // end of what was planned; position when nothing was
    std::uint64_t window = 0;
    unsigned runs = 0;       // ranges that went on where the one before ended
    std::uint64_t used = 0;  // tick
  };
  Stream* find(Extent asked);
  Stream& start(Extent asked);
  bool begins_tensor(Extent asked) const;
  std::optional<Plan> extend(Stream& stream);

  std::uint64_t file_bytes_;
  std::span<const Extent> tensors_;
  std::array<Stream, kMost> streams_{};
  std::uint64_t tick_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace vouchfs::verify
