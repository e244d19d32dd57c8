// SPDX-License-Identifier: MIT
// Machine files.
#include "app/deck/machine_file.hpp"
#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    const app::MachineFile machine = app::read_machine(file_of(input), world());
    const std::string written = app::to_yaml(machine);
    require(accepted([&] {
                const app::MachineFile again = app::read_machine(file_of(written), world());
                require(app::to_yaml(again) == written, "a machine file is read back to the same bits");
            }),
            "what is written of a machine can be read");
}
