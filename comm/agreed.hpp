// SPDX-License-Identifier: MIT
// Errors that all ranks of a communicator throw, so that they can leave together. That all of them do is not a claim
// but a type: an Agreed error comes out of a reduction over the communicator and from nowhere else. Any other error is
// one rank's own. The others may be waiting for it in a collective call, so it ends the job (fatal in session.hpp).
#pragma once
#include <exception>
#include <string>
#include <utility>

#include "comm/communicator.hpp"

namespace comm {

template <class E>
class Agreed;

/// Goes on where `good` is true on all ranks; else throws Agreed<E> on all of them, where make() returns an E. Each
/// rank makes its own error. Collective.
template <class Make>
void require(const Communicator& comm, bool good, Make make);

/// Throws Agreed<E>, where all ranks come to it: by the result of a reduction. Collective.
template <class E>
[[noreturn]] void throw_together(const Communicator& comm, E error);

/// Throws `error` in the place of a caught one. If all ranks agreed on the caught one, they agree on this one too.
template <class E>
[[noreturn]] void throw_in_place_of(const std::exception& caught, E error);

/// The base of all Agreed errors.
class ThrownByAll {
public:
    virtual ~ThrownByAll() = default;
    /// Identity of the communicator whose ranks all throw this error.
    int ranks() const { return ranks_; }

private:
    explicit ThrownByAll(int ranks) : ranks_(ranks) {}
    template <class E>
    friend class Agreed;
    int ranks_;
};

/// An E that all ranks of a communicator throw.
template <class E>
class Agreed final : public E, public ThrownByAll {
private:
    Agreed(E error, int ranks) : E(std::move(error)), ThrownByAll(ranks) {}
    template <class Make>
    friend void require(const Communicator& comm, bool good, Make make);
    template <class Other>
    friend void throw_together(const Communicator& comm, Other error);
    template <class Other>
    friend void throw_in_place_of(const std::exception& caught, Other error);
};

/// Do all ranks of `comm` throw this error? Not where it is one rank's own, or that of fewer ranks.
bool thrown_by_all(const std::exception& error, const Communicator& comm);

/// Why a rank cannot go on: an exit code (1..255; 0: it can) and a line.
struct Failure {
    int code = 0;
    std::string text;
    int rank = 0;  ///< that has failed
};

/// The failure of the lowest rank that gives one, on all ranks. Collective.
Failure first_failure(const Communicator& comm, const Failure& mine);

template <class Make>
void require(const Communicator& comm, bool good, Make make) {
    using E = decltype(make());
    if (!comm.all_agree(good)) throw Agreed<E>(make(), comm.size());
}

template <class E>
void throw_together(const Communicator& comm, E error) {
    comm.all_agree(false);
    throw Agreed<E>(std::move(error), comm.size());
}

template <class E>
void throw_in_place_of(const std::exception& caught, E error) {
    if (const auto* all = dynamic_cast<const ThrownByAll*>(&caught)) throw Agreed<E>(std::move(error), all->ranks());
    throw std::move(error);
}

}  // namespace comm
