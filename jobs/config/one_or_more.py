"""Lists of the configuration of which a single entry may stand alone."""

from dataclasses import dataclass
from typing import Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

_KINDS: dict[str, type] = {"object": dict, "string": str}


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """A list, of which a single entry of that kind may stand alone."""

    kind: Literal["object", "string"] = "object"

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        alone = _KINDS[self.kind]
        return no_info_before_validator_function(lambda value: [value] if isinstance(value, alone) else value, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "type": ["array", self.kind]}
