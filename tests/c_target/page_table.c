/* A paged KV cache in C behind the kvproof target protocol, version 1 (docs/target-protocol.md).
 *
 * A row is its token. Pages are handed out from a stack, as impl/page_table.py does, so that both reach the same states.
 * Built with -D and one of these names it has that fault: LEAK, FORK_UNCOUNTED, COPY_FORGOTTEN, COPY_KEEPS_STALE,
 * TRIM_OFF_BY_ONE, EXHAUSTION_UNREPORTED, ABORTS, ENDLESS, SLEEPS, GARBAGE, FLOODS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PAGES 1024
#define MOST_SLOTS 65536
#define MOST_LIVE 256
#define MOST_OPERATIONS 4096
#define MOST_TOKENS 262144
#define LONGEST_LINE (1 << 22)

struct request { long id; int kept, length, dropped, held, pages[MOST_PAGES]; };
struct operation { char op[12]; long request, to, x, y; int count; long *tokens; };

static struct request live[MOST_LIVE];
static long slots[MOST_SLOTS];
static char written[MOST_SLOTS];
static int counts[MOST_PAGES], stack[MOST_PAGES], lives, pages, size, frees;

static struct operation operations[MOST_OPERATIONS];
static long tokens[MOST_TOKENS];
static char input[LONGEST_LINE + 1], output[LONGEST_LINE];
static size_t out;
static const char *at;

/* ---- output ---- */

static void flush(void)
{
    for (size_t done = 0; done < out;) {
        ssize_t wrote = write(1, output + done, out - done);
        if (wrote <= 0) exit(1);
        done += (size_t)wrote;
    }
    out = 0;
}

static void text(const char *say)
{
    size_t length = strlen(say);
    if (out + length > sizeof output) flush();
    memcpy(output + out, say, length);
    out += length;
}

static void number(long value)
{
    char digits[24], *first = digits + sizeof digits - 1;
    unsigned long rest = value < 0 ? 0UL - (unsigned long)value : (unsigned long)value;
    *first = 0;
    do *--first = (char)('0' + rest % 10); while (rest /= 10);
    if (value < 0) *--first = '-';
    text(first);
}

static void list(const int *items, int count)
{
    text("[");
    for (int i = 0; i < count; i++) { if (i) text(","); number(items[i]); }
    text("]");
}

/* ---- the cache: each operation returns the reason of its refusal, or NULL ---- */

static struct request *find(long id)
{
    for (int i = 0; i < lives; i++) if (live[i].id == id) return &live[i];
    return NULL;
}

static int pages_for(int rows) { return (rows + size - 1) / size; }

static int take(void) { int page = stack[--frees]; counts[page] = 1; return page; }

static void drop(int page)
{
    if (--counts[page] > 0) return;
#ifndef LEAK
    stack[frees++] = page;
#endif
}

static const char *new(struct operation *o)
{
    if (find(o->request)) return "DuplicateRequest";
    if (o->x < 0) return "BadArgument";
    live[lives++] = (struct request){.id = o->request, .kept = pages_for((int)o->x)};
    return NULL;
}

static const char *append(struct operation *o)
{
    struct request *r = find(o->request);
    if (!r) return "UnknownRequest";
    if (o->count < 1) return "BadArgument";
    int fresh = pages_for(r->length + o->count) - pages_for(r->length);
    int copies = r->length % size && counts[r->pages[r->held - 1]] > 1;
#ifdef EXHAUSTION_UNREPORTED
    if (fresh + copies > frees) return NULL;
#endif
    if (fresh + copies > frees) return "OutOfPages";
#ifdef ENDLESS
    for (volatile int spin = fresh > 1; spin;) continue;
#endif
#ifdef SLEEPS
    if (fresh > 1) sleep(1000000);
#endif
    if (copies) {
        int old = r->pages[r->held - 1], page = take();
        for (int slot = 0; slot < size; slot++) {
#ifdef COPY_KEEPS_STALE
            if (written[page * size + slot]) continue;
#endif
#ifndef COPY_FORGOTTEN
            slots[page * size + slot] = slots[old * size + slot];
            written[page * size + slot] = written[old * size + slot];
#endif
        }
        drop(old);
        r->pages[r->held - 1] = page;
    }
    while (fresh--) r->pages[r->held++] = take();
    for (int i = 0; i < o->count; i++, r->length++) {
        int slot = r->pages[r->length / size - r->dropped] * size + r->length % size;
        slots[slot] = o->tokens[i];
        written[slot] = 1;
    }
    return NULL;
}

