// SPDX-License-Identifier: MIT
// Launchers are looked for among the ancestors of this process, by their names: what a launcher tells its processes
// does not say where their output goes. A launcher on another node, or one that leaves the start to a daemon (Slurm's
// srun), is not found: then there is no terminal here.
#include "app/common/terminal.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "comm/session.hpp"
#include "comm/simulation.hpp"

namespace app {
namespace {

bool launches(std::string_view program) {
    constexpr std::array<std::string_view, 4> launchers{"mpiexec", "mpirun", "orterun", "prterun"};
    return std::any_of(launchers.begin(), launchers.end(), [&](auto name) { return program.starts_with(name); });
}

// Where the standard output of the launcher leads, if that is a device; pipes and files are not opened.
comm::Descriptor output_of_launcher() {
    for (long process = getppid(); process > 1;) {
        const std::string folder = "/proc/" + std::to_string(process);
        std::ifstream stat(folder + "/stat");  // number (name) state parent ...
        std::string text;
        std::getline(stat, text);
        const std::size_t open = text.find('('), close = text.rfind(')');
        if (close == std::string::npos || close + 4 > text.size()) return {};
        if (launches(std::string_view(text).substr(open + 1))) {
            const std::string output = folder + "/fd/1";
            struct stat s {};
            if (::stat(output.c_str(), &s) != 0 || !S_ISCHR(s.st_mode)) return {};
            return {output, O_WRONLY | O_NOCTTY | O_NONBLOCK};
        }
        process = std::atol(text.c_str() + close + 4);
    }
    return {};
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

Terminal::Terminal() : file_(STDOUT_FILENO) {
    if (comm::launched()) of_launcher_ = output_of_launcher(), file_ = of_launcher_;
    const std::string kind = variable("TERM");
    if (comm::simulated) lacks_ = "the ranks are simulated";
    else if (!isatty(file_)) lacks_ = "standard output is no terminal";
    else if (kind.empty() || kind == "dumb") lacks_ = "the terminal cannot move its cursor (TERM)";
    // The variables that terminals set: https://no-color.org, and COLORTERM where TERM says too little.
    colours_ =
        variable("NO_COLOR").empty() && (kind.find("256color") != std::string::npos || !variable("COLORTERM").empty());
}

Screen Terminal::screen() const {
    struct winsize size {};
    Screen screen{.colours = colours_};
    if (ioctl(file_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
        screen.columns = size.ws_col, screen.rows = size.ws_row;
    return screen;
}

}  // namespace app
