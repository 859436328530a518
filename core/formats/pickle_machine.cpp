#include "formats/pickle_machine.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "formats/shown_name.h"
#include "formats/torch_bytes.h"

namespace vouchfs::formats {
namespace {

// Entries of the memo that do not follow the one before; Python's own writers leave no holes.
constexpr std::size_t kMaxFarMemo = 1U << 20;

// Where Python's decoder stops ("utf-8", "surrogatepass": halves of pairs, ED A0 80 to ED BF BF, are text for it), or npos.
std::size_t find_no_text(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  std::size_t at = 0;
  for (;;) {
    const std::size_t bad = find_invalid_utf8(text.substr(at));
    if (bad == std::string_view::npos) return bad;
    at += bad;
    if (byte(at) != 0xED || (byte(at + 1) & 0xE0U) != 0xA0U || (byte(at + 2) & 0xC0U) != 0x80U) return at;
    at += 3;
  }
}

}  // namespace

struct PickleMachine::Opcode {
  std::uint8_t code = 0;
  Handler handler = nullptr;
  bool restricted = false;  // not among those of torch.load(weights_only=True)
};

const PickleMachine::Opcode* PickleMachine::find_opcode(std::uint8_t code) noexcept {
  using M = PickleMachine;
  static constexpr Opcode kOpcodes[] = {{0x80, &M::op_proto},        {'.', &M::op_stop},           {'N', &M::op_none},
                                        {0x88, &M::op_true},         {0x89, &M::op_false},         {'K', &M::op_int1},
                                        {'M', &M::op_int2},          {'J', &M::op_int4},           {0x8A, &M::op_long1},
                                        {0x8B, &M::op_long4, true},  {'G', &M::op_float},          {'X', &M::op_text4},
                                        {0x8C, &M::op_text1, true},  {0x8D, &M::op_text8, true},   {'U', &M::op_bytes1},
                                        {'T', &M::op_bytes4, true},  {'C', &M::op_bytes1, true},   {'B', &M::op_bytes4, true},
                                        {0x8E, &M::op_bytes8, true}, {0x96, &M::op_bytes8, true},  {'(', &M::op_mark},
                                        {'0', &M::op_pop, true},     {'1', &M::op_pop_mark, true}, {'2', &M::op_dup, true},
                                        {')', &M::op_empty_tuple},   {']', &M::op_empty_list},     {'}', &M::op_empty_dict},
                                        {0x8F, &M::op_empty_set},    {'t', &M::op_tuple},          {0x85, &M::op_tuple1},
                                        {0x86, &M::op_tuple2},       {0x87, &M::op_tuple3},        {0x91, &M::op_frozenset, true},
                                        {'a', &M::op_append},        {'e', &M::op_appends},        {0x90, &M::op_additems, true},
                                        {'s', &M::op_setitem},       {'u', &M::op_setitems},       {0x94, &M::op_memoize, true},
                                        {'q', &M::op_put1},          {'r', &M::op_put4},           {'h', &M::op_get1},
                                        {'j', &M::op_get4},          {'c', &M::op_global},         {0x93, &M::op_stack_global, true},
                                        {'R', &M::op_reduce},        {0x81, &M::op_newobj},        {0x92, &M::op_newobj_ex, true},
                                        {'b', &M::op_build},         {'Q', &M::op_persid},         {0x95, &M::op_frame, true}};
  for (const Opcode& opcode : kOpcodes)
    if (opcode.code == code) return &opcode;
  return nullptr;
}

bool PickleMachine::run(std::uint64_t position) {
  at_ = position;
  while (!stopped_ && !fault_) step();
  if (fault_) return false;
  result_ = pop();
  return !fault_.has_value();
}

void PickleMachine::step() {
  opcode_at_ = at_;
  const auto code = static_cast<std::uint8_t>(take_number(1));
  if (fault_) return;
  const Opcode* opcode = find_opcode(code);
  if (opcode == nullptr) {
    const std::string number = std::to_string(code);
    refuse("byte " + number + " (\"" + printable(bytes_.at(opcode_at_, 1)) + "\") is no opcode that PyTorch writes", "Unsupported operand " + number);
    fault_->name = "UnsupportedOpcode";
    return;
  }
  if (opcode->restricted && !restricted_) restricted_ = code;
  (this->*opcode->handler)();
}

void PickleMachine::refuse(std::string detail, std::string text) {
  if (!fault_) fault_ = PickleFault{"BadPickle", std::move(text), std::move(detail), opcode_at_};
}

bool PickleMachine::need(std::uint64_t count) {
  if (fault_) return false;
  if (bytes_.ensure(at_, count)) return true;
  cut_ = !bytes_.over_limit();
  if (bytes_.over_limit())
    refuse("it goes on past " + std::to_string(kMaxPickleBytes >> 20) + " MiB, more than any pickle of a model");
  else
    refuse("it ends in the middle", "pickle data was truncated");
  return false;
}

std::uint64_t PickleMachine::take_number(std::uint64_t bytes) {
  if (!need(bytes)) return 0;
  const std::uint64_t value = load_little(bytes_.at(at_, bytes));
  at_ += bytes;
  return value;
}

void PickleMachine::push(PickleValue value) {
  if (++pushed_ > kMaxPickleValues) return refuse("it makes more than " + std::to_string(kMaxPickleValues) + " values");
  stack_.push_back(value);
}

PickleValue PickleMachine::pop() {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) {
    refuse("it takes a value from an empty stack");
    return {};
  }
  const PickleValue value = stack_.back();
  stack_.pop_back();
  return value;
}

