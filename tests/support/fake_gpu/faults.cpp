#include "tests/support/fake_gpu/faults.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"mismatch",      "silent",        "async_error",
                                                    "death_at_init", "out_of_memory", "device_lost"};

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t variable(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const auto value = number(text);
  if (!value) refuse(std::string(name) + "=" + text + " is not a whole number");
  return *value;
}

std::optional<std::size_t> rank_of_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* text = std::getenv(name)) return number(text);
  return std::nullopt;
}

struct Occasion {
  std::size_t strikes_at = 0;  ///< 0: never.
  std::atomic<std::size_t> seen = 0;
};
using Occasions = std::array<Occasion, kNames.size()>;

/// @param text one `kind:k[@rank]`.
/// @return whether it is well formed.
bool arm(Occasions& occasions, std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::size_t at = text.find('@');
  if (colon == std::string_view::npos) return false;
  const auto which = number(text.substr(colon + 1, at == std::string_view::npos ? at : at - colon - 1));
  if (!which || *which == 0) return false;
  if (at != std::string_view::npos) {
    const auto rank = number(text.substr(at + 1));
    if (!rank) return false;
    const auto own = rank_of_launcher();
    if (!own) refuse("a fault is for one rank, but no launcher says which rank this is");
    if (own != rank) return true;
  }
  for (std::size_t kind = 0; kind < kNames.size(); ++kind) {
    if (text.substr(0, colon) != kNames[kind]) continue;
    occasions[kind].strikes_at = *which;
    return true;
  }
  return false;
}

Occasions& occasions() {
  static Occasions& all = []() -> Occasions& {
    auto& made = *new Occasions;
    const char* text = std::getenv("STEELYARD_FAKE_GPU_FAULT");
    for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      if (!arm(made, rest.substr(0, comma)))
        refuse("STEELYARD_FAKE_GPU_FAULT=" + std::string(text) +
               " is not kind:k[@rank] with a kind of mismatch, silent, async_error, death_at_init, "
               "out_of_memory, device_lost and k from 1");
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
    return made;
  }();
  return all;
}

}  // namespace

bool strikes(Fault fault) {
  Occasion& occasion = occasions()[static_cast<std::size_t>(fault)];
  return ++occasion.seen == occasion.strikes_at;
}

int devices() {
  static const auto count = static_cast<int>(variable("STEELYARD_FAKE_GPU_DEVICES", 1));
  return count;
}

std::size_t device_memory() {
  static const std::size_t bytes = variable("STEELYARD_FAKE_GPU_MEMORY", std::size_t{1} << 30U);
  return bytes;
}

std::chrono::microseconds delay() {
  static const std::chrono::microseconds time(variable("STEELYARD_FAKE_GPU_DELAY_US", 0));
  return time;
}

}  // namespace steelyard::fake_gpu
