// The opcodes of the machine that name globals, and those that would call them.
#include <utility>

#include "formats/pickle_machine.h"
#include "formats/shown_name.h"
#include "formats/torch_calls.h"
#include "formats/torch_names.h"

namespace vouchfs::formats {

void PickleMachine::op_global() {
  std::string names[2];
  for (std::string& name : names) {
    const std::uint64_t end = bytes_.find_newline(at_, kMaxGlobalName);
    if (end == PickleBytes::kNowhere) {
      if (need(kMaxGlobalName)) refuse("the name of a global has no end");
      return;
    }
    name = bytes_.at(at_, end - at_);
    at_ = end + 1;
  }
  push_global(std::move(names[0]), std::move(names[1]));
}

void PickleMachine::op_stack_global() {
  const PickleValue name = pop();
  const PickleValue module = pop();
  if (fault_) return;
  if (!name.is(PickleKind::text) || !module.is(PickleKind::text) || name.index > kMaxGlobalName || module.index > kMaxGlobalName)
    return refuse("it names a global by something that is no name");
  const auto text = [&](const PickleValue& value) { return std::string(bytes_.at(static_cast<std::uint64_t>(value.number), value.index)); };
  push_global(text(module), text(name));
}

void PickleMachine::push_global(std::string module, std::string name) {
  if (!is_utf8(module) || !is_utf8(name)) return refuse("the name of a global (\"" + shown_name(module + " " + name) + "\") is no UTF-8");
  modernize_global(module, name);
  const auto [known, is_new] = global_index_.try_emplace(module + '\n' + name, static_cast<std::uint32_t>(heap_.globals.size()));
  if (is_new) {
    if (heap_.globals.size() >= kMaxPickleGlobals) return refuse("it names more than " + std::to_string(kMaxPickleGlobals) + " globals");
    const bool allowed = is_allowed_global(module, name);
    heap_.globals.push_back({std::move(module), std::move(name), bytes_.file_offset(opcode_at_), allowed});
  }
  push({PickleKind::global, known->second, 0});
}

void PickleMachine::push_made(const PickleValue& callee, const PickleValue& args) {
  if (fault_ || !room_for_objects()) return;
  push(TorchCalls(bytes_, heap_).call(callee, args));
  if (heap_.too_large) refuse("it copies its lists and dicts again and again");
}

void PickleMachine::op_reduce() {
  const PickleValue args = pop();
  push_made(pop(), args);
}

void PickleMachine::op_newobj() { op_reduce(); }

void PickleMachine::op_newobj_ex() {
  pop();  // keyword arguments
  op_reduce();
}

void PickleMachine::op_build() {
  const PickleValue state = pop();
  const PickleValue* object = top();
  if (object != nullptr && room_for_objects()) TorchCalls(bytes_, heap_).build(*object, state);
}

void PickleMachine::op_persid() {
  const PickleValue id = pop();
  if (fault_ || !room_for_objects()) return;
  const auto made = TorchCalls(bytes_, heap_).persistent(id);
  if (!made) return refuse("a persistent id is no storage of a known type", "Only persistent_load of storage is allowed");
  push(*made);
}

}  // namespace vouchfs::formats
