// NVTX for C++: ranges that end with their scope, and what an event may carry.
#ifndef WARPBEAM_NVTX3_HPP
#define WARPBEAM_NVTX3_HPP

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "nvToolsExt.h"

#define NVTX3_CPP_DEFINITIONS_V1_0

namespace nvtx3 {
inline namespace v1 {

struct rgb {
  constexpr rgb(uint8_t red, uint8_t green, uint8_t blue) noexcept : red(red), green(green), blue(blue) {}
  uint8_t red, green, blue;
};
struct argb : rgb {
  constexpr argb(uint8_t alpha, uint8_t red, uint8_t green, uint8_t blue) noexcept : rgb(red, green, blue), alpha(alpha) {}
  uint8_t alpha;
};

class color {
 public:
  using value_type = uint32_t;
  constexpr explicit color(value_type hex) noexcept : value_(hex) {}
  constexpr color(argb c) noexcept
      : value_(value_type{c.alpha} << 24 | value_type{c.red} << 16 | value_type{c.green} << 8 | c.blue) {}
  constexpr color(rgb c) noexcept : color(argb(255, c.red, c.green, c.blue)) {}
  constexpr value_type get_value() const noexcept { return value_; }
  constexpr nvtxColorType_t get_type() const noexcept { return NVTX_COLOR_ARGB; }

 private:
  value_type value_;
};

class category {
 public:
  using id_type = uint32_t;
  constexpr explicit category(id_type id) noexcept : id_(id) {}
  constexpr id_type get_id() const noexcept { return id_; }

 private:
  id_type id_;
};

// A domain is named by a type D with `static constexpr char const* name`.
class domain {
 public:
  struct global {};
  domain(const domain&) = delete;
  domain& operator=(const domain&) = delete;
  operator nvtxDomainHandle_t() const noexcept { return handle_; }
  template <class D = global>
  static const domain& get() noexcept {
    static const domain known(name_of<D>(0));
    return known;
  }

 private:
  explicit domain(const char* name) noexcept : handle_(name ? nvtxDomainCreateA(name) : nullptr) {}
  template <class D>
  static auto name_of(int) noexcept -> decltype(static_cast<const char*>(D::name)) { return D::name; }
  template <class D>
  static const char* name_of(...) noexcept { return nullptr; }
  nvtxDomainHandle_t handle_;
};

template <class D = domain::global>
class named_category_in : public category {
 public:
  named_category_in(id_type id, const char* name) noexcept : category(id) {
    nvtxDomainNameCategoryA(domain::get<D>(), id, name);
  }
  template <class C>
  static const named_category_in& get() noexcept {
    static const named_category_in known(C::id, C::name);
    return known;
  }
};
using named_category = named_category_in<domain::global>;

template <class D = domain::global>
class registered_string_in {
 public:
  explicit registered_string_in(const char* text) noexcept
      : handle_(nvtxDomainRegisterStringA(domain::get<D>(), text)) {}
  explicit registered_string_in(const std::string& text) noexcept : registered_string_in(text.c_str()) {}
  nvtxStringHandle_t get_handle() const noexcept { return handle_; }
  template <class M>
  static const registered_string_in& get() noexcept {
    static const registered_string_in known(M::message);
    return known;
  }

 private:
  nvtxStringHandle_t handle_;
};
using registered_string = registered_string_in<domain::global>;

class message {
 public:
  using value_type = nvtxMessageValue_t;
  message(const char* text) noexcept : type_(NVTX_MESSAGE_TYPE_ASCII) { value_.ascii = text; }
  message(const std::string& text) noexcept : message(text.c_str()) {}
  message(std::string&&) = delete;  // the text must outlive the event
  message(const wchar_t* text) noexcept : type_(NVTX_MESSAGE_TYPE_UNICODE) { value_.unicode = text; }
  message(const std::wstring& text) noexcept : message(text.c_str()) {}
  message(std::wstring&&) = delete;
  template <class D>
  message(const registered_string_in<D>& text) noexcept : type_(NVTX_MESSAGE_TYPE_REGISTERED) {
    value_.registered = text.get_handle();
  }
  value_type get_value() const noexcept { return value_; }
  nvtxMessageType_t get_type() const noexcept { return type_; }

 private:
  nvtxMessageType_t type_;
  value_type value_;
};

class payload {
 public:
  using value_type = decltype(nvtxEventAttributes_t::payload);
  explicit payload(int64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT64) { value_.llValue = v; }
  explicit payload(int32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT32) { value_.iValue = v; }
  explicit payload(uint64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) { value_.ullValue = v; }
  explicit payload(uint32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32) { value_.uiValue = v; }
  explicit payload(float v) noexcept : type_(NVTX_PAYLOAD_TYPE_FLOAT) { value_.fValue = v; }
  explicit payload(double v) noexcept : type_(NVTX_PAYLOAD_TYPE_DOUBLE) { value_.dValue = v; }
  value_type get_value() const noexcept { return value_; }
  nvtxPayloadType_t get_type() const noexcept { return type_; }

 private:
  nvtxPayloadType_t type_;
  value_type value_;
};

// Parts in any order; of several of one kind the first counts.
class event_attributes {
 public:
  using value_type = nvtxEventAttributes_t;
  event_attributes() noexcept : attributes_() {
    attributes_.version = NVTX_VERSION;
    attributes_.size = sizeof(value_type);
  }
  template <class... Rest>
  explicit event_attributes(const category& c, const Rest&... rest) noexcept : event_attributes(rest...) {
    attributes_.category = c.get_id();
  }
  template <class... Rest>
  explicit event_attributes(const color& c, const Rest&... rest) noexcept : event_attributes(rest...) {
    attributes_.color = c.get_value();
    attributes_.colorType = c.get_type();
  }
  template <class... Rest>
  explicit event_attributes(const payload& p, const Rest&... rest) noexcept : event_attributes(rest...) {
    attributes_.payload = p.get_value();
    attributes_.payloadType = p.get_type();
  }
  template <class... Rest>
  explicit event_attributes(const message& m, const Rest&... rest) noexcept : event_attributes(rest...) {
    attributes_.message = m.get_value();
    attributes_.messageType = m.get_type();
  }
  const value_type* get() const noexcept { return &attributes_; }

 private:
  value_type attributes_;
};

template <class D = domain::global>
class scoped_range_in {
 public:
  explicit scoped_range_in(const event_attributes& attributes) noexcept {
    nvtxDomainRangePushEx(domain::get<D>(), attributes.get());
  }
  template <class First, class... Rest,
            typename = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
  explicit scoped_range_in(const First& first, const Rest&... rest) noexcept
      : scoped_range_in(event_attributes(first, rest...)) {}
  scoped_range_in() noexcept : scoped_range_in(event_attributes()) {}
  scoped_range_in(const scoped_range_in&) = delete;
  scoped_range_in& operator=(const scoped_range_in&) = delete;
  void* operator new(std::size_t) = delete;
  ~scoped_range_in() noexcept { nvtxDomainRangePop(domain::get<D>()); }
};
using scoped_range = scoped_range_in<domain::global>;
template <class D = domain::global>
using domain_thread_range = scoped_range_in<D>;
using thread_range = scoped_range;

struct range_handle {
  using value_type = nvtxRangeId_t;
  constexpr explicit range_handle(value_type id) noexcept : id_(id) {}
  constexpr range_handle() noexcept : id_(0) {}
  constexpr explicit operator bool() const noexcept { return id_ != 0; }
  constexpr value_type get_value() const noexcept { return id_; }

 private:
  value_type id_;
};
inline bool operator==(range_handle a, range_handle b) noexcept { return a.get_value() == b.get_value(); }
inline bool operator!=(range_handle a, range_handle b) noexcept { return !(a == b); }

template <class D = domain::global>
range_handle start_range_in(const event_attributes& attributes) noexcept {
  return range_handle(nvtxDomainRangeStartEx(domain::get<D>(), attributes.get()));
}
template <class D = domain::global, class First, class... Rest,
          typename = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
range_handle start_range_in(const First& first, const Rest&... rest) noexcept {
  return start_range_in<D>(event_attributes(first, rest...));
}
template <class... Args>
range_handle start_range(const Args&... args) noexcept { return start_range_in<domain::global>(args...); }
template <class D = domain::global>
void end_range_in(range_handle range) noexcept { nvtxDomainRangeEnd(domain::get<D>(), range.get_value()); }
inline void end_range(range_handle range) noexcept { end_range_in<domain::global>(range); }

// A range that may be handed on, and ends where its last owner does.
template <class D = domain::global>
class unique_range_in {
 public:
  template <class... Args>
  explicit unique_range_in(const Args&... args) noexcept : handle_(start_range_in<D>(event_attributes(args...))), owner_(true) {}
  unique_range_in(unique_range_in&& other) noexcept : handle_(other.handle_), owner_(other.owner_) { other.owner_ = false; }
  unique_range_in& operator=(unique_range_in&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~unique_range_in() noexcept {
    if (owner_) end_range_in<D>(handle_);
  }

 private:
  range_handle handle_;
  bool owner_;
};
using unique_range = unique_range_in<domain::global>;

template <class D = domain::global>
void mark_in(const event_attributes& attributes) noexcept { nvtxDomainMarkEx(domain::get<D>(), attributes.get()); }
template <class D = domain::global, class First, class... Rest,
          typename = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
void mark_in(const First& first, const Rest&... rest) noexcept { mark_in<D>(event_attributes(first, rest...)); }
template <class... Args>
void mark(const Args&... args) noexcept { mark_in<domain::global>(args...); }

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE_IN(D) ::nvtx3::scoped_range_in<D> const nvtx3_range_of_function(__func__)
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#define NVTX3_V1_FUNC_RANGE_IN(D) NVTX3_FUNC_RANGE_IN(D)
#define NVTX3_V1_FUNC_RANGE() NVTX3_FUNC_RANGE()

#endif
