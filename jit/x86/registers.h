// The register map: what generated code keeps where. docs/internals/register-map.md is the page to this table.
//
//   role        default   meaning                                                   kept across
//   frame       rbx       Frame*                                                    everything
//   network     rbp       frame->base[kNetwork]                                     everything
//   transport   r12       frame->base[kTransport]                                   everything
//   values[0-2] r13-r15   values of blocks and rules                                calls into runtime, not chains
//   values[3-8] r8-r11,   values of blocks and rules                                nothing: reloaded from their homes
//               rsi, rdi                                                            on the stack after every call
//   scratch     rax, rcx, operands, results, arguments                              one row
//               rdx
//   vectors     xmm0-5    operands; ymm7 holds the field that columns compare       one row; one run of columns
//   rsp         rsp       homes and slots of the chain (plan.h)                     everything
//
// A chain's body is entered by `call` with frame, network and transport set; it returns an Outcome in eax and clobbers
// everything else but those three. Only the entry of a base chain saves registers of the C caller.
#ifndef NFTJIT_JIT_X86_REGISTERS_H_
#define NFTJIT_JIT_X86_REGISTERS_H_

#include <asmjit/x86.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nftjit::x86 {

inline constexpr size_t kValueRegisters = 9;
// The first ones survive a call of a C function.
inline constexpr size_t kCalleeSavedValueRegisters = 3;
using RegisterMask = uint16_t;  // Bit i: values[i].
inline constexpr RegisterMask kCalleeSavedValues = (1U << kCalleeSavedValueRegisters) - 1;

struct RegisterMap {
  asmjit::x86::Gp frame, network, transport;
  std::array<asmjit::x86::Gp, kValueRegisters> values;
};

// Scratch registers are the same in every map: C functions take their arguments and give their results in them.
inline constexpr asmjit::x86::Gp kResult = asmjit::x86::rax, kPointer = asmjit::x86::rcx, kOther = asmjit::x86::rdx;

// The low `bytes` bytes of a register: 1, 2, 4 or 8.
inline asmjit::x86::Gp Part(asmjit::x86::Gp whole, uint32_t bytes) {
  switch (bytes) {
    case 1:
      return whole.r8();
    case 2:
      return whole.r16();
    case 4:
      return whole.r32();
    default:
      return whole.r64();
  }
}
// `size` bytes from `offset` on.
inline asmjit::x86::Mem Sized(asmjit::x86::Mem mem, int64_t offset, uint32_t size) {
  mem.addOffset(offset);
  mem.setSize(size);
  return mem;
}

// Map 0 is the default. The others exist for tests: bugs of encoding hide behind one lucky choice of registers.
inline constexpr unsigned kRegisterMaps = 3;
inline RegisterMap MakeRegisterMap(unsigned number) {
  using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): the one place where register names stand.
  switch (number) {
    case 1:
      return {r15, r14, r13, {r12, rbx, rbp, rdi, rsi, r11, r10, r9, r8}};
    case 2:
      return {r12, r13, rbp, {rbx, r15, r14, r11, rdi, r8, rsi, r10, r9}};
    default:
      return {rbx, rbp, r12, {r13, r14, r15, r8, r9, r10, r11, rsi, rdi}};
  }
}

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_REGISTERS_H_
