/// @file
/// Not a way to sum but a choice: for each buffer, the backend that was fastest on as many numbers.

#include <algorithm>
#include <utility>

#include "src/base/aligned.hpp"
#include "src/base/clock.hpp"
#include "src/collective/collective.hpp"
#include "src/mpi/wait.hpp"

namespace steelyard {
namespace {

/// Elements that are timed at most; what is fastest with these is fastest with more.
constexpr std::size_t kMost = std::size_t{4} << 20U;
/// Sizes that differ by less than this factor share a choice.
constexpr double kAlike = 1.25;
/// After this time, sizes not timed yet take the choice of the one that is nearest.
constexpr std::int64_t kBudgetNs = 700'000'000;

constexpr int repetitions(std::size_t elements) {
  return static_cast<int>(std::clamp((std::size_t{1} << 22U) / elements, std::size_t{3}, std::size_t{15}));
}

class AutoCollective final : public Collective {
 public:
  AutoCollective(const mpi::Communicator& workers, const CollectiveOptions& options)
      : workers_(workers), options_(options), candidates_({"mpi", "ring", "recursive"}) {
    options_.choices = nullptr;
    // Within a node shared memory has no wire. Who asks for a narrow one wants to have it.
    if (options.wire == Wire::fp32 || mpi::spans_nodes(workers)) candidates_.emplace_back("shared");
    // A choice by timing would change the order of sums from run to run.
    if (options.deterministic) candidates_ = {candidates_.back() == "shared" ? "shared" : "ring"};
    choices_ = options.choices != nullptr ? options.choices : &own_choices_;
  }

  int add(std::span<float> data) override {
    choices_->push_back(choose(data.size()));
    Collective& backend = made(choices_->back().chosen);
    buffers_.emplace_back(&backend, backend.add(data));
    return static_cast<int>(buffers_.size()) - 1;
  }
  void start(int number) override {
    const auto [backend, its_number] = buffers_[static_cast<std::size_t>(number)];
    backend->start(its_number);
  }
  bool test(int number) override {
    const auto [backend, its_number] = buffers_[static_cast<std::size_t>(number)];
    for (const auto& [name, other] : made_)
      if (other.get() != backend) other->test(0);  // A test of one buffer advances them all.
    return backend->test(its_number);
  }

 private:
  Collective& made(const std::string& name) {
    for (const auto& [known, backend] : made_)
      if (known == name) return *backend;
    made_.emplace_back(name, std::move(make_collective(name, workers_, options_)).value());
    return *made_.back().second;
  }

  /// Collective. The same on every rank.
  CollectiveChoice choose(std::size_t elements) {
    const std::size_t bytes = elements * sizeof(float);
    if (candidates_.size() == 1 || workers_.size() == 1 || elements == 0)
      return {bytes, candidates_.back(), {}};
    const auto factor = [bytes](const CollectiveChoice& other) {
      const auto [less, more] = std::minmax(bytes, other.bytes);
      return static_cast<double>(more) / static_cast<double>(less);
    };
    const auto nearest = std::ranges::min_element(timed_, {}, factor);
    if (nearest != timed_.end() && (factor(*nearest) < kAlike || spent_ns_ > kBudgetNs))
      return {bytes, nearest->chosen, nearest->timings};
    timed_.push_back(time_all(bytes, std::min(elements, kMost)));
    return timed_.back();
  }

  /// Collective. Candidates take turns, on memory of the choice's own; a sum of zeros is zero.
  CollectiveChoice time_all(std::size_t bytes, std::size_t elements) {
    const std::int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    AlignedArray<float> scratch(elements);
    std::vector<std::unique_ptr<Collective>> backends;
    for (const std::string& name : candidates_) {
      backends.push_back(std::move(make_collective(name, workers_, options_)).value());
      backends.back()->add(scratch.span());
    }
    std::vector<std::vector<std::int64_t>> times(backends.size());
    for (int i = 0; i <= repetitions(elements); ++i)
      for (std::size_t which = 0; which < backends.size(); ++which)
        if (const std::int64_t one = time(*backends[which]); i > 0) times[which].push_back(one);
    CollectiveChoice choice{bytes, "", {}};
    for (std::size_t which = 0; which < backends.size(); ++which)
      choice.timings.push_back({candidates_[which], median_of_slowest(times[which])});
    choice.chosen = std::ranges::min_element(choice.timings, {}, &CollectiveTiming::ns)->backend;
    spent_ns_ += mpi::greatest(workers_, clock_ns(CLOCK_MONOTONIC) - begin_ns);
    return choice;
  }

  std::int64_t time(Collective& backend) const {
    mpi::barrier(workers_, options_.wait);
    const std::int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    backend.start(0);
    mpi::wait_until(options_.wait, [&] { return backend.test(0); });
    return clock_ns(CLOCK_MONOTONIC) - begin_ns;
  }

  /// Collective: the greatest over the ranks of their medians.
  std::int64_t median_of_slowest(std::vector<std::int64_t>& times) const {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return mpi::greatest(workers_, *middle);
  }

  const mpi::Communicator& workers_;
  CollectiveOptions options_;
  std::vector<std::string> candidates_;
  std::vector<CollectiveChoice> timed_;
  std::vector<CollectiveChoice> own_choices_;
  std::vector<CollectiveChoice>* choices_ = nullptr;
  std::vector<std::pair<std::string, std::unique_ptr<Collective>>> made_;
  std::vector<std::pair<Collective*, int>> buffers_;
  std::int64_t spent_ns_ = 0;
};

}  // namespace

std::unique_ptr<Collective> make_auto_collective(const mpi::Communicator& workers,
                                                 const CollectiveOptions& options) {
  return std::make_unique<AutoCollective>(workers, options);
}

}  // namespace steelyard
