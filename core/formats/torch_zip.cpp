// The zip form: a folder with data.pkl, a record for each storage in data/, and small records about the writer.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "formats/shown_name.h"
#include "formats/torch_bytes.h"
#include "formats/torch_parts.h"
#include "formats/torch_tensors.h"
#include "formats/zip_front.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kPickle = "data.pkl";
constexpr std::string_view kStorages = "data/";

HeaderProblem missing(const char* name, std::string_view record, std::string why) {
  return {name, "PytorchStreamReader failed locating file " + shown_name(record) + ": file not found", std::move(why), {}, 0};
}

HeaderProblem compressed(const ZipEntry& entry, std::string_view name) {
  return {"CompressedRecord",
          "PytorchStreamReader failed reading file " + shown_name(name),
          "record '" + shown_name(name) + "' is compressed: torch.save stores its records as they are, so another program packed this archive",
          {},
          entry.header_offset};
}

class TorchZip {
 public:
  TorchZip(std::uint64_t file_bytes, const ReadAt& read, TorchFile& file) : file_bytes_(file_bytes), read_(read), file_(file) {}

  Status run() {
    VOUCHFS_ASSIGN(ZipDirectory directory, read_zip_directory(file_bytes_, read_));
    if (directory.problem) {
      file_.faults.push_back(*std::move(directory.problem));
      VOUCHFS_TRY(read_front());
    } else {
      VOUCHFS_TRY(check_local_headers(directory, file_bytes_, read_));
      entries_ = std::move(directory.entries);
      list_records();
      VOUCHFS_TRY(read_pickle());
    }
    VOUCHFS_TRY(read_byte_order());
    VOUCHFS_TRY(check_alignment());
    place();
    report_others();
    return {};
  }

 private:
  // Without its folder: all records are in the one that the first is in.
  std::string_view inner(std::string_view name) const { return name.starts_with(folder_) ? name.substr(folder_.size()) : name; }

  void set_folder(std::string_view first) {
    const std::size_t slash = first.find('/');
    folder_ = slash == std::string_view::npos ? std::string_view() : first.substr(0, slash + 1);
  }

