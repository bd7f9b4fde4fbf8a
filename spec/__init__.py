"""What is right, as definitions: the vocabulary, the page table over cells, the window rule, and the rules by name."""
