// test_model.h: small models on disk for the tests of the view: safetensors files written here, sealed by the product's ingest,
// or by hand where a seal is wanted that ingest would refuse to make.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "seal/tensor_table.h"
#include "view/mount_view.h"
#include "view/sealed_model.h"

namespace vouchfs::view::test {

// A folder that goes away with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const noexcept { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write_file(const std::string& path, const std::string& bytes);  // makes the folders on the way
std::string read_file(const std::string& path);
// Flips one bit of one byte in place.
void flip(const std::string& path, std::uint64_t offset);

// A tensor of U8 with this many elements.
struct Weight {
  std::string name;
  std::uint64_t bytes = 0;
};
// A safetensors file of these tensors, filled with bytes that depend on `seed`.
std::string safetensors(const std::vector<Weight>& weights, unsigned seed = 1);
// Where the data of a safetensors file begins.
std::uint64_t data_offset(const std::string& file_bytes);
// The publisher's index over these entries.
std::string publisher_index(const std::map<std::string, std::string>& weight_map, std::uint64_t total_size);

// Pseudo-random bytes, the same for the same seed.
std::string noise(std::size_t bytes, unsigned seed);

std::shared_ptr<const hash::Sha256Engine> engine();

// Seals with ingest; fails the test when that fails.
void seal_model(const std::string& model_dir);
// Writes a seal for the files given (path -> bytes) and the table without asking ingest's rules; writes the files too.
void seal_by_hand(const std::string& model_dir, const std::map<std::string, std::string>& files, const seal::TensorTable& table);

// Waits for a condition, ten seconds at most. What was put right on disk within one tick of the clock that stamps files reads right
// only when the known-bad entry is too old to hold.
template <class Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

struct Opened {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<SealedModel> model;
};
Opened open_model(const std::string& model_dir, KnownBadPolicy policy = KnownBadPolicy::refuse);

// A view of one model, with what it borrows.
struct Mounted {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<MountView> view;

  // The node of a path, or null.
  const Node* at(const std::string& path) const;
  // Every path of the view, folders with a '/' at the end, sorted.
  std::vector<std::string> paths() const;
  // The bytes that a reader of this path gets; throws when it gets an error.
  std::string bytes(const std::string& path) const;
  bool readable(const std::string& path) const;
};
Mounted mount_model(const std::string& model_dir);
Result<std::unique_ptr<MountView>> try_mount(const std::string& model_dir, Runtime& runtime);

}  // namespace vouchfs::view::test
