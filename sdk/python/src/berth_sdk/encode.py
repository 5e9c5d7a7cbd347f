"""Puts the fields of a call into the path, the query or the body of a request."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any, BinaryIO, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import quote, urlencode

#: The bytes of a file: bytes, an open file, or the name and one of these.
Upload = Union[bytes, BinaryIO, Tuple[str, Union[bytes, BinaryIO]]]


class Operation(NamedTuple):
    """An operation of an API, as the generated tables have it."""

    method: str
    #: The path with its parameters: `/apps/{id}`.
    path: str
    #: The server runs it once for each idempotency key.
    idempotent: bool = False
    #: The field of the response with the items of a list.
    items: Optional[str] = None
    #: The media type of `content`, which is sent as the body.
    content: Optional[str] = None
    #: The response is a file, also where the file is a text or JSON.
    file: bool = False
    #: The body is a form.
    form: bool = False
    #: `only`: the response is a stream. `asked`: it is one with `stream=True`.
    events: Optional[str] = None


class Encoded(NamedTuple):
    url: str
    body: Optional[bytes]
    type: Optional[str]


def encode(base_url: str, operation: Operation, given: Mapping[str, Any]) -> Encoded:
    """Returns the address and the body of a call."""
    # A word of Python, such as `from`, has an underscore at its end.
    fields = {name[:-1] if name[-1] == "_" else name: value for name, value in given.items()}

    def fill(parameter: re.Match[str]) -> str:
        name = parameter[1]
        value = _text(fields.pop(name))
        # These would be another path. Others have no slash when they are encoded.
        if value in ("", ".", ".."):
            raise ValueError(f'{name} cannot be "{value}". Pass the one of what you mean.')
        return quote(value, safe="")

    url = base_url + re.sub(r"\{(\w+)\}", fill, operation.path)
    if operation.content and "content" in fields:
        _, content = _read(fields.pop("content"))
        return Encoded(_with_query(url, fields), content, operation.content)
    if operation.method in ("GET", "DELETE"):
        return Encoded(_with_query(url, fields), None, None)
    if operation.form:
        return _form(url, fields)
    if not fields:
        return Encoded(url, None, None)
    return Encoded(url, json.dumps(fields).encode(), "application/json")


def _with_query(url: str, fields: Mapping[str, Any]) -> str:
    query = urlencode([(name, _text(value)) for name, value in fields.items()])
    return f"{url}?{query}" if query else url


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return str(value)


def _form(url: str, fields: Mapping[str, Any]) -> Encoded:
    """Encodes `multipart/form-data` (RFC 7578)."""
    boundary = uuid.uuid4().hex
    parts = []
    for name, value in fields.items():
        for part in value if isinstance(value, list) else [value]:
            disposition = f'form-data; name="{_escape(name)}"'
            if isinstance(part, (bytes, tuple)) or hasattr(part, "read"):
                file, content = _read(part)
                disposition += f'; filename="{_escape(file)}"'
                disposition += "\r\nContent-Type: application/octet-stream"
            else:
                content = _text(part).encode()
            head = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n"
            parts += [head.encode(), content, b"\r\n"]
    body = b"".join([*parts, f"--{boundary}--\r\n".encode()])
    return Encoded(url, body, f"multipart/form-data; boundary={boundary}")


def _read(file: Upload) -> Tuple[str, bytes]:
    """Returns the name and the bytes of a file."""
    if isinstance(file, tuple):
        return file[0], _read(file[1])[1]
    if isinstance(file, bytes):
        return "file", file
    return str(getattr(file, "name", "file")).replace("\\", "/").split("/")[-1], file.read()


def _escape(name: str) -> str:
    """Escapes a name for a header, as browsers do (HTML, "Multipart form data")."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