/* The pages that a request cut to `length` rows still holds; the reason in `why` when it cannot be cut there. */
static int cut(struct request *r, long length, int *dropped, const char **why)
{
    int gone = r->kept * size, held = gone + r->dropped * size;
    *why = length < 0 || length > r->length ? "BadArgument" : gone < length && length < held ? "RowsReleased" : NULL;
    *dropped = length > gone ? r->dropped : 0;
    return *why ? 0 : pages_for((int)length) - *dropped;
}

static const char *fork_request(struct operation *o)
{
    struct request *r = find(o->request), *child = &live[lives];
    const char *why;
    if (!r) return "UnknownRequest";
    if (find(o->to)) return "DuplicateRequest";
    *child = *r;
    child->held = cut(r, o->x, &child->dropped, &why);
    if (why) return why;
    child->id = o->to;
    child->length = (int)o->x;
#ifndef FORK_UNCOUNTED
    for (int i = 0; i < child->held; i++) counts[child->pages[i]]++;
#endif
#ifdef GARBAGE
    text("forked\n");
#endif
#ifdef FLOODS
    for (;;) text("forked ");
#endif
    lives++;
    return NULL;
}

static const char *trim(struct operation *o)
{
    struct request *r = find(o->request);
    if (!r) return "UnknownRequest";
    if (o->x < 0 || o->x > r->length) return "BadArgument";
#ifdef TRIM_OFF_BY_ONE
    o->x += o->x < r->length;
#endif
    int count = (int)o->x / size - r->kept - r->dropped;
    if (count <= 0) return NULL;
    for (int i = 0; i < count; i++) drop(r->pages[r->kept + i]);
    r->held -= count;
    r->dropped += count;
    memmove(r->pages + r->kept, r->pages + r->kept + count, sizeof(int) * (size_t)(r->held - r->kept));
    return NULL;
}

static const char *truncate_request(struct operation *o)
{
    struct request *r = find(o->request);
    const char *why;
    int dropped;
    if (!r) return "UnknownRequest";
    int kept = cut(r, o->x, &dropped, &why);
    if (why) return why;
#ifdef ABORTS
    if (kept + 1 < r->held && lives > 1 && !frees) abort();
#endif
    while (r->held > kept) drop(r->pages[--r->held]);
    r->length = (int)o->x;
    r->dropped = dropped;
    return NULL;
}

static const char *release(struct operation *o)
{
    struct request *r = find(o->request);
    if (!r) return "UnknownRequest";
    for (int i = 0; i < r->held; i++) drop(r->pages[i]);
    *r = live[--lives];
    return NULL;
}

static const char *rows(struct request *r, long lo, long hi, int comma)
{
    long gone = r->kept * size, held = gone + r->dropped * size;
    if (lo < 0 || lo > hi || hi > r->length) return "BadArgument";
    if ((lo > gone ? lo : gone) < (hi < held ? hi : held)) return "RowsReleased";
    for (; lo < hi; lo++, comma = 1) {
        int logical = (int)lo / size;
        if (comma) text(",");
        number(slots[r->pages[logical < r->kept ? logical : logical - r->dropped] * size + lo % size]);
    }
    return NULL;
}

/* ---- the protocol ---- */

static void answer(struct operation *o)
{
    const char *names[] = {"new", "append", "fork", "trim", "truncate", "release"};
    const char *(*calls[])(struct operation *) = {new, append, fork_request, trim, truncate_request, release};
    const char *why = "BadArgument";
    for (int i = 0; i < 6; i++) if (!strcmp(o->op, names[i])) why = calls[i](o);
    if (!strcmp(o->op, "read")) {
        struct request *r = find(o->request);
        size_t before = out;
        text("{\"accepted\":[");
        why = r ? rows(r, o->x, o->y, 0) : "UnknownRequest";
        if (!why) { text("]}"); return; }
        out = before;
    }
    text(why ? "{\"refused\":\"" : "{\"accepted\":null");
    if (why) { text(why); text("\""); }
    text("}");
}

