// The time of the bench in Verilator. The model is made once, with its registers set, and never evaluated before the fork server:
// every run starts it at time 0.
// Arguments: how registers start, 0 zeros, 1 ones, 2 at random, and the seed of chance; then the arguments of the simulation.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "Vkestrel_bench.h"
#include "fork_server.h"
#include "verilated.h"

// Verilator's own one prints at the end of every run, too.
void vl_finish(const char* file, int line, const char*) {
    if (std::string{file}.find("kestrel_bench_files.v") == std::string::npos) std::printf("$finish in %s, line %d\n", file, line);
    Verilated::threadContextp()->gotFinish(true);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    VerilatedContext context;
    context.threads(1);  // a thread that is there before the fork is missed behind it
    context.commandArgs(argc, argv);
    context.randReset(std::atoi(argv[1]));
    context.randSeed(std::atoi(argv[2]));
#if VM_TRACE
    context.traceEverOn(true);
#endif
    Vkestrel_bench bench{&context};
    bench.clk = 1;
    bench.sample = 0;
    fork_server();
    await_run();
    bench.eval();
    while (!context.gotFinish()) {
        context.timeInc(5000);
        bench.clk = 0;
        bench.eval();
        context.timeInc(4000);
        bench.sample = 1;
        bench.eval();
        context.timeInc(1000);
        bench.clk = 1;
        bench.sample = 0;
        bench.eval();
    }
#if VM_TRACE
    bench.final();
    return 0;
#else
    end_run();  // taking the model apart costs more than a short run
#endif
}
