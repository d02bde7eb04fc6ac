#include <charconv>

#include "src/model/chain.hpp"

namespace steelyard {
namespace {

constexpr std::size_t kWidest = 1U << 20U;
constexpr std::size_t kMostClasses = 256;  // Labels are bytes.

Expected<std::vector<std::size_t>> parse_widths(std::string_view text) {
  const Error wrong{"model 'mlp:" + std::string(text) + "' needs at least two widths from 1 to " +
                    std::to_string(kWidest) + " with a '-' between, for example mlp:784-256-10"};
  std::vector<std::size_t> widths;
  const char* next = text.data();
  const char* const end = text.data() + text.size();
  for (;; ++next) {
    std::size_t width = 0;
    const auto [rest, code] = std::from_chars(next, end, width);
    if (code != std::errc() || width < 1 || width > kWidest) return wrong;
    widths.push_back(width);
    next = rest;
    if (next == end) break;
    if (*next != '-') return wrong;
  }
  if (widths.size() < 2) return wrong;
  if (widths.back() > kMostClasses || widths.back() < 2)
    return Error{"model 'mlp:" + std::string(text) + "' has " + std::to_string(widths.back()) +
                 " outputs; the last width is the number of classes, 2 to " + std::to_string(kMostClasses)};
  return widths;
}

ChainShape chain_of(const std::vector<std::size_t>& widths) {
  ChainShape chain{{}, widths.front(), widths.back()};
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    chain.layers.emplace_back(kernels::DenseShape{0, widths[i], widths[i + 1], i + 2 < widths.size()});
  return chain;
}

}  // namespace

Expected<ModelSpec> describe_mlp(std::string_view arguments) {
  auto parsed = parse_widths(arguments);
  if (!parsed) return parsed.error();
  const std::vector<std::size_t> widths = parsed.value();
  ModelSpec spec;
  spec.inputs = widths.front();
  spec.classes = widths.back();
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    append_layer(spec.inventory, "fc" + std::to_string(i + 1), {widths[i + 1], widths[i]});
  spec.make = [chain = chain_of(widths)](const ModelRequest& request) { return make_chain(chain, request); };
  return spec;
}

}  // namespace steelyard
