// SPDX-License-Identifier: MIT
// A column's place in its list is its place in the file; a new one goes to the end, so that readers by place go on
// working. A restart cannot continue a file of other columns: it puts it aside.
#include "app/output/series/tables.hpp"

namespace app {
namespace {

// A number of ThermoRow::values.
template <class Value>
auto of_values(Value value) {
    return [value](const ThermoRow& row) { return std::invoke(value, row.values); };
}

}  // namespace

Columns<ThermoRow> thermo_columns(const md::System& system) {
    Columns<ThermoRow> columns{
        column<ThermoRow>("step", "", &ThermoRow::step, "step number"),
        column<ThermoRow>("time", "tau", &ThermoRow::time, "physical time"),
        column<ThermoRow>("particles", "", &ThermoRow::particles, "number of particles"),
        column<ThermoRow>("kinetic", "epsilon", of_values(&md::Thermo::kinetic), "kinetic energy of the whole system"),
        column<ThermoRow>("potential", "epsilon", of_values(&md::Thermo::potential),
                          "potential energy of the whole system"),
        column<ThermoRow>("total", "epsilon", of_values(&md::Thermo::total),
                          "their sum, and `external` where there is one")};
    for (int a = 0; a < system.dimensions; ++a)
        columns.push_back(column<ThermoRow>(
            std::string("momentum_") + "xyz"[a], "m sigma / tau",
            [a](const ThermoRow& r) { return r.values.momentum[a]; },
            std::string("momentum of the whole system along ") + "xyz"[a] +
                (a == 2 ? "; in three dimensions only" : "")));
    columns.push_back(column<ThermoRow>("temperature", "epsilon", of_values(&md::Thermo::temperature),
                                        "K' / (n - 1), K' the kinetic energy in the frame of the centre of mass, n the "
                                        "particles; in three dimensions 2 K' / (3 (n - 1))"));
    columns.push_back(column<ThermoRow>("pressure", "epsilon / sigma^2", of_values(&md::Thermo::pressure),
                                        "(K' + W / 2) / area, W the sum over all pairs of distance times force; in "
                                        "three dimensions (2 K' + W) / (3 volume), epsilon / sigma^3"));
    if (md::has_external_energy(system))
        columns.push_back(column<ThermoRow>("external", "epsilon", of_values(&md::Thermo::external),
                                            "potential energy of gravity (0 at the origin) and of walls"));
    if (system.thermostat.kind != md::ThermostatKind::none)
        columns.push_back(
            column<ThermoRow>("heat", "epsilon", of_values(&md::Thermo::heat),
                              "energy that the thermostat has given so far, before its action at this step"));
    if (md::has_motion(system))
        columns.push_back(column<ThermoRow>("work", "epsilon", of_values(&md::Thermo::work),
                                            "energy that moving faces have given so far"));
    return columns;
}

const Columns<TimingRow>& timing_columns() {
    static const Columns<TimingRow> columns{
        column<TimingRow>("step", "", &TimingRow::step, "step number"),
        column<TimingRow>("wall_seconds", "s", &TimingRow::wall_seconds,
                          "wall time since the start; a restart goes on counting", "{:.6f}"),
        column<TimingRow>("cpu_seconds", "s", &TimingRow::cpu_seconds,
                          "CPU time of all ranks and threads since the start", "{:.6f}")};
    return columns;
}

const Columns<BalanceRow>& balance_columns() {
    using R = BalanceRow;
    static const Columns<R> columns{
        column<R>("step", "", &R::step, "step number"),
        column<R>("model", "", &R::model,
                  "load model, or the name of an entry of `compare`; `none` if the driver's partition never changes "
                  "(`partition.kind: none`)"),
        column<R>(
            "driver", "", [](const R& r) { return r.driver ? 1 : 0; },
            "1 for the model that decides for the run, 0 for those in `compare`"),
        column<R>("lbe", "0 to 1", &R::lbe, "mean over largest time, of the partition in use before this row"),
        column<R>("lbe_model", "0 to 1", &R::lbe_model,
                  "LBE_m of the partition in use from this row on, by the loads of `load_step`"),
        column<R>("mean_seconds", "s per step", &R::mean_seconds,
                  "mean time of a process. By the wall clock: thread time since the last balancing over its steps. By "
                  "counted work: of the state at this step"),
        column<R>("max_seconds", "s per step", &R::max_seconds, "largest time of a process, likewise"),
        column<R>("model_seconds", "s", &R::model_seconds, "wall time of the model on rank 0; 0 if it did not run",
                  "{:.6f}"),
        column<R>("partition_seconds", "s", &R::partition_seconds,
                  "wall time of the partitioner on rank 0; 0 if it did not run", "{:.6f}"),
        column<R>("migrate_seconds", "s", &R::migrate_seconds,
                  "wall time of the migration and the new tiles on rank 0 (driver only)", "{:.6f}"),
        column<R>(
            "cells_moved", "", [](const R& r) { return r.moved.cells; },
            "cells that changed their process; for compared models, those that would have"),
        column<R>(
            "particles_moved", "", [](const R& r) { return r.moved.particles; }, "particles, likewise"),
        column<R>("ghost_cells", "", &R::ghost_cells,
                  "ghost cells of all processes, one cell wide, in the partition in use from this row on"),
        column<R>("lbe_observed", "0 to 1", &R::lbe_observed,
                  "LBE of the times that the model saw: differs from `lbe` with `balance.noise` only"),
        column<R>(
            "decision", "", [](const R& r) { return balance::word_of(r.decision); }, "see below"),
        column<R>("lost_seconds", "s", &R::lost_seconds,
                  "what was lost by not balancing, as the criterion counts it; 0 with `every`"),
        column<R>("move_seconds", "s", &R::move_seconds,
                  "cost of a balancing as it is known from this row on; where the model ran, that of the new "
                  "partition; 0 with `every`"),
        column<R>("lbe_reachable", "0 to 1", &R::lbe_reachable,
                  "LBE_m of the partition that was computed last before this row, taken or not; `gain` measures the "
                  "loss against it"),
        column<R>("load_step", "", &R::load_step, "step of whose loads `lbe_model` is"),
        column<R>("criterion", "", &R::criterion, "which said whether to balance"),
        column<R>("ghost_bytes", "bytes", &R::ghost_bytes,
                  "that all processes receive in one exchange of those ghost cells, by the counts of this step; by the "
                  "wall clock 0 if the partition is kept")};
    return columns;
}

const Columns<ResourceRow>& resource_columns() {
    using R = ResourceRow;
    static const Columns<R> columns{
        column<R>("step", "", &R::step, "step number"), column<R>("resource", "", &R::process, "number of the process"),
        column<R>("speed", "mean 1", &R::speed,
                  "speed as found so far, relative to the mean of all processes; how: [models.md](models.md#speeds)",
                  "{:.6g}"),
        column<R>("load", "mean 1", &R::load, "of the partition in use from this row on, as the driver models it",
                  "{:.6g}"),
        column<R>("seconds", "s per step", &R::seconds,
                  "time that the process took in the partition before, as the models saw it", "{:.6g}")};
    return columns;
}

const Columns<ZoneRow>& zone_columns() {
    using R = ZoneRow;
    static const Columns<R> columns{
        column<R>("step", "", &R::step, "step number"),
        column<R>("rank", "", &R::rank, "rank"),
        column<R>(
            "share", "0 to 1", &R::share,
            "part of the rank's load on its accelerators up to this check. A cell's load is its counted work with "
            "`balance.clock: work`, else what a cell of so many particles usually costs (`balance.constants.costs`)",
            "{:.6g}"),
        column<R>("cpu_load", "0 to 1", &R::cpu_load,
                  "how busy the CPU was: CPU time of the process / threads / elapsed time. Where threads stand in for "
                  "accelerators they would count as the CPU, so there it is the time that the other threads computed "
                  "their cells",
                  "{:.4f}"),
        column<R>("cpu_seconds", "s per step", &R::cpu_seconds,
                  "elapsed time in which the CPU's threads computed the forces of their cells", "{:.6g}"),
        column<R>("accelerator_seconds", "s per step", &R::accelerator_seconds,
                  "the same, of the accelerator that worked longest", "{:.6g}"),
        column<R>(
            "decision", "", [](const R& r) { return balance::word_of(r.decision); },
            "`kept`, `cpu grows`, `accelerator grows`; where the correction is smaller than half a strip of cells, the "
            "border does not move yet"),
        column<R>("next_share", "0 to 1", &R::next_share,
                  "share from this check on, by the loads of now, where `share` is by those of the check before",
                  "{:.6g}"),
        column<R>("most_share", "0 to 1", &R::most_share, "the most that `accelerator.reach` allows", "{:.6g}"),
        column<R>("speed", "", &R::speed,
                  "of the rank's accelerators together, relative to its CPU, as found so far; 0: not found", "{:.6g}")};
    return columns;
}

const Columns<MapRow>& map_columns() {
    using R = MapRow;
    static const Columns<R> columns = [] {
        Columns<R> made{column<R>("step", "", &R::step, "step number")};
        for (const char* end : {"0", "1"})
            for (int a = 0; a < 3; ++a)
                made.push_back(column<R>(
                    "xyz"[a] + std::string(end), "cells",
                    [a, upper = *end == '1'](const R& r) { return upper ? r.cells.upper[a] : r.cells.lower[a]; },
                    std::string(*end == '0' ? "first cell of the block along " : "cell behind its last one along ") +
                        "xyz"[a]));
        made.push_back(column<R>("particles", "", &R::particles, "number of particles in the block"));
        made.push_back(column<R>("load", "s per step", &R::load,
                                 "of its cells, as the driver modelled it last; `nan`: it has learnt from no times",
                                 "{:.4g}"));
        made.push_back(column<R>("owner", "", &R::owner, "process that owns most of its cells"));
        made.push_back(column<R>("zone", "", &R::zone,
                                 "what computes most of them: 0 the CPU, 1 the rank's first accelerator, ..."));
        return made;
    }();
    return columns;
}

const Columns<RankRow>& rank_columns() {
    using R = RankRow;
    static const Columns<R> columns = [] {
        Columns<R> made{
            column<R>("step", "", &R::step, "step number"),
            column<R>("start", "", &R::start,
                      "start of the program that wrote the row: 0 the first one, 1 its first restart, ..."),
            column<R>("rank", "", &R::rank, "rank"),
            column<R>("node", "", &R::node, "node that it runs on, by the order of their first ranks"),
            column<R>("particles", "", &R::particles, "number of particles on the rank"),
            column<R>("wall_seconds", "s", &R::wall_seconds, "wall time since this start of the program", "{:.6f}")};
        constexpr std::array meanings{"forces and integration",
                                      "sorting particles, making neighbour rows",
                                      "copying the ghost cells, waiting for neighbours included",
                                      "waiting for accelerators",
                                      "particles that change their tile or process",
                                      "measuring, models, partitions",
                                      "writing files"};
        static_assert(meanings.size() == phase_names.size());
        for (std::size_t p = 0; p < phase_names.size(); ++p)
            made.push_back(column<R>(
                std::string(phase_names[p]), "s", [p](const R& r) { return r.phases[p]; }, meanings[p], "{:.6f}"));
        made.push_back(column<R>("wait_seconds", "s", &R::wait_seconds,
                                 "part of `ghosts`: waiting for messages of neighbours", "{:.6f}"));
        made.push_back(column<R>("messages", "", &R::messages, "messages of the halo that the rank has sent"));
        made.push_back(column<R>("bytes", "bytes", &R::bytes, "in them"));
        return made;
    }();
    return columns;
}

}  // namespace app
