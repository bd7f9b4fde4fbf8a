"""Every claim that there is."""

from mutants.equivalence.cache_claims import CACHES
from mutants.equivalence.chip_claims import CHIP
from mutants.equivalence.claim import Claim

CLAIMS: tuple[Claim, ...] = (*CACHES, *CHIP)
OF = {(claim.module, claim.function): claim for claim in CLAIMS}
"""The claim about a function, by its module and qualified name."""
