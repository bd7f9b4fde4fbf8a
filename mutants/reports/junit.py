"""A run as JUnit XML: a test case for the verdict of the whole run, and one for each mutant."""

import re
from xml.etree import ElementTree

from impl.exit_codes import ExitCode
from mutants.reports.data import JudgedMutant, MutationRun, Outcome

NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold, not even escaped."""

ELEMENTS = {
    Outcome.SURVIVED: "failure",
    Outcome.WRONG_RULE: "failure",
    Outcome.NO_VERDICT: "error",
    Outcome.EQUIVALENT: "skipped",
    Outcome.LEDGER: "skipped",
}


def junit(run: MutationRun) -> str:
    """The document."""
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name=f"mutants {run.kind}".strip(), time=f"{run.seconds:.3f}")
    if run.time:
        suite.set("timestamp", run.time.removesuffix("Z"))
    _verdict(suite, run)
    for mutant in run.mutants:
        _case(suite, mutant)
    suite.set("tests", str(len(suite)))
    for name, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{element}"))))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _verdict(suite: ElementTree.Element, run: MutationRun) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname="mutants", name="the verdict of the run")
    if run.code is not ExitCode.PASS:
        element = "failure" if run.code is ExitCode.FAIL else "error"
        said = ElementTree.SubElement(case, element, message=_text(run.code.name.lower()))
        said.text = _text("\n".join(run.reasons))


def _case(suite: ElementTree.Element, mutant: JudgedMutant) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_text(f"{mutant.module}.{mutant.function}".rstrip(".")),
        name=_text(f"{mutant.id}: {mutant.title}"),
        time=f"{mutant.cpu_ms / 1e3:.6f}",
        file=mutant.path,
        line=str(mutant.start.line if mutant.start else 1),
    )
    element = ELEMENTS.get(mutant.outcome)
    if element is not None:
        status = mutant.status.value if mutant.status else "it did not run"
        said = ElementTree.SubElement(case, element, message=_text(f"{mutant.outcome}: {status}"))
        said.text = _text("\n".join(filter(None, (mutant.accepted, mutant.detail, mutant.diff))))


def _text(words: str) -> str:
    return NO_XML.sub("\ufffd", words)
