#include "formats/torch_tensors.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

// Children of containers that are entered again: a dict with two names is fine, lists that double each other's content are not.
constexpr std::uint64_t kMaxRepeated = 1U << 20;
constexpr std::uint64_t kMaxNameBytes = 64U << 20;
constexpr std::uint64_t kMaxNamed = 2U << 20;
constexpr std::size_t kMaxDepth = 1000;

// One child of a container: its value and what it adds to the name.
struct Child {
  PickleValue value;
  std::string part;
};

class Walk {
 public:
  Walk(const PickleHeap& heap, const PickleBytes& bytes)
      : heap_(heap), bytes_(bytes), on_path_(heap.objects.size(), false), entered_(heap.objects.size(), false) {}

  NamedTensors run(const PickleValue& root) {
    visit({root, {}});
    while (!frames_.empty() && found_.too_large.empty()) {
      Frame& frame = frames_.back();
      path_.resize(frame.path_bytes);
      const PickleObject& object = heap_.objects[frame.object];
      if (frame.next >= children(object)) {
        on_path_[frame.object] = false;
        frames_.pop_back();
        continue;
      }
      visit(child(object, frame.next++));
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    std::uint32_t object = 0;
    std::size_t next = 0;
    std::size_t path_bytes = 0;
  };

  static std::size_t children(const PickleObject& object) {
    if (object.shape == PickleShape::instance) return 2;
    return object.shape == PickleShape::dict ? object.items.size() / 2 : object.items.size();
  }

  Child child(const PickleObject& object, std::size_t i) const {
    if (object.shape == PickleShape::instance) return {i == 0 ? object.args : object.state, {}};
    if (object.shape == PickleShape::dict) {
      const PickleValue& value = object.items[2 * i + 1];
      return {value, wanted(value) ? part(object.items[2 * i], i) : std::string()};
    }
    return {object.items[i], std::to_string(i)};
  }

  static bool wanted(const PickleValue& value) { return value.is(PickleKind::tensor) || value.is(PickleKind::object); }

  // What a key adds to a name; nothing for the dicts in which a module keeps its parts.
  std::string part(const PickleValue& key, std::size_t position) const {
    switch (key.kind) {
      case PickleKind::word:
        return std::string(kPartNames[key.index]);
      case PickleKind::integer:
        return std::to_string(key.number);
      case PickleKind::boolean:
        return key.number != 0 ? "True" : "False";
      case PickleKind::none:
        return "None";
      case PickleKind::text:
      case PickleKind::bytes:
        break;
      default:
        return std::to_string(position);
    }
    const std::string_view text = bytes_.at(static_cast<std::uint64_t>(key.number), key.index);
    if (text == "_modules" || text == "_parameters" || text == "_buffers") return {};
    return is_utf8(text) ? std::string(text) : printable(text);
  }

  void visit(const Child& child) {
    if (!wanted(child.value)) return;
    if (!path_.empty() && !child.part.empty()) path_ += '.';
    path_ += child.part;
    name_bytes_ += child.part.size();  // also of containers: a key may be long, and come again and again
    if (name_bytes_ > kMaxNameBytes) return refuse_names();
    if (child.value.is(PickleKind::tensor)) return found(child.value.index);
    if (on_path_[child.value.index]) return;  // a container within itself
    if (frames_.size() >= kMaxDepth) {
      found_.too_large = "its containers are nested more than " + std::to_string(kMaxDepth) + " deep";
      return;
    }
    if (entered_[child.value.index]) repeated_ += 1 + children(heap_.objects[child.value.index]);
    if (repeated_ > kMaxRepeated) {
      found_.too_large = "its containers refer to each other more often than any model's";
      return;
    }
    on_path_[child.value.index] = entered_[child.value.index] = true;
    frames_.push_back({child.value.index, 0, path_.size()});
  }

  void found(std::uint32_t tensor) {
    std::string name = path_.empty() ? "tensor" : path_;
    name_bytes_ += name.size();
    if (name_bytes_ > kMaxNameBytes || found_.list.size() >= kMaxNamed) return refuse_names();
    found_.list.push_back({std::move(name), tensor});
  }

  void refuse_names() { found_.too_large = "its tensors have more names than any model's"; }

  const PickleHeap& heap_;
  const PickleBytes& bytes_;
  std::vector<bool> on_path_;
  std::vector<bool> entered_;
  std::vector<Frame> frames_;
  std::string path_;
  std::uint64_t repeated_ = 0;
  std::uint64_t name_bytes_ = 0;
  NamedTensors found_;
};

// A dict takes a key twice and keeps the last value.
void keep_last(std::vector<NamedTensor>& list) {
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < list.size(); ++i) last[list[i].name] = i;
  if (last.size() == list.size()) return;
  std::vector<NamedTensor> kept;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (last.at(list[i].name) == i) kept.push_back({list[i].name, list[i].tensor});
  list = std::move(kept);
}

