#pragma once

/// @file
/// Memory for a server without ranks, and the pushes that go there.

#include <deque>

#include "modes/ps/server.hpp"

namespace steelyard::ps {

/// Gradients and values of a server's bundles, zeroed.
class Memory {
 public:
  Memory(std::span<const std::size_t> elements, int workers, int copies) {
    for (const std::size_t n : elements) {
      BundleMemory& bundle = views_.emplace_back();
      for (int i = 0; i < copies; ++i) bundle.values.push_back(array(n));
      for (int i = 0; i < workers; ++i) bundle.gradients.push_back(array(n));
    }
  }
  const std::vector<BundleMemory>& views() const { return views_; }
  /// What the worker pushes next.
  std::span<float> gradient(int worker, int bundle) {
    const auto view = views_[static_cast<std::size_t>(bundle)].gradients[static_cast<std::size_t>(worker)];
    return {const_cast<float*>(view.data()), view.size()};
  }
  float value(const Reply& reply) const {
    return views_[static_cast<std::size_t>(reply.bundle)].values[static_cast<std::size_t>(reply.copy)][0];
  }

 private:
  std::span<float> array(std::size_t elements) { return arrays_.emplace_back(elements).span(); }

  std::deque<AlignedArray<float>> arrays_;
  std::vector<BundleMemory> views_;
};

inline const StalenessPolicy& kept() {
  static const auto kPolicy = make_staleness("keep").value();
  return *kPolicy;
}

inline Header push_header(BundleId id, int worker, Clock clock, std::int64_t version) {
  Header header;
  header.bundle = id;
  header.worker = worker;
  header.clock = clock;
  header.version = version;
  return header;
}

}  // namespace steelyard::ps
