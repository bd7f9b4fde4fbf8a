"""What must notice a broken oracle: everything that is broken by hand, and whatever a definition and what ships must agree on."""
