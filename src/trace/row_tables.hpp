#pragma once

/// @file
/// For the files that say which fields of a row stand in which dataset: TABLE(Row, "name", F(first), ...).

#include "src/trace/rows.hpp"

#define FIELD(Row, name) \
  Field { #name, offsetof(Row, name), sizeof(Row::name), kind_of < decltype(Row::name)>() }
#define TABLE(Row, name, ...)                                  \
  template <>                                                  \
  const Table& table<Row>() {                                  \
    using R = Row;                                             \
    static constexpr std::array kFields = {__VA_ARGS__};       \
    static constexpr Table kTable{name, sizeof(Row), kFields}; \
    return kTable;                                             \
  }
#define F(name) FIELD(R, name)
