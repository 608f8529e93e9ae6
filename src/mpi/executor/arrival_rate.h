// How fast a path carries data, as seen by an operation that receives a long message in pieces.
#pragma once

#include <cstddef>
#include <optional>


namespace mutirao::mpi {

/// Never more than the path's bandwidth: what counts arrived after a look that found nothing of it, in
/// the time since that look.
class ArrivalRate {
  public:
    /// `rank`: from which most comes; -1: from nobody enough to tell.
    void begin(int rank) { *this = ArrivalRate(rank); }
    /// Something is still to come, and time matters.
    bool waits() const { return rank_ >= 0 && pieces_ == 0; }
    /// A look has found nothing; only while it waits().
    void looked_in_vain(double now_us) { begun_us_ = now_us; }
    void arrived(int rank, std::size_t length_bytes, double now_us) {
        if (rank != rank_ || !begun_us_) {
            return;
        }
        if (pieces_++ > 0) {  // of the first, some may have come before
            bytes_ += static_cast<double>(length_bytes);
        }
        last_us_ = now_us;
    }

    struct Seen {
        int rank;
        double bytes_per_us;
    };
    /// Nothing where too little came to tell, or too soon.
    std::optional<Seen> seen() const {
        constexpr double least_us = 1000;
        if (!begun_us_ || bytes_ < least_bytes || last_us_ - *begun_us_ < least_us) {
            return std::nullopt;
        }
        return Seen{rank_, bytes_ / (last_us_ - *begun_us_)};
    }

    static constexpr double least_bytes = 128 * 1024;

    explicit ArrivalRate(int rank = -1) : rank_(rank) {}

  private:
    int rank_;
    std::optional<double> begun_us_;
    double last_us_ = 0;
    double bytes_ = 0;
    int pieces_ = 0;
};

/// Hears of such rates.
class ArrivalListener {
  public:
    virtual ~ArrivalListener() = default;
    virtual void saw(int twin_rank, double bytes_per_us) = 0;
};

}  // namespace mutirao::mpi