PickleValue* PickleMachine::top() {
  if (!stack_.empty() && stack_.size() > (marks_.empty() ? 0 : marks_.back())) return &stack_.back();
  refuse("it needs a value on an empty stack");
  return nullptr;
}

std::vector<PickleValue> PickleMachine::pop_mark() {
  if (marks_.empty()) {
    refuse("it takes the values behind a mark that was never set");
    return {};
  }
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleValue> values(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return values;
}

bool PickleMachine::room_for_objects() {
  if (heap_.objects.size() + heap_.tensors.size() + heap_.storages.size() < kMaxPickleObjects) return true;
  refuse("it makes more than " + std::to_string(kMaxPickleObjects) + " objects");
  return false;
}

PickleValue PickleMachine::new_object(PickleObject object) {
  if (!room_for_objects()) return {};
  heap_.objects.push_back(std::move(object));
  return {PickleKind::object, static_cast<std::uint32_t>(heap_.objects.size() - 1), 0};
}

PickleObject* PickleMachine::container(std::string_view what) {
  const PickleValue* value = top();
  if (value == nullptr) return nullptr;
  if (value->is(PickleKind::object)) return &heap_.objects[value->index];
  refuse("it adds " + std::string(what) + " to something that holds none");
  return nullptr;
}

// --- the stream itself

void PickleMachine::op_proto() {
  constexpr std::uint64_t kNewest = 5;
  const std::uint64_t protocol = take_number(1);
  if (protocol > kNewest)
    refuse("protocol " + std::to_string(protocol) + " is newer than any that exists", "unsupported pickle protocol: " + std::to_string(protocol));
}

void PickleMachine::op_frame() { take_number(8); }

// --- scalars

void PickleMachine::push_integer(std::uint64_t bytes) { push({PickleKind::integer, 0, static_cast<std::int64_t>(take_number(bytes))}); }

void PickleMachine::op_int4() { push({PickleKind::integer, 0, static_cast<std::int32_t>(static_cast<std::uint32_t>(take_number(4)))}); }

void PickleMachine::push_long(std::uint64_t length_bytes) {
  const std::uint64_t length = take_number(length_bytes);
  if (!need(length)) return;
  const std::string_view digits = bytes_.at(at_, length);
  const auto place = static_cast<std::int64_t>(at_);
  at_ += length;
  if (length > 8) return push({PickleKind::big_integer, static_cast<std::uint32_t>(length), place});
  std::uint64_t value = load_little(digits);
  if (length > 0 && length < 8 && (static_cast<std::uint8_t>(digits.back()) & 0x80) != 0) value |= ~std::uint64_t{0} << (8 * length);
  push({PickleKind::integer, 0, static_cast<std::int64_t>(value)});
}

void PickleMachine::op_float() {
  take_number(8);
  push({PickleKind::real, 0, 0});
}

void PickleMachine::check_text(std::uint64_t length) {
  const std::string_view text = bytes_.at(at_, length);
  const std::size_t bad = find_no_text(text);
  if (bad == std::string_view::npos) return;
  std::array<char, 8> byte{};
  std::snprintf(byte.data(), byte.size(), "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[bad])));
  refuse("a text in it is not UTF-8 at byte " + std::to_string(bytes_.file_offset(at_ + bad)),
         std::string("'utf-8' codec can't decode byte ") + byte.data() + " in position " + std::to_string(bad));
}

void PickleMachine::push_place(PickleKind kind, std::uint64_t length_bytes) {
  const std::uint64_t length = take_number(length_bytes);
  if (!need(length)) return;
  if (kind == PickleKind::text) check_text(length);
  push({kind, static_cast<std::uint32_t>(length), static_cast<std::int64_t>(at_)});
  at_ += length;
}

// --- the stack and the containers

void PickleMachine::op_pop() {
  // Python lets POP remove a mark as well.
  if (!marks_.empty() && stack_.size() == marks_.back())
    marks_.pop_back();
  else
    pop();
}

void PickleMachine::op_dup() {
  if (const PickleValue* value = top()) push(*value);
}

void PickleMachine::op_tuple() { push(new_object(pickle_object(PickleShape::tuple, pop_mark()))); }
void PickleMachine::op_frozenset() { push(new_object(pickle_object(PickleShape::set, pop_mark()))); }

void PickleMachine::push_tuple(std::size_t count) {
  std::vector<PickleValue> items(count);
  for (std::size_t i = count; i-- > 0;) items[i] = pop();
  push(new_object(pickle_object(PickleShape::tuple, std::move(items))));
}

void PickleMachine::add_items(std::vector<PickleValue> items) {
  PickleObject* object = container("items");
  if (object == nullptr) return;
  if (object->shape == PickleShape::instance) object->shape = PickleShape::list;  // of a class that is a list
  if (object->shape != PickleShape::list) return refuse("it appends to something that is no list", "Can only append to lists");
  object->items.insert(object->items.end(), items.begin(), items.end());
}

void PickleMachine::op_append() {
  const PickleValue item = pop();
  add_items({item});
}
void PickleMachine::op_appends() { add_items(pop_mark()); }

void PickleMachine::op_additems() {
  std::vector<PickleValue> items = pop_mark();
  PickleObject* object = container("members");
  if (object == nullptr) return;
  if (object->shape != PickleShape::set && object->shape != PickleShape::instance) return refuse("it adds members to something that is no set");
  if (object->shape == PickleShape::set) object->items.insert(object->items.end(), items.begin(), items.end());
}

void PickleMachine::set_items(std::vector<PickleValue> items) {
  PickleObject* object = container("keys");
  if (object == nullptr) return;
  if (items.size() % 2 != 0) return refuse("it sets a key without a value");
  if (object->shape == PickleShape::instance) object->shape = PickleShape::dict;  // of a class that is a dict
  if (object->shape != PickleShape::dict) return refuse("it sets keys of something that is no dict", "Can only SETITEMS for dict");
  object->items.insert(object->items.end(), items.begin(), items.end());
}

void PickleMachine::op_setitem() {
  const PickleValue value = pop();
  const PickleValue key = pop();
  set_items({key, value});
}
void PickleMachine::op_setitems() { set_items(pop_mark()); }

// --- the memo

void PickleMachine::op_memoize() { put(memo_.size() + far_memo_.size()); }

void PickleMachine::put(std::uint64_t index) {
  const PickleValue* value = top();
  if (value == nullptr) return;
  if (memo_.size() >= kMaxPickleValues || far_memo_.size() >= kMaxFarMemo) return refuse("it puts more values aside than any pickle of a model");
  if (index < memo_.size()) {
    memo_[static_cast<std::size_t>(index)] = *value;
  } else if (index == memo_.size()) {
    memo_.push_back(*value);
  } else {
    far_memo_[static_cast<std::uint32_t>(index)] = *value;
  }
}

void PickleMachine::get(std::uint64_t index) {
  if (fault_) return;
  if (index < memo_.size()) return push(memo_[static_cast<std::size_t>(index)]);
  const auto found = far_memo_.find(static_cast<std::uint32_t>(index));
  if (found == far_memo_.end()) return refuse("it asks for value " + std::to_string(index) + ", which it never put aside");
  push(found->second);
}

}  // namespace vouchfs::formats
