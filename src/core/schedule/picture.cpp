// The SVG: time to the right, a row per rank, arrows coloured by how many hops the message is from
// the rank where it began. Self-contained, so that it can be opened, mailed or pasted into a page.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/schedule/picture_messages.h"
#include "core/schedule/predictor.h"
#include "core/schedule/printer.h"
#include "core/text/counted.h"
#include "core/text/utf8.h"

namespace mutirao {
namespace {

constexpr double width_px = 1120;
constexpr double top_px = 108;
constexpr double legend_px = 70;
constexpr double bottom_px = 48;
constexpr double right_px = 96;
constexpr double least_label_px = 12;
constexpr double least_row_line_px = 6;
constexpr std::size_t most_arrowheads = 300;

/// Colours that stay apart for most colour-blind people (after Okabe and Ito); the last is for all
/// further hops.
constexpr std::array<std::string_view, 8> hop_colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#7a4fbf", "#555555"};

constexpr std::string_view root_colour = "#ffedc9";
/// Behind the ranks of every other host.
constexpr std::string_view band_colour = "#f1f4f7";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : valid_utf8(text)) {
        constexpr std::string_view special = "&<>\"";
        constexpr std::array<std::string_view, 4> names{"&amp;", "&lt;", "&gt;", "&quot;"};
        if (const std::size_t at = special.find(c); at != std::string_view::npos)
            out += names[at];
        else
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

std::string fixed(double value, int decimals) {
    std::array<char, 400> digits;
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                         std::chars_format::fixed, decimals)
                               .ptr};
}

/// Coordinates: a tenth of a pixel is enough.
std::string px(double value) { return fixed(value, 1); }

/// Of the bar from a rank's first step to its last.
std::string activity_stroke(const std::string& width) {
    return "stroke=\"#b8c4d0\" stroke-linecap=\"round\" stroke-width=\"" + width + "\"";
}

/// 1, 2 or 5 times a power of ten, so that about eight of them make `span`.
double tick_step(double span) {
    const double raw = span / 8;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= raw) return factor * power;
    return 10 * power;
}

class Picture {
  public:
    Picture(const Placement& placement, Prediction prediction,
            const std::vector<std::string>& labels)
        : placement_(placement),
          rank_count_(static_cast<std::size_t>(placement.rank_count())),
          row_of_(rank_count_),
          prediction_(std::move(prediction)),
          labels_(labels),
          hops_(hops_of(prediction_.messages, rank_count_)),
          drawn_(worth_drawing(prediction_.messages)) {
        std::size_t next_row = 0;
        for (int host = 0; host < placement.host_count(); ++host)
            for (const int rank : placement.ranks_of(host))
                row_of_[static_cast<std::size_t>(rank)] = next_row++;
        const double count = static_cast<double>(std::max<std::size_t>(rank_count_, 1));
        row_px_ = std::min(std::clamp(700 / count, 14.0, 44.0), 2000 / count);
        std::size_t longest = 0;
        for (std::size_t rank = 0; rank < rank_count_; ++rank)
            longest = std::max(longest, label(rank).size());
        left_px_ = 28 + 7.0 * static_cast<double>(longest);
        span_us_ = 0;
        for (const double complete_us : prediction_.rank_complete_us)
            if (std::isfinite(complete_us)) span_us_ = std::max(span_us_, complete_us);
        if (span_us_ < 1e-6) span_us_ = 1000;
        decimals_ = std::clamp(3 - static_cast<int>(std::floor(std::log10(span_us_ / 1000))), 0, 6);
        find_root();
    }

    std::string draw(const std::string& title) {
        open();
        heading(title);
        if (has_bands()) bands();
        axis();
        rows();
        arrows();
        out_ += "</svg>\n";
        return std::move(out_);
    }

  private:
    double x(double time_us) const {
        return left_px_ + time_us / span_us_ * (width_px - left_px_ - right_px);
    }
    double y(std::size_t rank) const {
        return top_px + (static_cast<double>(row_of_[rank]) + 0.5) * row_px_;
    }
    double plot_end_px() const { return top_px + static_cast<double>(rank_count_) * row_px_; }
    std::string ms(double time_us) const { return fixed(time_us / 1000, decimals_); }

    bool has_bands() const { return placement_.most_ranks_on_a_host() > 1; }

    void bands() {
        for (int host = 1; host < placement_.host_count(); host += 2) {
            const auto ranks = placement_.ranks_of(host);
            const double top = y(static_cast<std::size_t>(ranks.front())) - row_px_ / 2;
            band(top, row_px_ * static_cast<double>(ranks.size()), band_colour);
        }
    }

    void band(double top, double height, std::string_view colour) {
        out_ += "<rect x=\"8\" y=\"" + px(top) + "\" width=\"" + px(width_px - 16) +
                "\" height=\"" + px(height) + "\" rx=\"4\" fill=\"";
        out_ += colour;
        out_ += "\"/>\n";
    }

