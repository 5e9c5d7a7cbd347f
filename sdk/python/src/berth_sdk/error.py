"""The error of a call."""

from __future__ import annotations

from email.message import Message
from typing import Any, Optional


class BerthError(Exception):
    """A response that is an error. Branch by `code`.

    Attributes:
        status: The HTTP status.
        code: The name of the error, such as `not_enough_credits`.
        message: What happened, and what to do next.
        body: The body with all its fields, such as `reasons` or `accepts`.
        headers: The headers of the response.
    """

    def __init__(self, status: int, body: Any, headers: Message) -> None:
        fields = body if isinstance(body, dict) else {}
        error = fields.get("error")
        nested = error if isinstance(error, dict) else {}
        text = nested.get("message") or (error if isinstance(error, str) else None)
        self.status = status
        self.message: str = text or f"The server returned {status}."
        self.code: str = (
            fields.get("code") or nested.get("code") or nested.get("type") or f"http_{status}"
        )
        self.body = body
        self.headers = headers
        super().__init__(self.message)

    @property
    def request_id(self) -> Optional[str]:
        """The id of the request, for the operator of the server."""
        return self.headers.get("x-request-id")
