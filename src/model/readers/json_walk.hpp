#pragma once

/// @file
/// JSON read event by event, so that a hostile text costs neither stack nor a tree in memory.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace steelyard::readers {

/// A reader overrides what its format has; all else is refused. Depth counts the open objects and arrays.
/// A member returns whether to go on, `fail` says why not.
class JsonWalk : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// @return whether the text is JSON that the format allows; else why() says what is wrong.
  bool read(const std::string& text);
  const std::string& why() const { return why_; }

 protected:
  virtual bool opened(bool object) = 0;  ///< depth() is that inside.
  virtual bool closed() = 0;             ///< depth() is that outside.
  virtual bool named(const std::string& key) = 0;
  virtual bool text(const std::string& value) = 0;
  virtual bool number(std::uint64_t value) = 0;

  std::size_t depth() const { return depth_; }
  bool fail(const std::string& why);
  /// The value that follows, with all in it, is not the reader's business.
  void skip_value() { skipping_ = true; }

 private:
  bool start_object(std::size_t) final { return open(true); }
  bool start_array(std::size_t) final { return open(false); }
  bool end_object() final { return close(); }
  bool end_array() final { return close(); }
  bool key(std::string& name) final { return skipping_ || named(name); }
  bool string(std::string& value) final { return skip_scalar() || text(value); }
  bool number_unsigned(std::uint64_t value) final { return skip_scalar() || number(value); }
  bool number_integer(std::int64_t value) final { return other(std::to_string(value)); }
  bool number_float(double, const std::string& digits) final { return other(digits); }
  bool boolean(bool value) final { return other(value ? "true" : "false"); }
  bool null() final { return other("null"); }
  bool binary(nlohmann::json::binary_t&) final { return other("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) final;

  bool open(bool object);
  bool close();
  bool skip_scalar();
  bool other(const std::string& value);

  std::size_t depth_ = 0;
  std::size_t skipped_ = 0;  ///< Open objects and arrays of a value that is skipped.
  bool skipping_ = false;
  std::string why_;
};

}  // namespace steelyard::readers
