// gRPC: the master serves; each worker keeps one call open, whose streams carry the messages. A thread
// of the master's reads each stream, and the end of a stream is the end of its worker.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "grpc.grpc.pb.h"
#include "inbox.h"
#include "launching.h"
#include "transport.h"

namespace mandelbrot {
namespace {

constexpr auto patience = std::chrono::seconds(2);

wire::Packet packet_of(const Message& message) {
    wire::Packet packet;
    packet.set_content(message.bytes().data(), message.bytes().size());
    return packet;
}

void fill(Message& message, const wire::Packet& packet) {
    const std::string& content = packet.content();
    if (content.size() != message.bytes().size()) throw Failure("gRPC: a message of a wrong length");
    std::ranges::copy(content, message.bytes().begin());
}

struct Item {
    Heard heard;
    wire::Packet packet;
};

using Stream = grpc::ServerReaderWriter<wire::Packet, wire::Packet>;

class Service final : public wire::Tasks::Service {
  public:
    grpc::Status Work(grpc::ServerContext*, Stream* stream) override {
        const int number = join(stream);
        Item item{{number, false}, {}};
        while (stream->Read(&item.packet)) inbox_.push(item);
        leave(number);
        inbox_.push({{number, true}, {}});
        return grpc::Status::OK;
    }

    Inbox<Item>& inbox() { return inbox_; }

    void send(int worker, const wire::Packet& packet) {
        const std::lock_guard lock(mutex_);
        if (Stream* stream = streams_[static_cast<std::size_t>(worker)]) stream->Write(packet);
    }

  private:
    int join(Stream* stream) {
        const std::lock_guard lock(mutex_);
        streams_.push_back(stream);
        return static_cast<int>(streams_.size()) - 1;
    }
    void leave(int number) {
        const std::lock_guard lock(mutex_);
        streams_[static_cast<std::size_t>(number)] = nullptr;
    }

    std::mutex mutex_;
    std::vector<Stream*> streams_;  ///< null: over
    Inbox<Item> inbox_;
};

class GrpcMaster final : public MasterSide {
  public:
    explicit GrpcMaster(const Crew& crew)
        : server_(serve(crew.address)),
          launched_(crew, crew.address + ":" + std::to_string(port_)) {}

    ~GrpcMaster() override { server_->Shutdown(std::chrono::system_clock::now() + patience); }

    Heard receive(Message& message) override {
        const Item item = service_.inbox().pop();
        if (!item.heard.gone) fill(message, item.packet);
        return item.heard;
    }

    void send(int worker, const Message& message) override {
        service_.send(worker, packet_of(message));
    }

  private:
    std::unique_ptr<grpc::Server> serve(const std::string& ipv4) {
        grpc::ServerBuilder builder;
        builder.AddListeningPort(ipv4 + ":0", grpc::InsecureServerCredentials(), &port_);
        builder.RegisterService(&service_);
        auto server = builder.BuildAndStart();
        if (!server || port_ == 0) throw Failure("gRPC: cannot listen at " + ipv4);
        return server;
    }

    int port_ = 0;
    Service service_;
    std::unique_ptr<grpc::Server> server_;
    LaunchedWorkers launched_;
};

class GrpcWorker final : public WorkerSide {
  public:
    explicit GrpcWorker(const Crew& crew)
        : stub_(wire::Tasks::NewStub(
              grpc::CreateChannel(crew.master, grpc::InsecureChannelCredentials()))),
          stream_(stub_->Work(&context_)) {}

    ~GrpcWorker() override {
        stream_->WritesDone();
        stream_->Finish();
    }

    bool receive(Message& message) override {
        wire::Packet packet;
        if (!stream_->Read(&packet)) return false;
        fill(message, packet);
        return true;
    }
    void send(const Message& message) override { stream_->Write(packet_of(message)); }

  private:
    grpc::ClientContext context_;
    std::unique_ptr<wire::Tasks::Stub> stub_;
    std::unique_ptr<grpc::ClientReaderWriter<wire::Packet, wire::Packet>> stream_;
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    play_launched<GrpcMaster, GrpcWorker>(crew, master, worker);
}

}  // namespace mandelbrot
