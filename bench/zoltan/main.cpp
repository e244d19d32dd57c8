// SPDX-License-Identifier: MIT
// zoltan_parts METHOD PARTS NX NY NZ PERIODIC <LOADS: partitions of cells by Zoltan (Devine et al. 2002).
//   - METHOD: RCB, HSFC, or HYPERGRAPH (PHG). A hyperedge is a cell with its neighbours. Its cut counts ghost cells.
//   - PERIODIC: a 0 or 1 for each axis, as 110.
//   - LOADS: of all cells (x, then y, then z) at one moment after the other; binary, 64-bit integers.
// Prints a line for each moment after the first: LBE_m, ghost cells, cells that moved since the moment before, seconds
// of Zoltan. The quality is computed by the functions that compute that of our own partitions.
#include <zoltan.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <utility>

#include "balance/partition/cell_graph.hpp"
#include "balance/partition/quality.hpp"

namespace {

struct Cells {
    const balance::Grid& grid;
    const balance::CellGraph& graph;
    std::vector<std::int32_t> part;  // before
};
const Cells& cells_in(void* data) { return *static_cast<Cells*>(data); }

int cell_count(void* data, int* error) {
    *error = ZOLTAN_OK;
    return static_cast<int>(cells_in(data).part.size());
}

void list_cells(void* data, int, int, ZOLTAN_ID_PTR global, ZOLTAN_ID_PTR local, int, float* weight, int*) {
    const Cells& cells = cells_in(data);
    for (unsigned c = 0; c < cells.part.size(); ++c) {
        global[c] = local[c] = c;
        weight[c] = static_cast<float>(cells.graph.weight[c]);
    }
}

void parts_before(void* data, int, int, int n, ZOLTAN_ID_PTR cell, ZOLTAN_ID_PTR, int* part, int*) {
    for (int i = 0; i < n; ++i) part[i] = cells_in(data).part[cell[i]];
}

int dimensions(void* data, int*) { return cells_in(data).grid.dimensions; }

void centres(void* data, int, int, int n, ZOLTAN_ID_PTR cell, ZOLTAN_ID_PTR, int axes, double* x, int*) {
    const auto [_, ny, nz] = cells_in(data).grid.cells;
    for (int i = 0; i < n; ++i) {
        const int c = static_cast<int>(cell[i]), at[] = {c / nz / ny, c / nz % ny, c % nz};
        for (int a = 0; a < axes; ++a) x[axes * i + a] = at[a] + 0.5;
    }
}

void edge_sizes(void* data, int* edges, int* pins, int* format, int*) {
    const Cells& cells = cells_in(data);
    *edges = static_cast<int>(cells.part.size());
    *pins = *edges + static_cast<int>(cells.graph.neighbours.size());
    *format = ZOLTAN_COMPRESSED_EDGE;
}

void edges(void* data, int, int n, int, int, ZOLTAN_ID_PTR edge, int* first, ZOLTAN_ID_PTR pins, int*) {
    const balance::CellGraph& graph = cells_in(data).graph;
    for (int c = 0, pin = 0; c < n; ++c) {
        edge[c] = pins[pin] = c;
        first[c] = pin++;
        for (int i = graph.first[c]; i < graph.first[c + 1]; ++i) pins[pin++] = graph.neighbours[i];
    }
}

void require(int code) {
    if (code == ZOLTAN_OK || code == ZOLTAN_WARN) return;
    std::fprintf(stderr, "zoltan_parts: Zoltan fails with code %d\n", code);
    std::exit(1);
}

// Kept from one moment to the next: then fewer cells move.
Zoltan_Struct* made(const char* method, const char* parts) {
    Zoltan_Struct* zoltan = Zoltan_Create(MPI_COMM_WORLD);
    for (const auto& [key, value] : {std::pair{"DEBUG_LEVEL", "0"},
                                     {"LB_METHOD", method},
                                     {"LB_APPROACH", "PARTITION"},
                                     {"NUM_GLOBAL_PARTS", parts},
                                     {"IMBALANCE_TOL", "1.001"},  // METIS and Scotch are asked for the same
                                     {"OBJ_WEIGHT_DIM", "1"},
                                     {"RETURN_LISTS", "PARTS"}})
        require(Zoltan_Set_Param(zoltan, key, value));
    return zoltan;
}

std::vector<std::int32_t> parts_by(Zoltan_Struct* zoltan, Cells& cells, double& seconds) {
    Zoltan_Set_Num_Obj_Fn(zoltan, cell_count, &cells);
    Zoltan_Set_Obj_List_Fn(zoltan, list_cells, &cells);
    Zoltan_Set_Part_Multi_Fn(zoltan, parts_before, &cells);
    Zoltan_Set_Num_Geom_Fn(zoltan, dimensions, &cells);
    Zoltan_Set_Geom_Multi_Fn(zoltan, centres, &cells);
    Zoltan_Set_HG_Size_CS_Fn(zoltan, edge_sizes, &cells);
    Zoltan_Set_HG_CS_Fn(zoltan, edges, &cells);
    int changes, words, local_words, imported, exported, *from, *from_part, *to, *to_part;
    ZOLTAN_ID_PTR import_global, import_local, export_global, export_local;
    seconds = -MPI_Wtime();
    require(Zoltan_LB_Partition(zoltan, &changes, &words, &local_words, &imported, &import_global, &import_local, &from,
                                &from_part, &exported, &export_global, &export_local, &to, &to_part));
    seconds += MPI_Wtime();
    std::vector<std::int32_t> part = cells.part;
    for (int i = 0; i < exported; ++i) part[export_global[i]] = to_part[i];
    Zoltan_LB_Free_Part(&export_global, &export_local, &to, &to_part);
    return part;
}

void partition_all(char** arguments) {
    balance::Grid grid;
    for (int a = 0; a < 3; ++a) grid.cells[a] = std::atoi(arguments[3 + a]), grid.periodic[a] = arguments[6][a] == '1';
    grid.dimensions = grid.cells[2] > 1 ? 3 : 2;
    const balance::SerialTeam team;
    const balance::PartitionOptions options{.processes = std::atoll(arguments[2])};
    std::vector<std::int64_t> load(grid.box().cells());
    std::vector<std::int32_t> part(load.size(), 0);
    std::optional<balance::Owners> before;
    Zoltan_Struct* zoltan = made(arguments[1], arguments[2]);
    while (std::cin.read(reinterpret_cast<char*>(load.data()), load.size() * sizeof(load[0]))) {
        double seconds = 0;
        const balance::PartitionInput input{team, grid, {options.processes, 1}, load, {}};
        const balance::Partition cut =
            balance::partition_graph(input, options, [&](const balance::CellGraph& graph, std::span<const double>) {
                Cells cells{grid, graph, part};
                return part = parts_by(zoltan, cells, seconds);
            });
        const balance::Owners owners(grid, grid.box(), balance::all_of(cut));
        if (before)
            std::printf("%.17g %lld %lld %.6f\n",
                        balance::efficiency(sums_by_process(team, owners, load, options.processes)),
                        static_cast<long long>(balance::ghost_cells(owners)),
                        static_cast<long long>(balance::moved_between(*before, owners, load).cells), seconds);
        before = owners;
    }
    Zoltan_Destroy(&zoltan);
}

}  // namespace

int main(int argc, char** argv) {
    float version;
    MPI_Init(&argc, &argv);
    if (argc != 7 || Zoltan_Initialize(argc, argv, &version) != ZOLTAN_OK) {
        std::fprintf(stderr, "usage: zoltan_parts RCB|HSFC|HYPERGRAPH PARTS NX NY NZ PERIODIC <LOADS\n");
        return 2;
    }
    partition_all(argv);
    MPI_Finalize();
}
