// SPDX-License-Identifier: MIT
// Messages between two ranks. MPI counts in an int, so long ones go in pieces.
#pragma once
#include <algorithm>
#include <climits>
#include <cstddef>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/mpi/mpi_check.hpp"

namespace comm {

/// Calls use(at, count) for each piece of `size` elements.
template <class Use>
void for_each_piece(std::size_t size, std::size_t piece, Use use) {
    for (std::size_t at = 0; at < size; at += piece) use(at, static_cast<int>(std::min(piece, size - at)));
}

/// Messages that are on their way at the same time.
class Requests {
public:
    explicit Requests(const Communicator& comm) : comm_(comm) {}
    /// call: MPI_Isend, or MPI_Irecv. count: of elements, bytes or 64-bit integers.
    template <class Call, class T>
    void post(Call call, T* data, std::size_t count, int other, int tag, std::size_t piece = INT_MAX) {
        for_each_piece(count, piece, [&](std::size_t at, int n) {
            requests_.emplace_back();
            mpi_check(call(data + at, n, sizeof(T) == 1 ? MPI_BYTE : MPI_INT64_T, other, tag, comm_.handle().comm,
                           &requests_.back()),
                      "MPI_Isend or MPI_Irecv");
        });
    }
    /// Until all have gone or come. Returns their statuses, in the order of the calls of post().
    std::vector<MPI_Status> wait() {
        std::vector<MPI_Status> statuses(requests_.size());
        wait_all(static_cast<int>(requests_.size()), requests_.data(), statuses.data(), comm_.oversubscribed());
        requests_.clear();
        return statuses;
    }

private:
    const Communicator& comm_;
    std::vector<MPI_Request> requests_;
};

}  // namespace comm
