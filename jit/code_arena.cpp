#include "jit/code_arena.h"

#include <absl/strings/str_cat.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nftjit::jit {
namespace {

absl::Status SystemError(const char* call, size_t bytes) {
  return absl::InternalError(absl::StrCat("code arena: ", call, " of ", bytes, " bytes: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<CodeArena> CodeArena::Build(size_t bytes,
                                           absl::FunctionRef<absl::Status(std::span<uint8_t> memory)> fill) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t mapped = (bytes + page - 1) / page * page;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return SystemError("mmap", mapped);
  CodeArena arena(static_cast<uint8_t*>(base), bytes, mapped);
  if (absl::Status status = fill({arena.base_, bytes}); !status.ok()) return status;
  if (mprotect(base, mapped, PROT_READ | PROT_EXEC) != 0) return SystemError("mprotect", mapped);
  return arena;
}

CodeArena::CodeArena(CodeArena&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

CodeArena& CodeArena::operator=(CodeArena&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

CodeArena::~CodeArena() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

}  // namespace nftjit::jit
