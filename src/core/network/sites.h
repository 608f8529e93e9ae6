// Which hosts are near each other. Groups are labels, one per host, numbered from 0 in order of first appearance.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/network/network.h"

namespace mutirao {

/// Hosts on one local network: single linkage over latencies, cut at the widest gap between successive ones that
/// begins within a local network's latencies, if it is at least fourfold; otherwise one site.
/// `before`: what was found for these hosts earlier stays unless latencies speak against it by a quarter.
std::vector<int> discover_sites(const Network& network, const std::vector<int>& before = {});

/// Sites as a user names them: lists of host names with commas between, one for each site with semicolons between, such as
/// "paris*,lyon*;tokyo*", where patterns are as fnmatch(3) has them. A host that none names is a site by itself.
std::vector<int> named_sites(const std::vector<std::string>& hosts, std::string_view sites);

/// Those lists; between two separators is an empty name.
std::vector<std::vector<std::string>> lists_of_hosts(std::string_view sites);

/// Sites that are near each other beside others, as on one continent: the same between sites, from a gap of two.
/// Where there is none each site is a region.
std::vector<int> discover_regions(const Network& network, const std::vector<int>& site_of,
                                  const std::vector<int>& before = {});

// Hosts of one site reach another site over the same lines, but some find out seconds before others what became of these.

/// Takes links to be as slow as another one between the same two sites was just found to be, until their hosts have had the
/// time to find out themselves: else a tree that avoids the one link goes over the next.
class SharedLines {
  public:
    /// Makes such links of `now` slower. `before`: as it was left by the last call; `site_of`: label per host;
    /// `now_us`: any clock. Hosts x hosts steps.
    void suspect(Network& now, const Network& before, const std::vector<int>& site_of, double now_us);

    /// What was only suspected is believed no more: without other news the network is different now.
    bool doubts_are_over(double now_us) const { return !doubts_.empty() && now_us > until_us_; }

  private:
    struct Doubt {
        double measured_us, believed_us;
    };

    std::map<std::pair<int, int>, Doubt> doubts_;  ///< by hosts, the lower one first
    double until_us_ = 0;
};

}  // namespace mutirao
