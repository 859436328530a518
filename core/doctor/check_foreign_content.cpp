// Files under a weight name that hold something else: web pages, error texts, other formats, a byte order mark, a text conversion.
#include <algorithm>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

using formats::FileKind;
using formats::WeightFormat;

constexpr std::uint64_t kBomBytes = 3;
constexpr std::size_t kCrlfSample = 1 << 20;
// Random bytes hold a line feed in 256 places; that so many of them all stand behind a carriage return is no chance.
constexpr std::uint64_t kManyLineFeeds = 24;

Finding foreign(const ModelFacts& model, const FileFacts& file, const char* code, std::string message) {
  Finding finding = about(model, file.path, code);
  finding.offset = 0;
  finding.message = std::move(message);
  finding.command = fetch_command(model, file.path);
  return finding;
}

std::string quoted(const std::string& title) { return title.empty() ? std::string() : ": \"" + title + "\""; }

// Which name a format should have.
std::string true_name(FileKind kind, const std::string& path) {
  const std::string stem = path.substr(0, path.find_last_of('.'));
  if (kind == FileKind::zip || kind == FileKind::pickle) return stem + ".bin";
  if (kind == FileKind::gguf) return stem + ".gguf";
  if (kind == FileKind::safetensors) return stem + ".safetensors";
  if (kind == FileKind::hdf5) return stem + ".h5";
  if (kind == FileKind::onnx) return stem + ".onnx";
  return {};
}

void say_other_format(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const FileKind kind = file.kind.kind;
  Finding finding = foreign(model, file, "content.other_format", "the content is " + std::string(formats::in_words(kind)) + ", whatever the name says");
  finding.command.clear();
  if (const std::string name = true_name(kind, base_name(file.path)); !name.empty())
    finding.advice = "use a loader for that format and give the file its true name, " + printable(name) + "; or convert it";
  findings.add(std::move(finding));
}

void say_text(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  switch (file.kind.kind) {
    case FileKind::html:
      return findings.add(foreign(model, file, "content.web_page", "a web page was saved in place of the file" + quoted(file.kind.title)));
    case FileKind::error_text:
      return findings.add(foreign(model, file, "content.error_text", "the answer of a server was saved in place of the file" + quoted(file.kind.title)));
    case FileKind::json:
    case FileKind::text:
      if (!file.kind.title.empty())
        return findings.add(foreign(model, file, "content.error_text",
                                    "the file holds " + std::string(formats::in_words(file.kind.kind)) + " of " + bytes_text(file.bytes) +
                                        " instead of weights" + quoted(file.kind.title)));
      break;
    case FileKind::xml:
      return findings.add(
          foreign(model, file, "content.error_text", "the file holds an XML document instead of weights, as storage servers answer with an error"));
    default:
      break;
  }
  say_other_format(model, file, findings);
}

bool is_text(FileKind kind) {
  return kind == FileKind::html || kind == FileKind::xml || kind == FileKind::json || kind == FileKind::error_text || kind == FileKind::text;
}

// ReadAt of the file as it would be without its first bytes.
formats::ReadAt behind(const formats::ReadAt& read, std::uint64_t skip) {
  return [read, skip](std::uint64_t offset, std::span<std::uint8_t> dst) { return read(offset + skip, dst); };
}

// A byte order mark hides a weight file behind it; what is wrong with that one too is said with it.
bool say_bom(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const bool hides_weights =
      file.kind.kind == FileKind::safetensors || file.kind.kind == FileKind::gguf || file.kind.kind == FileKind::zip || file.kind.kind == FileKind::pickle;
  if (!file.kind.bom || !hides_weights || file.bytes <= kBomBytes) return false;
  const auto read = open_reader(file);
  if (!read) return false;
  const auto header = formats::read_weight_header(base_name(file.path), file.bytes - kBomBytes, behind(*read, kBomBytes));
  if (!header || !*header) return false;
  const bool good = !(*header)->problem;
  Finding finding =
      foreign(model, file, "content.bom",
              "a byte order mark (ef bb bf) stands before a " + std::string(good ? "good " : "") + formats::to_string((*header)->format) + " file");
  finding.length = kBomBytes;
  if (good) {
    finding.command = "tail -c +4 " + shell_word(file.real_path) + " > " + shell_word(file.real_path + ".fixed");
    finding.advice = "take the first 3 bytes away";
    // What a view mends: decision 0018.
    const bool mended_by_view = (*header)->format == WeightFormat::safetensors && file.path.ends_with(".safetensors");
    if (mended_by_view) finding.advice += ", or let a view do it: vouchfs ingest " + shell_word(model.place.model_dir) + " --fix=bom";
  } else {
    finding.message += ", which is damaged itself: " + (*header)->problem->detail;
    finding.advice = "fetch it again in binary mode";
  }
  for (const formats::Tensor& tensor : (*header)->tensors) finding.tensors.push_back(tensor.name);
  findings.add(std::move(finding));
  return true;
}

