// Which hosts are near each other. Groups are labels, one per host, numbered from 0 in order of first appearance.
#pragma once

#include <string>
#include <string_view>
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

}  // namespace mutirao
