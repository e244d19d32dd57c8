// SPDX-License-Identifier: MIT
// Makes a function of comm/ fail on one rank. In the program `steelyard_faults` comm/ is compiled so that each of its
// functions comes by here when it begins (-finstrument-functions). Two variables of the environment say what to do:
//   FAULT="RANK SYMBOL CALL KIND FILE"   on that rank, that call (from 1) of that function throws: std::bad_alloc where
//                                        KIND is memory, else std::runtime_error; FILE is made at that moment
//   CALLS=FILE                           at its end each rank writes to FILE.RANK how often each function was called,
//                                        and for each place that calls it which of these calls was the first from there
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

bool on_this_rank(int rank) {
    const char* mine = std::getenv("PMI_RANK");
    return mine && std::atoi(mine) == rank;
}

class Fault {
public:
    Fault() {
        const char* given = std::getenv("FAULT");
        if (!given) return;
        int rank = 0;
        std::string symbol;
        std::istringstream(given) >> rank >> symbol >> call_ >> kind_ >> file_;
        if (on_this_rank(rank)) function_ = dlsym(RTLD_DEFAULT, symbol.c_str());
    }
    void at(const void* function) {
        if (function != function_ || ++calls_ != call_) return;
        std::ofstream(file_) << "now\n";
        if (kind_ == "memory") throw std::bad_alloc();
        throw std::runtime_error("a fault that was made on purpose");
    }

private:
    const void* function_ = nullptr;
    int call_ = 0;
    std::atomic<int> calls_ = 0;
    std::string kind_, file_;
};

class Calls {
public:
    Calls() {
        const char* file = std::getenv("CALLS");
        const char* rank = std::getenv("PMI_RANK");
        if (file && rank) file_ = std::string(file) + "." + rank;
    }
    ~Calls() {
        if (file_.empty()) return;
        std::ofstream out(file_);
        for (const auto& [function, calls] : functions_) {
            Dl_info info{};
            if (!dladdr(function, &info) || info.dli_saddr != function) continue;  // of one file alone
            out << info.dli_sname << ' ' << calls.count;
            for (const auto& [place, first] : calls.first_from) out << ' ' << first;
            out << '\n';
        }
        file_.clear();
    }
    void at(const void* function, const void* place) {
        if (file_.empty()) return;
        const std::lock_guard lock(mutex_);
        OfFunction& f = functions_[function];
        f.first_from.try_emplace(place, ++f.count);
    }

private:
    struct OfFunction {
        int count = 0;
        std::map<const void*, int> first_from;
    };
    std::string file_;
    std::mutex mutex_;
    std::map<const void*, OfFunction> functions_;
};

}  // namespace

extern "C" {

void __cyg_profile_func_enter(void* function, void* place) {
    static Calls calls;
    static Fault fault;
    calls.at(function, place);
    fault.at(function);
}
void __cyg_profile_func_exit(void*, void*) {}
}