    std::string label(std::size_t rank) const {
        std::string text = std::to_string(rank);
        if (rank < labels_.size() && !labels_[rank].empty()) text = labels_[rank] + " " + text;
        const auto number = static_cast<int>(rank);
        if (has_bands() && placement_.position_of(number) == 0)
            text = "host " + std::to_string(placement_.host_of(number)) + ", " + text;
        return text;
    }

    static std::string_view colour(int hops) {
        const auto last = static_cast<int>(hop_colours.size()) - 1;
        return hop_colours[static_cast<std::size_t>(std::min(hops - 1, last))];
    }

    /// The rank that sends and never receives, if there is exactly one.
    void find_root() {
        std::vector<char> sends(rank_count_, 0);
        std::vector<char> receives(rank_count_, 0);
        for (const TimedMessage& message : prediction_.messages) {
            sends[static_cast<std::size_t>(message.from)] = 1;
            receives[static_cast<std::size_t>(message.to)] = 1;
        }
        std::size_t candidates = 0;
        for (std::size_t rank = 0; rank < rank_count_; ++rank) {
            if (!sends[rank] || receives[rank]) continue;
            root_ = rank;
            ++candidates;
        }
        if (candidates != 1) root_ = rank_count_;
    }

    void text(double at_x, double at_y, std::string_view attributes, std::string_view content) {
        out_ += "<text x=\"" + px(at_x) + "\" y=\"" + px(at_y) + "\" ";
        out_ += attributes;
        out_ += '>' + escaped(content) + "</text>\n";
    }

    void line(double x1, double y1, double x2, double y2, std::string_view attributes) {
        out_ += "<line x1=\"" + px(x1) + "\" y1=\"" + px(y1) + "\" x2=\"" + px(x2) + "\" y2=\"" +
                px(y2) + "\" ";
        out_ += attributes;
        out_ += "/>\n";
    }

