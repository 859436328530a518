// check_gguf_names.h: names of the pieces that people cut GGUF files into with split(1) to upload them. Internal to core/doctor.
// Layer: core/doctor (5). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vouchfs::doctor {

// A piece of a file that was cut without regard to its content: joined with cat in order the pieces are the file again.
struct RawPart {
  std::string whole;         // "model.gguf"
  std::uint64_t number = 0;  // from 1
  std::uint64_t count = 0;   // 0: the name does not tell
  std::string before;        // of the name, before the number: "model.gguf.part"
  std::string after;         // behind it: "of3"
  std::string written;       // the number as written: "2", "02", "b"
};
// "model.gguf.part2of3", "model.gguf-part-b", "model.gguf-split-a", "model.gguf.part1". nullopt for other names, those of true splits among them.
std::optional<RawPart> raw_part(const std::string& file_name);
// The name of another piece of the same file.
std::string raw_part_name(const RawPart& part, std::uint64_t number);

}  // namespace vouchfs::doctor
