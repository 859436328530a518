// The legacy form: pickles of magic number, protocol, system, object and storage keys, then the storages one after the other.
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/shown_name.h"
#include "formats/torch_bytes.h"
#include "formats/torch_parts.h"
#include "formats/torch_tensors.h"

namespace vouchfs::formats {
namespace {

constexpr std::uint64_t kCountBytes = 8;  // before the data of each storage: its elements, i64
constexpr std::int64_t kProtocol = 1001;

// The pickles in their order, as messages name them.
constexpr std::array<const char*, 5> kPickles = {"the pickle of the magic number", "the pickle of the protocol number", "the pickle about the system",
                                                 "the pickle of the object", "the pickle of the storage keys"};

class TorchLegacy {
 public:
  TorchLegacy(std::uint64_t file_bytes, const ReadAt& read, TorchFile& file) : file_bytes_(file_bytes), read_(read), file_(file), bytes_(read, 0, file_bytes) {}

  Status run() {
    heap_.storage_parts = 6;  // the last is the view
    std::array<PickleValue, kPickles.size()> results;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < kPickles.size(); ++i) {
      PickleMachine machine(bytes_, heap_);
      const bool good = machine.run(at);
      VOUCHFS_TRY(bytes_.status());
      if (!file_.restricted_opcode) file_.restricted_opcode = machine.restricted_opcode();
      if (!good) {
        report_pickle(machine, kPickles[i]);
        file_.globals = heap_.globals;
        return {};
      }
      results[i] = machine.result();
      at = machine.end();
    }
    file_.globals = heap_.globals;
    check_protocol(results[1]);
    file_.big_endian = says_big_endian(results[2]);
    VOUCHFS_TRY(place_storages(results[4], at));
    const NamedTensors named = name_tensors(heap_, bytes_, results[3]);
    if (!named.too_large.empty()) file_.faults.push_back({"BadPickle", "Weights only load failed", named.too_large, {}, 0});
    place_tensors(file_, heap_, bytes_, named.list, [&](std::string_view key) { return place_of(key); });
    return {};
  }

 private:
  void report_pickle(const PickleMachine& machine, const char* what) {
    HeaderProblem problem = pickle_problem(machine, bytes_, what);
    if (machine.cut()) {
      problem.name = "UnexpectedEnd";
      problem.offset = file_bytes_;
    }
    file_.faults.push_back(std::move(problem));
  }

  void check_protocol(const PickleValue& value) {
    if (value.is(PickleKind::integer) && value.number == kProtocol) return;
    const std::string said = value.is(PickleKind::integer) ? std::to_string(value.number) : "no number";
    file_.faults.push_back({"BadPickle", "Invalid protocol version: " + said, "the legacy form has protocol number 1001, this file has " + said, {}, 0});
  }

  std::string_view text(const PickleValue& value) const {
    if (!value.is(PickleKind::text) && !value.is(PickleKind::bytes)) return {};
    return bytes_.at(static_cast<std::uint64_t>(value.number), value.index);
  }

  bool says_big_endian(const PickleValue& system) const {
    if (!system.is(PickleKind::object) || heap_.objects[system.index].shape != PickleShape::dict) return false;
    const auto& items = heap_.objects[system.index].items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
      if (text(items[i]) == "little_endian") return items[i + 1].is(PickleKind::boolean) && items[i + 1].number == 0;
    return false;
  }

  const PickleStorage* storage_of(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &heap_.storages[found->second];
  }

  // Storages follow the keys in their order; each tells its elements, which the pickle tells as well.
  Status place_storages(const PickleValue& keys, std::uint64_t at) {
    for (std::size_t i = 0; i < heap_.storages.size(); ++i) by_key_.try_emplace(text(heap_.storages[i].key), i);
    if (!keys.is(PickleKind::object)) {
      file_.faults.push_back({"BadPickle", "Weights only load failed", "the list of storage keys is no list", {}, 0});
      return {};
    }
    const std::vector<PickleValue> list = heap_.objects[keys.index].items;
    for (const PickleValue& key : list) {
      const PickleStorage* storage = storage_of(text(key));
      if (storage == nullptr) {
        file_.faults.push_back({"BadPickle",
                                "storage key " + shown_name(text(key)) + " not found in deserialized_objects",
                                "storage '" + shown_name(text(key)) + "' belongs to no tensor, so its size is not known",
                                {},
                                at});
        return {};
      }
      VOUCHFS_TRY(place_storage(text(key), *storage, at));
    }
    return {};
  }

  Status place_storage(std::string_view key, const PickleStorage& storage, std::uint64_t& at) {
    StoragePlace place;
    std::string count;
    const std::uint64_t left = file_bytes_ - std::min(at, file_bytes_);
    if (left >= kCountBytes) VOUCHFS_TRY(append_exactly(read_, at, kCountBytes, count));
    place.known = !__builtin_add_overflow(at, kCountBytes, &place.begin);
    place.bytes = storage.bytes;
    std::uint64_t end = 0;
    place.known = place.known && !__builtin_add_overflow(place.begin, storage.bytes, &end);
    if (!count.empty() && load_little(count) != storage.bytes / storage.element) {
      place.problem = HeaderProblem{"BadTensor",
                                    "storage has wrong byte size",
                                    "storage '" + shown_name(key) + "' has " + std::to_string(load_little(count)) + " elements by its own count and " +
                                        std::to_string(storage.bytes / storage.element) + " by the pickle",
                                    {},
                                    at};
    } else if (place.known && end > file_bytes_) {
      const std::string short_by = std::to_string(end - std::max(file_bytes_, place.begin));
      place.problem =
          HeaderProblem{"UnexpectedEnd",
                        "unexpected EOF, expected " + short_by + " more bytes. The file might be corrupted.",
                        "the file ends at byte " + std::to_string(file_bytes_) + ", storage '" + shown_name(key) + "' at byte " + std::to_string(end),
                        {},
                        file_bytes_};
    }
    at = place.known ? end : UINT64_MAX;
    places_.try_emplace(key, std::move(place));
    return {};
  }

  StoragePlace place_of(std::string_view key) const {
    const auto found = places_.find(key);
    if (found != places_.end()) return found->second;
    return {false, 0, 0,
            HeaderProblem{"MissingRecord", "storage key not found", "storage '" + shown_name(key) + "' is not in the list of the storages that follow", {}, 0}};
  }

  std::uint64_t file_bytes_;
  const ReadAt& read_;
  TorchFile& file_;
  PickleBytes bytes_;
  PickleHeap heap_;
  std::unordered_map<std::string_view, std::size_t> by_key_;
  std::unordered_map<std::string_view, StoragePlace> places_;
};

}  // namespace

Status read_torch_legacy(std::uint64_t file_bytes, const ReadAt& read, TorchFile& file) { return TorchLegacy(file_bytes, read, file).run(); }

}  // namespace vouchfs::formats
