// require.h: what must hold for every input. Unlike assert() it is there in every build type.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition)                                                                                 \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      std::fprintf(stderr, "%s:%d: this must hold for every input: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                                        \
    }                                                                                                      \
  } while (false)
