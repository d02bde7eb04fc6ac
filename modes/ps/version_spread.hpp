#pragma once

/// @file

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/base/check.hpp"

namespace steelyard::ps {

/// How far apart the versions of some bundles are, kept up to date: a model may have thousands of bundles,
/// but their versions are few.
class VersionSpread {
 public:
  /// All begin at version 0.
  explicit VersionSpread(std::size_t bundles) {
    versions_.reserve(kReserved);
    if (bundles > 0) versions_.push_back({0, bundles});
  }

  /// A bundle goes from one version to a newer one.
  void advance(std::int64_t from, std::int64_t to) {
    const auto old = std::ranges::lower_bound(versions_, from, {}, &Held::version);
    require(old != versions_.end() && old->version == from, "a bundle leaves the version that it has");
    if (--old->bundles == 0) versions_.erase(old);
    const auto place = std::ranges::lower_bound(versions_, to, {}, &Held::version);
    if (place != versions_.end() && place->version == to) {
      ++place->bundles;
    } else {
      versions_.insert(place, {to, 1});
    }
  }

  /// Newest less oldest.
  std::int64_t spread() const {
    return versions_.empty() ? 0 : versions_.back().version - versions_.front().version;
  }

 private:
  static constexpr std::size_t kReserved = 64;
  struct Held {
    std::int64_t version = 0;
    std::size_t bundles = 0;
  };
  std::vector<Held> versions_;  ///< Ascending.
};

}  // namespace steelyard::ps