bool has_problem(const FileFacts& file) {
  return (file.safetensors && file.safetensors->problem) || (file.gguf && file.gguf->problem) || (file.torch && file.torch->problem);
}

struct LineEnds {
  std::uint64_t feeds = 0;
  std::uint64_t pairs = 0;
};

LineEnds count_line_ends(const FileFacts& file) {
  LineEnds ends;
  const auto read = open_reader(file);
  if (!read) return ends;
  std::vector<std::uint8_t> sample(static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, kCrlfSample)));
  const auto got = (*read)(0, sample);
  for (std::size_t i = 0; got && i < *got; ++i) {
    if (sample[i] != '\n') continue;
    ++ends.feeds;
    ends.pairs += i > 0 && sample[i - 1] == '\r' ? 1 : 0;
  }
  return ends;
}

// A pickle ends each name with a line feed: a carriage return before it can only have come between them.
bool names_end_in_returns(const FileFacts& file) {
  if (!file.torch) return false;
  const auto& globals = file.torch->globals;
  return std::any_of(globals.begin(), globals.end(), [](const formats::PickleGlobal& global) { return global.name.ends_with('\r'); });
}

bool say_crlf(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  if (!has_problem(file) && file.kind.kind != FileKind::binary) return false;
  const LineEnds ends = count_line_ends(file);
  if ((ends.feeds < kManyLineFeeds && !names_end_in_returns(file)) || ends.pairs != ends.feeds) return false;
  findings.add(foreign(model, file, "text.crlf",
                       "all " + std::to_string(ends.feeds) + " line feeds of the first " + bytes_text(std::min<std::uint64_t>(file.bytes, kCrlfSample)) +
                           " stand behind carriage returns: the file was copied or checked out as text"));
  return true;
}

// A torch name says little: a file of another format under it is only wrong where writers of models give the name to weights.
void check_file(const ModelFacts& model, const FileFacts& file, WeightFormat promised, Findings& findings) {
  const FileKind kind = file.kind.kind;
  if (kind == FileKind::empty || kind == FileKind::zeros || kind == FileKind::lfs_pointer || file.bytes < 8) return;
  if (say_bom(model, file, findings)) return;
  if (is_text(kind) && (file.is_weights || kind == FileKind::html || kind == FileKind::error_text)) return say_text(model, file, findings);
  if (!file.is_weights || is_text(kind) || say_crlf(model, file, findings)) return;
  const bool parsed = promised == WeightFormat::safetensors ? kind == FileKind::safetensors
                      : promised == WeightFormat::gguf      ? kind == FileKind::gguf || kind == FileKind::ggml_old
                                                            : kind == FileKind::zip || kind == FileKind::pickle;
  if (parsed) return;
  if (kind != FileKind::binary) return say_other_format(model, file, findings);
  const bool own_check = (promised == WeightFormat::safetensors && file.head.size() > 8 && file.head.find('{', 8) == 8) || file.head.starts_with("FUGG");
  const bool absurd_length =
      promised == WeightFormat::safetensors && file.safetensors && file.safetensors->problem && file.safetensors->problem->name != "HeaderTooLarge";
  const bool legacy_torch = promised == WeightFormat::torch && file.torch && !file.torch->problem;
  if (own_check || absurd_length || legacy_torch) return;
  findings.add(foreign(model, file, "content.unknown", "the first bytes (\"" + printable(file.head.substr(0, 8)) + "\") belong to no format that is known"));
}

}  // namespace

void check_foreign_content(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    const auto promised = formats::weight_format_of_name(base_name(file.path));
    if (promised && file.presence == Presence::readable && !file.pointer) check_file(model, file, *promised, findings);
  }
}

}  // namespace vouchfs::doctor
