// add_format.h: where {"format":"pt"} goes into the JSON of a safetensors header that has none. Some readers refuse a file without it.
// Layer: core/formats (2). Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vouchfs::formats {

// Bytes [begin, end) of the JSON text give way to `text`.
struct HeaderEdit {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string text;
};
// By so many bytes the header grows, whatever it holds: blanks fill up. One block, so that what is behind it keeps its place in its block,
// and a multiple of every alignment that writers use for the data.
inline constexpr std::uint64_t kFormatEditGrowth = 4096;

// nullopt when __metadata__ has a "format" already, or when the text is no JSON object. It becomes the first entry of the object, or of a
// __metadata__ that is there; a __metadata__ of null is replaced. Requires a header that its reader accepts.
std::optional<HeaderEdit> format_edit(std::string_view json);

}  // namespace vouchfs::formats
