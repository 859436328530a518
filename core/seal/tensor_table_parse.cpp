// Reading a tensor table: everything the writer writes, and nothing that a reader could trip over.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/utf8.h"
#include "formats/json_fields.h"
#include "seal/manifest.h"
#include "seal/tensor_table.h"

namespace vouchfs::seal {
namespace {

using formats::JsonLeaf;
using formats::JsonList;
using formats::JsonMap;
using formats::JsonObject;
using formats::take_number;
using formats::take_text;

constexpr std::size_t kMaxTextBytes = kMaxTableBytes;  // a name may be as long as the header it comes from

Status refuse(std::string message) { return fail(ErrorCode::bad_format, std::move(message)); }
std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

JsonLeaf::Take text_into(std::string what, std::string& into) {
  return take_text(std::move(what), kMaxTextBytes, [&into](std::string&& text) {
    into = std::move(text);
    return Status{};
  });
}
JsonLeaf::Take number_into(std::string what, std::uint64_t max, std::uint64_t& into) {
  return take_number(std::move(what), max, [&into](std::uint64_t value) {
    into = value;
    return Status{};
  });
}

// A list of strings, sorted and each once when `sorted`; of paths when `paths`.
class TextList {
 public:
  enum class Kind { free, sorted, sorted_paths };
  TextList(const std::string& what, Kind kind)
      : item_(what, take_text(what, kMaxTextBytes,
                              [this, what, kind](std::string&& text) -> Status {
                                if (kind == Kind::sorted_paths) VOUCHFS_TRY(check_path(text));
                                if (kind != Kind::free && !texts.empty() && text <= texts.back())
                                  return refuse("'" + what + "' is not sorted at " + quoted(text));
                                texts.push_back(std::move(text));
                                return {};
                              })),
        list(what, UINT64_MAX, item_, [this] {
          texts.clear();
          return Status{};
        }) {}

 private:
  JsonLeaf item_;

 public:
  std::vector<std::string> texts;
  JsonList list;
};

// tensor -> file, keys sorted and each once.
class TextMap {
 public:
  explicit TextMap(const std::string& what)
      : value_(what, take_text(what, kMaxPathBytes,
                               [this](std::string&& file) -> Status {
                                 VOUCHFS_TRY(check_path(file));
                                 texts.rbegin()->second = std::move(file);
                                 return {};
                               })),
        map(
            what,
            [this, what](std::string& key) -> Status {
              if (!texts.empty() && key <= texts.rbegin()->first) return refuse("'" + what + "' is not sorted at " + quoted(key));
              texts.emplace_hint(texts.end(), std::move(key), std::string());
              return {};
            },
            value_) {}

 private:
  JsonLeaf value_;

 public:
  std::map<std::string, std::string> texts;
  JsonMap map;
};

class TensorReader {
 public:
  using Keep = std::function<Status(formats::Tensor&&)>;
  explicit TensorReader(Keep keep) : keep_(std::move(keep)) {
    object.field("begin", begin_).field("end", end_).field("dtype", dtype_).field("name", name_).field("shape", shape_);
  }

 private:
  Status finish() {
    if (tensor_.begin > tensor_.end) return refuse("tensor " + quoted(tensor_.name) + " ends before it begins");
    return keep_(std::exchange(tensor_, {}));
  }
  Keep keep_;
  formats::Tensor tensor_;
  JsonLeaf begin_{"begin", number_into("begin", kMaxFileBytes, tensor_.begin)};
  JsonLeaf end_{"end", number_into("end", kMaxFileBytes, tensor_.end)};
  JsonLeaf dtype_{"dtype", text_into("dtype", tensor_.dtype)};
  JsonLeaf name_{"name", text_into("name", tensor_.name)};
  JsonLeaf size_{"shape", take_number("shape", UINT64_MAX, [this](std::uint64_t size) {
                   tensor_.shape.push_back(size);
                   return Status{};
                 })};
  JsonList shape_{"shape", UINT64_MAX, size_};

 public:
  JsonObject object{"tensors", {}, [this] { return finish(); }};
};

class ProblemReader {
 public:
  explicit ProblemReader(std::optional<formats::HeaderProblem>& into) : into_(into) {
    object.field("name", name_).field("text", text_).field("detail", detail_).field("tensor", tensor_).field("offset", offset_);
  }

 private:
  std::optional<formats::HeaderProblem>& into_;
  formats::HeaderProblem problem_;
  JsonLeaf name_{"name", text_into("problem.name", problem_.name)};
  JsonLeaf text_{"text", text_into("problem.text", problem_.text)};
  JsonLeaf detail_{"detail", text_into("problem.detail", problem_.detail)};
  JsonLeaf tensor_{"tensor", text_into("problem.tensor", problem_.tensor)};
  JsonLeaf offset_{"offset", number_into("problem.offset", kMaxFileBytes, problem_.offset)};

