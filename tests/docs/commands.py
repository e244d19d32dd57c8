# SPDX-License-Identifier: MIT
"""The way in which test_docs.py treats each command of README and docs. The first entry counts whose pattern the
command starts with.

("quick", pattern, {text: instead}, {text: shorter})   run, always with the first replacements, in CI with both
("slow", pattern, {text: instead})                     run under the label slow only
("elsewhere", pattern, reason)                         not run here: the test of it, or why nobody can
("text", pattern, reason)                              an indented block whose first line is no command
The text "$" stands for the end of the command.
"""
RUN = r"(mpiexec\.mpich -n \d+ )?build/steelyard run inputs/"
FEW = {"$": " --set run.steps=200"}

COMMANDS = [
    # README.md
    ("slow", r"scripts/quickstart\.sh$", {}),
    ("quick", RUN + r"slab\.yaml --out out/two_ranks$", {}, FEW),
    ("quick", r"build/steelyard check$", {}, {}),
    ("quick", r"build/steelyard check inputs/slab\.yaml$", {}, {}),
    ("quick", RUN + r"slab\.yaml --out out/less_dense ", {}, FEW),
    ("quick", RUN + r"slab\.yaml --out out/long --set", {}, {"=4000": "=100", "every=1000": "every=25"}),
    ("quick", RUN + r"slab\.yaml --out out/long --restart auto", {}, {"every=1000": "every=25", **FEW}),
    ("quick", "build/steelyard info out/long/", {}, {"checkpoint_8000": "checkpoint_200"}),
    ("quick", RUN + r"slab\.yaml --out out/balance ", {}, FEW),
    ("quick", RUN + r"strip_t1\.yaml --restart restarts/strip_t1\.h5 --out out/strip ", {}, {}),
    ("quick", r"scripts/report\.py out/strip --pictures png$", {}, {}),
    ("slow", r"scripts/reproduce/load_models\.py --quick$", {}),
    ("elsewhere", r"cmake --build build --target \w+$|build/bench/bench_nested$", "test_nested checks its results"),
    ("elsewhere", r"build/bench/bench_members ", "a benchmark; test_many_members makes balancings in the same way"),
    ("elsewhere", r"scripts/reproduce/speeds\.py( --wall)?$", "minutes; results_speeds has the same runs"),
    ("elsewhere", r"scripts/reproduce/load_models\.py( --space --quick)?$", "an hour; with --quick, label slow"),
    ("text", "app/ ", "the folders of the source"),
    # docs/expected.md
    ("elsewhere", r"scripts/expected\.py( |$)|build/steelyard selftest$", "expected and expected_all call both"),
    # docs/python.md
    ("elsewhere", r"TARGET=python_module scripts/build\.sh$|pip install \.", ""),
    ("elsewhere", r"PYTHONPATH=build/python python3 examples/python/", "python_results runs all examples"),
    # docs/report.md
    ("quick", RUN + r"tiny\.yaml --out out/look ", {}, FEW),
    ("quick", r"scripts/report\.py out/look$", {}, {}),
    ("quick", r"scripts/report\.py --watch out/look$", {}, {}),
    ("quick", r"scripts/report\.py out/balance out/less_dense --output out/both\.html$", {}, {}),
    ("quick", r"scripts/report\.py out/balance --pictures pdf$", {}, {}),
    ("quick", r"scripts/report\.py out/balance out/less_dense --pictures png --only map ", {}, {}),
    ("quick", RUN + r"slab\.yaml --out out/collision ", {}, FEW),
    ("quick", r"scripts/report\.py out/collision --pictures png --only map ", {}, {}),
    ("quick", RUN + r"collision_3d\.yaml --out out/space ", {}, {"=900": "=20", "every=300": "every=10"}),
    ("quick", r"scripts/report\.py out/space --pictures png --only particles ", {}, {"--steps 0 300 900": ""}),
    # docs/choose.md
    ("quick", RUN + r"slab\.yaml --out out/balanced ", {}, FEW),
    ("quick", RUN + r"slab\.yaml --out out/recorded ", {}, {"=500": "=50"}),
    ("quick", r"build/steelyard replay out/recorded/loads\.h5 ", {}, {}),
    ("quick", RUN + r"slab\.yaml --out out/chosen ", {}, FEW),
    # docs/experiment.md
    ("elsewhere", r"scripts/reproduce/criteria\.py$", "ten minutes; replay_optimum has the same replays"),
    # docs/systems.md
    ("quick", RUN + r"droplet\.yaml --out out/droplet$", {"$": " --set run.steps=2000"}, FEW),
    ("quick", RUN + r"shell_3d\.yaml --out out/shell$", {"$": " --set run.steps=500"}, FEW),
    # docs/gallery.md
    ("quick", RUN + r"gallery/impact\.yaml --out out/impact ", {}, {"=1000": "=10", "$": " --set run.steps=20"}),
    ("quick", r"scripts/report\.py out/impact --pictures png$", {}, {}),
    ("quick", RUN + r"gallery/dial\.yaml --out out/dial ", {}, {}),
    ("quick", r"scripts/reproduce/gallery\.py --quick$", {}, {"$": " --only dial"}),
    ("elsewhere", r"scripts/reproduce/gallery\.py$", "some ten minutes; with --quick it runs above"),
    ("quick", RUN + r"launch/equilibrate\.yaml$", {}, {}),
    ("quick", RUN + r"launch/launch\.yaml$", {"$": " --set run.steps=2000"}, FEW),
    # docs/forces.md
    ("quick", RUN + r"droplet\.yaml --out out/falling ", {"$": " --set run.steps=2500"}, FEW),
    # docs/replay.md
    ("quick", RUN + r"tiny\.yaml --out out/series ", {}, FEW),
    ("quick", r"build/steelyard replay out/series/loads\.h5 ", {}, {}),
    ("quick", r"scripts/report\.py out/replay --pictures png$", {}, {}),
    ("slow", r"scripts/reproduce/load_series\.py --quick$", {}),
    ("quick", RUN + r"tiny\.yaml --out out/boxes ", {}, FEW),
    ("quick", r"scripts/convert_loads\.py out/boxes/lbaf ", {}, {}),
    ("quick", r"build/steelyard replay out/boxes\.h5 ", {}, {}),
    ("elsewhere", r"build/steelyard replay loads\.h5 ", "replay_foreign replays such a series"),
    # docs/extend.md
    ("elsewhere", r"(TARGET=|build/tests/balance/)test_load_model\b", "scripts/test.sh builds and runs it"),
    ("elsewhere", r"build/steelyard check > docs/deck\.md", "this test compares the page with what the program prints"),
    ("quick", RUN + r"strip_t1\.yaml --restart \S+ --out out/pairs ", {"=pairs": "=particle_count"}, {}),
    ("quick", r"scripts/report\.py out/pairs --pictures png --only lbe$", {}, {}),
    # docs/install.md
    ("elsewhere", r"(TARGET=steelyard )?scripts/build\.sh( -D|$)", "scripts/test.sh builds with it"),
    ("quick", "cmake --install build --prefix /opt/steelyard$", {"/opt/steelyard": '"$PWD/prefix"'}, {}),
    ("quick", r"/opt/steelyard/share/steelyard/report\.py out/two_ranks ", {"/opt/steelyard": '"$PWD/prefix"'}, {}),
    ("elsewhere", "module load |export CMAKE_PREFIX_PATH=", "modules and folders of a cluster, which are not here"),
    ("elsewhere", r"cmake -S \. -B build -D|cmake --build build ", "scripts/build.sh does the same"),
    ("elsewhere", "srun ", "Slurm is not here; mpiexec starts the same program in other commands"),
    ("elsewhere", r"(mpiexec\.mpich -n 2 )?scripts/arm\.sh |cd build && ctest -L arm$", "arm_ranks, where QEMU is"),
    # docs/packaging.md
    ("elsewhere", "umask 022|TARGET=.steelyard replay_messages. scripts/build|apt install ", "package_try does so"),
    ("quick", "cmake --install build --component program ", {"/opt/steelyard-0.2.0": '"$PWD/prefix"'}, {}),
    ("elsewhere", r"scripts/package\.sh( --\w+)?$", "package_try and package_container, label slow"),
    ("elsewhere", "(podman|apptainer) ", "package_container builds the same Containerfile by Buildah"),
    ("elsewhere", 'spack |ln -s "|benchpark |reframe ', "these programs are not here"),
    # docs/reliability.md
    ("elsewhere", r"scripts/fuzz\.sh 60 ", "a build with clang, and two minutes"),
    ("elsewhere", "export OMPI_", "settings for Open MPI; the tests use the MPI of the build"),
    ("elsewhere", r"cmake -S \. -B build-balance |cmake --(build|install) build-balance", "the test library does so"),
    ("elsewhere", "cmake -S examples/balance |cmake --build build-example|build-example/", "the test library does so"),
    ("elsewhere", r"cmake -S \. -B build-engine |cmake --build build-engine|build-engine/", "engine_example"),
    # docs/nested.md
    ("quick", r"build/steelyard partition inputs/\w+\.yaml --out out/nested_3d ", {}, {"600, 400, 400": "60, 40, 40"}),
    ("quick", r"(mpiexec\.mpich -n \d+ )?build/steelyard partition inputs/nested_1600x320\.yaml --out out/", {}, {}),
    ("quick", r"scripts/report\.py out/(nodes32|nested) --pictures png$", {}, {}),
    ("slow", r"scripts/reproduce/nested\.py$", {}),
    ("elsewhere", r"scripts/reproduce/nested\.py --simulated$", "simulated_accelerators, where SimGrid is"),
    # docs/prediction.md
    ("quick", r"scripts/reproduce/data_parallel\.py$", {}, {}),
    ("quick", r"(mpiexec\.mpich -n \d+ )?build/steelyard predict inputs/", {}, {}),
    ("quick", r"scripts/report\.py out/prediction --pictures png --only prediction$", {}, {}),
    ("quick", RUN + r"slab\.yaml --out out/predicted ", {}, FEW),
    ("quick", r"scripts/simulate/machine\.py tianhe1a out/", {}, {}),
    # docs/zones.md
    ("slow", r"scripts/reproduce/zones\.py$", {}),
    ("elsewhere", r"scripts/reproduce/zones\.py --real", "minutes; accelerator_hash has the same runs"),
    ("quick", RUN + r"zones\.yaml --out out/zones$", {}, FEW),
    ("quick", r"scripts/report\.py out/zones --pictures png$", {}, {}),
    # docs/messages.md
    ("quick", RUN + r"slab\.yaml --out out/traced ", {}, FEW),
    ("quick", r"mpiexec\.mpich -n 2 build/replay_messages out/messages\.csv", {}, {}),
    ("elsewhere", r"scripts/reproduce/messages\.py$", "simulated_messages, where SimGrid is"),
    # docs/simulation.md
    ("elsewhere", r"scripts/setup\.sh --simulate|TARGET=\w+ scripts/build\.sh smpi", "for SimGrid, as the next one"),
    ("elsewhere", r"((PLATFORM|PROGRAM|PLATFORM_SET)=\S+ )*scripts/simulate\.sh ", "simulated_ranks, where SimGrid is"),
    # docs/states.md
    ("quick", RUN + r"tiny\.yaml --out out/state ", {}, {}),
    ("quick", r"scripts/export_lammps\.py out/state/checkpoint_200\.h5 ", {}, {}),
    ("elsewhere", r"scripts/import_state\.py argon\.gro ", "states_convert makes such a file and converts it"),
    # docs/output.md, docs/potentials.md, restarts/README.md
    ("quick", RUN + r"tiny\.yaml --out out/formats ", {}, FEW),
    ("quick", r"gpmetis out/formats/metis/step_200\.graph 12$", {}, {}),
    ("quick", RUN + r"tiny\.yaml --out out/frames ", {}, {}),
    ("elsewhere", RUN + r"strip\.yaml --out out/strip_t0$|cp out/strip_t0/", "program_stages runs this deck"),
    ("quick", r"build/steelyard info restarts/strip_t1\.h5$", {}, {}),
    ("text", "system:", "a part of a deck; test_deck reads such decks"),
    ("quick", RUN + r"strip_t1\.yaml --restart restarts/strip_t1\.h5$", {}, {"$": " --set run.steps=1200"}),
]

OTHER_OPTIONS = {"--mpi": "srun", "--component": "cmake --install"}  # options in the text that belong to other programs
