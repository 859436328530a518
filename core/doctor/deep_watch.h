// deep_watch.h: what looks at the bytes of one file as they are read, once and in order. Internal to core/doctor.
// Layer:   core/doctor (5).
// Threads: one thread a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "doctor/checks.h"
#include "hash/git_sha1.h"
#include "hash/sha256.h"

namespace vouchfs::doctor {

class ByteWatch {
 public:
  ByteWatch() = default;
  ByteWatch(const ByteWatch&) = delete;
  ByteWatch& operator=(const ByteWatch&) = delete;
  virtual ~ByteWatch() = default;
  // Pieces come in order and without gaps; every piece but the last is a multiple of 4096 bytes.
  virtual void take(std::uint64_t offset, std::span<const std::uint8_t> bytes) = 0;
};

// Where in a file something is known to be wrong, and why.
struct BadPlace {
  ByteRange range;
  std::string text;                  // "blocks 3 to 5 differ from the seal"
  std::vector<std::string> tensors;  // that the range touches
};

// deep_digests.cpp: the file against every digest the publisher left.
class DigestWatch final : public ByteWatch {
 public:
  explicit DigestWatch(const FileFacts& file);
  ~DigestWatch() override;
  void take(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
  // After the last byte: the mismatch, if there is one. Severity, advice and command are not filled in.
  std::optional<Finding> finish(const ModelFacts& model);

 private:
  const FileFacts& file_;
  std::optional<hash::Sha256Stream> sha256_;
  std::optional<hash::GitSha1Stream> git_sha1_;
  bool all_zero_ = true;
};

// deep_records.cpp: CRC-32 of the records of a torch archive.
class RecordWatch final : public ByteWatch {
 public:
  explicit RecordWatch(const FileFacts& file);
  ~RecordWatch() override;
  void take(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
  std::vector<BadPlace> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// deep_blocks.cpp: blocks against the leaf hashes of the seal's tree, which is itself checked against the manifest.
class BlockWatch final : public ByteWatch {
 public:
  // `sealed`: what the manifest says of the file.
  BlockWatch(const ModelFacts& model, const FileFacts& file, const seal::ManifestFile& sealed, std::shared_ptr<const hash::Sha256Engine> engine);
  ~BlockWatch() override;
  void take(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
  std::vector<BadPlace> finish();
  // Why blocks could not be judged one by one (the tree is damaged or absent); empty when they could.
  const std::string& trouble() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// deep_tensors.cpp: tensors that are all zero, long zero runs, NaN and Inf.
class TensorWatch final : public ByteWatch {
 public:
  explicit TensorWatch(const FileFacts& file);
  ~TensorWatch() override;
  void take(std::uint64_t offset, std::span<const std::uint8_t> bytes) override;
  void finish(const ModelFacts& model, std::vector<Finding>& findings);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vouchfs::doctor