 public:
  JsonObject object{"problem", {}, [this] {
                      into_ = problem_;
                      return Status{};
                    }};
};

class FileReader {
 public:
  explicit FileReader(std::vector<TableFile>& files) : files_(files) {
    object.field("path", path_).field("format", format_).field("tensors", tensors_).optional_field("problem", problem_.object);
  }

 private:
  Status keep_tensor(formats::Tensor&& tensor) {
    const auto key = [](const formats::Tensor& t) { return std::tie(t.begin, t.end, t.name); };
    auto& tensors = file_.tensors;
    if (!tensors.empty() && !(key(tensors.back()) < key(tensor))) return refuse("tensor " + quoted(tensor.name) + " is not in order of begin");
    if (!tensors.empty() && tensor.begin < tensors.back().end && overlap_.empty())
      overlap_ = "tensor " + quoted(tensor.name) + " overlaps " + quoted(tensors.back().name);
    tensors.push_back(std::move(tensor));
    return {};
  }
  Status finish() {
    if (!files_.empty() && file_.path <= files_.back().path) return refuse("path " + quoted(file_.path) + " is not sorted, or comes twice");
    if (file_.problem && !file_.tensors.empty()) return refuse("path " + quoted(file_.path) + " has tensors and a broken header");
    // Not before: the format may stand behind the tensors.
    if (const std::string overlap = std::exchange(overlap_, {}); !overlap.empty() && !may_overlap(file_.format)) return refuse(overlap);
    index_overlaps(file_);
    files_.push_back(std::exchange(file_, {}));
    return {};
  }
  std::vector<TableFile>& files_;
  TableFile file_;
  std::string overlap_;  // the first of the file, in words
  JsonLeaf path_{"path", take_text("path", kMaxPathBytes, [this](std::string&& text) {
                   file_.path = std::move(text);
                   return check_path(file_.path);
                 })};
  JsonLeaf format_{"format", text_into("format", file_.format)};
  TensorReader tensor_{[this](formats::Tensor&& tensor) { return keep_tensor(std::move(tensor)); }};
  JsonList tensors_{"tensors", UINT64_MAX, tensor_.object};
  ProblemReader problem_{file_.problem};

 public:
  JsonObject object{"files", {}, [this] { return finish(); }};
};

Result<formats::IndexFamily> parse_family(std::string_view text) {
  if (const auto family = formats::index_family_from(text)) return *family;
  return fail(ErrorCode::bad_format, "the family " + quoted(text) + " is unknown");
}

Result<formats::IndexVerdict> parse_verdict(std::string_view text) {
  using formats::IndexVerdict;
  for (const IndexVerdict verdict : {IndexVerdict::right, IndexVerdict::wrong, IndexVerdict::absent})
    if (text == formats::to_string(verdict)) return verdict;
  return fail(ErrorCode::bad_format, "the verdict " + quoted(text) + " is unknown");
}

// Takes any object: the publisher's metadata goes into a synthesized index as it is.
class AnyObject final : public formats::JsonSink {
 public:
  Status begin(formats::JsonContainer container) override {
    return container == formats::JsonContainer::object ? Status{} : refuse("'metadata' must hold an object");
  }
};

class IndexReader {
 public:
  explicit IndexReader(std::vector<formats::IndexRecord>& indexes) : indexes_(indexes) {
    correction_.field("tensor", correction_tensor_).field("was", was_).field("now", now_);
    object.field("folder", folder_).field("name", name_).field("verdict", verdict_).field("metadata", metadata_).field("problems", problems_.list);
    object.field("members", members_.list).field("missing_files", missing_.list).field("duplicates", duplicates_.list).field("corrections", corrections_);
    object.field("absent_weights", absent_.map).field("choices", choices_.map).optional_field("published_total_size", total_);
    object.optional_field("unknown_files", unknown_.list).optional_field("family", family_);
  }

 private:
  Status keep_correction() {
    if (!index_.corrections.empty() && fix_.tensor < index_.corrections.back().tensor)
      return refuse("the corrections are not sorted at " + quoted(fix_.tensor));
    index_.corrections.push_back(std::exchange(fix_, {}));
    return {};
  }
  Status finish() {
    const auto key = [](const formats::IndexRecord& index) { return std::tie(index.folder, index.file_name); };
    if (!indexes_.empty() && !(key(indexes_.back()) < key(index_))) return refuse("the index " + quoted(index_.file_name) + " is not sorted, or comes twice");
    index_.problems = std::exchange(problems_.texts, {});
    index_.members = std::exchange(members_.texts, {});
    index_.missing_files = std::exchange(missing_.texts, {});
    index_.unknown_files = std::exchange(unknown_.texts, {});
    index_.duplicates = std::exchange(duplicates_.texts, {});
    index_.absent_weights = std::exchange(absent_.texts, {});
    index_.choices = std::exchange(choices_.texts, {});
    indexes_.push_back(std::exchange(index_, {}));
    return {};
  }

