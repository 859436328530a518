// What the bytes of one file say: the first of them, the holes, and the header of a weight file or an index.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/file.h"
#include "doctor/check_parts.h"
#include "doctor/gather_parts.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

using formats::FileKind;
using formats::WeightFormat;

// A file in more pieces than this is sparse beyond what anybody asks of its holes.
constexpr std::size_t kMaxHoleSteps = 200'000;

Result<UniqueFd> open_file(const FileFacts& file) { return open_at(AT_FDCWD, file.real_path, O_RDONLY | O_NONBLOCK | O_NOCTTY, file.real_path); }

formats::ReadAt reader_of(std::shared_ptr<UniqueFd> fd, const std::string& shown) {
  return [fd = std::move(fd), shown](std::uint64_t offset, std::span<std::uint8_t> dst) { return read_full(fd->get(), offset, dst, shown); };
}

void keep_longest(std::vector<ByteRange>& holes) {
  if (holes.size() <= kKeptHoles) return;
  std::nth_element(holes.begin(), holes.begin() + static_cast<std::ptrdiff_t>(kKeptHoles), holes.end(),
                   [](const ByteRange& a, const ByteRange& b) { return a.length > b.length; });
  holes.resize(kKeptHoles);
  std::sort(holes.begin(), holes.end(), [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
}

// A filesystem that does not know holes says the file has none.
void find_holes(int fd, FileFacts& file) {
  struct stat info {};
  const bool full = ::fstat(fd, &info) == 0 && info.st_blocks >= 0 && static_cast<std::uint64_t>(info.st_blocks) * 512 >= file.bytes;
  if (full) return;
  off_t at = 0;
  const auto end = static_cast<off_t>(file.bytes);
  for (std::size_t step = 0; step < kMaxHoleSteps && at < end; ++step) {
    const off_t hole = ::lseek(fd, at, SEEK_HOLE);
    if (hole < 0 || hole >= end) break;
    const off_t data = ::lseek(fd, hole, SEEK_DATA);
    const off_t stop = data < 0 ? end : std::min(data, end);
    file.holes.push_back({static_cast<std::uint64_t>(hole), static_cast<std::uint64_t>(stop - hole)});
    file.hole_bytes += file.holes.back().length;
    at = stop;
  }
  keep_longest(file.holes);
}

bool may_be(FileKind kind, WeightFormat format) {
  if (kind == FileKind::zeros || kind == FileKind::binary || kind == FileKind::empty) return true;
  switch (format) {
    case WeightFormat::safetensors:
      return kind == FileKind::safetensors;
    case WeightFormat::gguf:
      return kind == FileKind::gguf || kind == FileKind::ggml_old;
    case WeightFormat::torch:
      return kind == FileKind::zip || kind == FileKind::pickle;
  }
  return false;
}

// A torch name promises little (model.bin may be of CTranslate2); these are the ones that only torch's writers give to weights.
bool is_torch_weights_name(const std::string& name) {
  for (const char* start : {"pytorch_model", "adapter_model", "diffusion_pytorch_model", "consolidated"})
    if (name.starts_with(start)) return true;
  return false;
}

// Shorter than the mark of any format, under a name of torch. Other programs' small files end in .bin as well: of these only what begins as an archive.
bool is_too_short_for_torch(const FileFacts& file) {
  const std::string name = base_name(file.path);
  if (file.bytes >= 8 || formats::weight_format_of_name(name) != formats::WeightFormat::torch) return false;
  return name == "model.bin" || !name.ends_with(".bin") || formats::looks_like_torch_zip(file.head);
}

// Content that no writer gives to a name of torch's: server errors, archives of archives, nothing but zeros. A .pth of text may be of Python's site
// packages, a .ckpt of unknown bytes of TensorFlow, a tar of the first torch; of the many programs' .bin only model.bin says enough.
bool holds_no_torch(const FileFacts& file) {
  const std::string name = base_name(file.path);
  const bool checkpoint = name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".ckpt");
  if (!checkpoint && name != "model.bin") return false;
  switch (file.kind.kind) {
    case FileKind::zeros:  // of the data beside an OpenVINO or ONNX graph the first constant may be zeros
      return checkpoint || file.bytes <= formats::kKindBytes || file.hole_bytes == file.bytes;
    case FileKind::gzip:
    case FileKind::xz:
    case FileKind::zstd:
    case FileKind::json:
    case FileKind::xml:
    case FileKind::html:
    case FileKind::error_text:
      return true;
    case FileKind::text:
      return name.ends_with(".pt") || name.ends_with(".ckpt");
    case FileKind::binary:
      return !file.torch && (name.ends_with(".pt") || name.ends_with(".pth"));
    default:
      return false;
  }
}

Status read_torch(FileFacts& file, const formats::ReadAt& read) {
  const bool marked = formats::looks_like_torch_zip(file.head) || formats::looks_like_torch_legacy(file.head);
  const bool pickle = file.kind.kind == FileKind::pickle;  // also when torch did not write it: torch.load would run what it calls before it refuses the rest
  const bool promised = is_torch_weights_name(base_name(file.path));
  if (!marked && !pickle && !promised) return {};
  if (file.bytes < 8 || file.kind.kind == FileKind::zeros) return {};
  VOUCHFS_ASSIGN(formats::TorchFile torch, formats::read_torch_file(file.bytes, read));
  if (marked || !torch.problem || !torch.globals.empty() || (pickle && promised)) file.torch = std::move(torch);
  return {};
}

Status read_header(FileFacts& file, WeightFormat format, const formats::ReadAt& read) {
  if (format == WeightFormat::torch) return read_torch(file, read);
  if (format == WeightFormat::gguf) {
    VOUCHFS_ASSIGN(file.gguf, formats::read_gguf_header(file.bytes, read));
  } else {
    VOUCHFS_ASSIGN(file.safetensors, formats::read_safetensors_header(file.bytes, read));
  }
  return {};
}

// The format that the content has, when that is beyond doubt.
std::optional<WeightFormat> format_of_kind(FileKind kind) {
  if (kind == FileKind::safetensors) return WeightFormat::safetensors;
  if (kind == FileKind::gguf) return WeightFormat::gguf;
  if (kind == FileKind::zip || kind == FileKind::pickle) return WeightFormat::torch;
  return std::nullopt;
}

// Stores name files by their digest alone: then the content tells what they are.
bool is_blob_name(const std::string& name) { return name.find('.') == std::string::npos; }

Status read_weights(FileFacts& file, const formats::ReadAt& read) {
  const auto by_name = formats::weight_format_of_name(base_name(file.path));
  const auto by_kind = format_of_kind(file.kind.kind);
  const bool promised = by_name && (*by_name != WeightFormat::torch || is_torch_weights_name(base_name(file.path)));
  if (by_name && may_be(file.kind.kind, *by_name)) {
    VOUCHFS_TRY(read_header(file, *by_name, read));
  } else if (by_kind && (by_name ? *by_kind != WeightFormat::torch : is_blob_name(base_name(file.path)))) {
    VOUCHFS_TRY(read_header(file, *by_kind, read));
  }
  const bool torch_weights = file.torch && (file.torch->problem ? file.torch->problem->name != "NotTorch" : !file.torch->tensors.empty());
  file.is_weights = promised || is_too_short_for_torch(file) || holds_no_torch(file) || file.safetensors || file.gguf || torch_weights;
  return {};
}

Status read_index(FileFacts& file, const formats::ReadAt& read) {
  if (!formats::is_index_name(base_name(file.path))) return {};
  if (file.bytes > formats::kMaxIndexBytes) {
    file.index.emplace().problems.push_back("not a valid index: the file is " + format_bytes(file.bytes) + " long; no index is that large");
    return {};
  }
  std::string text(static_cast<std::size_t>(file.bytes), '\0');
  VOUCHFS_ASSIGN(const std::size_t got, read(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  text.resize(got);
  file.index = formats::parse_index(text);
  return {};
}

// Of the many other files of a folder nobody asks for the head again.
void drop_idle_head(FileFacts& file) {
  const bool wanted = file.is_weights || formats::weight_format_of_name(base_name(file.path)) || file.path.find(".gguf") != std::string::npos;
  if (!wanted) std::string().swap(file.head);
}

Status read_all(FileFacts& file) {
  VOUCHFS_ASSIGN(UniqueFd fd, open_file(file));
  const auto held = std::make_shared<UniqueFd>(std::move(fd));
  const formats::ReadAt read = reader_of(held, file.real_path);
  file.head.resize(static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, formats::kKindBytes)));
  VOUCHFS_ASSIGN(const std::size_t got, read(0, {reinterpret_cast<std::uint8_t*>(file.head.data()), file.head.size()}));
  file.head.resize(got);
  file.kind = formats::kind_of_head(file.head, file.bytes);
  if (file.bytes < formats::kMaxLfsPointerBytes) file.pointer = formats::parse_lfs_pointer(file.head);
  find_holes(held->get(), file);
  VOUCHFS_TRY(read_weights(file, read));
  drop_idle_head(file);
  return read_index(file, read);
}

}  // namespace

void read_content(FileFacts& file) {
  if (file.presence != Presence::readable) return;
  const Status status = read_all(file);
  if (status) return;
  const int problem = status.error().sys_errno;
  file.trouble = problem != 0 ? std::generic_category().message(problem) : status.error().message;
  file.presence = problem == EACCES || problem == EPERM ? Presence::unreadable : Presence::io_error;
}

Result<formats::ReadAt> open_reader(const FileFacts& file) {
  VOUCHFS_ASSIGN(UniqueFd fd, open_file(file));
  return reader_of(std::make_shared<UniqueFd>(std::move(fd)), file.real_path);
}

}  // namespace vouchfs::doctor
