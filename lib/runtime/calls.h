// What engines and generated code may call: the reference meaning of single ops, one function each.
//
// All are noexcept with C types; generated code must assume that they clobber every caller-saved register and flags.
// They read the frame and write only what they say.
#ifndef NFTJIT_LIB_RUNTIME_CALLS_H_
#define NFTJIT_LIB_RUNTIME_CALLS_H_

#include <cstdint>

#include "lib/runtime/frame.h"

namespace nftjit::calls {

extern "C" {

// Op::kMeta: stores row length bytes of nft::MetaKey `key` at `out` (exactly `length`, zero padded beyond what the
// kernel stores). The guards of the key must have passed.
void nftjit_meta_load(Frame* frame, uint32_t key, uint32_t length, uint8_t* out) noexcept;
// Op::kSetMeta: `value` has the key's length. A pkttype counts only if it and the old one are 0 to 3; nftrace and
// broute change nothing here.
void nftjit_meta_store(Frame* frame, uint32_t key, const uint8_t* value) noexcept;
// GuardKind::kMetaKnown / kCtKnown: 1 if the load would not BREAK. Without a conntrack entry only the ct state is
// known.
uint32_t nftjit_meta_known(const Frame* frame, uint32_t key) noexcept;
uint32_t nftjit_ct_known(const Frame* frame, uint32_t key, uint32_t direction) noexcept;
// Op::kCt.
void nftjit_ct_load(const Frame* frame, uint32_t key, uint32_t direction, uint32_t length, uint8_t* out) noexcept;
// Op::kExthdr: 1 and `length` bytes at `out`, or 0: BREAK. `flags`: ir::kPresent. The kernel is built without
// nft::ExthdrOp::kDccp: always a BREAK here, and the reference engine refuses to compile it. In frames that are cut,
// and in no others, it may also be 2: bytes are missing that would tell.
uint32_t nftjit_exthdr_load(Frame* frame, uint32_t op, uint32_t type, uint32_t offset, uint32_t flags, uint32_t length,
                            uint8_t* out) noexcept;
// GuardKind::kRoomInner: 1 if `bytes` lie behind the inner header.
uint32_t nftjit_room_inner(Frame* frame, uint32_t bytes) noexcept;
// Loads with ir::kOrZero: copies what lies in the packet, zeros for the rest.
void nftjit_load_or_zero(Frame* frame, uint32_t base, uint32_t offset, uint32_t length, uint8_t* out) noexcept;

// Op::kLookup without the negation: 1 if an element matched and its expressions passed. Runs the element's expressions
// only if `negated` is 0; with it, the answer is 1 iff no element matched.
uint32_t nftjit_lookup(Frame* frame, uint32_t set, const uint8_t* key, uint32_t negated) noexcept;
// Op::kMap: 1 and data_len bytes at `out`, or 0: BREAK.
uint32_t nftjit_map(Frame* frame, uint32_t set, const uint8_t* key, uint8_t* out) noexcept;
// Op::kVerdictMap: the verdict in the low half (nft::VerdictCode), the ir::ChainId of jump and goto in the high half.
// A miss, or an element's expression that breaks, is kBreak.
uint64_t nftjit_verdict_map(Frame* frame, uint32_t set, const uint8_t* key) noexcept;

// Op::kLimit: 1 pass, 0 BREAK.
uint32_t nftjit_limit(Frame* frame, uint32_t limit) noexcept;
// Op::kLog.
void nftjit_log(Frame* frame, uint32_t log) noexcept;

}  // extern "C"

}  // namespace nftjit::calls

#endif  // NFTJIT_LIB_RUNTIME_CALLS_H_
