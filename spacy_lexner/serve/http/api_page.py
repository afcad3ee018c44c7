"""The API's description as a page without scripts, since FastAPI's own page loads scripts from other sites."""

import json
from typing import Any, Dict, List


def describe_api(openapi: Dict[str, Any]) -> Dict[str, Any]:
    """Collect the content of the page.

    openapi (Dict[str, Any]): The OpenAPI document.
    RETURNS (Dict[str, Any]): Title, version, description, and the endpoints.
    """
    schemas = openapi["components"]["schemas"]
    endpoints: List[Dict[str, Any]] = []
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            endpoints.append(
                {
                    "method": method.upper(),
                    "path": path,
                    "summary": operation.get("summary", ""),
                    "description": operation.get("description", ""),
                    "parameters": operation.get("parameters", []),
                    "fields": _fields(operation, schemas),
                    "examples": [_command(method, path, example) for example in examples_of(operation, schemas)],
                }
            )
    return {**openapi["info"], "endpoints": endpoints}


def body_of(operation: Dict[str, Any], schemas: Dict[str, Any]) -> Dict[str, Any]:
    """The schema of the JSON body of an endpoint; empty if it takes none."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return schemas.get(name, {})


def examples_of(operation: Dict[str, Any], schemas: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The example bodies of an endpoint."""
    return body_of(operation, schemas).get("examples", [])


def _fields(operation: Dict[str, Any], schemas: Dict[str, Any]) -> List[Dict[str, str]]:
    properties = body_of(operation, schemas).get("properties", {})
    return [
        {"name": name, "description": schema["description"]}
        for name, schema in properties.items()
        if "description" in schema
    ]


def _command(method: str, path: str, body: Dict[str, Any]) -> str:
    data = json.dumps(body, ensure_ascii=False)
    return f"curl -X {method.upper()} http://127.0.0.1:8080{path} -H 'Content-Type: application/json' -d '{data}'"