    void open() {
        const std::string width = px(width_px);
        const std::string height = px(plot_end_px() + bottom_px);
        out_ += "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" +
                height + "\" viewBox=\"0 0 " + width + ' ' + height +
                "\" font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" "
                "font-size=\"12\" fill=\"#1c2733\">\n<defs>\n";
        for (std::size_t i = 0; i < hop_colours.size(); ++i) {
            out_ += "<marker id=\"head" + std::to_string(i) +
                    "\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
                    "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                    "<path d=\"M0 1 8 4 0 7z\" fill=\"";
            out_ += hop_colours[i];
            out_ += "\"/></marker>\n";
        }
        out_ += "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    }

    void heading(const std::string& title) {
        text(16, 28, "font-size=\"17\" font-weight=\"600\"", title);
        std::string facts = counted(rank_count_, "rank") + ", " +
                            counted(prediction_.messages.size(), "message") + ", ";
        facts += prediction_.stuck
                     ? "stuck: some steps never run"
                     : "complete after " + ms(prediction_.completion_us) + " ms (predicted)";
        if (drawn_.size() < prediction_.messages.size())
            facts += "; drawn: " + counted(drawn_.size(), "message") +
                     ", of those first and last between two ranks";
        text(16, 48, prediction_.stuck ? "fill=\"#b3261e\"" : "fill=\"#52606d\"", facts);
        legend();
    }

    void legend() {
        const int most = hops_.empty() ? 0 : *std::max_element(hops_.begin(), hops_.end());
        const auto last = static_cast<int>(hop_colours.size());
        double at = 16;
        const auto entry = [&](const std::string& attributes, const std::string& name) {
            line(at, legend_px, at + 22, legend_px, attributes);
            text(at + 28, legend_px + 4, "", name);
            at += 42 + 7.0 * static_cast<double>(name.size());
        };
        for (int hops = 1; hops <= std::min(most, last); ++hops)
            entry(stroke(hops, 2) + marker(hops),
                  std::to_string(hops) + (hops == 1 ? " hop" : " hops") +
                      (hops == last && most > last ? " or more" : ""));
        if (most > 0)
            entry(activity_stroke("4"), "first to last step");
        if (root_ < rank_count_)
            entry("stroke=\"" + std::string(root_colour) + "\" stroke-width=\"12\"", "root");
    }

    void axis() {
        const double step_ms = tick_step(span_us_ / 1000);
        const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step_ms))));
        const double end = plot_end_px();
        for (int i = 0; i * step_ms <= span_us_ / 1000 * (1 + 1e-9); ++i) {
            const double at = x(i * step_ms * 1000);
            line(at, top_px - 4, at, end + 4, "stroke=\"#e3e8ed\"");
            for (const double label_y : {top_px - 9, end + 18})
                text(at, label_y, "text-anchor=\"middle\" font-size=\"11\" fill=\"#52606d\"",
                     fixed(i * step_ms, decimals));
        }
        text((left_px_ + width_px - right_px) / 2, end + 36,
             "text-anchor=\"middle\" fill=\"#52606d\"", "time since all ranks entered, ms");
        text(width_px - 12, legend_px + 4, "text-anchor=\"end\" fill=\"#52606d\"",
             "complete at, ms");
    }

    void rows() {
        const std::vector<double> first_us = first_activity();
        const auto stride =
            static_cast<std::size_t>(std::max(1.0, std::ceil(least_label_px / row_px_)));
        for (std::size_t rank = 0; rank < rank_count_; ++rank) {
            const double complete_us = prediction_.rank_complete_us[rank];
            const bool is_root = rank == root_;
            const double end = std::isfinite(complete_us) ? complete_us : span_us_;
            if (is_root) band(y(rank) - row_px_ / 2, row_px_, root_colour);
            if (row_px_ >= least_row_line_px)
                line(x(0), y(rank), x(span_us_), y(rank), "stroke=\"#e3e8ed\"");
            if (first_us[rank] < end)
                line(x(first_us[rank]), y(rank), x(end), y(rank),
                     activity_stroke(px(std::min(4.0, row_px_ / 4))));
            if (row_of_[rank] % stride == 0 || is_root) row_labels(rank, is_root);
        }
    }

    void row_labels(std::size_t rank, bool is_root) {
        const double complete_us = prediction_.rank_complete_us[rank];
        const double size = std::clamp(row_px_ - 2, 10.0, 12.0);
        const std::string font = "text-anchor=\"end\" font-size=\"" + px(size) + "\"";
        const double base = y(rank) + size * 0.36;
        text(left_px_ - 12, base, font + (is_root ? " font-weight=\"700\"" : ""), label(rank));
        if (std::isfinite(complete_us))
            text(width_px - 12, base, font + " fill=\"#52606d\"", ms(complete_us));
        else
            text(width_px - 12, base, font + " fill=\"#b3261e\"", "never");
    }

    /// When a rank first sends or has received something.
    std::vector<double> first_activity() const {
        std::vector<double> first_us(rank_count_, span_us_);
        for (const TimedMessage& message : prediction_.messages) {
            double& sender_us = first_us[static_cast<std::size_t>(message.from)];
            double& receiver_us = first_us[static_cast<std::size_t>(message.to)];
            sender_us = std::min(sender_us, message.start_us);
            receiver_us = std::min(receiver_us, message.arrive_us);
        }
        return first_us;
    }

    static std::string stroke(int hops, double stroke_px) {
        return "stroke=\"" + std::string(colour(hops)) + "\" stroke-width=\"" + px(stroke_px) +
               "\"";
    }

    static std::string marker(int hops) {
        const int last = static_cast<int>(hop_colours.size()) - 1;
        return " marker-end=\"url(#head" + std::to_string(std::min(hops - 1, last)) + ")\"";
    }

    void arrows() {
        const bool many = drawn_.size() > most_arrowheads;
        // Far hops first, so that the beginning of it all lies on top.
        std::stable_sort(drawn_.begin(), drawn_.end(), [&](std::size_t left, std::size_t right) {
            return hops_[left] > hops_[right];
        });
        for (const std::size_t i : drawn_) {
            const TimedMessage& message = prediction_.messages[i];
            const std::string attributes =
                many ? stroke(hops_[i], 0.9) + " stroke-opacity=\"0.7\""
                     : stroke(hops_[i], 1.6) + marker(hops_[i]);
            out_ += "<g><title>" + std::to_string(message.from) + " to " +
                    std::to_string(message.to) + ": " + std::to_string(message.length_bytes) +
                    " B, " + ms(message.start_us) + " to " + ms(message.arrive_us) +
                    " ms</title>";
            line(x(message.start_us), y(static_cast<std::size_t>(message.from)),
                 x(message.arrive_us), y(static_cast<std::size_t>(message.to)), attributes);
            out_ += "</g>\n";
        }
    }

    const Placement& placement_;
    std::size_t rank_count_;
    std::vector<std::size_t> row_of_;  ///< per rank
    Prediction prediction_;
    const std::vector<std::string>& labels_;
    std::vector<int> hops_;
    std::vector<std::size_t> drawn_;
    std::size_t root_ = 0;
    double row_px_ = 0;
    double left_px_ = 0;
    double span_us_ = 0;
    int decimals_ = 0;
    std::string out_;
};

}  // namespace

std::string to_svg(const std::vector<Schedule>& schedules, const RankNetwork& network,
                   const std::string& title, const std::vector<std::string>& labels) {
    Prediction prediction = predict(schedules, network, {.record_messages = true});
    return Picture(network.placement(), std::move(prediction), labels).draw(title);
}

std::string to_svg(const std::vector<Schedule>& schedules, const Network& network,
                   const std::string& title, const std::vector<std::string>& labels) {
    Prediction prediction = predict(schedules, network, {.record_messages = true});
    const Placement placement = Placement::one_rank_per_host(network.host_count());
    return Picture(placement, std::move(prediction), labels).draw(title);
}

}  // namespace mutirao
