"""The third-party managers that are checked: how each is set up, and the modules in verify/targets/ that speak for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADAPTERS = ROOT / "verify" / "targets"

ENVIRONMENTS = ROOT / ".venvs"
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an environment is made.

    `pins` is a requirements file that pins every package, all installed without what they ask for. `alone` is installed
    before the others, once the wheel that pip chose for it has been looked at: it must not be one for an accelerator.
    `source` is then built from its source under `variables`. `check` is a Python expression that imports what the adapter
    needs and gives the version; `disk` are the bytes that the environment takes, the build included.
    """

    pins: Path
    check: str
    disk: int
    alone: str | None = None
    source: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """A manager: its name here and as people know it, its version, its recipe, and its modules in verify/targets/.

    `adapter` is module:factory and `faults` the module of its planted faults, both run by the target's interpreter; `script`
    is the module of ours that writes a failure in the target's own calls. `pace` is the share of a profile's operations that
    are asked of it, less of a slow one. `variables` are added to its environment. `folder` is where all are imported from:
    not their own folder, in which verify/targets/vllm.py would hide vLLM itself. `interpreter` is the one that runs it,
    None for that of the environment that is set up for it.
    """

    name: str
    title: str
    version: str
    recipe: Recipe
    adapter: str
    faults: str
    script: str
    pace: float = 1.0
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: Path = ROOT
    interpreter: Path | None = None

    @property
    def environment(self) -> Path:
        """The folder of the virtual environment."""
        return ENVIRONMENTS / self.name

    @property
    def python(self) -> Path:
        """The interpreter that runs the adapter, and the scripts of findings."""
        return self.interpreter or self.environment / "bin" / "python"


VLLM = KnownTarget(
    name="vllm",
    title="vLLM",
    version="0.33.0",
    recipe=Recipe(
        pins=ADAPTERS / "vllm.txt",
        check="__import__('vllm.v1.core.kv_cache_manager').__version__",
        disk=1_500 * MEGABYTE,
        alone="torch==2.13.0",
        source="vllm==0.33.0",
        variables={"VLLM_TARGET_DEVICE": "empty", "VLLM_VERSION_OVERRIDE": "0.33.0"},
    ),
    adapter="verify.targets.vllm:factory",
    faults="verify.targets.vllm_faults",
    script="verify.targets.vllm_script",
    variables={"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR"},
)

TVM = KnownTarget(
    name="tvm",
    title="Apache TVM, the paged cache of MLC-LLM",
    version="0.27.0.post1",
    recipe=Recipe(
        pins=ADAPTERS / "tvm.txt",
        check="(__import__('tvm.relax'), __import__('importlib.metadata').metadata.version('apache-tvm'))[1]",
        disk=450 * MEGABYTE,
    ),
    adapter="verify.targets.tvm:factory",
    faults="verify.targets.tvm_faults",
    script="verify.targets.tvm_script",
    pace=0.3,
)

TARGETS: dict[str, KnownTarget] = {target.name: target for target in (VLLM, TVM)}
"""By name, in the order in which they are set up and run."""
