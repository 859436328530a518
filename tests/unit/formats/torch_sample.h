// torch_sample.h: the reader's verdict on torch files in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "formats/torch_file.h"
#include "support/torch_writer.h"
#include "unit/formats/sample_file.h"

namespace vouchfs::formats::test {

namespace pickle = vouchfs::tests::pickle;
using tests::torch_legacy;
using tests::torch_parts;
using tests::torch_zip;
using tests::TorchPart;
using tests::ZipOptions;

inline TorchFile read_torch(const std::string& file) {
  auto torch = read_torch_file(file.size(), reader_of(file));
  if (!torch) {
    ADD_FAILURE() << torch.error().describe();
    return {};
  }
  EXPECT_EQ(torch->problem.has_value(), !torch->faults.empty());
  EXPECT_TRUE((torch->problem ? torch->tensors : torch->claimed).empty());
  return *std::move(torch);
}

// The name of the first rule broken; "ok" when none is.
inline std::string torch_verdict(const std::string& file) {
  const auto torch = read_torch(file);
  return torch.problem ? torch.problem->name : "ok";
}

// What a pickle that is a whole data.pkl comes to.
inline TorchFile read_pickle(std::string_view pickled) { return read_torch(torch_zip({{"data.pkl", std::string(pickled)}})); }
inline std::string pickle_verdict(std::string_view value) { return torch_verdict(torch_zip({{"data.pkl", pickle::whole(value)}})); }

// "a" F32 [2,3] in data/0, "b" I64 [2] in data/1.
inline std::string two_entries() {
  return pickle::text("a") + pickle::tensor(pickle::storage("FloatStorage", "0", 6), {2, 3}, {3, 1}) + pickle::text("b") +
         pickle::tensor(pickle::storage("LongStorage", "1", 2), {2}, {1});
}
inline std::vector<TorchPart> two_parts() {
  return torch_parts(pickle::whole(pickle::dict(two_entries())), {{"0", std::string(24, 'x')}, {"1", std::string(16, 'y')}});
}

inline const TorchRecord& record(const TorchFile& file, std::string_view name) {
  const auto found = std::find_if(file.records.begin(), file.records.end(), [&](const TorchRecord& record) { return record.name == name; });
  if (found != file.records.end()) return *found;
  ADD_FAILURE() << "no record " << name;
  static const TorchRecord none;
  return none;
}

inline std::vector<std::string> names_of(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

// `file` with other bytes at `at`.
inline std::string patched(std::string file, std::size_t at, std::string_view bytes) { return file.replace(at, bytes.size(), bytes); }

}  // namespace vouchfs::formats::test
