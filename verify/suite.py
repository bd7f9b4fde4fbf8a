"""The stages that judge mutants, by name: each is where it belongs, and imported when it runs."""

from verify.explore import StepsExhausted
from verify.stage import StageOf

__all__ = ["STAGES", "StepsExhausted"]

PAGE_TABLE, PREFIX = "verify.page_table_suite", "verify.managers.suite"
DECODE, HOST = "verify.decode.suite", "verify.host.suite"

STAGES: dict[str, StageOf] = {
    "witness": StageOf(PAGE_TABLE, "witness_stage"),
    "exhaustive": StageOf(PAGE_TABLE, "exhaustive_stage"),
    "unit": StageOf(PAGE_TABLE, "unit_stage"),
    "random": StageOf("verify.random_stage", "random_stage"),
    "decode": StageOf(DECODE, "decode_stage"),
    "decode unit": StageOf(DECODE, "unit_stage"),
    "host": StageOf(HOST, "host_stage"),
    "host unit": StageOf(HOST, "unit_stage"),
    "chip": StageOf("verify.chips.suite", "chip_stage"),
    "chip software": StageOf("verify.programs.suite", "software_stage"),
    "programs": StageOf("verify.chips.programs_suite", "programs_stage"),
    "source": StageOf("verify.source.suite", "source_stage"),
    "prefix witness": StageOf(PREFIX, "witness_stage"),
    "prefix exhaustive": StageOf(PREFIX, "exhaustive_stage"),
    "prefix unit": StageOf(PREFIX, "unit_stage"),
    "prefix random": StageOf(PREFIX, "random_stage"),
}
