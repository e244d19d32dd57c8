// SPDX-License-Identifier: MIT
// The places of a body's particles within any part of the box. The places in the rest of the box are not computed.
#pragma once
#include <functional>

#include "md/lattice.hpp"

namespace md {

class Filling {
public:
    Filling(const Domain& domain, const Body& body) : domain_(domain), body_(body) {}
    virtual ~Filling() = default;
    Filling(const Filling&) = delete;
    Filling& operator=(const Filling&) = delete;

    const Body& body() const { return body_; }
    /// Calls use(position) for each particle with lower <= position < upper, within the box (2^-40 lengths).
    virtual void for_each_in(const Point& lower, const Point& upper,
                             const std::function<void(const Point&)>& use) const = 0;

protected:
    const Domain& domain_;
    const Body& body_;
};

class LatticeFilling final : public Filling {
public:
    /// Both must stay.
    LatticeFilling(const Domain& domain, const Body& body) : Filling(domain, body), lattice_(body) {}
    void for_each_in(const Point& lower, const Point& upper,
                     const std::function<void(const Point&)>& use) const override {
        lattice_.for_each_in(domain_, lower, upper, [&](std::int64_t, const Point& at) { use(at); });
    }

private:
    Lattice lattice_;
};

}  // namespace md
