#include "src/cli/lab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "src/cli/console.hpp"

namespace steelyard::cli {
namespace {

using nlohmann::json;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

std::string range_text(const Range& range, double unit) {
  return range.low == range.high ? number_text(range.low / unit)
                                 : number_text(range.low / unit) + " to " + number_text(range.high / unit);
}

std::string line(const std::string& name, const std::string& text) {
  return wrapped(line_text(name, text), 98, std::string(line_text("", "").size() - 1, ' '));
}

std::string hosts_text(const json& lab) {
  Range link;
  Range cpu;
  for (const json& host : lab.at("hosts")) {
    if (!host.at("link").is_null()) link.add(host.at("link").get<double>());
    if (!host.at("cpu").is_null()) cpu.add(host.at("cpu").get<double>());
  }
  return fmt::format("{} hosts; links {}{}; cpu {}", lab.at("hosts").size(),
                     link.empty() ? "unshaped" : range_text(link, 1e6) + " Mbit/s",
                     lab.at("latency_us") > 0.0
                         ? " and " + number_text(lab.at("latency_us").get<double>()) + " us more latency"
                         : "",
                     cpu.empty() ? "not limited" : range_text(cpu, 1.0) + " cores each");
}

std::string fidelity_text(const json& fidelity) {
  Range link;
  Range cpu;
  for (const json& host : fidelity.at("hosts")) {
    if (!host.at("link_asked_bit_per_s").is_null())
      link.add(host.at("link_bit_per_s").get<double>() / host.at("link_asked_bit_per_s").get<double>());
    if (!host.at("cpu_asked").is_null())
      cpu.add(host.at("cpu").get<double>() / host.at("cpu_asked").get<double>());
  }
  std::string text = "checked " + fidelity.at("time").get<std::string>() + " with every host busy: ";
  if (!link.empty()) text += fmt::format("links {} % of what was asked; ", range_text(link, 0.01));
  if (!cpu.empty()) text += fmt::format("cpu {} %; ", range_text(cpu, 0.01));
  return text + fmt::format("cores {:.0f} % busy", 100.0 * fidelity.at("machine_cpu_busy").get<double>());
}

}  // namespace

Expected<json> read_lab() {
  const char* path = std::getenv("STEELYARD_LAB");
  if (path == nullptr || *path == '\0') return json(nullptr);
  std::ifstream file(path);
  const json lab = json::parse(file, nullptr, false);
  if (!lab.is_object() || !lab.contains("hosts") || !lab.contains("latency_us") || !lab.contains("fidelity"))
    return Error{
        fmt::format("STEELYARD_LAB names '{}', which is no record of a lab; scripts/lab run sets it, so "
                    "unset it elsewhere",
                    path)};
  return lab;
}

bool has_shaped_links(const json& lab) {
  if (lab.is_null()) return false;
  const auto shaped = [](const json& host) { return !host.at("link").is_null(); };
  return lab.at("latency_us") > 0.0 || std::ranges::any_of(lab.at("hosts"), shaped);
}

std::string validity_text(const Launch& launch) {
  const std::string limits = launch.validity.text();
  std::string text = line_text("validity", limits.empty() ? "no limits known" : limits);
  const json& lab = launch.lab;
  if (lab.is_null()) return text;
  text += line("lab", hosts_text(lab));
  const json& fidelity = lab.at("fidelity");
  if (fidelity.is_null())
    return text + line("fidelity", "not checked; scripts/lab check says whether the hosts are as asked");
  text += line("fidelity", fidelity_text(fidelity));
  for (const json& finding : fidelity.at("findings")) text += line("beware", finding.get<std::string>());
  return text;
}

}  // namespace steelyard::cli
