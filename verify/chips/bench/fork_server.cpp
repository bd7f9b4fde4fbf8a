#include "fork_server.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ctime>
#include <unistd.h>

static const int ASKED_WORDS = 3, ANSWER_WORDS = 4;

/* A process, and the socket over which the server tells it that it is the next run, and it that this is over. */
struct Run {
    pid_t process;
    int line;
};

/* In a process of a run: its end of that. */
static int server_line = -1;

static const char *const files[] = {"request", "memory", "reply", "log", "waves", "waves.fst", "server"};

static int pidfd_of(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

static void limit(__rlimit_resource resource, rlim_t value)
{
    rlimit both = {value, value};
    setrlimit(resource, &both);
}

/* Ends the server; nothing of it stays behind. A spare that has been told nothing dies with it. */
static void leave(pid_t run)
{
    if (run > 0) {
        kill(run, SIGKILL);
        kill(-run, SIGKILL);
        waitpid(run, nullptr, 0);
    }
    char folder[4096];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
    if (getcwd(folder, sizeof folder)) rmdir(folder);
    _exit(0);
}

/* The next run that is asked for; ends the server when there is none any more. */
static void await_question(int asked, int asker, uint32_t *words)
{
    for (;;) {
        pollfd ends[2] = {{asked, POLLIN, 0}, {asker, POLLIN, 0}};
        if (poll(ends, 2, -1) < 0) {
            if (errno == EINTR) continue;
            leave(0);
        }
        if (ends[1].revents) leave(0);
        /* So few bytes go through a pipe in one piece. */
        if (read(asked, words, ASKED_WORDS * 4) != ASKED_WORDS * 4) leave(0);
        return;
    }
}

static void become_a_spare(pid_t server, const int *ends)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server) _exit(1);
    for (int i = 0; i < 3; i++) close(ends[i]);
    limit(RLIMIT_CORE, 0);
    signal(SIGPROF, SIG_DFL);
}

static Run spare(pid_t server, const int *ends)
{
    int line[2];
    fflush(nullptr);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line)) leave(0);
    pid_t process = fork();
    if (process < 0) leave(0);
    close(line[process ? 1 : 0]);
    if (process) return {process, line[0]};
    become_a_spare(server, ends);
    server_line = line[1];
    return {0, -1};
}

static uint32_t microseconds(const rusage &usage)
{
    return static_cast<uint32_t>((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
                                 usage.ru_stime.tv_usec);
}

void await_run()
{
    uint32_t words[ASKED_WORDS];
    if (read(server_line, words, sizeof words) != sizeof words) _exit(1);
    int log = open("log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(log, 1);
    dup2(log, 2);
    close(log);
    limit(RLIMIT_FSIZE, words[2]);
    limit(RLIMIT_CPU, words[0] / 1000 + 2);
    itimerval timer = {{0, 0}, {words[0] / 1000, static_cast<suseconds_t>(words[0] % 1000 * 1000)}};
    setitimer(ITIMER_PROF, &timer, nullptr);
}

void end_run()
{
    fflush(nullptr);
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const uint32_t used = microseconds(usage);
    _exit(write(server_line, &used, sizeof used) == sizeof used ? 0 : 1);
}

/* Whether the run has said that it is over; else it ended without a word, or its time was over. */
static bool await_end(int asked, int asker, const Run &run, uint32_t wall, uint32_t *answer)
{
    int ended = pidfd_of(run.process), line = run.line;
    timespec now, begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    bool said = false;
    memset(answer, 0, ANSWER_WORDS * 4);
    while (!said) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t left = wall - ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000);
        if (left <= 0) {
            answer[1] = 1;
            break;
        }
        /* Nothing is asked meanwhile: what can come over the pipe is its end. */
        pollfd ends[4] = {{line, POLLIN, 0}, {ended, POLLIN, 0}, {asked, POLLIN, 0}, {asker, POLLIN, 0}};
        if (poll(ends, 4, static_cast<int>(left)) < 0 && errno != EINTR) leave(run.process);
        if (ends[0].revents) said = read(line, &answer[2], 4) == 4;
        if (ends[0].revents && !said) line = -1; /* it has gone */
        if (ends[1].revents) break;
        if (ends[2].revents || ends[3].revents) leave(run.process);
    }
    close(ended);
    return said;
}

/* Ends what is left of the run, and says how it ended. */
static void reap(const Run &run, uint32_t *answer)
{
    /* Not yet reaped, so its number, and that of its group, are still its own. */
    kill(run.process, SIGKILL);
    kill(-run.process, SIGKILL);
    int status;
    rusage usage;
    wait4(run.process, &status, 0, &usage);
    close(run.line);
    answer[0] = static_cast<uint32_t>(status);
    answer[2] = microseconds(usage);
}

void fork_server()
{
    int ends[3], parent;
    const char *where = getenv("KESTREL_SERVE");
    if (!where || sscanf(where, "%d %d %d", &ends[0], &ends[1], &parent) != 3) {
        fprintf(stderr, "KESTREL_SERVE names no pipes: a chip's simulator runs below verify/chips only\n");
        exit(2);
    }
    ends[2] = pidfd_of(parent);
    if (ends[2] < 0 || getppid() != parent) leave(0);
    signal(SIGPIPE, SIG_IGN);
    pid_t server = getpid();
    Run next = spare(server, ends);
    while (next.process) {
        uint32_t asked[ASKED_WORDS], answer[ANSWER_WORDS];
        await_question(ends[0], ends[2], asked);
        unlink("reply"); /* an old one must never pass for a new one */
        const Run run = next;
        if (write(run.line, asked, sizeof asked) != sizeof asked && errno != EPIPE) leave(run.process);
        next = spare(server, ends); /* while the run is busy, and the asking process waits for it */
        if (!next.process) {
            close(run.line);
            return;
        }
        const bool said = await_end(ends[0], ends[2], run, asked[1], answer);
        if (!said) reap(run, answer);
        if (write(ends[1], answer, sizeof answer) != sizeof answer) leave(said ? run.process : 0);
        if (said) reap(run, answer); /* taking its memory apart is as long as a short run, and nobody waits for it */
    }
}
