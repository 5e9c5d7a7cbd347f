"""Runs operations: responses, pages of lists and streams of events."""

from __future__ import annotations

import http.client
import json
import re
import socket
from typing import (
    Any,
    ClassVar,
    Dict,
    Generic,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    TypeVar,
)

from .encode import Operation
from .transport import Response, Transport, send

#: An event in the format of the API that it follows.
Event = Dict[str, Any]

#: The most bytes of one event.
EVENT_MAX = 64 * 1024 * 1024

Body = TypeVar("Body")
Item = TypeVar("Item")


class Page(Generic[Body, Item]):
    """A page of a list.

    Iterating returns the items of this page and of all later ones, which are requested as needed.

    Attributes:
        body: The whole response.
        items: The items of this page only.
    """

    def __init__(
        self, transport: Transport, operation: Operation, fields: Mapping[str, Any]
    ) -> None:
        self._transport = transport
        self._operation = operation
        self._fields = fields
        body = _decode(operation, send(transport, operation, fields))
        self.body: Body = body
        self.items: List[Item] = body[operation.items]

    def next_page(self) -> Optional[Page[Body, Item]]:
        """Requests the page after this one; None where there is none."""
        body: Mapping[str, Any] = self.body  # type: ignore[assignment]
        # The Agent API names the next page; the gateway follows OpenAI.
        if body.get("next"):
            place = {"cursor": body["next"]}
        elif body.get("has_more"):
            place = {"after": body["last_id"]}
        else:
            return None
        return Page(self._transport, self._operation, {**self._fields, **place})

    def __iter__(self) -> Iterator[Item]:
        page: Optional[Page[Body, Item]] = self
        while page:
            yield from page.items
            page = page.next_page()

    def __repr__(self) -> str:
        return f"<Page of {len(self.items)} items>"


class Opened:
    """The open response of a stream, which another thread may end."""

    def __init__(self) -> None:
        self.has_ended = False
        self.response: Optional[http.client.HTTPResponse] = None

    def end(self) -> None:
        """Ends the stream, also while a thread waits for its next event."""
        self.has_ended = True
        if self.response is None or self.response.isclosed():
            return
        try:
            # To close a socket would not wake the thread that reads it.
            with socket.fromfd(self.response.fileno(), socket.AF_INET, socket.SOCK_STREAM) as copy:
                copy.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError, ValueError):
            # It has just ended by itself.
            pass


def run(
    transport: Transport,
    operation: Operation,
    fields: Dict[str, Any],
    opened: Optional[Opened] = None,
) -> Any:
    """Runs an operation: returns the response, a page of a list, or an iterator over events."""
    if operation.events == "only" or (operation.events and fields.get("stream")):
        return _events(transport, operation, fields, opened or Opened())
    if operation.items:
        return Page(transport, operation, fields)
    return _decode(operation, send(transport, operation, fields))


def _decode(operation: Operation, response: Response) -> Any:
    kind = response.headers.get_content_type()
    if response.status == 204:
        return None
    if not operation.file and re.match(r"application/([\w.]+\+)?json$", kind):
        return json.loads(response.body)
    if not operation.file and (kind.startswith("text/") or "xml" in kind):
        return response.body.decode(response.headers.get_content_charset("utf-8"))
    return response.body


def _events(
    transport: Transport, operation: Operation, fields: Dict[str, Any], opened: Opened
) -> Iterator[Any]:
    """A stream that breaks off goes on after its last event, where the server keeps it."""
    last: Optional[str] = None
    while not opened.has_ended:
        headers = {} if last is None else {"Last-Event-ID": last}
        stream = send(transport, operation, fields, headers, is_stream=True).stream
        # 204 ends a stream: HTML, "Server-sent events".
        if stream is None:
            return
        opened.response = stream
        last = None
        try:
            with stream:
                if opened.has_ended:
                    return
                for identity, data in read_events(stream):
                    if data == "[DONE]":
                        return
                    last = identity or last
                    yield json.loads(data)
        except (OSError, http.client.HTTPException) as error:
            if opened.has_ended:
                return
            if operation.events == "asked" or last is None:
                raise ConnectionError(f"The stream broke off: {error}") from error
        else:
            if operation.events == "asked" or last is None:
                return


def read_events(stream: http.client.HTTPResponse) -> Iterator[Tuple[Optional[str], str]]:
    """Parses a stream of server-sent events into ids and data.

    https://html.spec.whatwg.org/multipage/server-sent-events.html
    """
    identity: Optional[str] = None
    values: List[str] = []
    size = 0
    for line in _lines(stream):
        size += len(line)
        if size > EVENT_MAX:
            raise ValueError("The server sent an event above 64 MB.")
        if not line:
            if values:
                yield identity, "\n".join(values)
            values, size = [], 0
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            values.append(value)
        elif name == "id":
            identity = value


def _lines(stream: http.client.HTTPResponse) -> Iterator[str]:
    """Returns the lines of a body. Unlike `readline`, it raises where the connection breaks off."""
    rest = b""
    while True:
        data = stream.read1(65_536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > EVENT_MAX:
            raise ValueError("The server sent an event above 64 MB.")
        for line in lines:
            yield line.rstrip(b"\r").decode()


class Api:
    """The operations of an API."""

    _operations: ClassVar[Mapping[str, Operation]]

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(self, name: str, fields: Any) -> Any:
        return run(self._transport, self._operations[name], fields)
