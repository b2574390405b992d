// Counters, limits, logs, and metadata that is set.
#include "interp/reference_machine.h"
#include "lib/runtime/calls.h"

namespace nftjit::reference {

bool Limit(const Machine& machine, uint32_t index) {
  return calls::nftjit_limit(&machine.frame, machine.row(index).a) != 0;
}

void Count(const Machine& machine, uint32_t index) {
  CountPacket(machine.frame.counters[machine.row(index).a], machine.frame.length);
}

void Log(const Machine& machine, uint32_t index) { calls::nftjit_log(&machine.frame, machine.row(index).a); }

void SetMeta(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  calls::nftjit_meta_store(&machine.frame, row.key, machine.Value(row.a).data());
}

}  // namespace nftjit::reference
