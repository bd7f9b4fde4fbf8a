/* fork_server: comes back in a fresh process for each run, and never in the process that serves. The process of the next run is
 * made while the one before it is busy; await_run holds it until its run is asked for, and limits it from then on.
 * What a run has to do before it reads its request is done between the two, when nobody waits for it. end_run ends a run whose
 * reply is written: the answer does not wait for the process to be gone, as it does when a run ends in any other way.
 *
 * The environment names the ends of the pipes and the asking process: KESTREL_SERVE="asked answered pid". A run is asked for
 * by three 32-bit words: milliseconds of CPU, milliseconds of wall time, and bytes of the longest file it may write; the
 * answer is four: wait status, 1 if the wall time was over, microseconds of CPU, 0. Files are in the working folder: the run
 * reads `request` and `memory` and writes `reply`, `waves` and `log`, which has all that it prints. When the asking process ends, or closes
 * its pipe, the run is killed and the folder removed. Linux only.
 */
#ifndef FORK_SERVER_H
#define FORK_SERVER_H

void fork_server();
void await_run();
[[noreturn]] void end_run();

#endif
