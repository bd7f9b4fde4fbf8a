"""What ships: the page table over page ids, its storage, the window rule a host uses, and request traces."""