static void state(void)
{
    text("{\"requests\":{");
    for (struct request *r = live; r < live + lives; r++) {
        int first = r->dropped ? r->kept : 0, stop = first + r->dropped;
        int head = stop ? first * size : 0, tail = stop * size;
        text(r == live ? "\"" : ",\"");
        number(r->id);
        text("\":{\"length\":"); number(r->length);
        text(",\"released\":["); number(first); text(","); number(stop);
        text("],\"pages\":"); list(r->pages, r->held);
        text(",\"rows\":[");
        rows(r, 0, head < r->length ? head : r->length, 0);
        if (tail < r->length) rows(r, tail, r->length, head > 0);
        text("],\"kept\":"); number(r->kept);
        text("}");
    }
    text("},\"counts\":"); list(counts, pages);
    text(",\"free\":"); list(stack, frees);
    text(",\"written\":[");
    for (int page = 0; page < pages; page++) {
        text(page ? ",\"" : "\"");
        for (int slot = 0; slot < size; slot++) text(written[page * size + slot] ? "1" : "0");
        text("\"");
    }
    text("]}");
}

static void fresh_pool(void)
{
    if (pages < 1 || pages > MOST_PAGES || size < 1 || pages * size > MOST_SLOTS) exit(3);
    memset(written, 0, (size_t)(pages * size));
    memset(counts, 0, (size_t)pages * sizeof *counts);
    lives = 0;
    for (frees = 0; frees < pages; frees++) stack[frees] = pages - 1 - frees;
}

/* ---- input: as much JSON as the protocol has ---- */

static int eat(char wanted)
{
    while (*at == ' ' || *at == '\t' || *at == '\r') at++;
    return *at == wanted ? (at++, 1) : 0;
}

static void expect(char wanted) { if (!eat(wanted)) { fprintf(stderr, "no %c at: %.40s\n", wanted, at); exit(2); } }

static void word(char *into, size_t room)
{
    expect('"');
    for (; *at && *at != '"'; at++) if (room > 1) { *into++ = *at; room--; }
    expect('"');
    *into = 0;
}

static long integer(void)
{
    char *end;
    eat(' ');
    long value = strtol(at, &end, 10);
    if (end == at) { fprintf(stderr, "no number at: %.40s\n", at); exit(2); }
    at = end;
    return value;
}

static int read_operations(void)
{
    int count = 0;
    long *token = tokens;
    for (expect('['); !eat(']'); eat(',')) {
        struct operation *o = &operations[count++];
        if (count == MOST_OPERATIONS) exit(3);
        *o = (struct operation){.tokens = token};
        for (expect('{'); !eat('}'); eat(',')) {
            char key[12];
            word(key, sizeof key);
            expect(':');
            if (!strcmp(key, "op")) word(o->op, sizeof o->op);
            else if (!strcmp(key, "request")) o->request = integer();
            else if (!strcmp(key, "to")) o->to = integer();
            else if (!strcmp(key, "hi")) o->y = integer();
            else if (strcmp(key, "tokens")) o->x = integer();  /* sinks, at, keep_from, length, lo */
            else for (expect('['); !eat(']'); eat(',')) {
                if (token == tokens + MOST_TOKENS) exit(3);
                *token++ = integer();
                o->count++;
            }
        }
    }
    return count;
}

static void message(void)
{
    char does[12] = "", key[12];
    int count = 0;
    for (expect('{'); !eat('}'); eat(',')) {
        word(key, sizeof key);
        expect(':');
        if (!strcmp(key, "do")) word(does, sizeof does);
        else if (!strcmp(key, "operations")) count = read_operations();
        else if (!strcmp(key, "pages")) pages = (int)integer();
        else if (!strcmp(key, "page_size")) size = (int)integer();
        else integer();
    }
    if (!strcmp(does, "hello")) {
        text("{\"kvproof\":\"target\",\"version\":1,\"name\":\"page table in C\",\"moves_pages\":false,\"sinks\":true,"
             "\"operations\":[\"new\",\"append\",\"fork\",\"trim\",\"truncate\",\"release\",\"read\"],"
             "\"fork\":\"anywhere\",\"shows\":[\"counts\",\"free\",\"written\"]}\n");
        return;
    }
    if (!strcmp(does, "run")) fresh_pool();
    text("{\"answers\":[");
    for (int i = 0; i < count; i++) { if (i) text(","); answer(&operations[i]); }
    text("],\"state\":");
    state();
    text("}\n");
}

int main(void)
{
    size_t held = 0;
    for (ssize_t got; (got = read(0, input + held, LONGEST_LINE - held)) > 0;) {
        char *line = input, *end;
        held += (size_t)got;
        input[held] = 0;
        for (; (end = memchr(line, '\n', held - (size_t)(line - input))); line = end + 1) {
            *end = 0;
            at = line;
            message();
        }
        held -= (size_t)(line - input);
        memmove(input, line, held);
        flush();  /* only now: nothing more is waiting to be answered */
    }
    return 0;
}
