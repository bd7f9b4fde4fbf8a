"""The host: it feeds the tokens of many requests to a decoder, one request at a time, and keeps the rows that come back.

Token i of a request belongs to its row i, and the token behind the last row is the next to be fed. A step gathers the rows
that the window rule names, decodes, appends, and trims. Decoding changes nothing and an append all or nothing, and each comes
before anything else, so whatever raises has changed nothing. Errors are looked for in the order of the page table's,
NotAdmitted last. Source: docs/reference.md section 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from impl.admission import NotAdmitted, peak_pages
from impl.decoder import Context, Decoder, Rows, Step
from impl.page_table import BadArgument, DuplicateRequest, RowsReleased, UnknownRequest
from impl.row_store import RowStore
from impl.window import gather_ranges, keep_from


class StepRecord(NamedTuple):
    """One step of a request: what was fed and came out, and the pages that the request held meanwhile."""

    request: int
    step: int  # of the last token fed, from 1
    fed: tuple[int, ...]
    token: int  # what the last token fed gave
    logits: npt.NDArray[np.int32]
    context: int  # rows that the last token fed attended, its own included
    pages_before: int
    pages_appended: int  # between the append and the trim
    pages: int  # after the trim: what the next step finds


@dataclass(slots=True)
class Session:
    """A request: all its tokens known so far; the first `rows` are fed, the first `prompt` were given and outlive a cut."""

    tokens: list[int]
    rows: int
    prompt: int
    window: int | None
    sinks: int
    margin: int
    chunk: int
    most_pages: int  # that it was admitted for; 0 when it declared no length


class Host:
    """Requests over one store of rows and one decoder. `peak_pages` is the most pages in use that any trim has left.

    A padded fork fills its source's last page with `pad_token`. Raises ValueError when that is not in the vocabulary.
    """

    __slots__ = ("_sessions", "decoder", "pad_token", "peak_pages", "store")

    def __init__(self, decoder: Decoder, store: RowStore, pad_token: int = 0) -> None:
        if pad_token not in range(decoder.vocabulary):
            raise ValueError(f"pad token {pad_token} is not in 0 .. {decoder.vocabulary - 1}")
        self.decoder = decoder
        self.store = store
        self.pad_token = pad_token
        self.peak_pages = 0
        self._sessions: dict[int, Session] = {}

    def admit(
        self,
        request: int,
        prompt: Sequence[int],
        window: int | None = None,
        sinks: int = 0,
        margin: int = 0,
        chunk: int = 1,
        expected_rows: int | None = None,
    ) -> None:
        """Start a request, of which nothing is decoded yet.

        Its prompt is fed in chunks of `chunk` tokens, and `margin` rows more are kept than its window needs. With
        `expected_rows`, prompt included, it must fit the pool beside all live requests. Raises DuplicateRequest,
        BadArgument and NotAdmitted.
        """
        self._check_new(request)
        if not prompt:
            raise BadArgument("the prompt is empty")
        for token in prompt:
            self._check_token(token)
        try:
            keep_from(1, window, sinks)
        except ValueError as error:
            raise BadArgument(str(error)) from None
        if margin < 0 or chunk < 1:
            raise BadArgument(f"margin {margin} is below 0 or chunk {chunk} below 1")
        most_pages = 0
        if expected_rows is not None:
            if expected_rows < len(prompt):
                raise BadArgument(f"expected rows {expected_rows} are fewer than the {len(prompt)} of the prompt")
            most_pages = peak_pages(expected_rows, self.store.page_size, window, sinks, margin, len(prompt), chunk)
            self._check_room(most_pages)
        self.store.new(request, sinks)
        self._sessions[request] = Session([*prompt], 0, len(prompt), window, sinks, margin, chunk, most_pages)

    def step(self, request: int) -> StepRecord:
        """Feed the next token, or as many of the prompt as a chunk holds. Raises UnknownRequest and OutOfPages.

        The decoder may raise as well: ContextTooLongError without a window, or with one that is too long for it.
        """
        session = self._session(request)
        fed = session.tokens[session.rows : session.rows + session.chunk]
        before = self.store.held(request)
        last, context = self._append(request, session, fed)
        if session.rows == len(session.tokens):
            session.tokens.append(last.token)
        appended = self.store.held(request)
        self._trim(request, session)
        held = self.store.held(request)
        return StepRecord(request, session.rows, tuple(fed), last.token, last.logits, context, before, appended, held)

    def fork(
        self, source: int, request: int, at: int | None = None, token: int | None = None, padded: bool = False
    ) -> None:
        """Start `request` with the first `at` rows of `source` (None: all) and its window; `token` is then fed first.

        Without `token` it goes on with the source's next tokens. `padded` fills the source's last page first, so that no
        page is ever copied for the two. The fork declares no length. Raises UnknownRequest, DuplicateRequest, BadArgument,
        RowsReleased and, when padded, OutOfPages.
        """
        session = self._session(source)
        self._check_new(request)
        if padded and at is not None:
            raise BadArgument("a padded fork takes all rows")
        rows = session.rows if at is None else at
        self._check_cut(source, session, rows, token)
        if padded:
            # Nothing is left that could refuse the fork but the pads' own append: the page table refuses no fork at the end.
            self._pad(source, session)
            rows = session.rows
        self.store.fork(source, request, rows)
        tokens = _tokens_of_cut(session, rows, token)
        prompt = min(session.prompt, len(tokens))
        self._sessions[request] = replace(session, tokens=tokens, rows=rows, prompt=prompt, most_pages=0)

    def rollback(self, request: int, rows: int, token: int | None = None) -> None:
        """Keep the first `rows` rows; `token` is then fed first, or without it the token that followed them.

        Raises UnknownRequest, BadArgument and RowsReleased.
        """
        session = self._session(request)
        self._check_cut(request, session, rows, token)
        self.store.truncate(request, rows)
        session.tokens = _tokens_of_cut(session, rows, token)
        session.prompt = min(session.prompt, len(session.tokens))
        session.rows = rows

    def release(self, request: int) -> None:
        """End the request. Raises UnknownRequest."""
        self._session(request)
        self.store.release(request)
        del self._sessions[request]

    def tokens(self, request: int) -> tuple[int, ...]:
        """The request's tokens known so far, pads included. Raises UnknownRequest."""
        return tuple(self._session(request).tokens)

    def rows(self, request: int) -> int:
        """Tokens fed, which is rows appended and not rolled back. Raises UnknownRequest."""
        return self._session(request).rows

    def requests(self) -> tuple[int, ...]:
        """Ids of the live requests, oldest first."""
        return tuple(self._sessions)

    def _session(self, request: int) -> Session:
        session = self._sessions.get(request)
        if session is None:
            raise UnknownRequest(f"no live request {request}")
        return session

    def _append(self, request: int, session: Session, fed: Sequence[int]) -> tuple[Step, int]:
        """Decode the tokens and append their rows at once; the last step, and the rows that it attended with its own.

        A host whose decoder finds the rows by itself replaces this, and nothing else.
        """
        rows = np.empty((2, len(fed), self.decoder.width), np.int8)
        for index, token in enumerate(fed):
            context = self._context(request, session, rows[:, :index])
            step = self.decoder.step(token, context)
            rows[0, index], rows[1, index] = step.key, step.value
        self.store.append(request, rows)
        session.rows += len(fed)
        return step, len(context.keys) + 1

    def _context(self, request: int, session: Session, decoded: Rows) -> Context:
        """What the next token attends: rows of the store, then of these, which its chunk has decoded but not appended."""
        appended, more = session.rows, decoded.shape[1]
        ranges = gather_ranges(appended + more + 1, session.window, session.sinks)
        if not more:
            return self.store.gather(request, ranges)
        past = self.store.gather(request, tuple((lo, min(hi, appended)) for lo, hi in ranges if lo < appended))
        own = [slice(max(lo - appended, 0), hi - appended) for lo, hi in ranges if hi > appended]
        return Context(
            np.concatenate((past.keys, *(decoded[0, part] for part in own))),
            np.concatenate((past.values, *(decoded[1, part] for part in own))),
        )

    def _trim(self, request: int, session: Session) -> None:
        """Release what no later step reads, the margin excepted."""
        kept_window = None if session.window is None else session.window + session.margin
        self.store.trim(request, keep_from(session.rows, kept_window, session.sinks))
        self.peak_pages = max(self.peak_pages, self.store.used)

    def _pad(self, request: int, session: Session) -> None:
        """Fill the last page with pads, which become a part of the prompt before the token that is next."""
        pads = [self.pad_token] * (-session.rows % self.store.page_size)
        if not pads:
            return
        rows = session.rows
        self._append(request, session, pads)
        session.tokens = [*session.tokens[:rows], *pads, *session.tokens[rows:]]
        session.prompt = max(session.prompt, rows) + len(pads)
        self._trim(request, session)

    def _check_new(self, request: int) -> None:
        if request in self._sessions:
            raise DuplicateRequest(f"request {request} is live already")

    def _check_token(self, token: int) -> None:
        if token not in range(self.decoder.vocabulary):
            raise BadArgument(f"token {token} is not in 0 .. {self.decoder.vocabulary - 1}")

    def _check_cut(self, request: int, session: Session, rows: int, token: int | None) -> None:
        """BadArgument, or RowsReleased when the step after the first `rows` rows would read one that is gone."""
        if not 0 <= rows <= session.rows:
            raise BadArgument(f"rows {rows} are not in 0 .. {session.rows}")
        if token is not None:
            self._check_token(token)
        gone, held = self.store.released(request)
        for lo, hi in gather_ranges(rows + 1, session.window, session.sinks):
            if lo < held and gone < hi:
                raise RowsReleased(
                    f"step {rows + 1} reads rows {lo} .. {hi - 1}, and {gone} .. {held - 1} are released"
                )

    def _check_room(self, most_pages: int) -> None:
        """NotAdmitted when that many pages do not fit the pool beside those that the live requests may come to hold."""
        if self.store.pages is None:
            return
        promised = sum(max(session.most_pages, self.store.held(live)) for live, session in self._sessions.items())
        if promised + most_pages > self.store.pages:
            raise NotAdmitted(f"pages needed: {most_pages}, promised: {promised}, of the pool: {self.store.pages}")


def _tokens_of_cut(session: Session, rows: int, token: int | None) -> list[int]:
    """The tokens known after the first `rows` rows: the one behind them, which `token` replaces, and the prompt's."""
    if token is not None:
        return [*session.tokens[:rows], token]
    return session.tokens[: max(rows + 1, session.prompt)]
