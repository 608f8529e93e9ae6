#include "mpi/communicator/record_text.h"

#include "core/text/counted.h"

namespace mutirao::mpi {

std::string name_of(const ShapeClass& shapes, std::size_t length_bytes) {
    const CollectiveRow& row = row_of(shapes.collective);
    std::string name(row.name);
    if (shapes.length_class != any_length && shapes.collective != Collective::barrier) {
        name += " of " + size_text(length_bytes);
    }
    if (row.rooted && shapes.root != any_root) {
        name += ", root " + std::to_string(shapes.root);
    }
    return name + (shapes.commutes ? "" : ", in order");
}

std::string name_of(const Record& record, const ShapeClass& shapes) {
    const auto of_class = record.classes.find(shapes);
    return name_of(shapes, of_class == record.classes.end() ? 0 : of_class->second.length_bytes);
}

std::string said_of(const Record& record, const ChoiceChange& change) {
    return "from call " + std::to_string(change.call + 1) + " on, " + name_of(record, change.shapes) + ": " +
           change.from + " -> " +
           (change.probe_calls > 0  ? change.to + " for " + counted(change.probe_calls, "call")
            : change.another_tree ? "the same over another tree"
                                  : change.to);
}

std::string title_of(const Record& record) {
    return (record.name.empty() ? "communicator" : record.name) + " (" +
           counted(static_cast<std::uint64_t>(record.ranks), "rank") + ")";
}

}  // namespace mutirao::mpi
