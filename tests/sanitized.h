// Is this build watched by a sanitizer? All takes ten times as long there, or more.
#pragma once

namespace sdip {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace sdip
