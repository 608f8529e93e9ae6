// Layout: the members in their order; texts and lists as a length of two bytes and what is in them;
// what may be absent as one byte, 0 or 1, before it.
#include "agent/status.h"

#include <algorithm>
#include <string_view>

#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

constexpr std::size_t most_in_list = 0xffff;

class Encoder {
  public:
    void number(double value) { writer_.put_double(value); }
    void number(std::uint64_t value) { writer_.put(value, 8); }
    void truth(bool value) { writer_.put(value ? 1 : 0, 1); }
    std::size_t size(std::size_t count) {
        const std::size_t fitting = std::min(count, most_in_list);
        writer_.put(fitting, 2);
        return fitting;
    }
    void text(std::string_view value) {
        for (const char c : value.substr(0, size(value.size())))
            writer_.put(static_cast<unsigned char>(c), 1);
    }
    template <class Value, class Put>
    void optional(const std::optional<Value>& value, Put put) {
        truth(value.has_value());
        if (value) put(*value);
    }
    void forecast(const std::optional<ForecastStatus>& value) {
        optional(value, [this](const ForecastStatus& each) {
            number(each.value);
            number(each.error);
            text(each.forecaster);
        });
    }
    std::vector<std::byte> take() && { return std::move(writer_).take(); }

  private:
    ByteWriter writer_;
};

class Decoder {
  public:
    explicit Decoder(std::span<const std::byte> bytes) : reader_(bytes) {}

    double number() { return reader_.take_double(); }
    std::uint64_t whole() { return reader_.take(8); }
    bool truth() { return reader_.take(1) != 0; }
    std::string text() {
        std::string value;
        for (std::size_t left = size(); left > 0 && !reader_.overrun(); --left)
            value += static_cast<char>(reader_.take(1));
        return value;
    }
    template <class Value, class Take>
    std::vector<Value> list(Take take) {
        std::vector<Value> values;
        for (std::size_t left = size(); left > 0 && !reader_.overrun(); --left)
            values.push_back(take());
        return values;
    }
    std::optional<ForecastStatus> forecast() {
        if (!truth()) return std::nullopt;
        ForecastStatus value;
        value.value = number();
        value.error = number();
        value.forecaster = text();
        return value;
    }
    bool ended_well() const { return reader_.ended_well(); }

  private:
    std::size_t size() { return static_cast<std::size_t>(reader_.take(2)); }

    ByteReader reader_;
};

void put_link(Encoder& encoder, const LinkStatus& link) {
    encoder.truth(link.channel_up);
    encoder.truth(link.over_tcp);
    encoder.optional(link.announced_us, [&](double value) { encoder.number(value); });
    encoder.forecast(link.latency_us);
    encoder.forecast(link.bandwidth_bytes_per_us);
    encoder.forecast(link.connect_us);
    encoder.size(link.recent_us.size());
    for (const double value : link.recent_us) encoder.number(value);
}

LinkStatus take_link(Decoder& decoder) {
    LinkStatus link;
    link.channel_up = decoder.truth();
    link.over_tcp = decoder.truth();
    if (decoder.truth()) link.announced_us = decoder.number();
    link.latency_us = decoder.forecast();
    link.bandwidth_bytes_per_us = decoder.forecast();
    link.connect_us = decoder.forecast();
    link.recent_us = decoder.list<double>([&] { return decoder.number(); });
    return link;
}

EventStatus take_event(Decoder& decoder) {
    const double time_s = decoder.number();
    return {time_s, decoder.text()};
}

SensorStatus take_sensor(Decoder& decoder) {
    SensorStatus sensor;
    sensor.name = decoder.text();
    sensor.value = decoder.number();
    sensor.forecast = decoder.forecast();
    return sensor;
}

}  // namespace

std::vector<std::byte> encode(const Status& status) {
    Encoder encoder;
    encoder.number(status.time_s);
    encoder.number(status.started_s);
    encoder.number(status.processor_s);
    encoder.number(status.resident_bytes);
    encoder.text(status.series_stopped);
    encoder.size(status.links.size());
    for (const LinkStatus& link : status.links) put_link(encoder, link);
    encoder.size(status.events.size());
    for (const EventStatus& event : status.events) {
        encoder.number(event.time_s);
        encoder.text(event.text);
    }
    encoder.size(status.sensors.size());
    for (const SensorStatus& sensor : status.sensors) {
        encoder.text(sensor.name);
        encoder.number(sensor.value);
        encoder.forecast(sensor.forecast);
    }
    for (const std::uint64_t count : status.counters.all()) encoder.number(count);
    return std::move(encoder).take();
}

std::optional<Status> decode_status(std::span<const std::byte> bytes) {
    Decoder decoder(bytes);
    Status status;
    status.time_s = decoder.number();
    status.started_s = decoder.number();
    status.processor_s = decoder.number();
    status.resident_bytes = decoder.whole();
    status.series_stopped = decoder.text();
    status.links = decoder.list<LinkStatus>([&] { return take_link(decoder); });
    status.events = decoder.list<EventStatus>([&] { return take_event(decoder); });
    status.sensors = decoder.list<SensorStatus>([&] { return take_sensor(decoder); });
    for (std::uint64_t& count : status.counters.all()) count = decoder.whole();
    return decoder.ended_well() ? std::optional(std::move(status)) : std::nullopt;
}

}  // namespace mutirao::agent
