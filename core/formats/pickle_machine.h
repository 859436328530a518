// pickle_machine.h: follows a pickle symbolically: keeps its stack, memo and containers, and calls and imports nothing. Internal to core/formats.
// Layer:  core/formats (2).
// Source: the opcodes of pickle protocols 2 to 5 (Python's pickletools); torch writes protocol 2.
// Errors: a fault names the rule as HeaderProblem does. An io error is in PickleBytes::status().
// Cost:   linear in the bytes of the pickle; memory is bounded by the limits below, and nothing recurses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/pickle_bytes.h"
#include "formats/pickle_values.h"

namespace vouchfs::formats {

// 16 bytes each: values ever pushed, and entries of the memo.
inline constexpr std::uint64_t kMaxPickleValues = 32U << 20;
// About 100 bytes each: tuples, lists, dicts, instances, storages, tensors.
inline constexpr std::uint64_t kMaxPickleObjects = 4U << 20;
inline constexpr std::uint64_t kMaxPickleGlobals = 64U << 10;
// A module or class name; longer ones are no names.
inline constexpr std::uint64_t kMaxGlobalName = 4096;

struct PickleFault {
  std::string name;  // "BadPickle" or "UnsupportedOpcode"
  std::string text;
  std::string detail;
  std::uint64_t position = 0;  // of the opcode
};

class PickleMachine {
 public:
  // The heap collects over several pickles of one file; bytes must outlive the machine.
  PickleMachine(PickleBytes& bytes, PickleHeap& heap) : bytes_(bytes), heap_(heap) {}

  // Follows one pickle from `position` to its STOP. False with fault() set when it breaks off.
  bool run(std::uint64_t position);

  const PickleValue& result() const noexcept { return result_; }
  std::uint64_t end() const noexcept { return at_; }  // one past STOP
  const std::optional<PickleFault>& fault() const noexcept { return fault_; }
  // The pickle ended in the middle: its bytes are cut.
  bool cut() const noexcept { return cut_; }
  // The first opcode that torch.load(weights_only=True) does not know, when there is one.
  std::optional<std::uint8_t> restricted_opcode() const noexcept { return restricted_; }

 private:
  using Handler = void (PickleMachine::*)();
  struct Opcode;
  static const Opcode* find_opcode(std::uint8_t code) noexcept;

  void step();
  void refuse(std::string detail, std::string text = "Weights only load failed");
  bool need(std::uint64_t count);
  std::uint64_t take_number(std::uint64_t bytes);

  void push(PickleValue value);
  PickleValue pop();
  std::vector<PickleValue> pop_mark();
  PickleValue* top();
  PickleObject* container(std::string_view what);
  bool room_for_objects();
  PickleValue new_object(PickleObject object);

  void op_proto();
  void op_frame();
  void op_stop() { stopped_ = true; }
  void op_none() { push({}); }
  void op_true() { push({PickleKind::boolean, 0, 1}); }
  void op_false() { push({PickleKind::boolean, 0, 0}); }
  void op_int1() { push_integer(1); }
  void op_int2() { push_integer(2); }
  void op_int4();
  void op_long1() { push_long(1); }
  void op_long4() { push_long(4); }
  void op_float();
  void op_text1() { push_place(PickleKind::text, 1); }
  void op_text4() { push_place(PickleKind::text, 4); }
  void op_text8() { push_place(PickleKind::text, 8); }
  void op_bytes1() { push_place(PickleKind::bytes, 1); }
  void op_bytes4() { push_place(PickleKind::bytes, 4); }
  void op_bytes8() { push_place(PickleKind::bytes, 8); }
  void push_integer(std::uint64_t bytes);
  void push_long(std::uint64_t length_bytes);
  void check_text(std::uint64_t length);  // refuses a text at at_ that Python cannot decode
  void push_place(PickleKind kind, std::uint64_t length_bytes);

  void op_mark() { marks_.push_back(stack_.size()); }
  void op_pop();
  void op_pop_mark() { pop_mark(); }
  void op_dup();
  void op_empty_tuple() { push(new_object(pickle_object(PickleShape::tuple))); }
  void op_empty_list() { push(new_object(pickle_object(PickleShape::list))); }
  void op_empty_dict() { push(new_object(pickle_object(PickleShape::dict))); }
  void op_empty_set() { push(new_object(pickle_object(PickleShape::set))); }
  void op_tuple();
  void op_tuple1() { push_tuple(1); }
  void op_tuple2() { push_tuple(2); }
  void op_tuple3() { push_tuple(3); }
  void op_frozenset();
  void push_tuple(std::size_t count);
  void op_append();
  void op_appends();
  void op_additems();
  void op_setitem();
  void op_setitems();
  void add_items(std::vector<PickleValue> items);
  void set_items(std::vector<PickleValue> items);

  void op_memoize();
  void op_put1() { put(take_number(1)); }
  void op_put4() { put(take_number(4)); }
  void op_get1() { get(take_number(1)); }
  void op_get4() { get(take_number(4)); }
  void put(std::uint64_t index);
  void get(std::uint64_t index);

  void op_global();
  void op_stack_global();
  void op_reduce();
  void op_newobj();
  void op_newobj_ex();
  void op_build();
  void op_persid();
  void push_global(std::string module, std::string name);
  void push_made(const PickleValue& callee, const PickleValue& args);

  PickleBytes& bytes_;
  PickleHeap& heap_;
  std::uint64_t at_ = 0;         // next byte
  std::uint64_t opcode_at_ = 0;  // where the opcode at work began
  bool stopped_ = false;
  bool cut_ = false;
  std::uint64_t pushed_ = 0;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;                 // heights of the stack
  std::vector<PickleValue> memo_;                  // writers number their memo from 0 …
  std::map<std::uint32_t, PickleValue> far_memo_;  // … but may also leave holes; the file picks the keys, so no hash table
  std::unordered_map<std::string, std::uint32_t> global_index_;
  std::optional<std::uint8_t> restricted_;
  std::optional<PickleFault> fault_;
  PickleValue result_;
};

}  // namespace vouchfs::formats
