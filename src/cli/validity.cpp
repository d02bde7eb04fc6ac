#include "src/cli/validity.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace steelyard::cli {
namespace {

std::string joined(const std::vector<std::string_view>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

}  // namespace

std::string Validity::text() const {
  std::vector<std::string_view> words;
  if (oversubscribed) words.emplace_back("oversubscribed");
  if (one_node) words.emplace_back("one_node");
  if (emulated_compute) words.emplace_back("emulated_compute");
  if (shaped_links) words.emplace_back("shaped_links");
  if (injected) words.emplace_back("injected");
  if (fake) words.emplace_back("fake");
  return joined(words, ",");
}

std::string Validity::place() const {
  const std::string where = shaped_links ? "On the emulated links"
                            : one_node   ? "On this machine"
                                         : fmt::format("On these {} nodes", nodes);
  std::vector<std::string_view> with;
  if (emulated_compute) with.emplace_back("emulated compute");
  if (injected) with.emplace_back("injected slowness");
  if (fake) with.emplace_back("a stand-in for the GPU");
  return with.empty() ? where : where + " and with " + joined(with, " and ");
}

std::string Validity::limits() const {
  std::vector<std::string_view> limits;
  if (fake) limits.emplace_back("any speed at all, since no GPU computed");
  if (oversubscribed)
    limits.emplace_back(
        "what a busy server costs on cores of its own, since ranks here lend each other their idle time");
  if (one_node) limits.emplace_back("what a network costs, since messages went through one machine's memory");
  if (shaped_links)
    limits.emplace_back(
        "what switches, adapters and a crowded memory bus add, since the hosts are slices of one machine");
  if (emulated_compute)
    limits.emplace_back("how communication slows real compute, since compute was emulated");
  if (injected) limits.emplace_back("how often such slowness happens, since it was injected");
  return limits.empty() ? "" : "This cannot tell " + joined(limits, "; nor ") + ".";
}

}  // namespace steelyard::cli
