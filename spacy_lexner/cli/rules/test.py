"""`spacy lexner rules test`: expected entities of single sentences, checked like unit tests."""

from pathlib import Path
from typing import Annotated, List, Optional

import srsly
import typer
from wasabi import msg

from ...lexicon.rule_file import RuleFile, read_rule_files
from ...rules.alone import AnnotateT, follow_rules
from ...rules.expectations import Failure, read_tests, run_tests
from ..shared import JsonOption, failing, load_pipeline, progress
from .dictionaries import use_rules

RulesArgument = Annotated[Path, typer.Argument(metavar="RULES", help="A dictionary file: word, mode, label, weight")]


def test_cli(
    rules: RulesArgument,
    tests: Annotated[Path, typer.Argument(metavar="TESTS", help="The file of tests")],
    model: Annotated[
        Optional[str],
        typer.Option("--model", "-m", metavar="MODEL", help="Test a pipeline with these rules, not the rules alone"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Test rules on single sentences. The exit code is 0 if all tests pass, 1 if not, 2 if a file cannot be read.

    A test is a text, followed by expectations: "+ word LABEL" for an entity, "- word" for none, "- word LABEL" for none
    of that label, "=" for no other entities. Without a model, only rules make entities: force, and prefer with a weight
    above 0.

    \b
    Example of a file of tests:
      武汉市长江大桥很长
      + 长江大桥 LOC
      - 市长
    """
    with failing("The rules cannot be tested", code=2):
        cases = read_tests(tests)
        annotate: AnnotateT
        if model is None:
            annotate = follow_rules(read_rule_files([RuleFile(str(rules))]))
        else:
            nlp = load_pipeline(model)
            use_rules(nlp, rules)
            annotate = nlp.pipe  # type: ignore[assignment]
        failures: List[Failure] = [
            failure for failed in progress(run_tests(cases, annotate), total=len(cases)) for failure in failed
        ]
    failed = {failure.place for failure in failures}
    if as_json:
        rows = [failure._asdict() for failure in failures]
        typer.echo(srsly.json_dumps({"tests": len(cases), "failed": len(failed), "failures": rows}))
    else:
        for failure in failures:
            msg.fail(f"{failure.place}: {failure.message}", failure.text)
        (msg.warn if failures else msg.good)(f"{len(cases) - len(failed)} of {len(cases)} tests passed")
    if failures:
        raise typer.Exit(1)
