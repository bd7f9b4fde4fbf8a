"""The storage of the pages: keys and values of every layer in one contiguous array."""

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt


class Pool:
    """Rows of `layers` layers in pages; `kv` has shape (layers, pages, 2, page_size, width), K before V.

    `slots` is the same memory by (page, offset), each entry a row of shape (layers, 2, width). A chunk is one page's K or
    V of one layer, page_size * width contiguous elements that numpy sees as one item, so that whole pages move by one
    memory copy a chunk. No path is chosen by the size of the pool: what an exhaustive search of small pools covers is what
    a large one runs.
    """

    __slots__ = ("_chunk", "_chunk_ids", "_chunks", "dtype", "kv", "layers", "page_size", "pages", "slots", "width")

    def __init__(self, layers: int, pages: int, page_size: int, width: int, dtype: npt.DTypeLike = np.int8) -> None:
        if min(layers, pages, page_size, width) < 1:
            raise ValueError(
                f"every size must be at least 1: layers {layers}, pages {pages}, page size {page_size}, width {width}"
            )
        self.layers = layers
        self.pages = pages
        self.page_size = page_size
        self.width = width
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject:
            raise ValueError(f"rows hold plain numbers, not {self.dtype}")
        self._chunk = np.dtype((np.void, page_size * width * self.dtype.itemsize))
        # Chunk ids by (layer and K or V, page): looking them up is cheaper than computing them on every gather.
        planes = np.arange(layers * pages * 2, dtype=np.int64).reshape(layers, pages, 2)
        self._chunk_ids = np.ascontiguousarray(planes.transpose(0, 2, 1)).reshape(layers * 2, pages)
        self._bind(np.zeros((layers, pages, 2, page_size, width), self.dtype))

    def write(self, pages: "array[int]", offset: int, rows: npt.NDArray[Any]) -> None:
        """Write rows (layers, 2, k, width) into consecutive slots of `pages`, from `offset` in the first one on."""
        page_size, count = self.page_size, rows.shape[2]
        head = min(count, page_size - offset) if offset else 0
        whole, tail = divmod(count - head, page_size)
        if head:
            self.kv[:, pages[0], :, offset : offset + head] = rows[:, :, :head]
        if whole:
            first = 1 if head else 0
            ids = np.frombuffer(pages[first : first + whole], np.int64)
            body = np.ascontiguousarray(rows)[:, :, head : count - tail].reshape(self.layers, 2, whole, -1)
            chunks = body.view(self._chunk)[:, :, :, 0]
            for layer in range(self.layers):
                self._chunks[layer, :, 0][ids] = chunks[layer, 0]
                self._chunks[layer, :, 1][ids] = chunks[layer, 1]
        if tail:
            self.kv[:, pages[-1], :, :tail] = rows[:, :, count - tail :]

    def gather(self, pages: "array[int]", offset: int, count: int) -> npt.NDArray[Any]:
        """A fresh array (layers, 2, count, width) of consecutive slots of `pages`, from `offset` in the first one on."""
        if len(pages) == 1:
            return self.kv[:, pages[0], :, offset : offset + count].copy()
        if self.page_size == 1:
            # The key and the value of a row lie side by side: one memory copy for both, and the axes are swapped after.
            rows = self.kv.take(np.frombuffer(pages, np.int64), 1)
            return rows.reshape(self.layers, count, 2, self.width).swapaxes(1, 2)
        # The ids are valid by construction, and take is a little faster when it need not raise.
        ids = self._chunk_ids.take(np.frombuffer(pages, np.int64), 1, None, "clip")
        chunks = self._chunks.take(ids, None, None, "clip")
        rows = chunks.view(self.dtype).reshape(self.layers, 2, -1, self.width)
        return rows if rows.shape[2] == count else rows[:, :, offset : offset + count]

    def copy_page(self, source: int, destination: int) -> None:
        """Copy the whole page, K and V of every layer."""
        self.kv[:, destination] = self.kv[:, source]

    def clone(self) -> "Pool":
        """An independent copy."""
        other = Pool.__new__(Pool)
        other.layers = self.layers
        other.pages = self.pages
        other.page_size = self.page_size
        other.width = self.width
        other.dtype = self.dtype
        other._chunk = self._chunk
        other._chunk_ids = self._chunk_ids
        other._bind(self.kv.copy())
        return other

    def _bind(self, kv: npt.NDArray[Any]) -> None:
        """Keep `kv` and its two views: chunks by (layer, page, K or V), rows by (page, offset)."""
        self.kv = kv
        self._chunks = kv.reshape(self.layers, self.pages, 2, -1).view(self._chunk)[:, :, :, 0]
        self.slots = kv.transpose(1, 3, 0, 2, 4)
