#include "tests/support/fake_gpu/memory.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "tests/support/fake_gpu/faults.hpp"
#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

struct Mapping {
  Allocation allocation;
  std::byte* first_page = nullptr;
  std::size_t page_bytes = 0;  ///< Without the page behind it, which nobody may touch.
};

/// Never destroyed: threads of streams outlive the end of main.
struct Memory {
  std::mutex mutex;
  std::map<const std::byte*, Mapping> mappings;  ///< By their first page.
  std::map<int, std::size_t> used;               ///< Bytes by device.
};

Memory& memory() {
  static auto& the_memory = *new Memory;
  return the_memory;
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// With the memory locked. Null where the address is not in a mapping or the page behind it.
Mapping* mapping_of(const void* address) {
  const auto* place = static_cast<const std::byte*>(address);
  auto above = memory().mappings.upper_bound(place);
  if (above == memory().mappings.begin()) return nullptr;
  Mapping& found = std::prev(above)->second;
  return place < found.first_page + found.page_bytes + page_bytes() ? &found : nullptr;
}

std::string size_text(const Allocation& allocation) {
  return "an allocation of " + std::to_string(allocation.bytes) + " bytes at " + text_of(allocation.begin);
}

struct sigaction handler_before;

/// A fault elsewhere happens again under the handler that was there before.
void explain_fault(int, siginfo_t* info, void*) {
  const std::unique_lock lock(memory().mutex, std::try_to_lock);
  if (const Mapping* found = lock.owns_lock() ? mapping_of(info->si_addr) : nullptr)
    refuse("access to " + text_of(info->si_addr) +
           (found->allocation.live ? ", beyond " : ", after it was given back: ") +
           size_text(found->allocation));
  sigaction(SIGSEGV, &handler_before, nullptr);
}

void explain_faults() {
  static const bool once = [] {
    struct sigaction handler = {};
    handler.sa_sigaction = explain_fault;
    handler.sa_flags = SA_SIGINFO;
    return sigaction(SIGSEGV, &handler, &handler_before) == 0;
  }();
  if (!once) refuse("the handler of SIGSEGV cannot be set");
}

}  // namespace

void* allocate(Place place, int device, std::size_t bytes) {
  explain_faults();
  const std::lock_guard lock(memory().mutex);
  std::size_t& used = memory().used[device];
  if (place == Place::device && (strikes(Fault::out_of_memory) || bytes > device_memory() - used))
    return nullptr;
  Mapping mapping;
  mapping.page_bytes = rounded_up(bytes, page_bytes());
  void* pages =
      mmap(nullptr, mapping.page_bytes + page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages, mapping.page_bytes, PROT_READ | PROT_WRITE) != 0)
    refuse("this machine has no " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  mapping.first_page = static_cast<std::byte*>(pages);
  std::byte* end = mapping.first_page + mapping.page_bytes;
  mapping.allocation = {end - rounded_up(bytes, 256), bytes, place, device, true};
  std::memset(mapping.first_page, 0xff, mapping.page_bytes);
  memory().mappings[mapping.first_page] = mapping;
  if (place == Place::device) used += bytes;
  return mapping.allocation.begin;
}

void release(const char* call, void* address, Place place) {
  const std::lock_guard lock(memory().mutex);
  Mapping* found = mapping_of(address);
  if (found == nullptr || found->allocation.begin != address || found->allocation.place != place)
    refuse(std::string(call) + " of " + text_of(address) + ", which is the begin of no such allocation");
  if (!found->allocation.live)
    refuse(std::string(call) + " of " + size_text(found->allocation) + ", which was given back before");
  found->allocation.live = false;
  if (place == Place::device) memory().used[found->allocation.device] -= found->allocation.bytes;
  madvise(found->first_page, found->page_bytes, MADV_DONTNEED);
  mprotect(found->first_page, found->page_bytes, PROT_NONE);
}

std::size_t bytes_left(int device) {
  const std::lock_guard lock(memory().mutex);
  return device_memory() - memory().used[device];
}

std::optional<Allocation> allocation_of(const char* call, const void* address) {
  const std::lock_guard lock(memory().mutex);
  const Mapping* found = mapping_of(address);
  if (found == nullptr) return std::nullopt;
  if (!found->allocation.live)
    refuse(std::string(call) + ": " + text_of(address) + " is in " + size_text(found->allocation) +
           ", which was given back");
  return found->allocation;
}

void require_device(const char* call, const void* address, std::size_t bytes, int device) {
  const auto found = allocation_of(call, address);
  if (!found || found->place != Place::device)
    refuse(std::string(call) + ": " + text_of(address) + " is memory of the host, not of a device");
  if (found->device != device)
    refuse(std::string(call) + ": " + text_of(address) + " is memory of device " +
           std::to_string(found->device) + ", not of device " + std::to_string(device));
  require_inside(call, *found, address, bytes);
}

void require_inside(const char* call, const Allocation& allocation, const void* address, std::size_t bytes) {
  const auto* place = static_cast<const std::byte*>(address);
  const std::byte* end = allocation.begin + allocation.bytes;
  if (place < allocation.begin || place > end || bytes > static_cast<std::size_t>(end - place))
    refuse(std::string(call) + ": " + std::to_string(bytes) + " bytes at " + text_of(address) +
           " go beyond " + size_text(allocation));
}

}  // namespace steelyard::fake_gpu
