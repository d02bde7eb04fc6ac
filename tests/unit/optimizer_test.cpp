// Every optimizer against its formula in double precision, in place and from one array to another.
#include "src/optim/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "src/base/random.hpp"
#include "tests/support/instruction_sets.hpp"

namespace steelyard {
namespace {

struct Element {
  double w, m = 0.0, v = 0.0;
};
using Rule = std::function<void(Element&, double g, int t)>;

struct Case {
  const char* name;
  Rule rule;
};

constexpr double kRate = 0.1;
constexpr double kMomentum = 0.9;

const Case kCases[] = {
    {"sgd", [](Element& e, double g, int) { e.w -= kRate * g; }},
    {"momentum", [](Element& e, double g, int) { e.v = kMomentum * e.v + g, e.w -= kRate * e.v; }},
    {"nesterov",
     [](Element& e, double g, int) { e.v = kMomentum * e.v + g, e.w -= kRate * (g + kMomentum * e.v); }},
    {"adagrad", [](Element& e, double g, int) { e.v += g * g, e.w -= kRate * g / (std::sqrt(e.v) + 1e-10); }},
    {"adam",
     [](Element& e, double g, int t) {
       e.m = 0.9 * e.m + 0.1 * g;
       e.v = 0.999 * e.v + 0.001 * g * g;
       e.w -= kRate * (e.m / (1 - std::pow(0.9, t))) / (std::sqrt(e.v / (1 - std::pow(0.999, t))) + 1e-8);
     }},
};

void check_formula(const Case& one, bool in_place) {
  constexpr std::size_t kCount = 37;
  const auto optimizer =
      std::move(make_optimizer(one.name, {static_cast<float>(kRate), static_cast<float>(kMomentum)})).value();
  std::vector<float> from(kCount);
  std::vector<float> to(kCount);
  std::vector<float> gradient(kCount);
  std::vector<float> state(kCount * optimizer->state_per_element());
  std::vector<Element> expected;
  for (std::size_t i = 0; i < kCount; ++i)
    expected.push_back({static_cast<double>(from[i] = random_unit(1, 0, i))});
  for (int t = 1; t <= 5; ++t) {
    for (std::size_t i = 0; i < kCount; ++i) {
      gradient[i] = random_unit(2, static_cast<std::uint64_t>(t), i);
      one.rule(expected[i], static_cast<double>(gradient[i]), t);
    }
    std::vector<float>& result = in_place ? from : to;
    optimizer->apply({from, gradient, result, state, t});
    for (std::size_t i = 0; i < kCount; ++i)
      EXPECT_NEAR(result[i], expected[i].w, 2e-5) << one.name << " " << t;
    if (!in_place) std::swap(from, to);
  }
}

TEST(Optimizer, FollowsItsFormula) {
  test::with_every_instruction_set([] {
    for (const Case& one : kCases)
      for (const bool in_place : {true, false}) check_formula(one, in_place);
  });
}

TEST(Optimizer, UnknownNameListsEveryOne) {
  EXPECT_EQ(make_optimizer("lion", {}).error().message,
            "unknown optimizer 'lion'; choose one of: sgd, momentum, nesterov, adagrad, adam");
}

}  // namespace
}  // namespace steelyard
