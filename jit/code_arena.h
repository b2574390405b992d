// Executable memory: filled while writable, then sealed. Never writable and executable at once, never changed after.
#ifndef NFTJIT_JIT_CODE_ARENA_H_
#define NFTJIT_JIT_CODE_ARENA_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace nftjit::jit {

// Owns whole pages; move-only, unmaps on destruction.
class CodeArena {
 public:
  // Maps at least `bytes` bytes, lets `fill` write them at the address where they will run, then takes away the right
  // to write. Errors: what `fill` returned; Internal with what the system refused.
  static absl::StatusOr<CodeArena> Build(size_t bytes, absl::FunctionRef<absl::Status(std::span<uint8_t> memory)> fill);

  CodeArena(CodeArena&& other) noexcept;
  CodeArena& operator=(CodeArena&& other) noexcept;
  CodeArena(const CodeArena&) = delete;
  CodeArena& operator=(const CodeArena&) = delete;
  ~CodeArena();

  // The bytes asked for: code that may be run, and constants.
  [[nodiscard]] std::span<const uint8_t> bytes() const { return {base_, size_}; }

 private:
  CodeArena(uint8_t* base, size_t size, size_t mapped) : base_(base), size_(size), mapped_(mapped) {}

  uint8_t* base_ = nullptr;
  size_t size_ = 0, mapped_ = 0;
};

}  // namespace nftjit::jit

#endif  // NFTJIT_JIT_CODE_ARENA_H_