std::string join_names(const std::vector<std::string_view>& names) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) text += (i == 0 ? "'" : "', '") + shown_name(names[i]);
  text += names.empty() ? "" : "'";
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

HeaderProblem bad_tensor(std::string_view name, const std::string& why, std::uint64_t offset) {
  return {"BadTensor", "setStorage: sizes and strides are out of bounds for storage", "tensor '" + shown_name(name) + "': " + why, std::string(name), offset};
}

// Storages by key, each with the tensors in it.
class Placing {
 public:
  Placing(TorchFile& file, const PickleHeap& heap, const PickleBytes& bytes) : file_(file), heap_(heap), bytes_(bytes) {}

  void run(const std::vector<NamedTensor>& named, const FindStorage& find) {
    for (const PickleStorage& storage : heap_.storages) look_up(storage, find);
    for (const NamedTensor& tensor : named) place(tensor);
    for (const auto& [key, where] : in_order_) report(*where);
  }

 private:
  struct Storage {
    StoragePlace place;
    std::uint64_t bytes = 0;  // that the pickle says it has
    std::vector<std::string_view> tensors;
  };

  std::string_view key_of(const PickleStorage& storage) const { return bytes_.at(static_cast<std::uint64_t>(storage.key.number), storage.key.index); }

  void look_up(const PickleStorage& storage, const FindStorage& find) {
    const std::string_view key = key_of(storage);
    const auto [known, is_new] = storages_.try_emplace(key);
    Storage& where = known->second;
    where.bytes = std::max(where.bytes, storage.bytes);
    if (!is_new) return;
    where.place = find(key);
    in_order_.emplace_back(key, &where);
  }

  void place(const NamedTensor& named) {
    const PickleTensor& tensor = heap_.tensors[named.tensor];
    Tensor placed{named.name, std::string(tensor.dtype), tensor.shape, 0, 0};
    if (!tensor.broken.empty()) return file_.faults.push_back(bad_tensor(named.name, tensor.broken, 0));
    if (tensor.storage != UINT32_MAX) {
      Storage& storage = storages_.at(key_of(heap_.storages[tensor.storage]));
      storage.tensors.push_back(named.name);
      if (!storage.place.known) return;
      if (__builtin_add_overflow(storage.place.begin, tensor.begin, &placed.begin)) return;
      if (__builtin_add_overflow(placed.begin, tensor.bytes, &placed.end)) return;
    }
    file_.claimed.push_back(std::move(placed));
  }

  void report(const Storage& storage) {
    auto problem = storage.place.problem;
    if (!problem && storage.place.bytes < storage.bytes)
      problem = HeaderProblem{"BadTensor",
                              "storage has wrong byte size",
                              "the data has " + std::to_string(storage.place.bytes) + " bytes and should have " + std::to_string(storage.bytes),
                              {},
                              storage.place.begin};
    if (!problem) return;
    if (!storage.tensors.empty()) {
      problem->tensor = storage.tensors.front();
      problem->detail += (storage.tensors.size() == 1 ? ": tensor " : ": tensors ") + join_names(storage.tensors);
    }
    file_.faults.push_back(*std::move(problem));
  }

  TorchFile& file_;
  const PickleHeap& heap_;
  const PickleBytes& bytes_;
  std::map<std::string_view, Storage> storages_;
  std::vector<std::pair<std::string_view, Storage*>> in_order_;
};

}  // namespace

NamedTensors name_tensors(const PickleHeap& heap, const PickleBytes& bytes, const PickleValue& root) {
  NamedTensors named = Walk(heap, bytes).run(root);
  keep_last(named.list);
  return named;
}

void place_tensors(TorchFile& file, const PickleHeap& heap, const PickleBytes& bytes, const std::vector<NamedTensor>& named, const FindStorage& find) {
  Placing(file, heap, bytes).run(named, find);
}

void settle(TorchFile& file) {
  std::sort(file.claimed.begin(), file.claimed.end(),
            [](const Tensor& a, const Tensor& b) { return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name); });
  if (file.faults.empty()) {
    file.tensors = std::move(file.claimed);
    file.claimed.clear();
  } else {
    file.problem = file.faults.front();
  }
}

}  // namespace vouchfs::formats