  void list_records() {
    if (!entries_.empty()) set_folder(entries_.front().name);
    bool script = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const ZipEntry& entry = entries_[i];
      const std::string name(inner(entry.name));
      by_name_.try_emplace(name, i);
      script = script || name.starts_with("code/");
      file_.checksums = file_.checksums || entry.crc32 != 0;
      file_.records.push_back(
          {is_utf8(name) ? name : printable(name), entry.header_offset, entry.begin, entry.packed_bytes, entry.crc32, !entry.problem, entry.method == 0});
    }
    file_.torchscript = script && by_name_.contains("constants.pkl");
  }

  const ZipEntry* find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : &entries_[found->second];
  }

  Status read_pickle() {
    const ZipEntry* entry = find(kPickle);
    if (entry == nullptr) {
      file_.faults.push_back(
          missing("MissingPickle", kPickle, "the archive has no record data.pkl: it holds other files, or torch.save did not write it to its end"));
    } else if (entry->problem) {
      report(*entry);
    } else if (!is_plain(*entry)) {
      file_.faults.push_back(compressed(*entry, kPickle));
    } else {
      VOUCHFS_TRY(follow(entry->begin, entry->begin + entry->bytes));
    }
    return {};
  }

  static bool is_plain(const ZipEntry& entry) { return entry.method == 0; }

  // Runs the machine over data.pkl; pickle_end_ is where it stopped.
  Status follow(std::uint64_t begin, std::uint64_t end) {
    bytes_.emplace(read_, begin, end);
    PickleMachine machine(*bytes_, heap_);
    const bool good = machine.run(0);
    VOUCHFS_TRY(bytes_->status());
    file_.globals = heap_.globals;
    file_.restricted_opcode = machine.restricted_opcode();
    pickle_end_ = machine.end();
    if (good)
      root_ = machine.result();
    else
      file_.faults.push_back(pickle_problem(machine, *bytes_, "data.pkl"));
    for (const PickleStorage& storage : heap_.storages)
      storage_bytes_.emplace(bytes_->at(static_cast<std::uint64_t>(storage.key.number), storage.key.index), storage.bytes);
    return {};
  }

  // The records of a cut file: the pickle tells its own end, and the sizes of the storages.
  Status read_front() {
    const auto known_size = [&](const ZipEntry& entry) -> Result<std::optional<std::uint64_t>> {
      if (entry.header_offset == 0) set_folder(first_name_ = entry.name);
      const std::string_view name = inner(entry.name);
      std::optional<std::uint64_t> size;
      if (name == kPickle && !bytes_) {
        VOUCHFS_TRY(follow(entry.begin, file_bytes_));
        if (root_) size = pickle_end_;
      } else if (name.starts_with(kStorages)) {
        const auto found = storage_bytes_.find(name.substr(kStorages.size()));
        if (found != storage_bytes_.end()) size = found->second;
      }
      return size;
    };
    VOUCHFS_ASSIGN(entries_, read_zip_front(file_bytes_, read_, known_size));
    list_records();
    if (!bytes_) return read_pickle();
    return {};
  }

  // The start of a short record of text; nullopt when it is absent or cannot be read as it stands.
  Result<std::optional<std::string>> short_text(std::string_view name) {
    constexpr std::uint64_t kLongest = 16;
    const ZipEntry* entry = find(name);
    if (entry == nullptr || entry->problem || !is_plain(*entry)) return std::optional<std::string>();
    std::string text;
    VOUCHFS_TRY(append_exactly(read_, entry->begin, std::min(entry->bytes, kLongest), text));
    return std::optional<std::string>(std::move(text));
  }

  void report_text(std::string_view name, std::string torch_says, const std::string& text, const std::string& expected) {
    const std::string why = "record '" + std::string(name) + "' holds '" + shown_name(text) + "' where torch.save writes " + expected;
    file_.faults.push_back({"BadPickle", std::move(torch_says), why, {}, find(name)->begin});
  }

  Status read_byte_order() {
    VOUCHFS_ASSIGN(const std::optional<std::string> order, short_text("byteorder"));
    file_.big_endian = order == "big";
    if (order && order != "big" && order != "little") report_text("byteorder", "Unknown endianness type: " + shown_name(*order), *order, "'little' or 'big'");
    return {};
  }

  // torch reads it as a number before anything else of the file, though it only wants it to guess offsets.
  Status check_alignment() {
    constexpr std::string_view kName = ".storage_alignment";
    VOUCHFS_ASSIGN(const std::optional<std::string> alignment, short_text(kName));
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (alignment && (alignment->empty() || !std::all_of(alignment->begin(), alignment->end(), is_digit)))
      report_text(kName, "invalid literal for int() with base 10: b'" + shown_name(*alignment) + "'", *alignment, "a number");
    return {};
  }

  void place() {
    if (!bytes_) return;
    NamedTensors named;
    if (root_) named = name_tensors(heap_, *bytes_, *root_);
    if (!named.too_large.empty()) file_.faults.push_back({"BadPickle", "Weights only load failed", "data.pkl: " + named.too_large, {}, bytes_->file_offset(0)});
    place_tensors(file_, heap_, *bytes_, named.list, [&](std::string_view key) { return place_of(key); });
  }

  StoragePlace place_of(std::string_view key) {
    const std::string name = std::string(kStorages) + std::string(key);
    const ZipEntry* entry = find(name);
    if (entry == nullptr) return {false, 0, 0, missing("MissingRecord", name, "record '" + shown_name(name) + "' is missing")};
    reported_.insert(entry);
    if (entry->begin == 0) return {false, 0, 0, entry->problem};
    if (!is_plain(*entry)) return {false, 0, 0, compressed(*entry, name)};
    return {true, entry->begin, entry->bytes, entry->problem};
  }

  // Problems of records that no storage needs.
  void report_others() {
    for (const ZipEntry& entry : entries_)
      if (entry.problem && !reported_.contains(&entry)) report(entry);
  }

  void report(const ZipEntry& entry) {
    file_.faults.push_back(*entry.problem);
    reported_.insert(&entry);
  }

  std::uint64_t file_bytes_;
  const ReadAt& read_;
  TorchFile& file_;
  std::vector<ZipEntry> entries_;
  std::string first_name_;
  std::string_view folder_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::optional<PickleBytes> bytes_;
  PickleHeap heap_;
  std::optional<PickleValue> root_;
  std::uint64_t pickle_end_ = 0;
  std::unordered_map<std::string_view, std::uint64_t> storage_bytes_;
  std::unordered_set<const ZipEntry*> reported_;
};

}  // namespace

Status read_torch_zip(std::uint64_t file_bytes, const ReadAt& read, TorchFile& file) { return TorchZip(file_bytes, read, file).run(); }

}  // namespace vouchfs::formats
