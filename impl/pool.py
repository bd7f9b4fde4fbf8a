"""The storage of the pages: keys and values of every layer in one contiguous array."""

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

CACHE_LINE = 64  # bytes


class Pool:
    """Rows of `layers` layers in pages; `kv` is contiguous, (layers, pages, 2, page_size, width), K before V.

    `slots` is the same memory by (page, offset), each entry a row of shape (layers, 2, width). A plane is one layer's K or V, a
    chunk one page of a plane: page_size * width elements in one piece, which numpy sees as one item, so that whole pages
    move by one memory copy a chunk. No path is chosen by the size of the pool: what an exhaustive search of small pools
    covers is what a large one runs.
    """

    __slots__ = (
        "_chunk",
        "_chunk_ids",
        "_chunks",
        "_elements",
        "_planes",
        "dtype",
        "kv",
        "layers",
        "page_size",
        "pages",
        "slots",
        "width",
    )

    def __init__(
        self,
        layers: int,
        pages: int,
        page_size: int,
        width: int,
        dtype: npt.DTypeLike = np.int8,
        memory: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        """A pool of zeros, or over the bytes of `memory`, which are then its rows. Raises ValueError for sizes that are none."""
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
        # Chunk ids by (plane, page): looking them up is cheaper than computing them on every gather.
        ids = np.arange(layers * pages * 2).reshape(layers, pages, 2)
        self._chunk_ids = np.ascontiguousarray(ids.transpose(0, 2, 1)).reshape(layers * 2, pages)
        # numpy aligns to 16 bytes, and a page that begins within a cache line touches one more than it fills: gathers of
        # shuffled pages would take a twentieth longer at 16 rows a page and a quarter longer at 1.
        size = layers * pages * 2 * self._chunk.itemsize
        if memory is None:
            memory = np.zeros(size + CACHE_LINE, np.uint8)
            # Never 0: whether the memory is long enough must not depend on where it happens to lie.
            start = CACHE_LINE - memory.ctypes.data % CACHE_LINE
            memory = memory[start : start + size]
        elif memory.shape != (size,):
            raise ValueError(f"the pool takes {size} bytes, not {memory.shape}")
        self._bind(memory.view(self._chunk))

    def write(self, pages: "array[int]", offset: int, rows: npt.NDArray[Any]) -> None:
        """Write rows (layers, 2, k, width) into consecutive slots of `pages`, from `offset` in the first one on."""
        page_size, count = self.page_size, rows.shape[2]
        head = min(count, -offset % page_size)
        whole, tail = divmod(count - head, page_size)
        if head:
            self.kv[:, pages[0], :, offset : offset + head] = rows[:, :, :head]
        if whole:
            ids = np.frombuffer(pages, np.int64, whole, pages.itemsize if head else 0)
            elements = np.ascontiguousarray(rows).reshape(self.layers * 2, count * self.width)
            chunks = elements[:, head * self.width : (count - tail) * self.width].view(self._chunk)
            # Plane by plane and by index: all at once, or iterating over an array, costs a microsecond more.
            for plane, target in enumerate(self._planes):
                target[ids] = chunks[plane]
        if tail:
            self.kv[:, pages[-1], :, :tail] = rows[:, :, count - tail :]

    def gather(self, pages: "array[int]", offset: int, count: int) -> npt.NDArray[Any]:
        """A fresh array (layers, 2, count, width) of consecutive slots of `pages`, from `offset` in the first one on."""
        if len(pages) == 1:
            return self.kv[:, pages[0], :, offset : offset + count].copy()
        if self.page_size == 1:
            # The key and the value of a row lie side by side: one memory copy for both, and the axes are swapped after.
            return self.kv.take(pages, 1).reshape(self.layers, count, 2, self.width).transpose(0, 2, 1, 3)
        chunks = self._elements.take(self._chunk_ids.take(pages, 1), 0)
        held = len(pages) * self.page_size
        rows = chunks.reshape(self.layers, 2, held, self.width)
        return rows if count == held else rows[:, :, offset : offset + count]

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
        other._bind(self._chunks.copy())
        return other

    def _bind(self, chunks: npt.NDArray[Any]) -> None:
        """Keep the memory, chunk after chunk as it lies, and its views."""
        self._chunks = chunks
        self._elements = chunks.view(self.dtype).reshape(len(chunks), self.page_size * self.width)
        self.kv = self._elements.reshape(self.layers, self.pages, 2, self.page_size, self.width)
        self.slots = self.kv.transpose(1, 3, 0, 2, 4)
        planes = chunks.reshape(self.layers, self.pages, 2)
        self._planes = [planes[layer, :, half] for layer in range(self.layers) for half in range(2)]
