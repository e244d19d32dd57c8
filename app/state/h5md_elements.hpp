// SPDX-License-Identifier: MIT
// The elements of a group of particles in an H5MD file (de Buyl, Colberg, Hofling 2014; H5MD 1.1), at the step of one
// frame of the positions. An element is a dataset, or a group of value, step and perhaps time.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/file/number_file.hpp"
#include "md/state_file.hpp"

namespace app {

using Numbers = std::vector<std::int64_t>;

struct H5mdElement {
    std::string path, value;             ///< value: its dataset
    bool timed = false;                  ///< whether the first extent of the dataset is that of frames
    Numbers shape;                       ///< without the frames
    std::int64_t frames = 1, frame = 0;  ///< frame: the one that is read
};

class H5mdElements {
public:
    /// Opens the file and finds the group: the one that the deck names, `all`, or the only one. All functions throw
    /// InputError or comm::ReadError.
    explicit H5mdElements(const md::StateFile& file);

    /// The positions, at the frame that the deck names.
    const H5mdElement& position() const { return position_; }
    /// How an element follows the positions. A velocity belongs to its step alone. Other elements, as the box and ids,
    /// may be written more rarely, and hold until they are written again.
    enum class Holds { at_its_step, from_its_step_on };
    /// An element at the step of the positions; nothing where there is none.
    /// shapes: those that it may have, without frames.
    std::optional<H5mdElement> at_frame(const std::string& name, std::initializer_list<Numbers> shapes, Holds holds);

    /// All numbers of an element of at most 9.
    std::vector<double> whole(const H5mdElement& e);
    /// n rows from `first` on. Whole numbers may be stored as floating-point ones.
    std::vector<double> real_rows(const H5mdElement& e, std::int64_t first, std::int64_t n);
    std::vector<std::int64_t> whole_rows(const H5mdElement& e, std::int64_t first, std::int64_t n);

    comm::NumberFile& file() { return file_; }
    const std::string& group() const { return group_; }
    /// Lines on what is not used of the file.
    std::vector<std::string> notes;
    [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const;

private:
    std::string find_group(const std::string& wanted) const;
    void find_position(const md::StateFile& file);
    std::optional<H5mdElement> find(const std::string& name, std::initializer_list<Numbers> shapes);
    std::string step_path(const H5mdElement& e) const;
    bool is_matrix(const H5mdElement& e);
    std::vector<std::int64_t> integers(const std::string& dataset, const Numbers& first, const Numbers& count);
    std::int64_t stepped_frames(const H5mdElement& e);
    std::int64_t step_at(const H5mdElement& e, std::int64_t frame);
    std::vector<std::int64_t> steps_of(const H5mdElement& e);
    void choose_by_step(H5mdElement& e, Holds holds);
    [[noreturn]] void refuse_step(const H5mdElement& e, std::vector<std::int64_t> steps, Holds holds);
    void check_still(const H5mdElement& e, Holds holds);
    void choose_frame(H5mdElement& e, Holds holds);

    std::string path_, group_;
    comm::NumberFile file_;
    H5mdElement position_;
};

/// The place of the largest of `steps` that is not above `step`, the last one of several; nothing where all are above.
std::optional<std::size_t> last_until(std::span<const std::int64_t> steps, std::int64_t step);

/// Whether a unit, as "sigma tau-1", is one of reduced units: made of sigma, tau, 1, lj and the like, or empty.
bool is_reduced_unit(const std::string& unit);

}  // namespace app
