"""Query parameters, of which an endpoint takes only those in its description."""

from fastapi import Request

from ..problem import Problem


async def refuse_unknown(request: Request) -> None:
    """Raise Problem for query parameters that the endpoint does not have, as for unknown members of a body."""
    if not request.query_params:
        return
    operation = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
    known = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    if unknown := [name for name in request.query_params if name not in known]:
        takes = ", ".join(known) or "none"
        detail = f"?{unknown[0][:80]}: no query parameter of this endpoint, which takes {takes}."
        raise Problem(422, "invalid-request", detail)
