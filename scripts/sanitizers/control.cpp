// SPDX-License-Identifier: MIT
// One fault of each kind that the sanitizers look for, chosen by the argument, so that their silence about the program
// means something; `none` is a correct OpenMP program about which they must be silent.
#include <omp.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
    const char* fault = argc > 1 ? argv[1] : "none";
    const auto is = [&](const char* name) { return std::strcmp(fault, name) == 0; };
    std::vector<int> values(8, argc);
    values.reserve(64);
    int sum = 0;
    if (is("heap")) sum = values.data()[64];
    if (is("capacity")) sum = values.data()[8];
    if (is("overflow")) sum = INT_MAX - 1 + argc;
    if (is("assertion")) sum = values[8];
    if (is("leak")) values[0] = *static_cast<volatile int*>(std::calloc(4, 1024));
    if (is("race")) {
#pragma omp parallel num_threads(2)
        for (int i = 0; i < 1000; ++i) sum += i;
    }
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = omp_get_thread_num(), sum += values[i];
    std::printf("%d\n", sum);
}
