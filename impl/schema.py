"""JSON from outside, held against a schema before anything else looks at it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

LONGEST_MESSAGE = 200


class Schema:
    """A JSON schema, draft 2020-12."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def check(self, data: object) -> None:
        """ValueError says where the data is not as the schema wants it."""
        error = next(self._validator.iter_errors(data), None)
        if error is not None:
            where = "/".join(map(str, error.absolute_path)) or "the top level"
            message = (
                error.message if len(error.message) <= LONGEST_MESSAGE else f"{error.message[:LONGEST_MESSAGE]} ..."
            )
            raise ValueError(f"at {where}: {message}")

    @cached_property
    def _validator(self) -> Any:
        # The library takes a tenth of a second to load, and most commands read no document.
        import jsonschema

        return jsonschema.Draft202012Validator(self.schema)
