// Lookups in sets and maps, by the runtime.
#include "interp/reference_machine.h"
#include "lib/runtime/calls.h"

namespace nftjit::reference {

bool Lookup(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  const uint32_t negated = (row.flags & ir::kNegated) != 0 ? 1 : 0;
  return calls::nftjit_lookup(&machine.frame, row.b, machine.Value(row.a).data(), negated) != 0;
}

bool Map(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  return calls::nftjit_map(&machine.frame, row.b, machine.Value(row.a).data(), machine.Result(index)) != 0;
}

}  // namespace nftjit::reference
