// SPDX-License-Identifier: MIT
#include "neighbours.hpp"

#include <map>
#include <utility>
#include <vector>

#include "comm/mpi/mpi_check.hpp"

#if MPI_VERSION >= 4
namespace {

using comm::mpi_check;

// Parts by rank, one behind the other: the other ranks, their bytes, and where these begin.
struct Side {
    std::vector<int> ranks, bytes, at;
    std::vector<std::size_t> places;  // of each part

    explicit Side(std::span<const balance::Part> parts) : places(parts.size()) {
        std::map<int, std::vector<std::size_t>> of_rank;
        for (std::size_t i = 0; i < parts.size(); ++i) of_rank[parts[i].member].push_back(i);
        std::size_t next = 0;
        for (const auto& [rank, list] : of_rank) {
            ranks.push_back(rank);
            at.push_back(static_cast<int>(next));
            for (const std::size_t i : list) places[i] = std::exchange(next, next + parts[i].bytes);
            bytes.push_back(static_cast<int>(next) - at.back());
        }
    }
    int count() const { return static_cast<int>(ranks.size()); }
};

class Neighbours final : public balance::Channel {
public:
    explicit Neighbours(const comm::Communicator& comm) : comm_(comm) {}
    ~Neighbours() override { drop(); }

    Places lay_out(std::span<const balance::Part> sent, std::span<const balance::Part> received) override {
        drop();
        out_ = Side(sent), in_ = Side(received);
        mpi_check(
            MPI_Dist_graph_create_adjacent(comm_.handle().comm, in_.count(), in_.ranks.data(), MPI_UNWEIGHTED,
                                           out_.count(), out_.ranks.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_),
            "MPI_Dist_graph_create_adjacent");
        return {out_.places, in_.places};
    }
    /// The buffers are those of the first call.
    void start(std::span<const std::byte> sent, std::span<std::byte> received, std::shared_ptr<const void>) override {
        if (request_ == MPI_REQUEST_NULL)
            mpi_check(MPI_Neighbor_alltoallv_init(sent.data(), out_.bytes.data(), out_.at.data(), MPI_BYTE,
                                                  received.data(), in_.bytes.data(), in_.at.data(), MPI_BYTE, graph_,
                                                  MPI_INFO_NULL, &request_),
                      "MPI_Neighbor_alltoallv_init");
        mpi_check(MPI_Start(&request_), "MPI_Start");
    }
    std::vector<std::size_t> wait_for_some() override { return {}; }
    // Not comm::wait_all(): MPI_Testall of MPICH 4.0 fails on the request of a persistent collective call.
    void finish() override {
        if (!comm_.oversubscribed()) return mpi_check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
        int done = 0;
        while (!done) {
            mpi_check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (!done) sched_yield();
        }
    }

private:
    void drop() {
        if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
        if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
    }

    comm::Communicator comm_;
    Side out_{{}}, in_{{}};
    MPI_Comm graph_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<balance::Channel> make_neighbours(const comm::Communicator& comm) {
    return std::make_unique<Neighbours>(comm);
}
#else
std::unique_ptr<balance::Channel> make_neighbours(const comm::Communicator&) { return nullptr; }
#endif
