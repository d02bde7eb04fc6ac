#include "src/model/readers/json_walk.hpp"

#include "src/model/readers/builder.hpp"

namespace steelyard::readers {

namespace {
constexpr std::size_t kMostDepth = 16;
}

bool JsonWalk::read(const std::string& text) {
  try {
    return nlohmann::json::sax_parse(text, static_cast<nlohmann::json_sax<nlohmann::json>*>(this)) &&
           why_.empty();
  } catch (const nlohmann::json::exception& error) {
    return fail(std::string("is not JSON: ") + shown(error.what()));
  }
}

bool JsonWalk::fail(const std::string& why) {
  if (why_.empty()) why_ = why;
  return false;
}

bool JsonWalk::parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
  return fail("is not JSON from byte " + std::to_string(position) + " on");
}

bool JsonWalk::open(bool object) {
  if (++depth_ > kMostDepth) return fail("has JSON nested deeper than " + std::to_string(kMostDepth));
  if (!skipping_) return opened(object);
  ++skipped_;
  return true;
}

bool JsonWalk::close() {
  --depth_;
  if (!skipping_) return closed();
  if (--skipped_ == 0) skipping_ = false;
  return true;
}

bool JsonWalk::skip_scalar() {
  if (!skipping_) return false;
  if (skipped_ == 0) skipping_ = false;
  return true;
}

bool JsonWalk::other(const std::string& value) {
  return skip_scalar() || fail("has the JSON value " + shown(value) + " where none of its kind may be");
}

}  // namespace steelyard::readers
