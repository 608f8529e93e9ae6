// What schema.sql says.
#pragma once

#include <cstdint>

namespace mutirao::profile {

extern const char* const schema;
extern const std::int64_t schema_version;
extern const std::int64_t application_id;

}  // namespace mutirao::profile
