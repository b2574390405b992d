// Loads and guards: bytes of the packet, facts of it, extension headers and options.
#include <cstring>

#include "interp/reference_machine.h"
#include "lib/runtime/calls.h"

namespace nftjit::reference {

// Guards have made sure that the bytes are there, unless those that are not read as zeros.
void Load(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  uint8_t* result = machine.Result(index);
  if ((row.flags & ir::kOrZero) != 0) {
    calls::nftjit_load_or_zero(&machine.frame, row.key, row.a, row.length, result);
    return;
  }
  std::memcpy(result, machine.frame.base[row.key] + row.a, row.length);
}

void Meta(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  calls::nftjit_meta_load(&machine.frame, row.key, row.length, machine.Result(index));
}

void Ct(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  calls::nftjit_ct_load(&machine.frame, row.key, row.flags, row.length, machine.Result(index));
}

bool Exthdr(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  return calls::nftjit_exthdr_load(&machine.frame, row.key, row.a, row.b, row.flags, row.length,
                                   machine.Result(index)) != 0;
}

bool Guard(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  Frame& frame = machine.frame;
  const auto has_room = [&](ir::Base base) { return frame.room[static_cast<size_t>(base)] >= row.a; };
  switch (row.guard()) {
    case ir::GuardKind::kRoomLink:
      return has_room(ir::Base::kLink);
    case ir::GuardKind::kRoomNetwork:
      return has_room(ir::Base::kNetwork);
    case ir::GuardKind::kRoomTransport:
      return has_room(ir::Base::kTransport);
    case ir::GuardKind::kRoomInner:
      return calls::nftjit_room_inner(&frame, row.a) != 0;
    case ir::GuardKind::kUnfragmented:
      return frame.unfragmented;
    case ir::GuardKind::kL4:
      return frame.l4_valid;
    case ir::GuardKind::kIif:
      return frame.iif != nullptr;
    case ir::GuardKind::kOif:
      return frame.oif != nullptr;
    case ir::GuardKind::kCtEntry:
      return frame.ct->has_entry;
    case ir::GuardKind::kMetaKnown:
      return calls::nftjit_meta_known(&frame, row.a) != 0;
    case ir::GuardKind::kCtKnown:
      return calls::nftjit_ct_known(&frame, row.a & 0xff, row.a >> 8) != 0;
  }
  return false;
}

}  // namespace nftjit::reference
