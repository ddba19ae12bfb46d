// What most sources include, and what takes most of the time that clang takes for them. Only system
// headers; sources include all the same what they use, as g++ has them without this.
#include <boost/endian/conversion.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>