  std::vector<formats::IndexRecord>& indexes_;
  formats::IndexRecord index_;
  formats::IndexCorrection fix_;
  JsonLeaf folder_{"folder", take_text("folder", kMaxPathBytes, [this](std::string&& text) {
                     index_.folder = std::move(text);
                     return index_.folder.empty() ? Status{} : check_path(index_.folder);
                   })};
  JsonLeaf name_{"name", take_text("name", kMaxNameBytes, [this](std::string&& text) -> Status {
                   index_.file_name = std::move(text);
                   if (index_.file_name.find('/') != std::string::npos) return refuse("the index name " + quoted(index_.file_name) + " holds a '/'");
                   return check_path(index_.file_name);
                 })};
  JsonLeaf verdict_{"verdict", take_text("verdict", kMaxNameBytes, [this](std::string&& text) -> Status {
                      VOUCHFS_ASSIGN(index_.verdict, parse_verdict(text));
                      return {};
                    })};
  JsonLeaf metadata_{"metadata", take_text("metadata", kMaxTextBytes, [this](std::string&& text) -> Status {
                       index_.metadata = std::move(text);
                       AnyObject any;
                       return formats::read_json(index_.metadata, any);
                     })};
  JsonLeaf family_{"family", take_text("family", kMaxNameBytes, [this](std::string&& text) -> Status {
                     VOUCHFS_ASSIGN(index_.family, parse_family(text));
                     return {};
                   })};
  JsonLeaf total_{"published_total_size", take_number("published_total_size", UINT64_MAX, [this](std::uint64_t value) {
                    index_.published_total_size = value;
                    return Status{};
                  })};
  JsonLeaf correction_tensor_{"tensor", text_into("tensor", fix_.tensor)};
  JsonLeaf was_{"was", text_into("was", fix_.was)};
  JsonLeaf now_{"now", text_into("now", fix_.now)};
  JsonObject correction_{"corrections", {}, [this] { return keep_correction(); }};
  JsonList corrections_{"corrections", UINT64_MAX, correction_};
  TextList problems_{"problems", TextList::Kind::free};
  TextList members_{"members", TextList::Kind::sorted_paths};
  TextList missing_{"missing_files", TextList::Kind::sorted_paths};
  TextList unknown_{"unknown_files", TextList::Kind::sorted_paths};
  TextList duplicates_{"duplicates", TextList::Kind::sorted};
  TextMap absent_{"absent_weights"};
  TextMap choices_{"choices"};

 public:
  JsonObject object{"indexes", {}, [this] { return finish(); }};
};

class TableReader {
 public:
  explicit TableReader(TensorTable& table) : table_(table), file_(table.files), index_(table.indexes), fix_(table.fixes) {
    root_.field("format", format_).field("version", version_).field("files", files_).field("indexes", indexes_).optional_field("fixes", fix_.list);
  }
  Status read(std::string_view text) {
    VOUCHFS_TRY(formats::read_json(text, root_));
    const std::uint64_t due = table_.fixes.empty() ? kTableVersion : kTableVersionWithFixes;
    if (number_ == due) return {};
    return refuse("version is " + std::to_string(number_) + "; that of a table " + (table_.fixes.empty() ? "without" : "with") + " fixes is " + std::to_string(due));
  }

 private:
  TensorTable& table_;
  std::uint64_t number_ = 0;
  FileReader file_;
  IndexReader index_;
  FixListReader fix_;
  JsonLeaf format_{"format", take_text("format", kMaxNameBytes, [](std::string&& text) -> Status {
                     return text == kTableFormat ? Status{} : refuse("format is " + quoted(text) + "; this version reads '" + std::string(kTableFormat) + "'");
                   })};
  JsonLeaf version_{"version", take_number("version", UINT64_MAX, [this](std::uint64_t value) -> Status {
                      number_ = value;
                      if (value == kTableVersion || value == kTableVersionWithFixes) return {};
                      return refuse("version is " + std::to_string(value) + "; this version reads " + std::to_string(kTableVersion) + " and " +
                                    std::to_string(kTableVersionWithFixes));
                    })};
  JsonList files_{"files", kMaxFiles, file_.object};
  JsonList indexes_{"indexes", kMaxFiles, index_.object};
  JsonObject root_{"tensor table"};
};

}  // namespace

Result<TensorTable> parse_tensor_table(std::string_view text) {
  if (text.size() > kMaxTableBytes)
    return fail(ErrorCode::bad_format,
                "the tensor table has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kMaxTableBytes) + " are read");
  TensorTable table;
  if (Status status = TableReader(table).read(text); !status) return fail(std::move(status).error().with("the tensor table is not valid"));
  return table;
}

const FileFix* find_fix(const TensorTable& table, std::string_view path) {
  const auto at = std::lower_bound(table.fixes.begin(), table.fixes.end(), path, [](const FileFix& fix, std::string_view wanted) { return fix.path < wanted; });
  return at != table.fixes.end() && at->path == path ? &*at : nullptr;
}

}  // namespace vouchfs::seal
