"""Reports of mutation runs: plain data drawn as Stryker's JSON, a page, SARIF and JUnit, and the history of all runs."""
