#include "core/algorithms/algorithm.h"

#include <gtest/gtest.h>

namespace mutirao {
namespace {

ParsedCandidate parse(std::string_view text) {
    return parse_candidate(Collective::broadcast, text);
}

TEST(Candidate, IsReadAndWrittenAlike) {
    for (const std::string_view text :
         {"native", "flat", "binomial", "binomial:segment_bytes=4096", "k_nomial:radix=2",
          "k_nomial:radix=64,segment_bytes=256", "scatter_ring_allgather",
          "two_level:segment_bytes=1073741824", "tree:kind=mst",
          "tree:kind=greedy,segment_bytes=65536", "flat:inside=flat",
          "k_nomial:radix=4,segment_bytes=512,inside=chain"}) {
        const ParsedCandidate parsed = parse(text);
        ASSERT_TRUE(parsed.candidate) << text << ": " << parsed.error;
        EXPECT_EQ(to_string(*parsed.candidate), text);
        EXPECT_EQ(parsed.error, "");
    }
}

TEST(Candidate, LeftOutParametersAreTheRowsFirst) {
    EXPECT_EQ(to_string(*parse("tree").candidate), "tree:kind=mst");
    EXPECT_EQ(to_string(*parse("k_nomial").candidate), "k_nomial:radix=3");
    EXPECT_EQ(parse("two_level").candidate->parameters.tree, TreeKind::two_level);
    EXPECT_EQ(parse("chain:segment_bytes=0,inside=binomial").candidate->parameters,
              Parameters{});
    EXPECT_EQ(to_string(*parse("tree:segment_bytes=512,kind=shortest_path").candidate),
              "tree:kind=shortest_path,segment_bytes=512");
}

TEST(Candidate, NamesWhatIsWrongAndTheNearestValid) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"binomal", "no broadcast algorithm is called 'binomal'; did you mean binomial?"},
        {"", "no broadcast algorithm is called ''; valid are "},
        {"Chain", "no broadcast algorithm is called 'Chain'; did you mean chain?"},
        {"tree:kin=mst", "tree has no parameter 'kin'; did you mean kind?"},
        {"tree:radix=3", "tree has no parameter 'radix'; it takes kind, segment_bytes"},
        {"native:radix=2", "native has no parameter 'radix'; it takes none"},
        {"flat:segment_bytes=512", "flat has no parameter 'segment_bytes'; it takes inside"},
        {"tree:kind=mts",
         "kind 'mts' is not valid for tree: one of mst, shortest_path, greedy; did you mean mst?"},
        {"tree:kind=two_level",
         "kind 'two_level' is not valid for tree: one of mst, shortest_path, greedy"},
        {"chain:inside=tree",
         "inside 'tree' is not valid for chain: one of flat, binomial, k_nomial, chain"},
        {"native:inside=flat", "native has no parameter 'inside'; it takes none"},
        {"k_nomial:radix=1", "radix '1' is not valid for k_nomial: 2..64"},
        {"k_nomial:radix=65", "radix '65' is not valid for k_nomial: 2..64"},
        {"k_nomial:radix=", "radix '' is not valid for k_nomial: 2..64"},
        {"k_nomial:radix=3x", "radix '3x' is not valid for k_nomial: 2..64"},
        {"k_nomial:radix", "radix '' is not valid for k_nomial: 2..64"},
        {"chain:segment_bytes=255",
         "segment_bytes '255' is not valid for chain: 0 (one piece) or 256..1073741824"},
        {"chain:segment_bytes=1073741825",
         "segment_bytes '1073741825' is not valid for chain: 0 (one piece) or 256..1073741824"},
        {"chain:segment_bytes=-1",
         "segment_bytes '-1' is not valid for chain: 0 (one piece) or 256..1073741824"},
        {"chain:segment_bytes=99999999999999999999999",
         "segment_bytes '99999999999999999999999' is not valid for chain: "
         "0 (one piece) or 256..1073741824"},
    };
    for (const auto& [text, error] : cases) {
        const ParsedCandidate parsed = parse(text);
        EXPECT_FALSE(parsed.candidate) << text;
        EXPECT_EQ(parsed.error.substr(0, error.size()), error) << text;
        EXPECT_EQ(parsed.error.find('\n'), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace mutirao
