#include "agent/status.h"

#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

constexpr std::size_t most_in_list = 0xffff;

template <class Codec>
void forecast_fields(Codec& codec, Coded<Codec, std::optional<ForecastStatus>>& forecast) {
    codec.optional(forecast, [&](auto& each) {
        codec.real(each.value);
        codec.real(each.error);
        codec.text(each.forecaster, most_in_list);
    });
}

template <class Codec>
void link_fields(Codec& codec, Coded<Codec, LinkStatus>& link) {
    codec.truth(link.channel_up);
    codec.truth(link.over_tcp);
    codec.optional(link.announced_us, [&](auto& value) { codec.real(value); });
    forecast_fields(codec, link.latency_us);
    forecast_fields(codec, link.bandwidth_bytes_per_us);
    forecast_fields(codec, link.connect_us);
    codec.list(link.recent_us, 2, most_in_list, [&](auto& value) { codec.real(value); });
}

}  // namespace

template <class Codec>
void fields(Codec& codec, Coded<Codec, Status>& status) {
    codec.real(status.time_s);
    codec.real(status.started_s);
    codec.real(status.processor_s);
    codec.number(status.resident_bytes, 8);
    codec.text(status.series_stopped, most_in_list);
    codec.list(status.links, 2, most_in_list, [&](auto& link) { link_fields(codec, link); });
    codec.list(status.events, 2, most_in_list, [&](auto& event) {
        codec.real(event.time_s);
        codec.text(event.text, most_in_list);
    });
    codec.list(status.sensors, 2, most_in_list, [&](auto& sensor) {
        codec.text(sensor.name, most_in_list);
        codec.real(sensor.value);
        forecast_fields(codec, sensor.forecast);
    });
    for (auto& count : status.counters.all()) codec.number(count, 8);
}

std::vector<std::byte> encode(const Status& status) { return to_bytes(status); }
std::optional<Status> decode_status(std::span<const std::byte> bytes) { return from_bytes<Status>(bytes); }

}  // namespace mutirao::agent
