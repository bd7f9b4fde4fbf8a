// For Icarus: $kestrel_fork, the fork server, before the bench has read its request, and $kestrel_end, which ends the run.
#include <vpi_user.h>

#include "fork_server.h"

static PLI_INT32 fork_here(PLI_BYTE8*) {
    fork_server();
    return 0;
}

static PLI_INT32 await_here(PLI_BYTE8*) {
    await_run();
    return 0;
}

static PLI_INT32 end_here(PLI_BYTE8*) {
    end_run();
}

static void register_tasks() {
    static char fork_name[] = "$kestrel_fork", await_name[] = "$kestrel_await", end_name[] = "$kestrel_end";
    s_vpi_systf_data fork_task = {vpiSysTask, 0, fork_name, fork_here, nullptr, nullptr, nullptr};
    s_vpi_systf_data await_task = {vpiSysTask, 0, await_name, await_here, nullptr, nullptr, nullptr};
    s_vpi_systf_data end_task = {vpiSysTask, 0, end_name, end_here, nullptr, nullptr, nullptr};
    vpi_register_systf(&fork_task);
    vpi_register_systf(&await_task);
    vpi_register_systf(&end_task);
}

extern "C" {
void (*vlog_startup_routines[])() = {register_tasks, nullptr};
}
